//! What each pilot may see, as datagrams.

use bevy_ecs::prelude::*;
use keel_protocol::{Contact, MAX_SNAPSHOT, OwnShip, Snapshot, encode};
use keel_sim::{Arrival, Battery, Card, Condition, Fleet, Gun, Helm, InSector, Map, Now, Occupants, Sector, Ship};

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

/// The most bytes that a contact, and all of a snapshot but its ships, can take.
const MOST_CONTACT: usize = 22;
const MOST_HEAD: usize = 32;

impl Replication for Plain {
    fn begin(&mut self, _: &World) {}

    fn view(&mut self, world: &World, pilot: Entity, _: u64, show: &mut dyn FnMut(Vec<u8>)) {
        let step = world.resource::<Now>().step();
        let mut own = Some(own_ships(world, pilot));
        let contacts = contacts(world, pilot);
        let mut rest = contacts.as_slice();
        let mut from = 0;
        loop {
            let own_bytes = own.as_ref().map_or(0, |own| encode(own).len());
            let room = (MAX_SNAPSHOT - MOST_HEAD).saturating_sub(own_bytes) / MOST_CONTACT;
            let (part, more) = rest.split_at(room.min(rest.len()));
            let to = more.first().map_or(u32::MAX, |next| next.id - 1);
            show(encode(&Snapshot { step, own: own.take(), from, to, contacts: part.to_vec() }));
            if more.is_empty() {
                break;
            }
            from = to + 1;
            rest = more;
        }
    }
}

fn own_ships(world: &World, pilot: Entity) -> Vec<OwnShip> {
    let fleet = world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter);
    fleet
        .filter_map(|entity| {
            let ship = world.entity(entity);
            let hex = world.get::<Sector>(ship.get::<InSector>()?.0)?.hex;
            let (condition, battery) = (ship.get::<Condition>()?, ship.get::<Battery>()?);
            let (gun, helm, arrival) = (ship.get::<Gun>()?, ship.get::<Helm>()?, ship.get::<Arrival>()?);
            Some(convert::own_ship(ship.get::<Ship>()?, hex, condition, battery, gun, helm, arrival))
        })
        .collect()
}

/// Every other ship in the sectors that hold one of the pilot's and in those one hex away, in the order of ids.
fn contacts(world: &World, pilot: Entity) -> Vec<Contact> {
    let now = world.resource::<Now>().moment();
    let Some(mut maps) = world.try_query::<&Map>() else { return Vec::new() };
    let Ok(map) = maps.single(world) else { return Vec::new() };
    let fleet = || world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter);
    let mut sectors: Vec<Entity> = Vec::new();
    for sector in fleet().filter_map(|ship| world.get::<InSector>(ship)) {
        let Some(Sector { hex }) = world.get::<Sector>(sector.0) else { continue };
        sectors.push(sector.0);
        sectors.extend(hex.neighbours().filter_map(|hex| map.sector(hex)));
    }
    sectors.sort_unstable();
    sectors.dedup();
    let mut contacts: Vec<Contact> = Vec::new();
    for sector in sectors {
        let Some(Sector { hex }) = world.get::<Sector>(sector) else { continue };
        for entity in world.get::<Occupants>(sector).into_iter().flat_map(Occupants::iter) {
            let seen = world.get_entity(entity).ok().filter(|_| fleet().all(|own| own != entity)).and_then(|ship| {
                let (card, condition) = (ship.get::<Card>()?, ship.get::<Condition>()?);
                Some(convert::contact(ship.get()?, &card.0, condition, ship.get::<Arrival>()?, *hex, now))
            });
            contacts.extend(seen);
        }
    }
    contacts.sort_unstable_by_key(|contact| contact.id);
    contacts
}
