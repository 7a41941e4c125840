//! The world: what is in it, and one plugin for each thing that a step does to it.
//!
//! [`SimPlugin`] is the list of those plugins, and reads as the game does. [`SimSet`] is their order within a step. The
//! sim knows no socket, no file and no clock of the wall: ops come in through [`Orders`], and what happened goes out as
//! messages that a system in [`SimSet::Replicate`] reads.
//!
//! Players and NPCs fly the same archetype through the same systems. They differ only in whose mind gives the orders.

mod clocks;
mod cycle;
mod expiry;
mod hash;
mod ids;
mod lock;
mod minds;
mod movement;
mod notes;
mod ops;
mod orders;
mod pilots;
mod pools;
mod record;
mod roll;
mod schedule;
mod squads;
mod stream;
mod world;

pub use cycle::Fired;
pub use hash::world_hash;
pub use ids::{PilotId, ShipId, SquadId};
pub use lock::{Gun, Target};
pub use movement::{Helm, Leg};
pub use notes::{Note, Noted};
pub use ops::Answered;
pub use orders::{Done, Op, Order, Orders, Refusal};
pub use pools::{Downed, Struck};
pub use record::{CombatLog, Logged, Shot};
pub use roll::Rolled;
pub use schedule::{Now, SimSet};
pub use squads::{Squad, UnfitError, check_fits, spawn_squad};
pub use world::{
    Arrival, Awake, Battery, Card, Condition, Contact, Fleet, InFleet, InSector, Map, Occupants, Pilot, PilotIndex,
    Quiet, Rolls, Sector, Ship, ShipIndex, ShipSpec, Tuning, spawn_pilot, spawn_ship,
};

use std::sync::Arc;

use bevy_app::prelude::*;
use keel_balance::Balance;

/// The world of one map and all that happens in it.
pub struct SimPlugin {
    /// Every number.
    pub balance: Arc<Balance>,
    /// The layer that the map is, 1 to 6.
    pub layer: u8,
    /// What every chance follows from.
    pub seed: u64,
    /// Threads that a step may use.
    pub threads: usize,
    /// Whether NPC squads fill the map.
    pub squads: bool,
}

impl Plugin for SimPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((
            schedule::SchedulePlugin { threads: self.threads },
            world::WorldPlugin { balance: Arc::clone(&self.balance), layer: self.layer, seed: self.seed },
            pilots::PilotsPlugin,
            ops::OpsPlugin,
            movement::MovementPlugin,
            lock::LockPlugin,
            cycle::CyclePlugin,
            roll::RollPlugin,
            pools::PoolsPlugin,
            record::RecordPlugin,
            clocks::ClocksPlugin,
            expiry::ExpiryPlugin,
            minds::MindsPlugin,
        ));
        if self.squads {
            app.add_plugins(squads::SquadsPlugin);
        }
    }
}
