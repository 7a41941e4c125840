//! Damage types and the edge that the struck gear gives or takes (rule 6).

use keel_balance::{DamageKind, DamageType, Edge};

/// What a shot is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A third each of Plasma, Impact and Phase, in that order, each through the whole path on its own.
    Thirds,
    /// All of one type.
    One(DamageType),
}

impl From<DamageKind> for Damage {
    fn from(kind: DamageKind) -> Self {
        match kind {
            DamageKind::Thirds => Self::Thirds,
            DamageKind::Plasma => Self::One(DamageType::Plasma),
            DamageKind::Impact => Self::One(DamageType::Impact),
            DamageKind::Phase => Self::One(DamageType::Phase),
        }
    }
}

/// A number for each damage type.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DamageTable {
    /// Against Plasma.
    pub plasma: f32,
    /// Against Impact.
    pub impact: f32,
    /// Against Phase.
    pub phase: f32,
}

impl DamageTable {
    /// The same number for each.
    #[must_use]
    pub const fn all(value: f32) -> Self {
        Self { plasma: value, impact: value, phase: value }
    }

    /// The number of each type.
    #[must_use]
    pub fn of(number: impl Fn(DamageType) -> f32) -> Self {
        Self {
            plasma: number(DamageType::Plasma),
            impact: number(DamageType::Impact),
            phase: number(DamageType::Phase),
        }
    }

    /// The number of one type.
    #[must_use]
    pub const fn get(&self, damage: DamageType) -> f32 {
        match damage {
            DamageType::Plasma => self.plasma,
            DamageType::Impact => self.impact,
            DamageType::Phase => self.phase,
        }
    }
}

/// The factor that a damage type takes against the struck module's gear (rule 6): 1 against its own and against gear of no one type.
#[must_use]
pub fn edge(rule: &Edge, damage: DamageType, gear: Damage) -> f32 {
    let Damage::One(gear) = gear else { return 1.0 };
    let beats = |winner| match winner {
        DamageType::Plasma => rule.plasma_beats,
        DamageType::Impact => rule.impact_beats,
        DamageType::Phase => rule.phase_beats,
    };
    if gear == damage {
        1.0
    } else if beats(damage) == gear {
        rule.strong.get()
    } else if beats(gear) == damage {
        rule.weak.get()
    } else {
        1.0
    }
}

/// A resist in points, 0 to `cap` (rule 6): Brace is added to the piece's own (its grade's share included) first, then the cap; a negative one
/// counts as none.
#[must_use]
pub fn resist(piece: f32, brace: f32, cap: f32) -> f32 {
    (piece + brace).min(cap).max(0.0)
}
