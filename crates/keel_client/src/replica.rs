//! What the server has shown, as one picture.

use std::collections::BTreeMap;
use std::time::Instant;

use keel_protocol::{Card, Contact, OwnShip, STEP_MICROS, Snapshot, Welcome};

/// What a pilot sees: the newest of all that has arrived.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    pub(crate) welcome: Option<Welcome>,
    pub(crate) cards: BTreeMap<u32, Card>,
    own: Vec<OwnShip>,
    contacts: BTreeMap<u32, Contact>,
    step: u64,
    heard: Option<Instant>,
}

impl Replica {
    /// What the server said once, after it has.
    #[must_use]
    pub const fn welcome(&self) -> Option<&Welcome> {
        self.welcome.as_ref()
    }

    /// The newest step of which anything has arrived.
    #[must_use]
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// The world's time now, in microseconds: that of the newest step and what has passed since, as far as the next but
    /// one. For drawing; nothing is decided by it.
    #[must_use]
    pub fn now(&self) -> u64 {
        let passed = self.heard.map_or(0, |heard| heard.elapsed().as_micros() as u64);
        self.step * STEP_MICROS + passed.min(2 * STEP_MICROS)
    }

    /// The pilot's own ships.
    #[must_use]
    pub fn own(&self) -> &[OwnShip] {
        &self.own
    }

    /// The ship that ops are for.
    #[must_use]
    pub fn active(&self) -> Option<&OwnShip> {
        self.own.first()
    }

    /// The card of one of the pilot's ships.
    #[must_use]
    pub fn card(&self, ship: u32) -> Option<&Card> {
        self.cards.get(&ship)
    }

    /// Every other ship in view, in the order of ids.
    pub fn contacts(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.values()
    }

    /// A ship in view.
    #[must_use]
    pub fn contact(&self, id: u32) -> Option<&Contact> {
        self.contacts.get(&id)
    }

    /// What a log calls a contact: its faction, class and number.
    #[must_use]
    pub fn name(&self, contact: &Contact) -> String {
        let word = |words: Option<&Vec<String>>, index: u8| {
            words.and_then(|words| words.get(usize::from(index))).map_or("?", String::as_str).to_owned()
        };
        let faction = word(self.welcome.as_ref().map(|welcome| &welcome.factions), contact.faction);
        let class = word(self.welcome.as_ref().map(|welcome| &welcome.classes), contact.class);
        format!("{faction} {class} {}", contact.id)
    }

    /// Takes a part of a step's view. Parts of a step older than the newest are late, and dropped.
    pub(crate) fn apply(&mut self, snapshot: Snapshot, now: Instant) {
        let Snapshot { step, own, from, to, contacts } = snapshot;
        if step < self.step || from > to {
            return;
        }
        if step > self.step {
            self.step = step;
            self.heard = Some(now);
        }
        if let Some(own) = own {
            self.own = own;
        }
        // Who is not in the part of the range is out of view.
        let mut rest = self.contacts.split_off(&from);
        if let Some(beyond) = to.checked_add(1) {
            self.contacts.append(&mut rest.split_off(&beyond));
        }
        let inside = contacts.into_iter().filter(|contact| (from..=to).contains(&contact.id));
        self.contacts.extend(inside.map(|contact| (contact.id, contact)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(id: u32) -> Contact {
        Contact { id, pilot: 0, class: 0, faction: 0, col: 0, row: 0, hull: 255, shield: 255, arriving: false }
    }

    fn part(step: u64, from: u32, to: u32, ids: &[u32]) -> Snapshot {
        Snapshot { step, own: None, from, to, contacts: ids.iter().map(|&id| contact(id)).collect() }
    }

    fn after(parts: &[Snapshot]) -> Vec<u32> {
        let mut replica = Replica::default();
        for part in parts {
            replica.apply(part.clone(), Instant::now());
        }
        replica.contacts().map(|contact| contact.id).collect()
    }

    #[test]
    fn who_is_missing_from_a_range_is_gone() {
        assert_eq!(after(&[part(1, 0, u32::MAX, &[1, 5, 9]), part(2, 0, u32::MAX, &[5])]), [5]);
        assert_eq!(after(&[part(1, 0, u32::MAX, &[1, 5, 9]), part(2, 0, 5, &[])]), [9]);
        assert_eq!(after(&[part(1, 0, u32::MAX, &[1, 5, 9]), part(2, 6, u32::MAX, &[7])]), [1, 5, 7]);
    }

    #[test]
    fn views_converge_whatever_is_lost_late_or_doubled() {
        let last = [part(9, 0, 4, &[1, 2]), part(9, 5, u32::MAX, &[6])];
        let early = [part(3, 0, u32::MAX, &[1, 5, 9]), part(7, 0, 6, &[4]), part(7, 7, u32::MAX, &[8])];
        for lost in 0..8 {
            let kept: Vec<_> = (0..3).filter(|part| lost >> part & 1 == 0).map(|part| early[part].clone()).collect();
            let mut parts = kept.clone();
            parts.extend(last.iter().cloned());
            assert_eq!(after(&parts), [1, 2, 6]);
            parts.extend(kept);
            parts.push(last[0].clone());
            assert_eq!(after(&parts), [1, 2, 6], "late ones change nothing");
        }
    }

    #[test]
    fn ids_outside_of_a_parts_range_are_not_taken() {
        assert_eq!(after(&[part(1, 5, 6, &[1, 5, 9])]), [5]);
        assert_eq!(after(&[part(1, 6, 5, &[5, 6])]), [] as [u32; 0]);
    }
}
