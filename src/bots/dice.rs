//! A bot's own seeded chances.

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

#[derive(Clone, Debug)]
pub(super) struct Dice(Pcg32);

impl Dice {
    /// The dice of the bot of that number, in the load of that seed.
    pub(super) fn new(seed: u64, bot: usize) -> Self {
        Self(Pcg32::new(seed, bot as u64))
    }

    /// A number from 0 to under `count`.
    pub(super) fn below(&mut self, count: usize) -> usize {
        ((u64::from(self.0.next_u32()) * count as u64) >> 32) as usize
    }

    /// Whether something of that chance, 0 to 1, happens.
    pub(super) fn happens(&mut self, chance: f64) -> bool {
        f64::from(self.0.next_u32()) < chance * f64::from(u32::MAX)
    }

    /// One of those; `None` of none.
    pub(super) fn pick<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len())).cloned()
    }
}
