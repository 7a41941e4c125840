//! What a pilot may see.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use keel_map::{Hex, MapKey};
use keel_protocol::{Contact, OwnShip};
use keel_rules::Moment;
use keel_sim::{Card, Docked, Fleet, InFleet, InSector, LockedBy, Map, Now, Occupants, Pilot, Powers, Sector, Ship};

use crate::convert;

/// All that a pilot has and sees, in the order of ids: looked up plainly, for others to be checked against.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight {
    /// The pilot's own ships.
    pub own: Vec<OwnShip>,
    /// Every other ship in view.
    pub contacts: Vec<Contact>,
}

impl Sight {
    /// What a pilot sees of the world after its last step.
    #[must_use]
    pub fn of(world: &World, pilot: Entity) -> Self {
        let now = world.resource::<Now>().moment();
        let mut own: Vec<_> = own_ships(world, pilot, now).collect();
        let mut contacts = Vec::new();
        for sector in sectors_in_view(world, pilot, now) {
            let Some((map, hex)) = place(world, sector) else { continue };
            let occupants = world.get::<Occupants>(sector).into_iter().flat_map(Occupants::iter);
            let others = occupants.filter_map(|ship| world.get_entity(ship).ok()).filter(|ship| {
                ship.get::<InFleet>().is_none_or(|fleet| fleet.0 != pilot) && is_visible(world, *ship, pilot)
            });
            contacts.extend(others.filter_map(|ship| convert::contact(world, ship, map, hex, now)));
        }
        own.sort_unstable_by_key(|ship| ship.id);
        contacts.sort_unstable_by_key(|contact| contact.id);
        Self { own, contacts }
    }
}

/// A pilot's ships in full.
pub(super) fn own_ships(world: &World, pilot: Entity, now: Moment) -> impl Iterator<Item = OwnShip> {
    let active = world.get::<Pilot>(pilot).and_then(|pilot| pilot.active);
    let fleet = world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter);
    fleet.filter_map(move |ship| {
        let (map, hex) = place(world, whereabouts(world, ship)?)?;
        let ship = world.get_entity(ship).ok()?;
        let is_active = Some(ship.get::<Ship>()?.id) == active;
        convert::own_ship(world, ship, is_active, map, hex, now)
    })
}

/// The sector that a ship is in, or at whose port it is docked.
fn whereabouts(world: &World, ship: Entity) -> Option<Entity> {
    let docked = || world.get::<Docked>(ship).map(|docked| docked.0);
    world.get::<InSector>(ship).map(|sector| sector.0).or_else(docked)
}

pub(super) fn place(world: &World, sector: Entity) -> Option<(MapKey, Hex)> {
    let sector = world.get::<Sector>(sector)?;
    Some((world.get::<Map>(sector.map)?.key, sector.hex))
}

/// From where one looks how far: a sector, hops around it, and what its map was laid out by. The same lookout has the same
/// sectors in view.
pub(super) type Lookout = (Entity, u8, u64);

/// The places from which a pilot's ships look out: one hex around, and farther with a Sensor that no Jam silences.
pub(super) fn lookouts(world: &World, pilot: Entity, now: Moment) -> impl Iterator<Item = Lookout> {
    world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter).filter_map(move |ship| {
        let sector = whereabouts(world, ship)?;
        let view = world.get::<Card>(ship)?.0.view(world.get::<Powers>(ship)?.is_jammed(now));
        let map = world.get::<Map>(world.get::<Sector>(sector)?.map)?;
        Some((sector, view, map.seed))
    })
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

/// Sectors that a ship of the pilot's is in or sees.
pub(crate) fn sectors_in_view(world: &World, pilot: Entity, now: Moment) -> BTreeSet<Entity> {
    lookouts(world, pilot, now).flat_map(|lookout| around(world, lookout)).collect()
}

/// A cloaked ship is seen by those alone who had it locked.
pub(super) fn is_visible(world: &World, ship: EntityRef<'_>, pilot: Entity) -> bool {
    let is_pilots = |hunter: Entity| world.get::<InFleet>(hunter).is_some_and(|fleet| fleet.0 == pilot);
    !ship.get::<Powers>().is_some_and(|powers| powers.cloaked)
        || ship.get::<LockedBy>().is_some_and(|hunters| hunters.iter().any(is_pilots))
}
