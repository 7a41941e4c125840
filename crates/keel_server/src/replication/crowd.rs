//! The ships of a sector as all who see it see them.

use std::ops::Range;
use std::sync::Arc;

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use keel_map::{Hex, MapKey};
use keel_protocol::snapshot::{Group, SEATS};
use keel_rules::Moment;
use keel_sim::{InFleet, Occupants, Powers};

use super::sight;
use crate::convert;

/// The ships of a sector in groups, each with a seat for as long as it stays. A cloaked ship keeps its seat, and nobody is
/// shown there.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    /// Which of all crowds this is; 0 for none yet.
    serial: u64,
    place: Option<(MapKey, Hex)>,
    step: u64,
    /// The ships when they were last looked at, and the seat of each.
    ships: Vec<(Entity, u32)>,
    free: Vec<u32>,
    seats: u32,
    groups: Vec<Public>,
    /// Those that are cloaked.
    cloaked: Vec<Entity>,
}

/// A group's newest state, and what has changed in it since older ones.
#[derive(Debug)]
pub(super) struct Public {
    pub(super) version: u64,
    pub(super) state: Arc<Group>,
    /// Where in `bytes` the changes since a version are; since none, all of it.
    changes: Vec<(Option<u64>, Range<usize>)>,
    bytes: Vec<u8>,
}

impl Crowd {
    pub(super) fn new(serial: u64, place: (MapKey, Hex)) -> Self {
        Self { serial, place: Some(place), ..Self::default() }
    }

    pub(super) const fn serial(&self) -> u64 {
        self.serial
    }

    pub(super) const fn place(&self) -> Option<(MapKey, Hex)> {
        self.place
    }

    /// The step after which it was last looked at.
    pub(super) const fn looked_at(&self) -> u64 {
        self.step
    }

    pub(super) fn groups(&self) -> &[Public] {
        &self.groups
    }

    pub(super) fn group(&mut self, index: usize) -> Option<&mut Public> {
        self.groups.get_mut(index)
    }

    /// Looks at the sector's ships after a step.
    pub(super) fn look(&mut self, world: &World, sector: Entity, step: u64) {
        self.step = step;
        let Some((map, hex)) = self.place else { return };
        let occupants = world.get::<Occupants>(sector);
        if !occupants.into_iter().flat_map(Occupants::iter).eq(self.ships.iter().map(|(ship, _)| *ship)) {
            self.be_seated(occupants);
        }
        let now = Moment::of_step(step);
        let (col, row) = convert::place(hex);
        let mut states = vec![Group::at(map.code(), col, row); (self.seats as usize).div_ceil(SEATS)];
        self.cloaked.clear();
        for &(entity, seat) in &self.ships {
            let Ok(ship) = world.get_entity(entity) else { continue };
            if ship.get::<Powers>().is_some_and(|powers| powers.cloaked) {
                self.cloaked.push(entity);
            } else if let Some(contact) = convert::contact(world, ship, map, hex, now) {
                states[seat as usize / SEATS].seat(seat as usize % SEATS, &contact);
            }
        }
        self.groups.truncate(states.len());
        for (index, state) in states.into_iter().enumerate() {
            match self.groups.get_mut(index) {
                Some(group) if *group.state == state => {}
                Some(group) => group.renew(state, step),
                None => self.groups.push(Public::new(state, step)),
            }
        }
    }

    /// Cloaked ships of others that a pilot sees all the same, on seats of their own: as many as a group has.
    pub(super) fn cloaked_for(&self, world: &World, pilot: Entity, now: Moment) -> Option<Group> {
        let (map, hex) = self.place?;
        let (col, row) = convert::place(hex);
        let ships = self.cloaked.iter().filter_map(|&ship| world.get_entity(ship).ok()).filter(|ship| {
            ship.get::<InFleet>().is_none_or(|fleet| fleet.0 != pilot) && sight::is_visible(world, *ship, pilot)
        });
        let mut group = None;
        for (seat, contact) in
            ships.filter_map(|ship| convert::contact(world, ship, map, hex, now)).take(SEATS).enumerate()
        {
            group.get_or_insert_with(|| Group::at(map.code(), col, row)).seat(seat, &contact);
        }
        group
    }

    /// Gives seats to who came, the lowest first, and takes those of who left.
    fn be_seated(&mut self, occupants: Option<&Occupants>) {
        let mut seated: EntityHashMap<u32> = self.ships.drain(..).collect();
        let mut new = Vec::new();
        for ship in occupants.into_iter().flat_map(Occupants::iter) {
            let seat = seated.remove(&ship).unwrap_or_else(|| {
                new.push(self.ships.len());
                0
            });
            self.ships.push((ship, seat));
        }
        self.free.extend(seated.values().copied());
        self.free.sort_unstable_by(|one, other| other.cmp(one));
        for index in new {
            self.ships[index].1 = self.free.pop().unwrap_or_else(|| {
                self.seats += 1;
                self.seats - 1
            });
        }
        // Seats at the end that nobody has are no seats.
        while self.seats > 0 && self.free.first() == Some(&(self.seats - 1)) {
            self.free.remove(0);
            self.seats -= 1;
        }
    }
}

impl Public {
    fn new(state: Group, version: u64) -> Self {
        Self { version, state: Arc::new(state), changes: Vec::new(), bytes: Vec::new() }
    }

    fn renew(&mut self, state: Group, version: u64) {
        (self.version, self.state) = (version, Arc::new(state));
        self.changes.clear();
        self.bytes.clear();
    }

    /// What has changed since a version, or all of it: encoded once for all who have that version.
    pub(super) fn since(&mut self, base: Option<&(u64, Arc<Group>)>) -> &[u8] {
        let version = base.map(|(version, _)| *version);
        let known = self.changes.iter().find(|(since, _)| *since == version).map(|(_, range)| range.clone());
        let range = known.unwrap_or_else(|| {
            let from = self.bytes.len();
            self.state.put(base.map(|(_, state)| &**state), &mut self.bytes);
            let range = from..self.bytes.len();
            self.changes.push((version, range.clone()));
            range
        });
        &self.bytes[range]
    }
}
