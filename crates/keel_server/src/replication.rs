//! What each pilot may see, as packets: what has changed since what their client has acknowledged.
//!
//! The ships of a sector are looked at once a step, however many pilots see them ([`crowd`]), and what has changed of them
//! since a step is encoded once for all clients that have the state of that step. What is left for each client ([`Viewer`]) is
//! to know what it has, to choose what it needs most, and to copy bytes.

mod crowd;
mod pack;
mod sight;
mod told;
mod viewer;

pub use sight::Sight;
pub(crate) use sight::sectors_in_view;
pub use viewer::{Nonsense, Viewer};

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use keel_sim::Now;

use crowd::Crowd;

/// The state of every sector that anyone sees, shared by all who see it.
#[derive(Debug, Default)]
pub struct Replication {
    step: u64,
    pace: u8,
    /// By sector; those that nobody looked at in a step are forgotten.
    crowds: EntityHashMap<Crowd>,
    /// Crowds ever known, so that none is taken for another.
    known: u64,
}

impl Replication {
    /// A step has run, at a pace in percent of the clock. Views are of that step until the next one.
    pub fn begin(&mut self, world: &World, pace: u8) {
        let looked_at = self.step;
        self.crowds.retain(|_, crowd| crowd.looked_at() == looked_at);
        self.step = world.resource::<Now>().step();
        self.pace = pace;
    }

    /// The ships of a sector, as they are after this step.
    fn crowd(&mut self, world: &World, sector: Entity) -> Option<&mut Crowd> {
        let place = sight::place(world, sector)?;
        let crowd = self.crowds.entry(sector).or_default();
        if crowd.looked_at() != self.step {
            // A storm has moved the sector, or nobody has seen it before.
            if crowd.place() != Some(place) {
                self.known += 1;
                *crowd = Crowd::new(self.known, place);
            }
            crowd.look(world, sector, self.step);
        }
        Some(crowd)
    }
}
