//! What pilots are told of the maps and of what they own, besides ships and modules.

use keel_map::{MapKey, Terrain};
use keel_protocol::{Chart, Goods, Ground, Incursion, Journal, Storm, Wreck};
use keel_sim::{Cargo, Charts, Incursions, LiesIn, Maps, PilotId, Purse, Sector, Storms, WallClock, Wrecks};

use super::World;
use crate::convert;
use crate::replication::Viewer;

/// A pilot's chart as far as a client has it.
#[derive(Debug, PartialEq)]
pub(crate) struct Charted {
    /// What the map was laid out by: after a storm it is another.
    seed: u64,
    chart: keel_sim::Chart,
}

impl World {
    /// What is to come, soonest first, and what is on.
    pub(super) fn write_journal(&self) -> Journal {
        let world = self.app.world();
        let names = &self.balance.storms.names;
        let storms = world.resource::<Storms>().journal().into_iter().map(|(map, storm)| Storm {
            map: map.code(),
            lands: storm.lands,
            name: names.get(usize::from(storm.name)).cloned().unwrap_or_default(),
            is_building: storm.is_building,
        });
        let incursions = world.resource::<Incursions>().iter().map(|(_, incursion)| Incursion {
            map: incursion.map.code(),
            sectors: incursion.block.iter().map(|&hex| convert::place(hex)).collect(),
            faction: incursion.faction as u8,
            begins: incursion.begins.get(),
            ends: incursion.ends.get(),
            wave: incursion.waves,
            waves: self.balance.incursions.waves,
        });
        let utc = world.resource::<WallClock>().seconds().unwrap_or_default();
        Journal { utc, storms: storms.collect(), incursions: incursions.collect() }
    }

    /// What a pilot owns besides ships and modules.
    pub(crate) fn goods(&self, pilot: PilotId) -> Goods {
        let world = self.app.world();
        let Some((purse, cargo)) =
            self.pilot(pilot).and_then(|pilot| Some((world.get::<Purse>(pilot)?, world.get::<Cargo>(pilot)?)))
        else {
            return Goods::default();
        };
        Goods {
            salt: purse.salt.0,
            notches: purse.notches,
            ore: cargo.ore,
            gas: cargo.gas,
            material: cargo.material,
            remnants: cargo.remnants,
            copies: cargo.copies.iter().map(|(copy, &count)| (copy.name(&self.balance), count)).collect(),
            originals: cargo.originals.iter().map(|original| original.name(&self.balance)).collect(),
        }
    }

    /// What is new on a pilot's chart of a map against what is `known` of it, which it is then.
    pub(crate) fn chart(&self, pilot: PilotId, key: MapKey, known: &mut Option<Charted>) -> Option<Chart> {
        let world = self.app.world();
        let map = world.get::<keel_sim::Map>(world.resource::<Maps>().get(key)?)?;
        let chart = self.pilot(pilot).and_then(|pilot| world.get::<Charts>(pilot)?.get(key));
        let stays = known.as_ref().filter(|known| known.seed == map.seed);
        let anew = known.is_some() && stays.is_none();
        let count = chart.map_or(0, keel_sim::Chart::count);
        if !anew && stays.map_or(0, |known| known.chart.count()) == count {
            return None;
        }
        let chart = chart.cloned().unwrap_or_default();
        let is_new = |&index: &usize| stays.is_none_or(|known| !known.chart.has(index));
        let seen: Vec<_> = map.layout.sectors().collect();
        let sectors = chart.sectors().filter(is_new).filter_map(|index| seen.get(index));
        let sectors = sectors.map(|&(hex, terrain)| {
            let ground = match terrain {
                Terrain::Open => Ground::Open,
                Terrain::Belt { richness } => Ground::Belt(richness),
                Terrain::Cloud { richness } => Ground::Cloud(richness),
            };
            (convert::place(hex), ground)
        });
        let news = Chart { map: key.code(), anew, sectors: sectors.collect() };
        *known = Some(Charted { seed: map.seed, chart });
        Some(news)
    }

    /// The maps of which a pilot has a chart.
    pub(crate) fn charted(&self, pilot: PilotId) -> impl Iterator<Item = MapKey> {
        let charts = self.pilot(pilot).and_then(|pilot| self.app.world().get::<Charts>(pilot));
        charts.into_iter().flat_map(Charts::iter).map(|(map, _)| map)
    }

    /// The wrecks that a pilot's ships see.
    pub(crate) fn wrecks(&self, viewer: &Viewer) -> Vec<Wreck> {
        let world = self.app.world();
        if world.resource::<keel_sim::WreckIndex>().iter().len() == 0 {
            return Vec::new();
        }
        let lying = viewer.in_view().filter_map(|sector| world.get::<Wrecks>(sector)).flat_map(Wrecks::iter);
        let mut wrecks: Vec<Wreck> = lying
            .filter_map(|wreck| {
                let sector = *world.get::<Sector>(world.get::<LiesIn>(wreck)?.0)?;
                let wreck = world.get::<keel_sim::Wreck>(wreck)?;
                Some(Wreck {
                    id: wreck.id.0,
                    map: world.get::<keel_sim::Map>(sector.map)?.key.code(),
                    place: convert::place(sector.hex),
                    class: wreck.of.class.0,
                    faction: wreck.of.faction as u8,
                })
            })
            .collect();
        wrecks.sort_unstable_by_key(|wreck| wreck.id);
        wrecks
    }
}
