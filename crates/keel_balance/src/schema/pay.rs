//! What kills and clears pay.

use serde::Deserialize;

use crate::units::{Chance, Seconds, Share};

/// Pay of a layer; what a Rift multiplies stands beside it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pay {
    /// The chance of each module of a lost ship to be in its wreck.
    pub drop: Chance,
    /// The chance of a Remnant in it.
    pub remnant: Chance,
    /// The chance of a copy of one of the ship's modules in it.
    pub copy: Chance,
    /// Material in it, times the hull of the ship's class.
    pub material: u16,
    /// How long a wreck lasts.
    pub wreck_s: Seconds,
    /// The share of the damage to an incursion's NPCs over which one has contributed.
    pub contribution: Share,
    /// The chance that the top contributor's copy is of a hull.
    pub hull_copy: Chance,
    /// The chance that the top contributor gets an original.
    pub original: Chance,
    /// The most that this chance comes to in a Rift.
    pub original_most: Chance,
    /// Hundredths of Salt that a layer without any counts for its Rift.
    pub rift_base_salt: u32,
    /// Percent of a layer's Salt that a fair kill pays in its Rift.
    pub rift_kill_percent: u16,
    /// Classes that a lost ship may be smaller than its killer's for a fair kill.
    pub kill_smaller: u8,
    /// Time until a kill between the same two pilots is fair again.
    pub kill_again_s: Seconds,
}
