//! Orders of every kind to a live world, as pilots who are in give them.

use keel_server::Config;

use crate::arena::{Arena, Peer, config};
use crate::{Choices, orders};

/// The most orders in a run.
pub const MOST: usize = 64;

/// A server that takes operator's orders, and three pilots of it.
pub struct Range {
    arena: Arena,
    pilots: Vec<Peer>,
    /// Orders that were given.
    pub orders: u64,
}

impl Default for Range {
    fn default() -> Self {
        let mut arena = Arena::new(&Config { operator_ops: true, layer: 3, ..config() });
        let pilots = (1..=3).map(|id| arena.pilot(id, &format!("pilot{id}"))).collect();
        Self { arena, pilots, orders: 0 }
    }
}

impl Range {
    /// The pilots order what the bytes say, one in turn after the other, a step apart.
    ///
    /// # Panics
    /// When an order is not answered once, a pilot is put out, or something that they see is no number.
    pub fn run(&mut self, bytes: &[u8]) {
        let mut choices = Choices::new(bytes);
        for n in 0..MOST {
            if choices.are_over() {
                break;
            }
            let command = orders::any(&mut choices);
            let who = n % self.pilots.len();
            let seq = self.pilots[who].order(command.clone());
            self.orders += 1;
            for _ in 0..2 {
                for pilot in &mut self.pilots {
                    pilot.turn();
                }
                self.arena.step();
            }
            for pilot in &mut self.pilots {
                assert!(pilot.turn() && pilot.words.is_none(), "after {command:?}: {:?}", pilot.words);
                let finite = |ship: &keel_protocol::OwnShip| {
                    ship.hull.is_finite() && ship.shield.held.is_finite() && ship.battery.held.is_finite()
                };
                assert!(pilot.replica.own().all(finite), "after {command:?}");
            }
            let answers = self.pilots[who].answers.drain(..).filter(|answer| answer.seq == seq);
            assert_eq!(answers.count(), 1, "answers to {command:?}");
        }
    }
}
