//! Numbers with a range: what a field's type says, the loader checks.
//!
//! The ranges are data ([`range`]) rather than a check in each type's own `Deserialize`, because an error raised there
//! would end the whole reading, and a designer wants all faults at once.

use serde::Deserialize;

pub(crate) struct Range {
    pub(crate) least: f64,
    pub(crate) most: f64,
    /// What the range is called in an error.
    pub(crate) words: &'static str,
}

macro_rules! ranged {
    ($($(#[$doc:meta])* $name:ident: $number:ty = ($least:literal..=$most:literal, $words:literal);)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Deserialize)]
            pub struct $name($number);

            impl $name {
                /// The number itself.
                #[must_use]
                pub const fn get(self) -> $number {
                    self.0
                }
            }
        )*

        /// The range of a unit by its type's name; `None` for a type that has no range.
        pub(crate) fn range(name: &str) -> Option<Range> {
            match name {
                $(stringify!($name) => Some(Range { least: $least, most: $most, words: $words }),)*
                _ => None,
            }
        }
    };
}

ranged! {
    /// A chance, 0 (never) to 1 (certain).
    Chance: f32 = (0.0..=1.0, "a chance from 0 to 1");
    /// A share of a whole, 0 to 1.
    Share: f32 = (0.0..=1.0, "a share from 0 to 1");
    /// A shift of a share, -1 to 1.
    Shift: f32 = (-1.0..=1.0, "a shift from -1 to 1");
    /// Percentage points, -100 to 100.
    Points: f32 = (-100.0..=100.0, "points from -100 to 100");
    /// A factor, 0.01 to 100.
    Factor: f32 = (0.01..=100.0, "a factor from 0.01 to 100");
    /// An amount, 0 to 1,000,000.
    Amount: f32 = (0.0..=1_000_000.0, "an amount from 0 to 1000000");
    /// The size of a pool, or a rate that fills one: 1 to 1,000,000.
    Pool: f32 = (1.0..=1_000_000.0, "a pool from 1 to 1000000");
    /// A time that has to pass, 0.05 s (one step) to 4,000 s.
    Seconds: f64 = (0.05..=4000.0, "seconds from 0.05 to 4000");
    /// A time that may be nothing, 0 to 4,000 s.
    Delay: f64 = (0.0..=4000.0, "seconds from 0 to 4000");
}
