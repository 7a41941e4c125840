//! What is in the world: maps and their sectors, ships, pilots and their fleets. No systems but what keeps them in step.

mod goods;
mod map;
mod pilot;
mod ship;

pub use goods::{Cargo, Purse};
pub(crate) use map::{Appeared, port};
pub use map::{Docked, Ground, Haven, InSector, Map, Maps, Occupants, Sector};
pub use pilot::{Fleet, Hold, InFleet, Pilot, PilotIndex, spawn_pilot};
pub use ship::{
    Arrival, Awake, Battery, Card, Condition, Contact, Fitted, Powers, Quiet, Rolls, Ship, ShipIndex, ShipSpec, Spot,
    spawn_ship,
};
pub(crate) use ship::{Body, in_proportion, keep_sheets, refit, remove_ship, set_card, set_fit, sheet_of};

use std::sync::Arc;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_balance::Balance;
use keel_map::MapKey;

pub(crate) struct WorldPlugin {
    pub(crate) balance: Arc<Balance>,
    pub(crate) ground: Ground,
    pub(crate) maps: Vec<MapKey>,
    pub(crate) start: u8,
    pub(crate) seed: u64,
}

impl Plugin for WorldPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Tuning { balance: Arc::clone(&self.balance), seed: self.seed, start: self.start })
            .init_resource::<Maps>()
            .init_resource::<ShipIndex>()
            .init_resource::<ship::Sheets>()
            .init_resource::<PilotIndex>()
            .add_message::<Appeared>();
        for &key in &self.maps {
            map::lay_out(app.world_mut(), key, self.ground);
        }
    }
}

/// Every number, and what every chance follows from.
#[derive(Resource, Clone)]
pub struct Tuning {
    /// The balance.
    pub balance: Arc<Balance>,
    /// The world's seed.
    pub seed: u64,
    /// The layer on which new pilots come into the world.
    pub start: u8,
}
