//! Time as whole microseconds, so that a timer is exact on every platform (rule 1.1).

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::{Add, Sub};

use keel_balance::{Delay, Seconds};

/// Steps in a second.
pub const STEPS_PER_SECOND: u32 = 20;

/// One step of the server, 50 ms.
pub const STEP: Micros = Micros(1_000_000 / STEPS_PER_SECOND);

/// A span of whole microseconds, up to 71 minutes. Sums and differences stop at the ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Micros(u32);

impl Micros {
    /// No time.
    pub const ZERO: Self = Self(0);

    /// That many microseconds.
    #[must_use]
    pub const fn new(micros: u32) -> Self {
        Self(micros)
    }

    /// The nearest whole microsecond to so many seconds; negative or not a number is none.
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Self {
        // The cast saturates, and takes NaN to zero.
        Self((seconds * 1e6 + 0.5) as u32)
    }

    /// The microseconds.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// The span in seconds.
    #[must_use]
    pub fn seconds(self) -> f32 {
        (f64::from(self.0) / 1e6) as f32
    }

    /// Whether nothing is left.
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// Times a factor, to the nearest microsecond.
    #[must_use]
    pub fn scaled(self, factor: f32) -> Self {
        Self::from_seconds(f64::from(self.0) * f64::from(factor) / 1e6)
    }

    /// Steps until a timer of this span that starts in one step has ended: rounded up.
    #[must_use]
    pub const fn steps(self) -> u32 {
        self.0.div_ceil(STEP.0)
    }
}

/// A point of the world's own time: microseconds since its first step.
///
/// A timer is the moment at which it ends, not a count that every step takes down: what waits costs nothing, and a client
/// that knows the end needs no further word. A span that begins in step `n` and lasts `D` seconds has ended in step
/// `n + D × 20`, rounded up to a whole step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Moment(u64);

impl Moment {
    /// The world's beginning: every timer that ends here has ended.
    pub const START: Self = Self(0);

    /// The moment of a step.
    #[must_use]
    pub const fn of_step(step: u64) -> Self {
        Self(step * STEP.0 as u64)
    }

    /// The microseconds since the world's beginning.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The first step in which a timer that ends at this moment has ended.
    #[must_use]
    pub const fn step(self) -> u64 {
        self.0.div_ceil(STEP.0 as u64)
    }

    /// The moment of the step after this one.
    #[must_use]
    pub const fn next_step(self) -> Self {
        Self(self.0 + STEP.0 as u64)
    }

    /// Whether a timer that ends at this moment had already ended a whole step before `now`: whatever waited for it
    /// alone would have gone on then.
    #[must_use]
    pub const fn is_stale(self, now: Self) -> bool {
        self.0 + STEP.0 as u64 <= now.0
    }

    /// What is left until this moment.
    #[must_use]
    pub fn since(self, earlier: Self) -> Micros {
        Micros(u32::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(u32::MAX))
    }
}

impl Add<Micros> for Moment {
    type Output = Self;

    fn add(self, span: Micros) -> Self {
        Self(self.0.saturating_add(span.0.into()))
    }
}

impl From<Seconds> for Micros {
    fn from(seconds: Seconds) -> Self {
        Self::from_seconds(seconds.get())
    }
}

impl From<Delay> for Micros {
    fn from(delay: Delay) -> Self {
        Self::from_seconds(delay.get())
    }
}

impl Add for Micros {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Micros {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// Seconds with the precision that the format asks for.
impl fmt::Display for Micros {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&(f64::from(self.0) / 1e6), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_1_1_a_step_is_50_000_microseconds() {
        assert_eq!(STEP.get(), 50_000);
        assert_eq!(Micros::from_seconds(0.713).get(), 713_000);
        assert_eq!(Micros::from_seconds(0.713).steps(), 15);
    }

    #[test]
    fn rule_1_2_what_lasts_d_seconds_ends_d_times_20_steps_later() {
        let ends = |step, seconds| (Moment::of_step(step) + Micros::from_seconds(seconds)).step();
        assert_eq!(ends(7, 3.0), 67);
        assert_eq!(ends(0, 10.0), 200);
        assert_eq!(ends(0, 0.713), 15);
        assert!(!Moment::of_step(5).is_stale(Moment::of_step(5)));
        assert!(Moment::of_step(5).is_stale(Moment::of_step(6)));
        assert!(!(Moment::of_step(5) + Micros::new(1)).is_stale(Moment::of_step(6)));
    }

    #[test]
    fn spans_stop_at_their_ends() {
        assert_eq!(Micros::from_seconds(-1.0), Micros::ZERO);
        assert_eq!(Micros::from_seconds(f64::NAN), Micros::ZERO);
        assert_eq!(Micros::from_seconds(1e9), Micros::new(u32::MAX));
        assert_eq!(Micros::new(1) - Micros::new(2), Micros::ZERO);
    }

    #[test]
    fn seconds_print_as_the_log_prints_them() {
        assert_eq!(format!("{:.2}", Micros::from_seconds(2.0)), "2.00");
        assert_eq!(format!("{:.1}", Micros::from_seconds(2.7)), "2.7");
    }
}
