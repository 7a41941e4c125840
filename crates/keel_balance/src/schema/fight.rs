//! A shot, the clocks and the powers.

use serde::Deserialize;

use super::DamageType;
use crate::units::{Amount, Chance, Delay, Factor, Points, Seconds, Share};

/// Which damage type beats which gear, and by how much.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The gear that Plasma beats.
    pub plasma_beats: DamageType,
    /// The gear that Impact beats.
    pub impact_beats: DamageType,
    /// The gear that Phase beats.
    pub phase_beats: DamageType,
    /// Factor against gear that the type beats.
    pub strong: Factor,
    /// Factor against gear that beats the type.
    pub weak: Factor,
}

/// The lock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    /// Taken off for each class the target is larger.
    pub larger_s: Delay,
    /// The longest that an NPC squad waits before it starts its own lock.
    pub npc_delay_s: Delay,
    /// Factor of the cycle under an enemy suppression aura.
    pub aura_cycle: Factor,
}

/// The hit roll.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Roll {
    /// A gun's own chance to hit.
    pub hit: Chance,
    /// Evasion for each class that the shooter is larger.
    pub size_step: Points,
    /// A gun's own chance of a critical hit.
    pub crit: Chance,
    /// Factor of the volley on a critical hit.
    pub crit_damage: Factor,
}

/// Battery, shield and hull refills.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clocks {
    /// Battery that trickles back each second.
    pub battery_per_s: Amount,
    /// Battery under which the shield does not refill.
    pub battery_empty: Amount,
    /// Move times of the class that a shield takes to fill.
    pub shield_moves: Factor,
    /// Quiet time after which the hull fills.
    pub hull_quiet_s: Seconds,
}

/// The powers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Powers {
    /// Brace.
    pub brace: Brace,
    /// Jam.
    pub jam: Jam,
    /// Clamp.
    pub clamp: Clamp,
    /// Unclamp.
    pub unclamp: Unclamp,
    /// The mender.
    pub mender: Mender,
    /// The cloak.
    pub cloak: Cloak,
}

/// What every Brace does.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Brace {
    /// Added to every resist.
    pub resist: Points,
    /// For how long.
    pub lasts_s: Seconds,
    /// Share of the hull under which an escort uses it.
    pub trigger_hull: Share,
}

/// What every Jam costs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jam {
    /// Battery spent.
    pub cost: Amount,
    /// Time until it can be used again.
    pub cooldown_s: Delay,
}

/// Clamp.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clamp {
    /// Battery spent.
    pub cost: Amount,
    /// The grapple of a baseline module.
    pub grapple: Amount,
    /// The grapple a Clamp needs to hold.
    pub holds_at: Amount,
}

/// Unclamp.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unclamp {
    /// Battery spent.
    pub cost: Amount,
    /// How long no Clamp can catch the ship again.
    pub immune_s: Delay,
}

/// The mender.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mender {
    /// Time between repairs.
    pub every_s: Seconds,
    /// Hull repaired.
    pub hull: Amount,
    /// Battery spent.
    pub cost: Amount,
    /// Sectors away that it reaches.
    pub reach: u8,
}

/// The cloak.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cloak {
    /// Battery spent.
    pub cost: Amount,
    /// Time from when it drops until it can be used again.
    pub cooldown_s: Delay,
}
