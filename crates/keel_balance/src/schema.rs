//! The shape of `balance.ron`. A field's type gives its unit and range ([`crate::units`]); its doc says what it moves.

mod fight;
mod gear;
mod hull;
mod pay;
mod world;

pub use fight::*;
pub use gear::*;
pub use hull::*;
pub use pay::*;
pub use world::*;

use serde::Deserialize;

use crate::table::Table;
use crate::units::{Amount, Factor, Points};

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
    /// What charters build.
    pub structures: Structures,
    /// Harvests of belts and clouds.
    pub harvest: Harvest,
    /// Layers 1 to 6.
    pub layers: [Layer; 6],
    /// Rifts 1 to 6.
    pub rifts: [Rift; 6],
    /// What a Rift pays, times its layer.
    pub rift_pay: u8,
    /// What the clear of an incursion in a Rift pays, times its layer's.
    pub rift_incursion_pay: u8,
    /// Pay of a layer.
    pub pay: Pay,
    /// Wormholes.
    pub wormholes: Wormholes,
    /// Storms.
    pub storms: Storms,
    /// How many NPC squads a map holds.
    pub squads: Squads,
    /// Incursions.
    pub incursions: Incursions,
    /// What a new pilot flies.
    pub starter: Starter,
    /// How maps are laid out.
    pub map: MapRule,
    /// Shots that each pilot's combat log keeps.
    pub combat_log: u16,
}
