//! Places, fleets and pilots.

use serde::Deserialize;

use super::{Faction, Grade, System};
use crate::units::{Chance, Delay, Seconds, Share};

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
    /// The flag over the ships of pilots who were connected when the server stopped, from its next start on.
    pub resume_s: Delay,
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
}

/// What charters build.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Structures {
    /// The maker of their armor and shields.
    pub faction: Faction,
    /// Where the charter's pilots dock.
    pub berth: Structure,
    /// Where the charter's pilots harvest more.
    pub outpost: Structure,
    /// What a harvest in the sector of an outpost is multiplied by.
    pub outpost_yield: u8,
    /// Structures of all charters that a map has at most.
    pub a_map: u8,
    /// The share of its material that a structure leaves when it falls.
    pub wreck: Share,
    /// How long after a lock on a structure its charter is told of no other.
    pub alarm_s: Delay,
}

/// A structure.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Structure {
    /// Its class.
    pub class: String,
    /// How many a charter has at most.
    pub most: u8,
    /// Ore that it takes.
    pub ore: u32,
    /// Gas that it takes.
    pub gas: u32,
    /// Wreck material that it takes.
    pub material: u32,
}

/// Harvests of belts and clouds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harvest {
    /// How long one takes.
    pub takes_s: Seconds,
}

/// A layer.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Layer {
    /// What a wormhole's card calls it.
    pub danger: Danger,
    /// Whether pilots may fire on pilots.
    pub fire: FireRule,
    /// Whether a pilot's ship at zero hull is destroyed.
    pub hull_loss: bool,
    /// Whether a Haven stands at its centre.
    pub haven: bool,
    /// Whether charters may build there.
    pub structures: bool,
    /// The flag after a rescue jump.
    pub rescue_s: Delay,
    /// Open sectors at least.
    pub sectors: u16,
    /// NPCs that a sector holds at most.
    pub sector_cap: u8,
    /// NPCs in a squad, on paper: the sector's cap wins.
    pub squad: u8,
    /// NPCs that a sector in an incursion holds at most.
    pub incursion_cap: u8,
    /// Notches for a full chart.
    pub notches: u8,
    /// Hundredths of Salt for each contributor to a cleared incursion.
    pub incursion_salt: u32,
    /// Hundredths of Salt for a fair kill of a pilot's ship.
    pub kill_salt: u32,
    /// Classes of its tier: what a hull's copy can be of.
    pub hull_copies: Vec<String>,
    /// What its squads fly.
    pub npcs: NpcFits,
}

/// The danger of a map in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Danger {
    /// No ship is lost there.
    Safe,
    /// The least.
    Low,
    /// More.
    Moderate,
    /// More still.
    High,
    /// Near the most.
    Severe,
    /// The most.
    Deadly,
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

/// How many NPC squads a map holds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Squads {
    /// Sectors for each squad.
    pub per_sectors: u16,
    /// Squads that fill a new map each step.
    pub fill_per_step: u16,
    /// Time until a lost squad is back.
    pub respawn_s: Seconds,
    /// How long a squad stays in a sector on average.
    pub roam_s: Seconds,
}

/// Incursions of NPCs into a block of sectors.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Incursions {
    /// Minutes from one of a map to its next at least.
    pub least_min: u16,
    /// Minutes from one of a map to its next at most.
    pub most_min: u16,
    /// Time from the warning to the first wave.
    pub warn_s: Delay,
    /// Hops from the middle of the block to its rim.
    pub reach: u8,
    /// How many waves there are.
    pub waves: u8,
    /// Time from a wave to the next at most.
    pub wave_s: Seconds,
    /// Time from the first wave in which all have to be destroyed.
    pub lasts_s: Seconds,
    /// What a ship's hull, shield and volley are multiplied by in a Rift.
    pub rift_strength: u8,
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

/// What a Rift has of its own.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rift {
    /// What a wormhole's card calls it.
    pub danger: Danger,
    /// Open sectors at least.
    pub sectors: u16,
    /// NPCs that a sector holds at most.
    pub sector_cap: u8,
    /// NPCs in a squad, on paper: the sector's cap wins.
    pub squad: u8,
    /// NPCs that a sector in an incursion holds at most.
    pub incursion_cap: u8,
    /// Notches for a full chart.
    pub notches: u8,
}

/// Wormholes.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wormholes {
    /// How many are kept on every layer.
    pub per_layer: u8,
    /// The chance that a new one leads into a Rift.
    pub rift_chance: Chance,
    /// Minutes that one is open at least.
    pub least_min: u16,
    /// Minutes that one is open at most.
    pub most_min: u16,
}

/// Storms that reshape the maps.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Storms {
    /// Hours from one storm of a map to its next.
    pub every_h: u8,
    /// Hours by which a layer's come after those of its Rift.
    pub layer_shift_h: u8,
    /// Minutes from a storm's warning to its landing.
    pub warn_min: u16,
    /// What they are called, with the article.
    pub names: Vec<String>,
}

/// How maps are laid out.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapRule {
    /// The box of a layer.
    pub layer: MapBox,
    /// The box of a Rift.
    pub rift: MapBox,
    /// Of a hundred places of the box, how many no ship enters.
    pub hazards: u8,
    /// Belts of a layer.
    pub belts: Patches,
    /// Gas clouds of a layer.
    pub clouds: Patches,
}

/// The hidden box in which a map lies.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MapBox {
    /// Columns and rows.
    pub side: u8,
    /// Open sectors at most.
    pub most: u16,
    /// NPC squads at most.
    pub squads: u16,
}

/// Patches of belts or clouds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Patches {
    /// How many a map has.
    pub count: u8,
    /// Sectors of each at most.
    pub size: u8,
    /// Richness of each sector at most.
    pub richness: u16,
}
