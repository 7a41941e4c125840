//! What a hull is before anything is fitted to it (rule 2).

use keel_balance::{Balance, LineShift};
use serde::{Deserialize, Serialize};

/// A ship class, by its place among the balance's rows: 0 is the smallest, and the place is the size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClassId(pub u8);

impl ClassId {
    /// What it is called.
    #[must_use]
    pub fn name(self, balance: &Balance) -> &str {
        balance.classes.get(self.0.into()).map_or("hull", |(name, _)| name)
    }

    /// The class of that name.
    #[must_use]
    pub fn named(balance: &Balance, name: &str) -> Option<Self> {
        balance.classes.position(name).and_then(|index| u8::try_from(index).ok()).map(Self)
    }
}

/// A hull line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Line {
    /// No shift.
    #[default]
    Line,
    /// Easier to hit and to lock, better at tracking.
    Anchor,
    /// Harder to hit, worse at tracking.
    Screen,
}

impl Line {
    /// Every line.
    pub const ALL: [Self; 3] = [Self::Line, Self::Anchor, Self::Screen];

    pub(crate) const fn shift(self, balance: &Balance) -> &LineShift {
        match self {
            Self::Line => &balance.lines.line,
            Self::Anchor => &balance.lines.anchor,
            Self::Screen => &balance.lines.screen,
        }
    }
}
