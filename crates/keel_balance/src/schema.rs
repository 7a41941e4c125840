//! The shape of `balance.ron`. A field's type gives its unit and range ([`crate::units`]); its doc says what it moves.

use serde::Deserialize;

use crate::table::Table;
use crate::units::{Amount, Chance, Delay, Factor, Points, Pool, Seconds, Share, Shift};

/// Every number a designer may move.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Balance {
    /// What a factor of 1 stands for.
    pub baseline: Baseline,
    /// The hull of a ship with no armor fitted, as a factor of the hull baseline.
    pub bare_hull: Factor,
    /// The hull that a ship keeps where ships are not destroyed.
    pub kept_hull: Amount,
    /// The ship classes, smallest first.
    pub classes: Table<Class>,
    /// The hull lines.
    pub lines: Lines,
    /// The makers of gear.
    pub factions: Factions,
    /// Which damage type beats which gear.
    pub edge: Edge,
    /// Plain, fast and slow guns.
    pub variants: Variants,
    /// What a piece's grade gives.
    pub grades: Grades,
    /// What scales a module's strength.
    pub strength: Strength,
    /// How modules wear.
    pub wear: Wear,
    /// Points no resist goes over.
    pub resist_cap: Points,
    /// The lock.
    pub lock: Lock,
    /// The hit roll.
    pub roll: Roll,
    /// Battery, shield and hull refills.
    pub clocks: Clocks,
    /// The powers.
    pub powers: Powers,
    /// Gear without a power.
    pub gear: Gear,
    /// Power grid that modules take.
    pub grid: Grid,
    /// Hops, travel and arrivals.
    pub moving: Moving,
    /// Ships that a pilot has at most.
    pub fleet: u8,
    /// What every Haven has.
    pub yard: Yard,
    /// Duels by consent.
    pub duel: Duel,
    /// Charters of pilots.
    pub charter: Charter,
    /// Layers 1 to 6.
    pub layers: [Layer; 6],
    /// How many NPC squads a map holds.
    pub squads: Squads,
    /// What a new pilot flies.
    pub starter: Starter,
    /// The open map.
    pub map: OpenMap,
    /// Shots that each pilot's combat log keeps.
    pub combat_log: u16,
}

/// What a factor of 1 stands for, before gear and Shard.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// Hull points.
    pub hull: Pool,
    /// Shield points.
    pub shield: Pool,
    /// Damage of one shot before edge and resist.
    pub volley: Pool,
    /// Battery units.
    pub battery: Pool,
}

/// A ship class.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// Time of one hop after its window.
    pub move_s: Seconds,
    /// Base lock time.
    pub lock_s: Seconds,
    /// Base evasion.
    pub evasion: Points,
    /// Factor of the hull.
    pub hull: Factor,
    /// Factor of the shield.
    pub shield: Factor,
    /// Factor of each gun's volley.
    pub volley: Factor,
    /// Weapon wells: 1 or 2.
    pub guns: u8,
    /// Power grid for modules.
    pub power_grid: Amount,
    /// Slots for systems.
    pub slots: u8,
}

/// The hull lines.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lines {
    /// No shift.
    pub line: LineShift,
    /// Easier to hit and to lock, better at tracking.
    pub anchor: LineShift,
    /// Harder to hit, worse at tracking.
    pub screen: LineShift,
}

/// What a hull line shifts.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineShift {
    /// Added to evasion.
    pub evasion: Points,
    /// Added to tracking.
    pub tracking: Shift,
    /// Classes larger that a lock sees the ship as.
    pub lock_sizes: u8,
    /// Factor of the ship's own lock time.
    pub lock: Factor,
}

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

/// Hops, travel and arrivals.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moving {
    /// The wait before each hop in which it can be cancelled.
    pub window_s: Delay,
    /// Travel between layers.
    pub travel_s: Seconds,
    /// A wormhole jump.
    pub jump_s: Seconds,
    /// Grace after a wormhole arrival.
    pub grace_s: Delay,
    /// Cooldown after a cancelled jump.
    pub jump_cooldown_s: Delay,
}

/// What every Haven has.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yard {
    /// Whose Common gear and hulls it hands out.
    pub factions: Vec<Faction>,
    /// Modules that a pilot may keep besides those fitted.
    pub hold: u16,
}

/// Duels by consent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duel {
    /// How long a challenge stands.
    pub ask_s: Seconds,
    /// How long a duel lasts.
    pub lasts_s: Seconds,
}

/// Charters of pilots.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Charter {
    /// Pilots at most.
    pub members: u16,
    /// How long an invitation stands.
    pub invite_s: Seconds,
    /// Berths at most.
    pub berths: u8,
}

/// A layer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// Whether pilots may fire on pilots.
    pub fire: FireRule,
    /// Whether a pilot's ship at zero hull is destroyed.
    pub hull_loss: bool,
    /// Whether a Haven stands at its centre.
    pub haven: bool,
    /// Whether charters may have berths there.
    pub berths: bool,
    /// The flag after a rescue jump.
    pub rescue_s: Delay,
    /// NPCs that a sector holds at most.
    pub sector_cap: u8,
    /// NPCs in a squad, on paper: the sector's cap wins.
    pub squad: u8,
    /// What its squads fly.
    pub npcs: NpcFits,
}

/// Whether pilots may fire on pilots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum FireRule {
    /// Never.
    Never,
    /// In a duel by consent, or between hostile charters.
    Consent,
    /// Always.
    Open,
}

/// What a layer's squads fly. Each squad is of one faction; each of its ships is of a class drawn from the list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NpcFits {
    /// The grade of every piece.
    pub grade: Grade,
    /// The durability of every module.
    pub durability: Share,
    /// Whether armor is fitted.
    pub armor: bool,
    /// Whether shields are fitted.
    pub shield: bool,
    /// Systems that are fitted.
    pub systems: Vec<System>,
    /// Classes to draw from.
    pub classes: Vec<String>,
    /// Factions to draw from.
    pub factions: Vec<Faction>,
}

/// A kind of system module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
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

/// How many NPC squads a map holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Squads {
    /// Sectors for each squad.
    pub per_sectors: u16,
    /// The most on one map.
    pub most: u16,
    /// Squads that fill a new map each step.
    pub fill_per_step: u16,
    /// Time until a lost squad is back.
    pub respawn_s: Seconds,
}

/// What a new pilot flies.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Starter {
    /// The class of the ship.
    pub class: String,
    /// The faction of its gear.
    pub faction: Faction,
    /// How long a pilot whose ship was destroyed waits for a new one.
    pub respawn_s: Delay,
}

/// The open map.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenMap {
    /// Hops from the centre to the rim.
    pub radius: u8,
}
