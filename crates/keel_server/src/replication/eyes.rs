//! How ships are looked at: all that is needed of one in one go, for in a big fight that is what takes the time.

use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryState;
use keel_map::{Hex, MapKey};
use keel_protocol::{Contact, OwnShip};
use keel_rules::Moment;
use keel_sim::{Docked, Fleet, InFleet, InSector, LockedBy, Map, Occupants, Pilot, Powers, Sector, Ship};

use crate::convert::{self, Inside, Outside};

/// Looks at ships of one world.
#[derive(Debug)]
pub(super) struct Eyes {
    outside: QueryState<Outside>,
    inside: QueryState<(Inside, Option<&'static InSector>, Option<&'static Docked>)>,
    names: QueryState<(&'static Ship, &'static Powers)>,
}

/// From where one looks how far: a sector, hops around it, and what its map was laid out by. The same lookout has the same
/// sectors in view.
pub(super) type Lookout = (Entity, u8, u64);

impl Eyes {
    /// Eyes for a world; `None` when it knows no ships.
    pub(super) fn open(world: &World) -> Option<Self> {
        let (outside, inside, names) =
            (QueryState::try_new(world)?, QueryState::try_new(world)?, QueryState::try_new(world)?);
        Some(Self { outside, inside, names })
    }

    /// Takes note of ships of kinds that there were none of before.
    pub(super) fn adjust(&mut self, world: &World) {
        self.outside.update_archetypes(world);
        self.inside.update_archetypes(world);
        self.names.update_archetypes(world);
    }

    /// A ship as others see it, cloaked or not.
    pub(super) fn contact(&self, world: &World, ship: Entity, place: (MapKey, Hex), now: Moment) -> Option<Contact> {
        let ship = self.outside.get_manual(world, ship).ok()?;
        let target = ship.locking.map_or(0, |locking| self.shown(world, locking.0));
        Some(convert::contact(&ship, target, place, now))
    }

    /// The number of a ship that another locks, for anyone to see: one that is cloaked is not given away.
    fn shown(&self, world: &World, target: Entity) -> u32 {
        let target = self.names.get_manual(world, target);
        target.map_or(0, |(ship, powers)| if powers.cloaked { 0 } else { ship.id.0 })
    }

    /// A pilot's ships in full, and where they look out from.
    pub(super) fn own(&self, world: &World, pilot: Entity, now: Moment) -> impl Iterator<Item = (OwnShip, Lookout)> {
        let active = world.get::<Pilot>(pilot).and_then(|pilot| pilot.active);
        let fleet = world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter);
        let id = |ship: Entity| self.names.get_manual(world, ship).map_or(0, |(ship, _)| ship.id.0);
        let mut last: Option<(Entity, (MapKey, Hex), u64)> = None;
        fleet.filter_map(move |ship| {
            let (own, space, dock) = self.inside.get_manual(world, ship).ok()?;
            let sector = space.map(|sector| sector.0).or(dock.map(|dock| dock.0))?;
            // A fleet is mostly in one sector.
            let (_, place, seed) = match last {
                Some(last @ (there, ..)) if there == sector => last,
                _ => *last.insert((sector, place(world, sector)?, seed(world, sector)?)),
            };
            let ship = &own.outside;
            let target = ship.locking.map_or(0, |locking| id(locking.0));
            let clamping = own.clamping.map_or(0, |clamping| id(clamping.0));
            let view = ship.card.0.view(ship.powers.is_jammed(now));
            let is_active = Some(ship.ship.id) == active;
            Some((convert::own_ship(&own, is_active, target, clamping, place, now), (sector, view, seed)))
        })
    }
}

/// Which sector of which map.
pub(super) fn place(world: &World, sector: Entity) -> Option<(MapKey, Hex)> {
    let sector = world.get::<Sector>(sector)?;
    Some((world.get::<Map>(sector.map)?.key, sector.hex))
}

/// What a sector's map was laid out by.
fn seed(world: &World, sector: Entity) -> Option<u64> {
    Some(world.get::<Map>(world.get::<Sector>(sector)?.map)?.seed)
}

/// The sectors in view from a lookout.
pub(super) fn around(world: &World, (sector, view, _): Lookout) -> impl Iterator<Item = Entity> {
    let seen = || {
        let sector = world.get::<Sector>(sector)?;
        let map = world.get::<Map>(sector.map)?;
        Some(sector.hex.within(view.into()).into_iter().filter_map(|hex| map.sector(hex)))
    };
    seen().into_iter().flatten()
}

/// Whether there is a ship in a sector.
pub(super) fn is_occupied(world: &World, sector: Entity) -> bool {
    world.get::<Occupants>(sector).is_some_and(|ships| ships.iter().len() > 0)
}

/// Whether a ship is a pilot's.
pub(super) fn is_of(world: &World, ship: Entity, pilot: Entity) -> bool {
    world.get::<InFleet>(ship).is_some_and(|fleet| fleet.0 == pilot)
}

/// A cloaked ship is seen by those alone who had it locked.
pub(super) fn is_visible(world: &World, ship: Entity, pilot: Entity) -> bool {
    !world.get::<Powers>(ship).is_some_and(|powers| powers.cloaked)
        || world.get::<LockedBy>(ship).is_some_and(|hunters| hunters.iter().any(|hunter| is_of(world, hunter, pilot)))
}
