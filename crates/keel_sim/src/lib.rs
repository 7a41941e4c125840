//! The world: what is in it, and one plugin for each thing that a step does to it.
//!
//! [`SimPlugin`] is the list of those plugins, and reads as the game does. [`SimSet`] is their order within a step. The
//! sim knows no socket, no file and no clock of the wall: ops come in through [`Orders`], and what happened goes out as
//! messages that a system in [`SimSet::Replicate`] reads.
//!
//! Players and NPCs fly the same archetype through the same systems. They differ only in whose mind gives the orders.

mod bonds;
mod clamps;
mod clocks;
mod docks;
mod expiry;
mod harvest;
mod hash;
mod ids;
mod incursions;
mod minds;
mod movement;
mod notes;
mod ops;
mod orders;
mod pay;
mod pilots;
mod rebalance;
mod save;
mod schedule;
mod shot;
mod squads;
mod storms;
mod stream;
mod structures;
mod world;
mod wormholes;

pub use bonds::{Bonds, Charter};
pub use clamps::{ClampedBy, Clamping};
pub use harvest::Harvest;
pub use hash::world_hash;
pub use ids::{CharterId, IncursionId, ModuleId, PilotId, ShipId, SquadId, WormholeId, WreckId};
pub use incursions::{Incursion, Incursions};
pub use minds::{Mind, Stance};
pub use movement::{Helm, Leg, Passage};
pub use notes::{Good, Note, Noted};
pub use ops::{Answered, Operated};
pub use orders::{Done, Force, Op, OperatorOps, Order, Orders, Part, Refusal, Way};
pub use pay::{Chart, Charts, LiesIn, Load, Wreck, WreckIndex, Wrecks};
pub use rebalance::{RebalanceError, rebalance};
pub use save::{Cut, Key, Kind, RestoreError, Row, changes, restore, resume, whole};
pub use schedule::{Now, SimSet};
pub use shot::{CombatLog, Downed, Fired, Gun, LockedBy, Locking, Logged, Rolled, Shot, Struck, Wear};
pub use squads::{Squad, UnfitError, check_fits, spawn_squad};
pub use storms::{Storm, Storms, WallClock};
pub use structures::{Structure, StructureKind};
pub use world::{
    Arrival, Awake, Battery, Card, Cargo, Condition, Contact, Docked, Fitted, Fleet, Ground, Haven, Hold, InFleet,
    InSector, Map, Maps, Occupants, Pilot, PilotIndex, Powers, Purse, Quiet, Rolls, Sector, Ship, ShipIndex, ShipSpec,
    Spot, Tuning, spawn_pilot, spawn_ship,
};

pub use wormholes::{Code, End, Place, Wormhole, Wormholes};

use std::sync::Arc;

use bevy_app::prelude::*;
use keel_balance::Balance;
use keel_map::MapKey;

/// The world and all that happens in it.
pub struct SimPlugin {
    /// Every number.
    pub balance: Arc<Balance>,
    /// What the maps look like.
    pub ground: Ground,
    /// The maps that there are.
    pub maps: Vec<MapKey>,
    /// The layer, one of them, where new pilots come into the world.
    pub start: u8,
    /// What every chance follows from.
    pub seed: u64,
    /// Threads that a step may use.
    pub threads: usize,
    /// Whether NPC squads fill the maps.
    pub squads: bool,
}

impl Plugin for SimPlugin {
    fn build(&self, app: &mut App) {
        let Self { start, seed, threads, .. } = *self;
        app.add_plugins((
            schedule::SchedulePlugin { threads },
            world::WorldPlugin {
                balance: Arc::clone(&self.balance),
                ground: self.ground,
                maps: self.maps.clone(),
                start,
                seed,
            },
            bonds::BondsPlugin,
            pilots::PilotsPlugin,
            ops::OpsPlugin,
            clamps::ClampsPlugin,
            movement::MovementPlugin,
            shot::ShotPlugins,
            clocks::ClocksPlugin,
            expiry::ExpiryPlugin,
            minds::MindsPlugin,
            docks::DocksPlugin,
        ));
        app.add_plugins((
            pay::PayPlugin,
            structures::StructuresPlugin,
            harvest::HarvestPlugin,
            storms::StormsPlugin,
            wormholes::WormholesPlugin,
            squads::SquadsPlugin { fill: self.squads },
            incursions::IncursionsPlugin,
        ));
    }
}
