//! What each pilot may see, as datagrams.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use keel_map::{Hex, MapKey};
use keel_protocol::{Contact, MAX_SNAPSHOT, OwnShip, Snapshot, encode};
use keel_rules::Moment;
use keel_sim::{
    Card, Docked, Fleet, InFleet, InSector, LockedBy, Map, Now, Occupants, Pilot, Powers, Sector, Ship, ShipId,
};

use crate::convert;

/// How the state that a pilot may see becomes datagrams.
///
/// `begin` is called once after each step, before any view of it: what many pilots see alike is to be made there, or on
/// the first view that needs it, so that a big fight does not cost ships × pilots.
pub trait Replication: Send {
    /// A step has run.
    fn begin(&mut self, world: &World);

    /// Gives the datagrams of one pilot's view of the step. `acked` is the newest step of which the pilot's client is
    /// known to have a snapshot, 0 when none.
    fn view(&mut self, world: &World, pilot: Entity, acked: u64, show: &mut dyn FnMut(Vec<u8>));
}

/// The whole view, every step: right, and simple enough to check others against.
#[derive(Debug, Default)]
pub struct Plain;

/// The most bytes that all of a snapshot but its ships can take.
const MOST_HEAD: usize = 32;

impl Replication for Plain {
    fn begin(&mut self, _: &World) {}

    fn view(&mut self, world: &World, pilot: Entity, _: u64, show: &mut dyn FnMut(Vec<u8>)) {
        let step = world.resource::<Now>().step();
        let new = |from| Snapshot { step, from, to: u32::MAX, own: Vec::new(), contacts: Vec::new() };
        let (mut part, mut bytes) = (new(0), MOST_HEAD);
        for (id, seen) in in_view(world, pilot) {
            let takes = match &seen {
                Seen::Own(ship) => encode(ship).len(),
                Seen::Contact(contact) => encode(contact).len(),
            };
            if bytes + takes > MAX_SNAPSHOT {
                part.to = id.0 - 1;
                show(encode(&std::mem::replace(&mut part, new(id.0))));
                bytes = MOST_HEAD;
            }
            bytes += takes;
            match seen {
                Seen::Own(ship) => part.own.push(ship),
                Seen::Contact(contact) => part.contacts.push(contact),
            }
        }
        show(encode(&part));
    }
}

enum Seen {
    Own(OwnShip),
    Contact(Contact),
}

/// All that a pilot has and sees, in the order of ids.
fn in_view(world: &World, pilot: Entity) -> Vec<(ShipId, Seen)> {
    let now = world.resource::<Now>().moment();
    let mut seen = own_ships(world, pilot, now);
    for sector in sectors_in_view(world, pilot, now) {
        let Some((map, hex)) = place(world, sector) else { continue };
        let occupants = world.get::<Occupants>(sector).into_iter().flat_map(Occupants::iter);
        let others = occupants.filter_map(|ship| world.get_entity(ship).ok()).filter(|ship| {
            ship.get::<InFleet>().is_none_or(|fleet| fleet.0 != pilot) && is_visible(world, *ship, pilot)
        });
        seen.extend(others.filter_map(|ship| {
            let contact = convert::contact(ship, map, hex, now)?;
            Some((ship.get::<Ship>()?.id, Seen::Contact(contact)))
        }));
    }
    seen.sort_unstable_by_key(|(id, _)| *id);
    seen
}

fn own_ships(world: &World, pilot: Entity, now: Moment) -> Vec<(ShipId, Seen)> {
    let active = world.get::<Pilot>(pilot).and_then(|pilot| pilot.active);
    let fleet = world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter);
    let own = fleet.filter_map(|ship| {
        let (map, hex) = place(world, whereabouts(world, ship)?)?;
        let ship = world.get_entity(ship).ok()?;
        let id = ship.get::<Ship>()?.id;
        Some((id, Seen::Own(convert::own_ship(world, ship, Some(id) == active, map, hex, now)?)))
    });
    own.collect()
}

/// The sector that a ship is in, or at whose port it is docked.
fn whereabouts(world: &World, ship: Entity) -> Option<Entity> {
    let docked = || world.get::<Docked>(ship).map(|docked| docked.0);
    world.get::<InSector>(ship).map(|sector| sector.0).or_else(docked)
}

fn place(world: &World, sector: Entity) -> Option<(MapKey, Hex)> {
    let sector = world.get::<Sector>(sector)?;
    Some((world.get::<Map>(sector.map)?.key, sector.hex))
}

/// Sectors that a ship of the pilot's is in or sees: one hex away, and farther with a Sensor that no Jam silences.
pub(crate) fn sectors_in_view(world: &World, pilot: Entity, now: Moment) -> BTreeSet<Entity> {
    let mut sectors = BTreeSet::new();
    for ship in world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter) {
        let seen = || {
            let sector = world.get::<Sector>(whereabouts(world, ship)?)?;
            let view = world.get::<Card>(ship)?.0.view(world.get::<Powers>(ship)?.is_jammed(now));
            let map = world.get::<Map>(sector.map)?;
            Some(sector.hex.within(view.into()).into_iter().filter_map(|hex| map.sector(hex)))
        };
        sectors.extend(seen().into_iter().flatten());
    }
    sectors
}

/// A cloaked ship is seen by those alone who had it locked.
fn is_visible(world: &World, ship: EntityRef<'_>, pilot: Entity) -> bool {
    let is_pilots = |hunter: Entity| world.get::<InFleet>(hunter).is_some_and(|fleet| fleet.0 == pilot);
    !ship.get::<Powers>().is_some_and(|powers| powers.cloaked)
        || ship.get::<LockedBy>().is_some_and(|hunters| hunters.iter().any(is_pilots))
}
