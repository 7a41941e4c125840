//! What ships that are lost, kills and charts bring in (rule 11): [`ExpirySet::Loot`] and [`WorldSet::Charts`].

mod charts;
mod kills;
mod wrecks;

pub use charts::{Chart, Charts};
pub(crate) use charts::{Surveyed, forget};
pub(crate) use kills::FairKills;
pub use wrecks::{LiesIn, Load, Wreck, WreckIndex, Wrecks};

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::Fit;

use crate::schedule::{ExpirySet, WorldSet};
use crate::stream::Stream;
use crate::world::Ship;

pub(crate) struct PayPlugin;

impl Plugin for PayPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<WreckIndex>()
            .init_resource::<FairKills>()
            .init_resource::<Surveyed>()
            .add_message::<Destroyed>()
            .add_systems(FixedUpdate, (wrecks::leave, kills::pay).chain().in_set(ExpirySet::Loot))
            .add_systems(FixedUpdate, wrecks::fade.in_set(ExpirySet::Ends))
            .add_systems(FixedUpdate, charts::chart.in_set(WorldSet::Charts));
    }
}

/// A ship is no more.
#[derive(Message, Clone, Debug)]
pub(crate) struct Destroyed {
    pub(crate) ship: Ship,
    pub(crate) fit: Fit,
    /// Its own chances: nobody else draws from them any more.
    pub(crate) rolls: Stream,
    pub(crate) sector: Entity,
    pub(crate) fleet: Entity,
    /// Whose shot it was.
    pub(crate) by: Option<Ship>,
}
