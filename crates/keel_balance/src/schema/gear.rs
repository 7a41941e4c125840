//! Modules: who makes them, what they give, how they wear.

use serde::{Deserialize, Serialize};

use crate::units::{Amount, Delay, Factor, Points, Seconds, Share};

/// The makers of gear.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Factions {
    /// The generalist gear that a new pilot starts with.
    pub human: FactionGear,
    /// Impact gear.
    pub raider: FactionGear,
    /// Phase gear.
    pub sentry: FactionGear,
    /// Plasma gear.
    pub breaker: FactionGear,
}

/// One maker's gear.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactionGear {
    /// What its guns deal and what its armor and shields count as.
    pub damage: DamageKind,
    /// Its gun.
    pub gun: Gun,
    /// Factor of the hull that its armor gives.
    pub armor: Factor,
    /// Factor of the shield that its shield gives.
    pub shield: Factor,
    /// Resist of a Common piece.
    pub resist: Resists,
    /// Its shade of Brace.
    pub brace: BraceShade,
    /// How long its Jam silences.
    pub jam_s: Seconds,
}

/// What a faction's guns deal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum DamageKind {
    /// A third each of Plasma, Impact and Phase.
    Thirds,
    /// All Plasma.
    Plasma,
    /// All Impact.
    Impact,
    /// All Phase.
    Phase,
}

/// A plain Common gun.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gun {
    /// Factor of the volley baseline.
    pub volley: Factor,
    /// Time between shots.
    pub cycle_s: Seconds,
    /// Battery a shot.
    pub battery: Amount,
    /// Share of a smaller target's size step that it takes off.
    pub tracking: Share,
    /// Factor of the lock time.
    pub lock: Factor,
}

/// Resist per damage type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resists {
    /// Against Plasma.
    pub plasma: Points,
    /// Against Impact.
    pub impact: Points,
    /// Against Phase.
    pub phase: Points,
}

/// One maker's Brace.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BraceShade {
    /// Hull restored.
    pub hull: Amount,
    /// Battery spent.
    pub cost: Amount,
    /// Time until it can be used again.
    pub cooldown_s: Delay,
}

/// A damage type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum DamageType {
    /// Breaker guns.
    Plasma,
    /// Raider guns.
    Impact,
    /// Sentry guns.
    Phase,
}

/// Plain, fast and slow guns.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variants {
    /// As its maker builds it.
    pub plain: GunVariant,
    /// Weaker shots, more of them.
    pub fast: GunVariant,
    /// Stronger shots, fewer of them.
    pub slow: GunVariant,
}

/// What a variant does to a gun.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GunVariant {
    /// Factor of the volley.
    pub volley: Factor,
    /// Factor of the cycle.
    pub cycle: Factor,
}

/// The four grades of a piece.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grades {
    /// The lowest grade.
    pub common: GradeGain,
    /// The second grade.
    pub rare: GradeGain,
    /// The third grade.
    pub legendary: GradeGain,
    /// The highest grade.
    pub ultimate: GradeGain,
}

/// What a grade gives.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GradeGain {
    /// Factor of a module's strength.
    pub strength: Factor,
    /// Added to each resist of an armor or shield.
    pub resist: Points,
}

/// What scales a module's strength: a gun's volley, and the hull that a Brace or a mender restores.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Strength {
    /// Share that a module of no quality keeps.
    pub poor: Share,
    /// Share that each rank over 1 adds.
    pub rank: Share,
    /// Share that a module at no durability keeps; of the resists, too.
    pub worn: Share,
}

/// How modules wear, and what a repair costs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wear {
    /// Shots in which a gun loses a point of durability.
    pub shots: u16,
    /// Hits in which a shield or an armor does.
    pub hits: u16,
    /// Points that a system loses in each use.
    pub use_points: u8,
    /// Points of quality that a repair at a Haven costs.
    pub repair_quality: u8,
}

/// What gear without a power gives.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gear {
    /// Points of evasion.
    pub evasion: Points,
    /// Added to the tracking.
    pub tracking: Share,
    /// Factor of the battery.
    pub battery: Factor,
    /// Sectors that a Sensor adds to the view.
    pub sensor: u8,
    /// Sectors that a wormhole scanner reaches.
    pub scanner: u8,
    /// A Shard.
    pub shard: Shard,
}

/// What a Shard gives.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shard {
    /// Factor of the hull.
    pub hull: Factor,
    /// Factor of the shield.
    pub shield: Factor,
    /// Factor of each gun's volley.
    pub volley: Factor,
}

/// Power grid that each module takes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// A gun.
    pub gun: Amount,
    /// An armor.
    pub armor: Amount,
    /// A shield.
    pub shield: Amount,
    /// A Brace.
    pub brace: Amount,
    /// A Jam.
    pub jam: Amount,
    /// A Clamp, which is the Unclamp as well.
    pub clamp: Amount,
    /// A Sensor.
    pub sensor: Amount,
    /// A mender.
    pub mender: Amount,
    /// A suppression aura.
    pub aura: Amount,
    /// A cloak.
    pub cloak: Amount,
    /// Evasion gear.
    pub evasion: Amount,
    /// Tracking gear.
    pub tracking: Amount,
    /// Battery gear.
    pub battery: Amount,
    /// A wormhole scanner.
    pub scanner: Amount,
    /// A Shard.
    pub shard: Amount,
}

/// A kind of system module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum System {
    /// Restores hull and raises every resist.
    Brace,
    /// Silences the locked target.
    Jam,
    /// Holds a ship in its sector, and breaks free of those that hold this one.
    Clamp,
    /// Sees farther.
    Sensor,
    /// Repairs ships nearby.
    Mender,
    /// Stretches its enemies' cycles.
    Aura,
    /// Hides the ship.
    Cloak,
    /// Evasion gear.
    Evasion,
    /// Tracking gear.
    Tracking,
    /// Battery gear.
    Battery,
    /// Finds wormholes.
    Scanner,
}

/// The grade of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum Grade {
    /// The lowest.
    #[default]
    Common,
    /// The second.
    Rare,
    /// The third.
    Legendary,
    /// The highest.
    Ultimate,
}

impl Grade {
    /// Every grade, the lowest first.
    pub const ALL: [Self; 4] = [Self::Common, Self::Rare, Self::Legendary, Self::Ultimate];
}

/// A maker of gear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum Faction {
    /// The generalist.
    Human,
    /// Impact.
    Raider,
    /// Phase.
    Sentry,
    /// Plasma.
    Breaker,
}

impl Faction {
    /// Every maker.
    pub const ALL: [Self; 4] = [Self::Human, Self::Raider, Self::Sentry, Self::Breaker];
}
