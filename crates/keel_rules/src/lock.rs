//! The lock (rule 4).

use crate::time::Micros;

/// Time until a lock holds (rule 4).
///
/// `base` is the shooter's class's own, `larger` comes off for each of the `classes_larger` by which the target is
/// larger than the shooter (0 when it is the same or smaller: a smaller target adds nothing), and `multiplier` is that of
/// the gear. Never under zero.
#[must_use]
pub fn lock_time(base: Micros, classes_larger: u8, larger: Micros, multiplier: f32) -> Micros {
    let off = larger.get().saturating_mul(classes_larger.into());
    (base - Micros::new(off)).scaled(multiplier)
}

/// By how many classes a lock sees a target as larger than the shooter (rule 4): 0 when it is not.
///
/// `target_size` is the target's class and what its line adds for the lock alone.
#[must_use]
pub const fn classes_larger(shooter_class: u8, target_size: u8) -> u8 {
    target_size.saturating_sub(shooter_class)
}
