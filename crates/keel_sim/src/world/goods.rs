//! What pilots own besides ships and modules.

use crate::save::pairs;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use keel_rules::Blueprint;
use keel_rules::pay::Salt;

/// What a pilot was paid.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Purse {
    /// For cleared incursions and fair kills.
    pub salt: Salt,
    /// For full charts.
    pub notches: u64,
}

/// What a pilot has gathered.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cargo {
    /// From belts.
    pub ore: u64,
    /// From gas clouds.
    pub gas: u64,
    /// From wrecks.
    pub material: u64,
    /// From wrecks.
    pub remnants: u64,
    /// Copies of blueprints, and how many of each.
    #[serde(with = "pairs")]
    pub copies: BTreeMap<Blueprint, u32>,
    /// Originals of blueprints.
    pub originals: BTreeSet<Blueprint>,
}

impl Cargo {
    /// Puts a copy to those that are there.
    pub fn keep_copy(&mut self, of: Blueprint) {
        let count = self.copies.entry(of).or_default();
        *count = count.saturating_add(1);
    }
}
