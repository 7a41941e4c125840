//! Locks (rule 4): [`SimSet::Lock`].
//!
//! A lock is the moment at which it holds, so a lock that runs costs nothing. What this phase does is to break those
//! that a hop, a tow or a loss has ended.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::{Micros, Moment};

use crate::ids::ShipId;
use crate::schedule::SimSet;
use crate::world::Occupants;

pub(crate) struct LockPlugin;

impl Plugin for LockPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Departures>()
            .add_message::<LockStarted>()
            .add_systems(FixedUpdate, break_locks.in_set(SimSet::Lock));
    }
}

/// A ship's gun or folded pair. Every ship has one; the sheet says whether there is a weapon in it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gun {
    /// The ship that it locks or has locked.
    pub target: Option<Target>,
    /// When the lock on the target holds.
    pub locked_at: Moment,
    /// How long that lock takes from its start.
    pub lock_takes: Micros,
    /// When its cycle has run out. A new lock leaves it alone.
    pub ready_at: Moment,
}

/// A locked ship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its stable name.
    pub id: ShipId,
    /// Itself.
    pub entity: Entity,
}

/// A lock has been started.
#[derive(Message, Clone, Copy, Debug)]
pub(crate) struct LockStarted {
    pub(crate) target: Entity,
}

/// Ships that left a sector since locks were last broken.
#[derive(Resource, Debug, Default)]
pub(crate) struct Departures(Vec<(Entity, Entity)>);

impl Departures {
    /// A ship has left a sector, by whatever way.
    pub(crate) fn add(&mut self, ship: Entity, from: Entity) {
        self.0.push((ship, from));
    }
}

/// Breaks the lock that a departed ship had, and those that others in the sector it left had on it.
pub(crate) fn break_locks(mut departures: ResMut<Departures>, sectors: Query<&Occupants>, mut guns: Query<&mut Gun>) {
    for (ship, from) in departures.0.drain(..) {
        if let Ok(mut gun) = guns.get_mut(ship) {
            gun.target = None;
        }
        let Ok(occupants) = sectors.get(from) else { continue };
        for other in occupants.iter() {
            if let Ok(mut gun) = guns.get_mut(other)
                && gun.target.is_some_and(|target| target.entity == ship)
            {
                gun.target = None;
            }
        }
    }
}
