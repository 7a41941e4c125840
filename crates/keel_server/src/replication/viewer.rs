//! One client's side of the replication: what it has, and what it needs most.

use std::collections::VecDeque;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use keel_protocol::snapshot::{Ack, Group};
use keel_protocol::{MAX_SNAPSHOT, OwnShip};
use keel_rules::Moment;
use thiserror::Error;

use super::Replication;
use super::eyes::{Lookout, is_occupied};
use super::pack::Wanted;
use super::sight::in_view;
use super::told::Told;

/// Packets of which it is remembered what was in them; an acknowledgement of an earlier one comes too late.
const MOST_SENT: usize = 256;

/// An acknowledgement of a packet that was never sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("an acknowledgement of packet {acked}, when {sent} were sent")]
pub struct Nonsense {
    /// The packet.
    pub acked: u64,
    /// Packets that were sent.
    pub sent: u64,
}

/// What one client has of what its pilot may see.
#[derive(Debug)]
pub struct Viewer {
    /// The most bytes of packets in a step.
    pub(super) budget: usize,
    /// Packets sent, and keys given.
    number: u64,
    keys: u32,
    /// From where the pilot's ships looked out, and what they have in view from there.
    lookouts: Vec<Lookout>,
    pub(super) sectors: Vec<InView>,
    pub(super) own: Vec<Own>,
    pub(super) gone: Vec<Told<()>>,
    /// The last packets, oldest first.
    sent: VecDeque<Sent>,
    /// Lists that packets no longer need.
    spare: Vec<Vec<Carried>>,
    /// The step of the newest packet that is acknowledged; before there is one, of the first that was sent.
    heard: Option<u64>,
    /// Steps from a packet to its acknowledgement, on average.
    round_trip: f32,
    pub(super) queue: Vec<Wanted>,
    /// A packet and a block in the making.
    pub(super) bytes: [Vec<u8>; 2],
}

/// One of the pilot's ships.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) version: u64,
    pub(super) state: Arc<OwnShip>,
    pub(super) told: Told<OwnShip>,
}

/// A sector in view.
#[derive(Debug)]
pub(super) struct InView {
    pub(super) sector: Entity,
    /// Whether a ship of the pilot's is there.
    pub(super) is_here: bool,
    /// Of the crowd, whose groups these are.
    serial: u64,
    pub(super) groups: Vec<Told<Group>>,
    /// Cloaked ships there that this pilot sees, when there are any.
    pub(super) cloaked: Option<Box<Cloaked>>,
}

#[derive(Debug)]
pub(super) struct Cloaked {
    pub(super) version: u64,
    pub(super) state: Arc<Group>,
    pub(super) told: Told<Group>,
}

#[derive(Debug)]
struct Sent {
    /// `None` once it is acknowledged.
    step: Option<u64>,
    carried: Vec<Carried>,
}

/// What was in a packet: a key, and which state of the thing.
#[derive(Debug)]
pub(super) enum Carried {
    Own(u32, u64, Arc<OwnShip>),
    Group(u32, u64, Arc<Group>),
    Gone(u32),
}

impl Viewer {
    /// A client that has nothing yet, and gets at most so many bytes of packets in a step; never less than one packet.
    #[must_use]
    pub fn new(budget: usize) -> Self {
        Self {
            budget: budget.max(MAX_SNAPSHOT),
            number: 0,
            keys: 0,
            lookouts: Vec::new(),
            sectors: Vec::new(),
            own: Vec::new(),
            gone: Vec::new(),
            sent: VecDeque::new(),
            spare: Vec::new(),
            heard: None,
            round_trip: 1.0,
            queue: Vec::new(),
            bytes: [Vec::new(), Vec::new()],
        }
    }

    /// Takes what the client says it has, at a step.
    ///
    /// # Errors
    /// When it names a packet that was never sent.
    pub fn acknowledge(&mut self, ack: Ack, step: u64) -> Result<(), Nonsense> {
        if ack.newest == 0 || ack.newest > self.number {
            return Err(Nonsense { acked: ack.newest, sent: self.number });
        }
        let first = self.number + 1 - self.sent.len() as u64;
        for number in ack.packets() {
            let Some(index) = number.checked_sub(first) else { break };
            let Some(sent) = self.sent.get_mut(index as usize) else { continue };
            let Some(at) = sent.step.take() else { continue };
            self.heard = self.heard.max(Some(at));
            self.round_trip += (step.saturating_sub(at) as f32 - self.round_trip) / 8.0;
            let mut carried = std::mem::take(&mut sent.carried);
            carried.drain(..).for_each(|carried| self.has(carried));
            self.spare.push(carried);
        }
        while self.sent.front().is_some_and(|sent| sent.step.is_none()) {
            self.sent.pop_front();
        }
        Ok(())
    }

    /// How many steps ago that was sent of which the client is known to have anything.
    #[must_use]
    pub fn behind(&self, step: u64) -> u64 {
        self.heard.map_or(0, |heard| step.saturating_sub(heard))
    }

    /// The client has that.
    fn has(&mut self, carried: Carried) {
        match carried {
            Carried::Own(key, version, state) => {
                if let Some(own) = self.own.iter_mut().find(|own| own.told.key == key) {
                    own.told.acknowledge(version, state);
                }
            }
            Carried::Group(key, version, state) => {
                let groups = self.sectors.iter_mut().flat_map(|sector| {
                    sector.groups.iter_mut().chain(sector.cloaked.as_mut().map(|cloaked| &mut cloaked.told))
                });
                if let Some(group) = groups.into_iter().find(|group| group.key == key) {
                    group.acknowledge(version, state);
                }
            }
            Carried::Gone(key) => self.gone.retain(|gone| gone.key != key),
        }
    }

    /// The sectors in view when the pilot was last shown anything.
    pub(crate) fn in_view(&self) -> impl Iterator<Item = Entity> {
        self.sectors.iter().map(|known| known.sector)
    }

    /// Takes the state of the pilot's ship number `index` after a step.
    fn look_at_own(&mut self, index: usize, mut ship: OwnShip, step: u64) {
        match self.own[index..].iter().position(|own| own.state.id == ship.id) {
            Some(ahead) => {
                self.own.swap(index, index + ahead);
                let own = &mut self.own[index];
                ship.shield = ship.shield.or_still(own.state.shield);
                ship.battery = ship.battery.or_still(own.state.battery);
                if *own.state != ship {
                    (own.version, own.state) = (step, Arc::new(ship));
                }
            }
            None => {
                let told = Told::new(next(&mut self.keys));
                self.own.insert(index, Own { version: step, state: Arc::new(ship), told });
            }
        }
    }

    /// The pilot's ships have moved, or see farther or less far.
    fn look_elsewhere(&mut self, world: &World) {
        let Self { lookouts, sectors, gone, .. } = self;
        let in_view = in_view(world, lookouts);
        sectors.retain_mut(|known| {
            let stays = in_view.contains(&known.sector);
            if !stays {
                known.forget(gone);
            }
            stays
        });
        for sector in in_view {
            if let Err(index) = sectors.binary_search_by_key(&sector, |known| known.sector) {
                sectors.insert(index, InView::of(sector));
            }
        }
        for known in sectors {
            known.is_here = lookouts.iter().any(|(here, ..)| *here == known.sector);
        }
    }

    /// The number of the next packet.
    pub(super) const fn next_number(&self) -> u64 {
        self.number + 1
    }

    /// A list for what the next packet carries.
    pub(super) fn list(&mut self) -> Vec<Carried> {
        self.spare.pop().unwrap_or_default()
    }

    /// The next packet is sent, with that in it.
    pub(super) fn sent(&mut self, step: u64, carried: Vec<Carried>) {
        self.number += 1;
        self.heard.get_or_insert(step);
        self.sent.push_back(Sent { step: Some(step), carried });
        if self.sent.len() > MOST_SENT {
            let mut lost = self.sent.pop_front().map(|sent| sent.carried).unwrap_or_default();
            lost.clear();
            self.spare.push(lost);
        }
    }

    /// Steps after which what was sent and not acknowledged is taken for lost.
    pub(super) fn patience(&self) -> u64 {
        (self.round_trip * 1.25).ceil().clamp(1.0, 40.0) as u64 + 1
    }
}

/// The next key of a connection.
const fn next(keys: &mut u32) -> u32 {
    *keys += 1;
    *keys
}

impl Replication {
    /// Looks at the pilot's own ships, and from them at the sectors in view.
    pub(super) fn look(&mut self, world: &World, pilot: Entity, viewer: &mut Viewer) {
        let Some(eyes) = &self.eyes else { return };
        let step = self.step;
        let (mut seen, mut has_moved) = (0, false);
        for (ship, lookout) in eyes.own(world, pilot, Moment::of_step(step)) {
            if viewer.lookouts.get(seen) != Some(&lookout) {
                viewer.lookouts.truncate(seen);
                viewer.lookouts.push(lookout);
                has_moved = true;
            }
            viewer.look_at_own(seen, ship, step);
            seen += 1;
        }
        viewer.gone.extend(viewer.own.drain(seen..).filter_map(|lost| lost.told.lost()));
        if has_moved || viewer.lookouts.len() > seen {
            viewer.lookouts.truncate(seen);
            viewer.look_elsewhere(world);
        }
        let Viewer { keys, sectors, gone, .. } = viewer;
        for known in sectors {
            // Most sectors are empty.
            if known.is_empty() && !is_occupied(world, known.sector) {
                continue;
            }
            let Some(crowd) = self.crowds.look(world, eyes, known.sector, step) else {
                known.forget(gone);
                continue;
            };
            if known.serial != crowd.serial() {
                known.forget(gone);
                known.serial = crowd.serial();
            }
            let groups = crowd.groups().len();
            if known.groups.len() != groups {
                gone.extend(known.groups.drain(groups.min(known.groups.len())..).filter_map(Told::lost));
                known.groups.resize_with(groups, || Told::new(next(keys)));
            }
            known.see_cloaked(crowd.cloaked_for(world, eyes, pilot), step, keys, gone);
        }
    }
}

impl InView {
    fn of(sector: Entity) -> Self {
        Self { sector, is_here: false, serial: 0, groups: Vec::new(), cloaked: None }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.cloaked.is_none()
    }

    /// Its ships are out of sight.
    fn forget(&mut self, gone: &mut Vec<Told<()>>) {
        let cloaked = self.cloaked.take().map(|cloaked| cloaked.told);
        gone.extend(self.groups.drain(..).chain(cloaked).filter_map(Told::lost));
    }

    /// Takes what this pilot alone sees there after a step.
    fn see_cloaked(&mut self, seen: Option<Group>, step: u64, keys: &mut u32, gone: &mut Vec<Told<()>>) {
        match (&mut self.cloaked, seen) {
            (None, None) => {}
            (Some(_), None) => gone.extend(self.cloaked.take().and_then(|cloaked| cloaked.told.lost())),
            (Some(cloaked), Some(seen)) => {
                if *cloaked.state != seen {
                    (cloaked.version, cloaked.state) = (step, Arc::new(seen));
                }
            }
            (None, Some(seen)) => {
                let told = Told::new(next(keys));
                self.cloaked = Some(Box::new(Cloaked { version: step, state: Arc::new(seen), told }));
            }
        }
    }
}
