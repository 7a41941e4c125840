//! The ships of a sector as all who see it see them.

use std::ops::Range;
use std::sync::Arc;

use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use keel_map::{Hex, MapKey};
use keel_protocol::Flags;
use keel_protocol::snapshot::{Group, SEATS};
use keel_rules::Moment;
use keel_sim::{Occupants, Sector};

use super::eyes::{self, Eyes, is_of, is_visible};
use crate::convert;

/// The crowds of all sectors that anyone sees.
#[derive(Debug, Default)]
pub(super) struct Crowds {
    by_sector: EntityHashMap<Crowd>,
    /// Crowds ever known, so that none is taken for another.
    known: u64,
    /// States in the making, for one sector after the other.
    states: Vec<Group>,
}

impl Crowds {
    /// Forgets those that nobody looked at after a step.
    pub(super) fn forget(&mut self, step: u64) {
        self.by_sector.retain(|_, crowd| crowd.step == step);
    }

    /// The crowd of a sector as it is after a step; it is looked at once.
    pub(super) fn look(&mut self, world: &World, eyes: &Eyes, sector: Entity, step: u64) -> Option<&Crowd> {
        let crowd = self.by_sector.entry(sector).or_default();
        if crowd.step != step {
            let at = world.get::<Sector>(sector)?;
            // A storm has moved the sector, or nobody has seen it before.
            if !crowd.is_at(at) {
                self.known += 1;
                *crowd = Crowd::new(self.known, at, eyes::place(world, sector)?);
            }
            crowd.look(world, eyes, sector, step, &mut self.states);
        }
        Some(crowd)
    }

    /// The groups of a sector that was looked at.
    pub(super) fn groups(&self, sector: Entity) -> &[Public] {
        self.by_sector.get(&sector).map_or(&[], |crowd| &crowd.groups)
    }

    pub(super) fn group(&mut self, sector: Entity, index: usize) -> Option<&mut Public> {
        self.by_sector.get_mut(&sector)?.groups.get_mut(index)
    }
}

/// The ships of a sector in groups, each with a seat for as long as it stays. A cloaked ship keeps its seat, and nobody is
/// shown there.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    /// Which of all crowds this is; 0 for none yet.
    serial: u64,
    at: Option<(Sector, (MapKey, Hex))>,
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
    fn new(serial: u64, sector: &Sector, place: (MapKey, Hex)) -> Self {
        Self { serial, at: Some((*sector, place)), ..Self::default() }
    }

    pub(super) const fn serial(&self) -> u64 {
        self.serial
    }

    /// Whether this is the crowd of a sector that is where it was.
    fn is_at(&self, sector: &Sector) -> bool {
        self.at.is_some_and(|(at, _)| (at.map, at.hex) == (sector.map, sector.hex))
    }

    pub(super) fn groups(&self) -> &[Public] {
        &self.groups
    }

    /// Looks at the sector's ships after a step; their states are put together in `states`.
    fn look(&mut self, world: &World, eyes: &Eyes, sector: Entity, step: u64, states: &mut Vec<Group>) {
        self.step = step;
        let occupants = world.get::<Occupants>(sector).filter(|occupants| occupants.iter().len() > 0);
        if occupants.is_none() && self.ships.is_empty() {
            return;
        }
        let Some((_, place)) = self.at else { return };
        if !occupants.into_iter().flat_map(Occupants::iter).eq(self.ships.iter().map(|(ship, _)| *ship)) {
            self.be_seated(occupants);
        }
        let now = Moment::of_step(step);
        let count = (self.seats as usize).div_ceil(SEATS);
        states.clear();
        states.resize(count, nobody(place));
        self.cloaked.clear();
        for &(ship, seat) in &self.ships {
            match eyes.contact(world, ship, place, now) {
                Some(contact) if contact.flags.has(Flags::CLOAKED) => self.cloaked.push(ship),
                Some(contact) => states[seat as usize / SEATS].seat(seat as usize % SEATS, &contact),
                None => {}
            }
        }
        self.groups.truncate(count);
        for (index, state) in states.iter().enumerate() {
            match self.groups.get_mut(index) {
                Some(group) if *group.state == *state => {}
                Some(group) => group.renew(state.clone(), step),
                None => self.groups.push(Public::new(state.clone(), step)),
            }
        }
    }

    /// Cloaked ships of others that a pilot sees all the same, on seats of their own: as many as a group has.
    pub(super) fn cloaked_for(&self, world: &World, eyes: &Eyes, pilot: Entity) -> Option<Group> {
        let (_, place) = self.at?;
        let ships = self.cloaked.iter().copied();
        let seen = ships.filter(|&ship| !is_of(world, ship, pilot) && is_visible(world, ship, pilot));
        let now = Moment::of_step(self.step);
        let mut group = None;
        for (seat, contact) in seen.filter_map(|ship| eyes.contact(world, ship, place, now)).take(SEATS).enumerate() {
            group.get_or_insert_with(|| nobody(place)).seat(seat, &contact);
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

fn nobody((map, hex): (MapKey, Hex)) -> Group {
    let (col, row) = convert::place(hex);
    Group::at(map.code(), col, row)
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
