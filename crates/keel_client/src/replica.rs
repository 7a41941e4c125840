//! What the server has shown, as one picture.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use keel_protocol::{
    Bonds, Card, Chart, Contact, Flags, Goods, Ground, Journal, Map, Module, Named, OwnShip, Pilot, STEP_MICROS,
    Snapshot, Welcome, Wormhole, Wreck,
};

/// What a pilot sees: the newest of all that has arrived.
#[derive(Clone, Debug, Default)]
pub struct Replica {
    pub(crate) welcome: Option<Welcome>,
    pub(crate) cards: BTreeMap<u32, Card>,
    pub(crate) maps: BTreeMap<u8, Map>,
    pub(crate) hold: Vec<(u32, Module)>,
    pub(crate) bonds: Bonds,
    pub(crate) wormholes: Vec<Wormhole>,
    pub(crate) pilots: BTreeMap<u32, Pilot>,
    pub(crate) goods: Goods,
    pub(crate) wrecks: Vec<Wreck>,
    journal: Journal,
    journal_at: Option<Instant>,
    charts: BTreeMap<u8, BTreeMap<(i16, i16), Ground>>,
    own: BTreeMap<u32, OwnShip>,
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

    /// How long the server has shown nothing; none before it first has.
    #[must_use]
    pub fn silence(&self) -> Duration {
        self.heard.map_or(Duration::ZERO, |heard| heard.elapsed())
    }

    /// The pilot's own ships, in the order of ids.
    pub fn own(&self) -> impl ExactSizeIterator<Item = &OwnShip> {
        self.own.values()
    }

    /// One of the pilot's own ships.
    #[must_use]
    pub fn own_ship(&self, id: u32) -> Option<&OwnShip> {
        self.own.get(&id)
    }

    /// The ship that the pilot flies.
    #[must_use]
    pub fn active(&self) -> Option<&OwnShip> {
        self.own().find(|ship| ship.flags.has(Flags::ACTIVE))
    }

    /// The map that the active ship is on.
    #[must_use]
    pub fn map(&self) -> Option<&Map> {
        self.maps.get(&self.active()?.map)
    }

    /// The modules that the pilot keeps, by their numbers.
    #[must_use]
    pub fn hold(&self) -> &[(u32, Module)] {
        &self.hold
    }

    /// The ends of wormholes that the pilot has found.
    #[must_use]
    pub fn wormholes(&self) -> &[Wormhole] {
        &self.wormholes
    }

    /// Storms that are to come, soonest first, and incursions.
    #[must_use]
    pub const fn journal(&self) -> &Journal {
        &self.journal
    }

    pub(crate) fn set_journal(&mut self, journal: Journal, now: Instant) {
        self.journal = journal;
        self.journal_at = Some(now);
    }

    /// The server's clock of the wall, in seconds since 1970, UTC; 0 before it has told it.
    #[must_use]
    pub fn utc(&self) -> u64 {
        self.journal.utc + self.journal_at.map_or(0, |at| at.elapsed().as_secs())
    }

    /// What the pilot owns besides ships and modules.
    #[must_use]
    pub const fn goods(&self) -> &Goods {
        &self.goods
    }

    /// The wrecks in view, in the order of their numbers.
    #[must_use]
    pub fn wrecks(&self) -> &[Wreck] {
        &self.wrecks
    }

    pub(crate) fn add_to_chart(&mut self, news: Chart) {
        let chart = self.charts.entry(news.map).or_default();
        if news.anew {
            chart.clear();
        }
        chart.extend(news.sectors);
    }

    /// What the pilot has charted of a map, by column and row.
    #[must_use]
    pub fn chart(&self, map: u8) -> Option<&BTreeMap<(i16, i16), Ground>> {
        self.charts.get(&map)
    }

    /// The share of a map that is charted, 0 to 1; `None` when the map is not known.
    #[must_use]
    pub fn charted(&self, map: u8) -> Option<f32> {
        let all = self.maps.get(&map)?.sectors.len();
        let seen = self.charts.get(&map).map_or(0, BTreeMap::len);
        (all > 0).then(|| seen as f32 / all as f32)
    }

    /// What is between the pilot and others.
    #[must_use]
    pub const fn bonds(&self) -> &Bonds {
        &self.bonds
    }

    /// A pilot who was asked for.
    #[must_use]
    pub fn pilot(&self, id: u32) -> Option<&Pilot> {
        self.pilots.get(&id)
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
        let Contact { id, pilot, class, faction, .. } = *contact;
        self.named(&Named { id, pilot, class, faction })
    }

    /// What a log calls a ship: a pilot's by their name, if that was asked for.
    #[must_use]
    pub fn named(&self, ship: &Named) -> String {
        match self.pilot(ship.pilot) {
            Some(pilot) => {
                let class = self.word(|welcome| &welcome.classes, ship.class);
                format!("{}'s {class} {}", pilot.name, ship.id)
            }
            None => format!("{} {}", self.make(ship), ship.id),
        }
    }

    /// A ship's maker and class.
    #[must_use]
    pub fn make(&self, ship: &Named) -> String {
        let faction = self.word(|welcome| &welcome.factions, ship.faction);
        format!("{faction} {}", self.word(|welcome| &welcome.classes, ship.class))
    }

    /// What a module is called: its grade, maker and kind.
    #[must_use]
    pub fn module(&self, module: &Module) -> String {
        let grade = self.word(|welcome| &welcome.grades, module.grade);
        let faction = self.word(|welcome| &welcome.factions, module.faction);
        let kinds = self.welcome.iter().flat_map(|welcome| &welcome.kinds);
        let kind = kinds.map(|kind| kind.name.as_str()).nth(module.kind.into()).unwrap_or("?");
        format!("{grade} {faction} {kind}")
    }

    /// A name of the welcome's catalogue.
    #[must_use]
    pub fn word(&self, list: impl Fn(&Welcome) -> &Vec<String>, index: u8) -> &str {
        self.welcome.as_ref().and_then(|welcome| list(welcome).get(usize::from(index))).map_or("?", String::as_str)
    }

    /// Takes a part of a step's view. Parts of a step older than the newest are late, and dropped.
    pub(crate) fn apply(&mut self, snapshot: Snapshot, now: Instant) {
        let Snapshot { step, from, to, own, contacts } = snapshot;
        if step < self.step || from > to {
            return;
        }
        if step > self.step {
            self.step = step;
            self.heard = Some(now);
        }
        let own = own.into_iter().map(|ship| (ship.id, ship));
        replace(&mut self.own, from, to, own);
        replace(&mut self.contacts, from, to, contacts.into_iter().map(|contact| (contact.id, contact)));
    }
}

/// Puts what a part tells in place of all that was known of its range: who is not in it is gone.
fn replace<T>(known: &mut BTreeMap<u32, T>, from: u32, to: u32, told: impl Iterator<Item = (u32, T)>) {
    let mut rest = known.split_off(&from);
    if let Some(beyond) = to.checked_add(1) {
        known.append(&mut rest.split_off(&beyond));
    }
    known.extend(told.filter(|(id, _)| (from..=to).contains(id)));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contact(id: u32) -> Contact {
        let flags = Flags::default();
        Contact {
            id,
            pilot: 0,
            charter: 0,
            class: 0,
            faction: 0,
            map: 1,
            col: 0,
            row: 0,
            hull: 255,
            shield: 255,
            flags,
        }
    }

    fn part(step: u64, from: u32, to: u32, ids: &[u32]) -> Snapshot {
        Snapshot { step, from, to, own: Vec::new(), contacts: ids.iter().map(|&id| contact(id)).collect() }
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
