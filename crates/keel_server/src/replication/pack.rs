//! What a client is sent in a step: the most urgent of what it has not, in packets.

use std::cmp::Reverse;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use keel_protocol::MAX_SNAPSHOT;
use keel_protocol::snapshot::{BlockHead, Head, put_gone};

use super::Replication;
use super::crowd::Public;
use super::told::Told;
use super::viewer::{Carried, Cloaked, InView, Own, Viewer};

/// How urgent things are: so many times as long does the least urgent wait when not all fits.
const OWN: u64 = 64;
const HUNTERS: u64 = 16;
const HERE: u64 = 4;
const AROUND: u64 = 1;

/// Bytes that a block takes at most when it tells all of a thing, and those that changes usually take at most. If all that is
/// queued fits by these, there is nothing to choose.
const MOST_BLOCK: usize = 768;
const USUAL_BLOCK: usize = 192;

/// The most bytes of a packet's head, within any time that a server runs.
const HEAD: usize = 16;

/// Something to be sent, by its index: of a group, first the sector's.
#[derive(Clone, Copy, Debug)]
pub(super) enum Item {
    Own(usize),
    Group(usize, usize),
    Cloaked(usize),
    Gone(usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    urgency: u64,
    item: Item,
}

impl Replication {
    /// Gives the packets of the step that has begun to a pilot's client.
    pub fn view(&mut self, world: &World, pilot: Entity, viewer: &mut Viewer, show: &mut dyn FnMut(Vec<u8>)) {
        self.look(world, pilot, viewer);
        self.choose(viewer);
        self.pack(viewer, show);
    }

    /// Queues what the client has not; when not all of it may fit, the most urgent first.
    fn choose(&self, viewer: &mut Viewer) {
        let (step, patience) = (self.step, viewer.patience());
        let Viewer { own, sectors, gone, queue, .. } = viewer;
        queue.clear();
        let mut bytes = 0;
        let mut want = |waited: Option<u64>, is_all: bool, item: Item| {
            if let Some(waited) = waited {
                bytes += if is_all { MOST_BLOCK } else { USUAL_BLOCK };
                queue.push(Wanted { urgency: waited + 1, item });
            }
        };
        for (index, gone) in gone.iter_mut().enumerate() {
            want(gone.wants(0, step, patience), false, Item::Gone(index));
        }
        for (index, own) in own.iter_mut().enumerate() {
            want(own.told.wants(own.version, step, patience), false, Item::Own(index));
        }
        for (place, sector) in sectors.iter_mut().enumerate().filter(|(_, sector)| !sector.is_empty()) {
            let groups = self.crowds.groups(sector.sector);
            for (index, (told, group)) in sector.groups.iter_mut().zip(groups).enumerate() {
                let waited = told.wants(group.version, step, patience);
                want(waited, told.base(step).is_none(), Item::Group(place, index));
            }
            if let Some(Cloaked { version, told, .. }) = sector.cloaked.as_deref_mut() {
                want(told.wants(*version, step, patience), told.base(step).is_none(), Item::Cloaked(place));
            }
        }
        if bytes > viewer.budget {
            for wanted in queue.iter_mut() {
                wanted.urgency *= self.urgency(wanted.item, own, sectors);
            }
            queue.sort_by_key(|wanted| Reverse(wanted.urgency));
        }
    }

    /// How urgent something is, besides how long it has waited.
    fn urgency(&self, item: Item, own: &[Own], sectors: &[InView]) -> u64 {
        let (place, group) = match item {
            Item::Own(_) | Item::Gone(_) => return OWN,
            Item::Cloaked(_) => return HUNTERS,
            Item::Group(place, group) => (&sectors[place], group),
        };
        if !place.is_here {
            return AROUND;
        }
        let group = self.crowds.groups(place.sector).get(group);
        let hunts = |group: &Public| own.iter().any(|own| group.state.hunts(own.state.id));
        if group.is_some_and(hunts) { HUNTERS } else { HERE }
    }

    /// Packs what is queued, as far as the budget goes.
    fn pack(&mut self, viewer: &mut Viewer, show: &mut dyn FnMut(Vec<u8>)) {
        let mut queue = std::mem::take(&mut viewer.queue);
        let [mut packet, mut block] = std::mem::take(&mut viewer.bytes);
        let mut carried = self.begin_packet(viewer, &mut packet);
        let mut left = viewer.budget;
        for Wanted { item, .. } in queue.drain(..) {
            block.clear();
            let Some(carries) = self.write(viewer, item, &mut block) else { continue };
            if packet.len() + block.len() + HEAD > left {
                break;
            }
            if packet.len() + block.len() > MAX_SNAPSHOT {
                left -= packet.len();
                viewer.sent(self.step, carried);
                show(packet.clone());
                carried = self.begin_packet(viewer, &mut packet);
            }
            packet.extend_from_slice(&block);
            viewer.send(item, &carries, self.step);
            carried.push(carries);
        }
        viewer.sent(self.step, carried);
        show(packet.clone());
        (viewer.queue, viewer.bytes) = (queue, [packet, block]);
    }

    /// Writes a packet's head; a list for what it carries.
    fn begin_packet(&self, viewer: &mut Viewer, packet: &mut Vec<u8>) -> Vec<Carried> {
        packet.clear();
        Head { step: self.step, number: viewer.next_number(), pace: self.pace }.put(packet);
        viewer.list()
    }

    /// Writes a block; what the client has when it has it.
    fn write(&mut self, viewer: &Viewer, item: Item, out: &mut Vec<u8>) -> Option<Carried> {
        let step = self.step;
        match item {
            Item::Own(index) => {
                let Own { version, state, told } = &viewer.own[index];
                head(told, *version, step).put_own(step, out);
                state.put(told.base(step).map(|(_, base)| &**base), *version, out);
                Some(Carried::Own(told.key, *version, Arc::clone(state)))
            }
            Item::Group(place, index) => {
                let InView { sector, groups, .. } = &viewer.sectors[place];
                let told = &groups[index];
                let group = self.crowds.group(*sector, index)?;
                head(told, group.version, step).put_group(step, out);
                out.extend_from_slice(group.since(told.base(step)));
                Some(Carried::Group(told.key, group.version, Arc::clone(&group.state)))
            }
            Item::Cloaked(place) => {
                let Cloaked { version, state, told } = viewer.sectors[place].cloaked.as_deref()?;
                head(told, *version, step).put_group(step, out);
                state.put(told.base(step).map(|(_, base)| &**base), out);
                Some(Carried::Group(told.key, *version, Arc::clone(state)))
            }
            Item::Gone(index) => {
                let key = viewer.gone[index].key;
                put_gone(key, out);
                Some(Carried::Gone(key))
            }
        }
    }
}

impl Viewer {
    /// That is under way.
    fn send(&mut self, item: Item, carried: &Carried, step: u64) {
        match (item, carried) {
            (Item::Own(index), Carried::Own(_, version, _)) => self.own[index].told.send(*version, step),
            (Item::Group(place, index), Carried::Group(_, version, _)) => {
                self.sectors[place].groups[index].send(*version, step);
            }
            (Item::Cloaked(place), Carried::Group(_, version, _)) => {
                if let Some(cloaked) = &mut self.sectors[place].cloaked {
                    cloaked.told.send(*version, step);
                }
            }
            (Item::Gone(index), _) => self.gone[index].send(0, step),
            _ => {}
        }
    }
}

fn head<T>(told: &Told<T>, version: u64, step: u64) -> BlockHead {
    BlockHead { key: told.key, version, base: told.base(step).map(|(version, _)| *version) }
}
