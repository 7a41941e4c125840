//! Steps that take too long.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use keel_client::Command;
use keel_server::Config;

use crate::arena::{Arena, Peer, config};

/// An overload that goes by the clock of an [`Arena`], and pilots who go on through it.
pub struct Overload {
    /// The server.
    pub arena: Arena,
    /// The pilots.
    pub pilots: Vec<Peer>,
    burden: Rc<Cell<Duration>>,
    /// Orders that are under way, and when each was given.
    waiting: BTreeMap<(usize, u32), Duration>,
    ordered: Duration,
}

/// What became of a spell of it.
#[derive(Clone, Debug, Default)]
pub struct Spell {
    /// From each step to the next.
    pub intervals: Vec<Duration>,
    /// From each order to its answer.
    pub delays: Vec<Duration>,
    /// The pace that pilots were told at its end, in percent.
    pub pace: u8,
    /// From each time that the server looked at what arrived to the next.
    pub polls: Vec<Duration>,
}

impl Overload {
    /// A server with so many pilots, with nothing to bear yet.
    ///
    /// # Panics
    /// When a pilot is not let in.
    #[must_use]
    pub fn new(pilots: u64) -> Self {
        let mut arena = Arena::new(&Config { layer: 3, ..config() });
        let pilots = (1..=pilots).map(|id| arena.pilot(id, &format!("pilot{id}"))).collect();
        let burden = Rc::new(Cell::new(Duration::ZERO));
        let (clock, takes) = (arena.clock.clone(), Rc::clone(&burden));
        arena.server.burden(move || clock.advance(takes.get()));
        Self { arena, pilots, burden, waiting: BTreeMap::new(), ordered: Duration::ZERO }
    }

    /// A spell of steps that take so long, for so long. Each pilot orders something four times a second.
    ///
    /// # Panics
    /// When a pilot is put out, or an order is answered that was not given, or was answered before.
    pub fn spell(&mut self, step: Duration, lasts: Duration) -> Spell {
        self.burden.set(step);
        let end = self.arena.clock.now() + lasts;
        let mut spell = Spell::default();
        let (mut last, mut polled) = (None, self.arena.clock.now());
        while self.arena.clock.now() < end {
            let (steps, begun) = (self.arena.server.steps(), self.arena.clock.now());
            self.arena.turn();
            // What the turn let pass before it looked is the rest; the burden comes after.
            let rested = self.arena.clock.now().saturating_sub(begun);
            spell.polls.push(begun.saturating_sub(polled) + rested.min(Duration::from_millis(50)));
            polled = begun + rested;
            let ran = self.arena.server.steps() - steps;
            assert!(ran <= 1, "{ran} steps in a turn");
            if ran == 1 {
                let at = self.arena.clock.now() - step;
                spell.intervals.extend(last.map(|last| at - last));
                last = Some(at);
            }
            self.pilots_turn(&mut spell);
        }
        spell.pace = self.pilots[0].replica.pace();
        spell
    }

    fn pilots_turn(&mut self, spell: &mut Spell) {
        let now = self.arena.clock.now();
        let is_time = now >= self.ordered + Duration::from_millis(250);
        if is_time {
            self.ordered = now;
        }
        for (n, pilot) in self.pilots.iter_mut().enumerate() {
            assert!(pilot.turn() && pilot.words.is_none(), "pilot {n} is put out: {:?}", pilot.words);
            for answer in pilot.answers.drain(..) {
                assert!(!answer.text.starts_with("Too many"), "{}", answer.text);
                let given = self.waiting.remove(&(n, answer.seq));
                spell.delays.push(now - given.expect("an answer to each order, and one"));
            }
            if let Some(ship) = pilot.replica.active().map(|ship| ship.id).filter(|_| is_time) {
                let seq = pilot.order(Command::Hold { ship });
                self.waiting.insert((n, seq), now);
                pilot.turn();
            }
        }
    }

    /// Orders that are not answered yet.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        self.waiting.len()
    }
}

/// The value under which so large a share of several lies.
///
/// # Panics
/// When there are none.
#[must_use]
pub fn quantile(several: &[Duration], share: f64) -> Duration {
    let mut sorted = several.to_vec();
    sorted.sort_unstable();
    sorted[((sorted.len() - 1) as f64 * share).round() as usize]
}
