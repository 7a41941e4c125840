//! Storms (rule 13): [`WorldSet::Storms`]. They come by the clock of the wall, are announced, and lay a map out anew.

mod reshape;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_map::MapKey;
use keel_rules::storm::next_landing;

use crate::notes::{Note, Noted};
use crate::save::pairs;
use crate::schedule::WorldSet;
use crate::stream::{Purpose, Stream};
use crate::world::{Map, Maps, Pilot, PilotIndex, Tuning};
use reshape::land;
pub(crate) use reshape::relay;

pub(crate) struct StormsPlugin;

impl Plugin for StormsPlugin {
    fn build(&self, app: &mut App) {
        let stream = Stream::new(app.world().resource::<Tuning>().seed, Purpose::Storms, 0);
        app.init_resource::<WallClock>()
            .insert_resource(Storms { next: BTreeMap::new(), forced: Vec::new(), passed: 0, stream })
            .add_systems(FixedUpdate, watch.in_set(WorldSet::Storms));
    }
}

/// The clock of the wall. Whoever runs the world sets it; nothing but storms goes by it.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WallClock(Option<u64>);

impl WallClock {
    /// Seconds since 1970, UTC; `None` as long as nobody has set it. No storm comes until then.
    #[must_use]
    pub const fn seconds(self) -> Option<u64> {
        self.0
    }

    /// Sets it to so many seconds since 1970, UTC.
    pub const fn set(&mut self, seconds: u64) {
        self.0 = Some(seconds);
    }
}

/// A storm that is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Storm {
    /// When it lands, in seconds since 1970, UTC.
    pub lands: u64,
    /// Which of the names it has.
    pub name: u8,
    /// Whether it has been announced.
    pub is_building: bool,
}

/// The next storm of every map.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
pub struct Storms {
    #[serde(with = "pairs")]
    next: BTreeMap<MapKey, Storm>,
    /// Maps on which an operator has one land in this step.
    #[serde(skip)]
    forced: Vec<MapKey>,
    passed: u32,
    stream: Stream,
}

impl Storms {
    /// What is to come, soonest first.
    #[must_use]
    pub fn journal(&self) -> Vec<(MapKey, Storm)> {
        let mut journal: Vec<_> = self.next.iter().map(|(&map, &storm)| (map, storm)).collect();
        journal.sort_by_key(|(map, storm)| (storm.lands, *map));
        journal
    }

    /// How many have landed.
    #[must_use]
    pub const fn passed(&self) -> u32 {
        self.passed
    }

    /// There are other names. A storm to come keeps its own where that is still there.
    pub(crate) fn rename(&mut self, old: &[String], new: &[String]) {
        for storm in self.next.values_mut() {
            let place = usize::from(storm.name);
            let same = old.get(place).and_then(|name| new.iter().position(|other| other == name));
            storm.name = same.unwrap_or(place % new.len().max(1)) as u8;
        }
    }

    /// Has one land on a map in this step, unannounced.
    pub(crate) fn force(&mut self, map: MapKey) {
        self.forced.push(map);
    }

    /// All that it is, for a hash.
    pub(crate) fn words(&self) -> (&BTreeMap<MapKey, Storm>, u32, u64) {
        (&self.next, self.passed, self.stream.fingerprint())
    }
}

/// How far a storm may lie beyond its usual wait: a clock that was set back a little moves none.
const SLACK: u64 = 3600;

/// Storms that are due are announced, and land. None lands unannounced: one whose warning the clock has jumped over is
/// announced first, and lands that much later.
fn watch(world: &mut World, mut seen: Local<Option<u64>>) {
    for map in std::mem::take(&mut world.resource_mut::<Storms>().forced) {
        land(world, map);
    }
    let Some(clock) = world.resource::<WallClock>().0.filter(|&clock| *seen != Some(clock)) else { return };
    *seen = Some(clock);
    let balance = world.resource::<Tuning>().balance.clone();
    let rule = &balance.storms;
    let (warning, every) = (u64::from(rule.warn_min) * 60, u64::from(rule.every_h) * 3600);
    for key in MapKey::all() {
        let Some(map) = world.resource::<Maps>().get(key) else { continue };
        let Some(site) = world.get::<Map>(map).map(Map::site) else { continue };
        let storms = &mut *world.resource_mut::<Storms>();
        // A clock that was set back by hours begins anew, and so does a map whose storm lands.
        let known = storms.next.get(&key).copied().filter(|storm| storm.lands <= clock.saturating_add(every + SLACK));
        let lands = known.is_some_and(|storm| storm.is_building && clock >= storm.lands);
        let mut storm = known.filter(|_| !lands).unwrap_or_else(|| Storm {
            lands: next_landing(rule, site, clock),
            name: storms.stream.below(rule.names.len()) as u8,
            is_building: false,
        });
        let builds = !storm.is_building && clock.saturating_add(warning) >= storm.lands;
        if builds {
            storm.is_building = true;
            storm.lands = storm.lands.max(clock.saturating_add(warning));
        }
        if known != Some(storm) {
            storms.next.insert(key, storm);
        }
        if lands {
            land(world, key);
        }
        if builds {
            tell_all(world, Note::StormBuilding { map: key, name: storm.name });
        }
    }
}

/// A line for every pilot who is connected.
pub(crate) fn tell_all(world: &mut World, note: Note) {
    let pilots = world.resource::<PilotIndex>().iter();
    let online = pilots.filter(|&(_, pilot)| world.get::<Pilot>(pilot).is_some_and(|pilot| pilot.online));
    let noted: Vec<Noted> = online.map(|(pilot, _)| Noted::pilot(pilot, note)).collect();
    world.write_message_batch(noted);
}
