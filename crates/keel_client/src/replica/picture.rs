//! Ships, put together from packets that may be lost, late or doubled.

use std::collections::{BTreeMap, VecDeque};

use keel_protocol::snapshot::{Ack, Block, BlockHead, Group, Head, Reader, SEATS};
use keel_protocol::{Contact, DecodeError, OwnShip};

/// Versions of one thing that are kept for the server to tell changes from.
const MOST_VERSIONS: usize = 128;

/// Packets that are older than the newest by more than this come too late.
const MOST_LATE: u64 = 1024;

/// All ships that the pilot has or sees.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture {
    groups: BTreeMap<u32, Versions<Group>>,
    ships: BTreeMap<u32, Versions<OwnShip>>,
    /// Things that are gone for good, and the packet that said so.
    gone: BTreeMap<u32, u64>,
    own: BTreeMap<u32, OwnShip>,
    contacts: BTreeMap<u32, Seen>,
    taken: Taken,
}

/// A ship as the newest state that has it shows it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    contact: Contact,
    /// The group, and its version.
    key: u32,
    version: u64,
}

/// The last versions of a thing, oldest first.
#[derive(Clone, Debug)]
struct Versions<T> {
    states: VecDeque<(u64, T)>,
}

/// The numbers of the packets that were taken.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    newest: u64,
    before: u64,
}

/// What a block tells of.
trait State: Sized + Default {
    fn take(bytes: &mut Reader<'_>, base: Option<&Self>, version: u64) -> Result<Self, DecodeError>;
}

impl State for Group {
    fn take(bytes: &mut Reader<'_>, base: Option<&Self>, _: u64) -> Result<Self, DecodeError> {
        Self::take(bytes, base)
    }
}

impl State for OwnShip {
    fn take(bytes: &mut Reader<'_>, base: Option<&Self>, version: u64) -> Result<Self, DecodeError> {
        Self::take(bytes, base, version)
    }
}

impl<T> Default for Versions<T> {
    fn default() -> Self {
        Self { states: VecDeque::new() }
    }
}

impl<T> Versions<T> {
    fn get(&self, version: u64) -> Option<&T> {
        self.states.iter().find(|(known, _)| *known == version).map(|(_, state)| state)
    }

    fn newest(&self) -> Option<&T> {
        self.states.back().map(|(_, state)| state)
    }

    fn is_news(&self, version: u64) -> bool {
        self.states.back().is_none_or(|(newest, _)| *newest < version)
    }

    /// Takes a version, told as changes from `base`; the server never again tells any from an earlier one.
    fn add(&mut self, version: u64, base: Option<u64>, state: T) {
        if let Err(index) = self.states.binary_search_by_key(&version, |(known, _)| *known) {
            self.states.insert(index, (version, state));
        }
        while self.states.front().is_some_and(|(known, _)| base.is_some_and(|base| *known < base)) {
            self.states.pop_front();
        }
        // The first may be the one that changes are told from.
        if self.states.len() > MOST_VERSIONS {
            self.states.remove(1);
        }
    }
}

impl Taken {
    /// Whether that packet was taken, or is so old that it might have been.
    fn has(self, number: u64) -> bool {
        match self.newest.checked_sub(number) {
            None => false,
            Some(0) => true,
            Some(behind @ 1..=64) => self.before >> (behind - 1) & 1 == 1,
            Some(behind) => behind > MOST_LATE,
        }
    }

    fn add(&mut self, number: u64) {
        if let Some(ahead) = number.checked_sub(self.newest.saturating_add(1)) {
            // The one that was the newest becomes one of those before it, if there was one.
            let was = u64::from(self.newest > 0);
            let shifted = if ahead < 64 { self.before << ahead << 1 | was << ahead } else { 0 };
            (self.newest, self.before) = (number, shifted);
        } else if let Some(behind @ 0..64) = (self.newest - number).checked_sub(1) {
            self.before |= 1 << behind;
        }
    }
}

impl Picture {
    pub(super) fn own(&self) -> &BTreeMap<u32, OwnShip> {
        &self.own
    }

    /// The pilot's own ships are among what everyone sees, and not among these.
    pub(super) fn contacts(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.values().map(|seen| &seen.contact).filter(|contact| !self.own.contains_key(&contact.id))
    }

    pub(super) fn contact(&self, id: u32) -> Option<&Contact> {
        self.contacts.get(&id).map(|seen| &seen.contact).filter(|_| !self.own.contains_key(&id))
    }

    /// What to acknowledge.
    pub(super) fn ack(&self) -> Option<Ack> {
        let Taken { newest, before } = self.taken;
        (newest > 0).then_some(Ack { newest, before })
    }

    /// Takes a packet; its head, if it is not one that was taken before.
    pub(super) fn take(&mut self, packet: &[u8]) -> Result<Option<Head>, DecodeError> {
        let mut bytes = Reader::new(packet);
        let head = Head::take(&mut bytes)?;
        if self.taken.has(head.number) {
            return Ok(None);
        }
        let mut is_whole = true;
        while let Some(block) = Block::take(&mut bytes, head.step)? {
            is_whole &= match block {
                Block::Group(block) => self.take_group(block, &mut bytes)?,
                Block::Own(block) => self.take_own(block, &mut bytes)?,
                Block::Gone(key) => {
                    self.forget(key, head.number);
                    true
                }
            };
        }
        // What could not be read is not acknowledged, so the server tells it in another way.
        if is_whole {
            self.taken.add(head.number);
        }
        let newest = self.taken.newest;
        self.gone.retain(|_, said| newest - (*said).min(newest) <= MOST_LATE);
        Ok(Some(head))
    }

    /// Takes a state of a group; whether it could be read.
    fn take_group(&mut self, block: BlockHead, bytes: &mut Reader<'_>) -> Result<bool, DecodeError> {
        let BlockHead { key, version, base } = block;
        let Some(state) = read(self.groups.get(&key), block, bytes)? else { return Ok(false) };
        if self.gone.contains_key(&key) {
            return Ok(true);
        }
        let versions = self.groups.entry(key).or_default();
        if versions.is_news(version) {
            if let Some(shown) = versions.newest() {
                let left = (0..SEATS).filter(|&seat| shown.id(seat) != state.id(seat));
                left.for_each(|seat| hide(&mut self.contacts, shown.id(seat), key));
            }
            for contact in state.contacts() {
                let seen = Seen { contact, key, version };
                let known = self.contacts.entry(contact.id).or_insert(seen);
                // Whoever moves is for a while told of in two places: the newer one is right.
                if known.version <= version {
                    *known = seen;
                }
            }
        }
        versions.add(version, base, state);
        Ok(true)
    }

    /// Takes a state of a ship of the pilot's; whether it could be read.
    fn take_own(&mut self, block: BlockHead, bytes: &mut Reader<'_>) -> Result<bool, DecodeError> {
        let BlockHead { key, version, base } = block;
        let Some(state) = read(self.ships.get(&key), block, bytes)? else { return Ok(false) };
        if self.gone.contains_key(&key) {
            return Ok(true);
        }
        let versions = self.ships.entry(key).or_default();
        if versions.is_news(version) {
            self.own.insert(state.id, state.clone());
        }
        versions.add(version, base, state);
        Ok(true)
    }

    /// Something is out of sight, or gone; a packet said so.
    fn forget(&mut self, key: u32, number: u64) {
        self.gone.insert(key, number);
        if let Some(group) = self.groups.remove(&key).as_ref().and_then(Versions::newest) {
            (0..SEATS).for_each(|seat| hide(&mut self.contacts, group.id(seat), key));
        }
        if let Some(ship) = self.ships.remove(&key).as_ref().and_then(Versions::newest) {
            self.own.remove(&ship.id);
        }
    }
}

/// A state in a block; `None` when what it tells changes from is not known any more.
fn read<T: State>(
    versions: Option<&Versions<T>>,
    block: BlockHead,
    bytes: &mut Reader<'_>,
) -> Result<Option<T>, DecodeError> {
    let Some(base) = block.base else { return T::take(bytes, None, block.version).map(Some) };
    match versions.and_then(|versions| versions.get(base)) {
        Some(base) => T::take(bytes, Some(base), block.version).map(Some),
        // How long it is does not depend on that.
        None => T::take(bytes, Some(&T::default()), block.version).map(|_| None),
    }
}

fn hide(contacts: &mut BTreeMap<u32, Seen>, id: u32, key: u32) {
    if contacts.get(&id).is_some_and(|seen| seen.key == key) {
        contacts.remove(&id);
    }
}
