//! Locks (rule 4): [`SimSet::Lock`].
//!
//! A lock is the moment at which it holds, so a lock that runs costs nothing. Whatever takes a ship out of its sector
//! breaks the locks that it has and that are on it, by one observer; the phase drops those that are no longer allowed.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::fire::may_fire;
use keel_rules::{Micros, Moment};
use serde::{Deserialize, Serialize};

use crate::bonds::Bonds;
use crate::clamps::Clamping;
use crate::schedule::SimSet;
use crate::world::{InSector, Map, Sector, Ship};

pub(crate) struct LockPlugin;

impl Plugin for LockPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<LockStarted>()
            .add_observer(break_locks)
            .add_systems(FixedUpdate, drop_forbidden.in_set(SimSet::Lock));
    }
}

/// A ship's gun or folded pair. Every ship has one; the sheet says whether there is a weapon in it.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Gun {
    /// When the lock on the target holds.
    pub locked_at: Moment,
    /// How long that lock takes from its start.
    pub lock_takes: Micros,
    /// When its cycle has run out. A new lock leaves it alone.
    pub ready_at: Moment,
}

impl Gun {
    /// Whether the lock holds, if there is one.
    #[must_use]
    pub fn is_locked(&self, now: Moment) -> bool {
        self.locked_at <= now
    }
}

/// The ship that a ship locks or has locked.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = LockedBy)]
pub struct Locking(pub Entity);

/// The ships that lock a ship or have it locked.
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = Locking)]
pub struct LockedBy(Vec<Entity>);

impl LockedBy {
    /// The ships, in the order in which they began.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.0.iter().copied()
    }
}

/// A lock has been started.
#[derive(Message, Clone, Copy, Debug)]
pub(crate) struct LockStarted {
    pub(crate) shooter: Entity,
    pub(crate) target: Entity,
}

/// A ship leaves its sector, by whatever way: its own lock and those on it are broken.
fn break_locks(left: On<Discard<InSector>>, locked_by: Query<&LockedBy>, mut commands: Commands) {
    let ship = left.entity;
    let hunters = locked_by.get(ship).into_iter().flat_map(LockedBy::iter);
    for hunter in hunters.chain([ship]) {
        if let Ok(mut hunter) = commands.get_entity(hunter) {
            hunter.try_remove::<Locking>();
        }
    }
}

/// Pilots who may no longer fire on each other have no lock and no Clamp on each other.
fn drop_forbidden(
    mut bonds: ResMut<Bonds>,
    holders: Query<(Entity, &Ship, &InSector, Option<&Locking>, Option<&Clamping>)>,
    ships: Query<&Ship>,
    sectors: Query<&Sector>,
    maps: Query<&Map>,
    mut commands: Commands,
) {
    if !bonds.loosened {
        return;
    }
    bonds.loosened = false;
    for (entity, ship, sector, locking, clamping) in &holders {
        let Some(map) = sectors.get(sector.0).ok().and_then(|sector| maps.get(sector.map).ok()) else { continue };
        let is_forbidden = |target: Entity| {
            ships.get(target).is_ok_and(|target| {
                may_fire(map.fire, ship.owner, target.owner, bonds.between_owners(ship.owner, target.owner)).is_err()
            })
        };
        if locking.is_some_and(|locking| is_forbidden(locking.0)) {
            commands.entity(entity).remove::<Locking>();
        }
        if clamping.is_some_and(|clamping| is_forbidden(clamping.0)) {
            commands.entity(entity).remove::<Clamping>();
        }
    }
}
