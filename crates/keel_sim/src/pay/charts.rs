//! Charts: which sectors of a map a pilot's ships have seen. A full one is paid for once; a storm takes it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use keel_map::MapKey;
use keel_rules::pay::notches;

use crate::notes::{Note, Noted};
use crate::save::pairs;
use crate::schedule::Now;
use crate::storms::Storms;
use crate::world::{Appeared, Card, InFleet, InSector, Map, PilotIndex, Powers, Purse, Sector, Ship, Tuning};

/// A pilot's charts.
#[derive(Component, Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Charts(#[serde(with = "pairs")] BTreeMap<MapKey, Chart>);

/// The storms that had passed when everyone last looked about.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Surveyed(pub(crate) u32);

impl Surveyed {
    /// What is never so: everyone looks about in the next step.
    pub(crate) const NOTHING: Self = Self(u32::MAX);
}

/// Which sectors of a map were seen since its last storm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Chart {
    /// A bit for each sector, by its number.
    seen: Vec<u64>,
    count: usize,
}

impl Charts {
    /// The chart of a map; `None` before a ship was there.
    #[must_use]
    pub fn get(&self, map: MapKey) -> Option<&Chart> {
        self.0.get(&map)
    }

    /// Every chart.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (MapKey, &Chart)> {
        self.0.iter().map(|(&map, chart)| (map, chart))
    }
}

impl Chart {
    /// Sectors that are on it.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// Whether the sector of that number is on it.
    #[must_use]
    pub fn has(&self, index: usize) -> bool {
        self.seen.get(index / 64).is_some_and(|word| word & (1 << (index % 64)) != 0)
    }

    /// The numbers of the sectors that are on it.
    pub fn sectors(&self) -> impl Iterator<Item = usize> {
        (0..self.seen.len() * 64).filter(|&index| self.has(index))
    }

    /// Puts a sector on it; whether it was not.
    fn add(&mut self, index: usize) -> bool {
        let is_new = !self.has(index);
        if is_new {
            let word = index / 64;
            self.seen.resize(self.seen.len().max(word + 1), 0);
            self.seen[word] |= 1 << (index % 64);
            self.count += 1;
        }
        is_new
    }
}

/// A storm has passed over a map: its charts start again.
pub(crate) fn forget(world: &mut World, map: MapKey) {
    let mut charts = world.query::<&mut Charts>();
    for mut charts in charts.iter_mut(world) {
        charts.0.remove(&map);
    }
}

/// Ships put on the chart what they see from where they have come to.
pub(super) fn chart(
    now: Res<Now>,
    tuning: Res<Tuning>,
    storms: Res<Storms>,
    pilots: Res<PilotIndex>,
    mut appeared: MessageReader<Appeared>,
    mut surveyed: ResMut<Surveyed>,
    ships: Query<(&Ship, &Card, &Powers, &InSector), With<InFleet>>,
    sectors: Query<&Sector>,
    maps: Query<&Map>,
    mut owners: Query<(&mut Charts, &mut Purse)>,
    mut notes: MessageWriter<Noted>,
    mut seers: Local<Vec<Entity>>,
) {
    seers.extend(appeared.read().map(|appeared| appeared.ship));
    // After a storm everyone looks about anew.
    let is_anew = surveyed.0 != storms.passed();
    surveyed.set_if_neq(Surveyed(storms.passed()));
    let all = is_anew.then(|| ships.iter()).into_iter().flatten();
    for (ship, card, powers, sector) in seers.drain(..).filter_map(|ship| ships.get(ship).ok()).chain(all) {
        let Some(pilot) = ship.pilot() else { continue };
        let Some((mut charts, mut purse)) = pilots.get(pilot).and_then(|pilot| owners.get_mut(pilot).ok()) else {
            continue;
        };
        let Ok(here) = sectors.get(sector.0) else { continue };
        let Ok(map) = maps.get(here.map) else { continue };
        let view = card.0.view(powers.is_jammed(now.moment()));
        let chart = charts.0.entry(map.key).or_default();
        let seen = here.hex.within(view.into()).into_iter().filter_map(|hex| map.layout.index(hex));
        let mut is_new = false;
        seen.for_each(|index| is_new |= chart.add(index));
        if is_new && chart.count == map.sectors().len() {
            let paid = notches(&tuning.balance, map.site());
            purse.notches += u64::from(paid);
            notes.write(Noted::pilot(pilot, Note::Charted { map: map.key, notches: paid }));
        }
    }
}
