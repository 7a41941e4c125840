//! What hulls and modules are made by.

use keel_balance::{Balance, Faction, Grade};
use serde::{Deserialize, Serialize};

use crate::hull::ClassId;
use crate::module::{Kind, Module};

/// A plan of a hull or a module. Pilots come by copies of one, and seldom by its original.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Blueprint {
    /// Of a hull.
    Hull(ClassId),
    /// Of a module.
    Module {
        /// What it is.
        kind: Kind,
        /// Its maker.
        faction: Faction,
        /// Its grade.
        grade: Grade,
    },
}

impl Blueprint {
    /// What a module was made by.
    #[must_use]
    pub const fn of(module: &Module) -> Self {
        Self::Module { kind: module.kind, faction: module.faction, grade: module.grade }
    }

    /// What it is of: `Frigate hull`, `Rare Raider gun`.
    #[must_use]
    pub fn name(&self, balance: &Balance) -> String {
        match self {
            Self::Hull(class) => format!("{} hull", class.name(balance)),
            Self::Module { kind, faction, grade } => format!("{grade:?} {faction:?} {kind}"),
        }
    }
}
