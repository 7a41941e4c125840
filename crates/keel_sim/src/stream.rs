//! Seeded streams of chance (rule 1.3). Each thing that rolls has its own, so neither the order of ships nor the number
//! of threads changes what one of them draws.

use keel_rules::Micros;
use rand::Rng;
use rand_pcg::Pcg32;
use serde::{Deserialize, Serialize};

/// How finely a chance is rolled.
const CHANCES: usize = 1_000_000;

/// A stream for one purpose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stream(Pcg32);

/// What a stream is for. Each purpose of each thing is a stream of its own.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// A ship's hit and crit rolls.
    Rolls,
    /// A squad's delays and choices.
    Squad,
    /// Where squads stand and what they are.
    Placing,
    /// Where wormholes open and lead.
    Wormholes,
    /// What storms are called, and what they leave.
    Storms,
    /// Where incursions come, and what they leave.
    Incursions,
    /// Which squads roam, and where to.
    Roaming,
}

impl Stream {
    /// The stream of that purpose of the thing of that number, in the world of that seed.
    pub(crate) fn new(seed: u64, purpose: Purpose, id: u32) -> Self {
        Self(Pcg32::new(seed, (u64::from(id) << 8) | purpose as u64))
    }

    pub(crate) fn draw(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A number from 0 to under `count`, each equally likely to within `count` in four thousand million.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.draw()) * count as u64) >> 32) as usize
    }

    /// Whether something of that chance, 0 to 1, happens. What is certain draws nothing (rule 1.4).
    pub(crate) fn happens(&mut self, chance: f32) -> bool {
        if chance <= 0.0 || chance >= 1.0 {
            return chance >= 1.0;
        }
        self.below(CHANCES) < (f64::from(chance) * CHANCES as f64).round() as usize
    }

    /// A span from none to `most`.
    pub(crate) fn up_to(&mut self, most: Micros) -> Micros {
        Micros::new(((u64::from(self.draw()) * (u64::from(most.get()) + 1)) >> 32) as u32)
    }

    /// What the stream would give next: its state, for a hash.
    pub(crate) fn fingerprint(&self) -> u64 {
        self.0.clone().next_u64()
    }
}
