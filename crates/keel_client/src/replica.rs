//! What the server has shown, as one picture.

mod clock;
mod picture;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use keel_protocol::snapshot::Ack;
use keel_protocol::{
    Bonds, Card, Chart, Contact, Flags, Goods, Ground, Journal, Map, Module, Named, OwnShip, Pilot, Welcome, Wormhole,
    Wreck,
};

use clock::Clock;
use picture::Picture;

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
    picture: Picture,
    step: u64,
    pace: u8,
    clock: Option<Clock>,
}

impl Replica {
    /// What the server said at the greeting, after it has, or when its balance last changed.
    #[must_use]
    pub const fn welcome(&self) -> Option<&Welcome> {
        self.welcome.as_ref()
    }

    /// The newest step of which anything has arrived.
    #[must_use]
    pub const fn step(&self) -> u64 {
        self.step
    }

    /// How fast the world goes, in percent of the clock: under 100 when the server's steps take too long.
    #[must_use]
    pub const fn pace(&self) -> u8 {
        self.pace
    }

    /// The world's time now, in microseconds. It follows the server's steps at the world's pace, never jumps for a snapshot that
    /// is late and never goes back; when the server falls silent it goes on for a second. For drawing; nothing is decided by it.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.clock.map_or(0, |clock| clock.time(Instant::now()))
    }

    /// How long the server has shown nothing; none before it first has.
    #[must_use]
    pub fn silence(&self) -> Duration {
        self.clock.map_or(Duration::ZERO, |clock| clock.silence(Instant::now()))
    }

    /// The pilot's own ships, in the order of ids.
    pub fn own(&self) -> impl ExactSizeIterator<Item = &OwnShip> {
        self.picture.own().values()
    }

    /// One of the pilot's own ships.
    #[must_use]
    pub fn own_ship(&self, id: u32) -> Option<&OwnShip> {
        self.picture.own().get(&id)
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
        self.picture.contacts()
    }

    /// A ship in view.
    #[must_use]
    pub fn contact(&self, id: u32) -> Option<&Contact> {
        self.picture.contact(id)
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

    /// Takes a packet of what the pilot sees, as the lossy channel carries it. One that cannot be read is dropped.
    pub fn take(&mut self, packet: &[u8], now: Instant) {
        if let Ok(Some(head)) = self.picture.take(packet) {
            self.clock.get_or_insert_with(|| Clock::new(head.step, head.pace, now)).hear(head.step, head.pace, now);
            if head.step >= self.step {
                (self.step, self.pace) = (head.step, head.pace);
            }
        }
    }

    /// What to tell the server that has arrived, on the lossy channel; nothing before anything has.
    #[must_use]
    pub fn ack(&self) -> Option<Ack> {
        self.picture.ack()
    }
}
