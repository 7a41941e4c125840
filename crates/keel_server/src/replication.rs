//! What each pilot may see, as packets: what has changed since what their client has acknowledged.
//!
//! The ships of a sector are looked at once a step, however many pilots see them ([`crowd`]), and what has changed of them
//! since a step is encoded once for all clients that have the state of that step. What is left for each client ([`Viewer`]) is
//! to know what it has, to choose what it needs most, and to copy bytes.

mod crowd;
mod eyes;
mod pack;
mod sight;
mod told;
mod viewer;

pub use sight::Sight;
pub use viewer::{Nonsense, Viewer};

use bevy_ecs::prelude::*;
use keel_sim::Now;

use crowd::Crowds;
use eyes::Eyes;

/// The state of every sector that anyone sees, shared by all who see it.
#[derive(Debug, Default)]
pub struct Replication {
    step: u64,
    pace: u8,
    /// Once there is a ship to look at.
    eyes: Option<Eyes>,
    crowds: Crowds,
}

impl Replication {
    /// A step has run, at a pace in percent of the clock. Views are of that step until the next one.
    pub fn begin(&mut self, world: &World, pace: u8) {
        self.crowds.forget(self.step);
        self.step = world.resource::<Now>().step();
        self.pace = pace;
        match &mut self.eyes {
            Some(eyes) => eyes.adjust(world),
            None => self.eyes = Eyes::open(world),
        }
    }
}
