//! Wormholes (rule 12): [`WorldSet::Wormholes`]. Two doors on every layer, one way out of every Rift, and who has found which
//! end.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_balance::Wormholes as WormholeRule;
use keel_map::{Hex, MapKey, MapKind};
use keel_rules::{Moment, STEPS_PER_SECOND};

use crate::ids::{PilotId, WormholeId};
use crate::notes::{Note, Noted};
use crate::schedule::{Now, WorldSet};
use crate::storms::Storms;
use crate::stream::{Purpose, Stream};
use crate::world::{Appeared, Card, InSector, Map, Maps, Sector, Ship, Tuning};

pub(crate) struct WormholesPlugin;

impl Plugin for WormholesPlugin {
    fn build(&self, app: &mut App) {
        let seed = app.world().resource::<Tuning>().seed;
        let stream = Stream::new(seed, Purpose::Wormholes, 0);
        app.insert_resource(Wormholes { open: BTreeMap::new(), found: BTreeMap::new(), last: 0, stream })
            .init_resource::<Sought>()
            .add_systems(FixedUpdate, (keep_doors, find_ends).chain().in_set(WorldSet::Wormholes));
    }
}

/// A place of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// The map.
    pub map: MapKey,
    /// The sector.
    pub hex: Hex,
}

/// A wormhole. It counts for the map of its first end, and is used from either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wormhole {
    /// What it is called.
    pub code: Code,
    /// Where its ends are.
    pub ends: [Place; 2],
    /// When it opened.
    pub opened: Moment,
    /// When it closes.
    pub closes: Moment,
    /// Whether it is the exit that its Rift always has.
    pub is_exit: bool,
}

impl Wormhole {
    /// Where an end is.
    #[must_use]
    pub const fn at(&self, end: End) -> Place {
        self.ends[end.index()]
    }

    /// Where one leads who enters at an end.
    #[must_use]
    pub const fn far(&self, end: End) -> Place {
        self.ends[1 - end.index()]
    }
}

/// One of a wormhole's two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum End {
    /// Where it was opened.
    Near,
    /// Where that leads.
    Far,
}

impl End {
    const BOTH: [Self; 2] = [Self::Near, Self::Far];

    const fn index(self) -> usize {
        match self {
            Self::Near => 0,
            Self::Far => 1,
        }
    }
}

/// What a wormhole is called, such as `KRN-418`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Code(u32);

impl Code {
    fn draw(stream: &mut Stream) -> Self {
        Self(stream.below(26 * 26 * 26 * 1000) as u32)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |place: u32| char::from(b'A' + ((self.0 / 1000 / place) % 26) as u8);
        write!(f, "{}{}{}-{:03}", letter(26 * 26), letter(26), letter(1), self.0 % 1000)
    }
}

/// Every wormhole, and who has found what.
#[derive(Resource, Debug)]
pub struct Wormholes {
    pub(crate) open: BTreeMap<WormholeId, Wormhole>,
    pub(crate) found: BTreeMap<PilotId, BTreeSet<(WormholeId, End)>>,
    pub(crate) last: u32,
    pub(crate) stream: Stream,
}

/// How many had opened and storms passed when ends were last looked for by everyone.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sought(pub(crate) (u32, u32));

impl Sought {
    /// What is never so: everyone looks for ends in the next step.
    pub(crate) const NOTHING: Self = Self((u32::MAX, u32::MAX));
}

impl Wormholes {
    /// A wormhole that is open.
    #[must_use]
    pub fn get(&self, id: WormholeId) -> Option<&Wormhole> {
        self.open.get(&id)
    }

    /// Every open wormhole, in the order in which they opened.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (WormholeId, &Wormhole)> {
        self.open.iter().map(|(&id, wormhole)| (id, wormhole))
    }

    /// The ends that a pilot has found, in the order of their wormholes.
    pub fn found_by(&self, pilot: PilotId) -> impl Iterator<Item = (WormholeId, End, &Wormhole)> {
        let found = self.found.get(&pilot).into_iter().flatten();
        found.filter_map(|&(id, end)| Some((id, end, self.open.get(&id)?)))
    }

    /// The end of an open wormhole that a pilot has found at a place.
    pub(crate) fn end_at(&self, pilot: PilotId, id: WormholeId, place: Place) -> Option<(Wormhole, End)> {
        let mut found = self.found_by(pilot).filter(|(known, ..)| *known == id);
        found.find(|(_, end, wormhole)| wormhole.ends[end.index()] == place).map(|(_, end, wormhole)| (*wormhole, end))
    }

    /// One of those sectors.
    pub(crate) fn draw_hex(&mut self, hexes: &[Hex]) -> Hex {
        hexes[self.stream.below(hexes.len())]
    }

    /// Opens one between two places, for as long as the balance says.
    pub(crate) fn open(&mut self, ends: [Place; 2], is_exit: bool, now: Moment, rule: &WormholeRule) {
        let steps = |minutes: u16| usize::from(minutes) * 60 * STEPS_PER_SECOND as usize;
        let stays = steps(rule.least_min) + self.stream.below(steps(rule.most_min) - steps(rule.least_min) + 1);
        let closes = Moment::of_step(now.step() + stays as u64);
        let code = loop {
            let code = Code::draw(&mut self.stream);
            if self.open.values().all(|wormhole| wormhole.code != code) {
                break code;
            }
        };
        self.last += 1;
        let id = WormholeId(self.last);
        self.open.insert(id, Wormhole { code, ends, opened: now, closes, is_exit });
    }

    /// Ends within reach of a place.
    fn near(&self, place: Place, reach: u32) -> impl Iterator<Item = (WormholeId, End)> {
        self.open.iter().flat_map(move |(&id, wormhole)| {
            let is_near = move |end: &End| {
                let at = wormhole.ends[end.index()];
                at.map == place.map && at.hex.distance(place.hex) <= reach
            };
            End::BOTH.into_iter().filter(is_near).map(move |end| (id, end))
        })
    }

    /// Where a jump through one leads by now: a storm may have moved the end, and it may be closed.
    pub(crate) fn landing(&self, code: Code, to: Place) -> Place {
        let open = self.open.values().find(|wormhole| wormhole.code == code);
        let far = open.and_then(|wormhole| wormhole.ends.into_iter().find(|end| end.map == to.map));
        far.unwrap_or(to)
    }

    /// Moves the ends on a map to where a storm has left them.
    pub(crate) fn move_ends(&mut self, map: MapKey, to: impl Fn(Hex) -> Hex) {
        for end in self.open.values_mut().flat_map(|wormhole| &mut wormhole.ends).filter(|end| end.map == map) {
            end.hex = to(end.hex);
        }
    }

    /// All that it is, for a hash.
    pub(crate) fn words(
        &self,
    ) -> (&BTreeMap<WormholeId, Wormhole>, &BTreeMap<PilotId, BTreeSet<(WormholeId, End)>>, u64) {
        (&self.open, &self.found, self.stream.fingerprint())
    }
}

/// What is over closes, and what is wanting opens: two from every layer, and an exit from every Rift.
fn keep_doors(
    now: Res<Now>,
    tuning: Res<Tuning>,
    maps: Res<Maps>,
    layouts: Query<&Map>,
    mut wormholes: ResMut<Wormholes>,
) {
    let now = now.moment();
    if wormholes.open.values().any(|wormhole| wormhole.closes <= now) {
        wormholes.open.retain(|_, wormhole| wormhole.closes > now);
        let Wormholes { open, found, .. } = &mut *wormholes;
        found.values_mut().for_each(|found| found.retain(|(id, _)| open.contains_key(id)));
    }
    for map in maps.iter().filter_map(|map| layouts.get(map).ok()) {
        let is_exit = map.key.kind == MapKind::Rift;
        let wanted = if is_exit { 1 } else { usize::from(tuning.balance.wormholes.per_layer) };
        loop {
            let counts = |wormhole: &&Wormhole| wormhole.ends[0].map == map.key && wormhole.is_exit == is_exit;
            if wormholes.open.values().filter(counts).count() >= wanted {
                break;
            }
            if !open(&mut wormholes, map, is_exit, now, &tuning, &maps, &layouts) {
                break;
            }
        }
    }
}

/// Opens a wormhole from a map; whether there is anywhere for it to lead.
fn open(
    wormholes: &mut Wormholes,
    map: &Map,
    is_exit: bool,
    now: Moment,
    tuning: &Tuning,
    maps: &Maps,
    layouts: &Query<&Map>,
) -> bool {
    let rule = &tuning.balance.wormholes;
    let stream = &mut wormholes.stream;
    let to = if is_exit {
        Some(MapKey::layer(map.key.tier))
    } else {
        destination(stream, map.key, rule.rift_chance.get(), maps)
    };
    let Some(far) = to.and_then(|to| maps.get(to)).and_then(|to| layouts.get(to).ok()) else { return false };
    let ends = [map, far].map(|map| Place { map: map.key, hex: wormholes.draw_hex(map.layout.hexes()) });
    wormholes.open(ends, is_exit, now, rule);
    true
}

/// Where a new wormhole of a layer leads: into a Rift with that chance, each equally likely, and else to another layer.
fn destination(stream: &mut Stream, from: MapKey, rift_chance: f32, maps: &Maps) -> Option<MapKey> {
    let kind = if stream.happens(rift_chance) { MapKind::Rift } else { MapKind::Layer };
    let may: Vec<MapKey> =
        MapKey::all().filter(|&key| key.kind == kind && key != from && maps.get(key).is_some()).collect();
    (!may.is_empty()).then(|| may[stream.below(may.len())])
}

/// A ship that comes to an end finds it for its pilot; a wormhole scanner finds those within its reach.
fn find_ends(
    mut wormholes: ResMut<Wormholes>,
    mut appeared: MessageReader<Appeared>,
    storms: Res<Storms>,
    mut sought: ResMut<Sought>,
    ships: Query<(&Ship, &Card, &InSector)>,
    sectors: Query<&Sector>,
    maps: Query<&Map>,
    mut notes: MessageWriter<Noted>,
) {
    // One that has opened, or that a storm has moved, may be beside someone: all are asked, else those who have come somewhere.
    let now = (wormholes.last, storms.passed());
    let has_opened = sought.set_if_neq(Sought(now));
    let coming: Vec<Entity> = appeared.read().map(|appeared| appeared.ship).collect();
    let mut seekers: Vec<_> = if has_opened {
        ships.iter().filter(|(ship, ..)| ship.pilot().is_some()).collect()
    } else {
        coming.into_iter().filter_map(|ship| ships.get(ship).ok()).collect()
    };
    seekers.sort_unstable_by_key(|(ship, ..)| ship.id);
    for (ship, card, sector) in seekers {
        let place = sectors
            .get(sector.0)
            .ok()
            .and_then(|sector| Some(Place { map: maps.get(sector.map).ok()?.key, hex: sector.hex }));
        let (Some(pilot), Some(place)) = (ship.pilot(), place) else { continue };
        let reach = card.0.scanner.unwrap_or(0).into();
        let is_new =
            |found: &(WormholeId, End)| !wormholes.found.get(&pilot).is_some_and(|known| known.contains(found));
        let new: Vec<_> = wormholes.near(place, reach).filter(is_new).collect();
        for (id, end) in new {
            wormholes.found.entry(pilot).or_default().insert((id, end));
            if let Some(wormhole) = wormholes.open.get(&id) {
                let (code, at, to) = (wormhole.code, wormhole.ends[end.index()].hex, wormhole.far(end).map);
                notes.write_batch(Noted::ship(ship, Note::WormholeFound { code, at, to }));
            }
        }
    }
}
