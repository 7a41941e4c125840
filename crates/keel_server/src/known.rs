//! What a client has been told of what seldom changes, so that only changes are told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use keel_map::MapKey;
use keel_protocol::{Bonds, Goods, Journal, Map, Module, ToClient, Wormhole, Wreck};
use keel_rules::Sheet;
use keel_sim::{PilotId, ShipId};

use crate::replication::Viewer;
use crate::world::{Charted, Ports, World};

#[derive(Default)]
pub(crate) struct Known {
    /// Whether all has been looked at once, since the balance is what it is.
    begun: bool,
    cards: BTreeMap<ShipId, Arc<Sheet>>,
    /// With what each was laid out by.
    maps: BTreeMap<MapKey, (u64, Map)>,
    ports: Option<Ports>,
    hold: Vec<(u32, Module)>,
    bonds: Bonds,
    wormholes: Vec<Wormhole>,
    journal: Journal,
    goods: Goods,
    wrecks: Vec<Wreck>,
    charts: BTreeMap<MapKey, Option<Charted>>,
}

/// Steps from one look at what is not urgent to the next.
pub(crate) const RENEWED: u64 = 10;

impl Known {
    /// Has everything be looked at at the next opportunity.
    pub(crate) const fn look_again(&mut self) {
        self.begun = false;
    }

    /// Says what is new to the pilot's client. Hold and KOS marks change by the pilot's own ops alone, so they are looked at when
    /// one was `answered`, charter and duels when any of the world's `bonds` changed, a map at once when a ship of
    /// the pilot's is there for the first time.
    pub(crate) fn catch_up(
        &mut self,
        world: &World,
        pilot: PilotId,
        viewer: &Viewer,
        answered: bool,
        bonds: bool,
        say: &mut dyn FnMut(ToClient),
    ) {
        let first = !std::mem::replace(&mut self.begun, true);
        let is_time = first || world.now().is_multiple_of(RENEWED);
        let mut keys: BTreeSet<MapKey> = world.maps(pilot).filter(|key| !self.maps.contains_key(key)).collect();
        // Maps are large: those that are known are looked at again only when something has happened to one, and seldom then.
        if is_time || answered {
            let ports = if is_time { world.ports(pilot) } else { self.ports };
            let is_other = std::mem::replace(&mut self.ports, ports) != ports || first;
            // A map that a storm has changed comes before its new chart.
            let known = self.maps.iter().filter(|(key, (seed, _))| is_other || world.seed(**key) != *seed);
            keys.extend(known.map(|(&key, _)| key));
        }
        for key in keys {
            let Some(map) = world.map(key, pilot) else { continue };
            if self.maps.get(&key).is_none_or(|(_, known)| *known != map) {
                say(ToClient::Map(map.clone()));
            }
            self.maps.insert(key, (world.seed(key), map));
        }
        if bonds || answered || first {
            let bonds = world.bonds(pilot);
            if bonds != self.bonds {
                self.bonds.clone_from(&bonds);
                say(ToClient::Bonds(bonds));
            }
        }
        if answered || first {
            let hold = world.hold(pilot);
            if hold != self.hold {
                self.hold.clone_from(&hold);
                say(ToClient::Hold(hold));
            }
        }
        // Whoever was told of something asks for it next; of the rest, such as who is inside of a Rift, nothing is urgent.
        if is_time || answered {
            let wormholes = world.wormholes(pilot);
            if wormholes != self.wormholes {
                self.wormholes.clone_from(&wormholes);
                say(ToClient::Wormholes(wormholes));
            }
            self.catch_up_news(world, pilot, viewer, say);
        }
        world.cards(pilot, &mut self.cards).into_iter().for_each(|card| say(ToClient::Card(card)));
    }

    /// Says what is new of storms, incursions, charts, wrecks and goods.
    fn catch_up_news(&mut self, world: &World, pilot: PilotId, viewer: &Viewer, say: &mut dyn FnMut(ToClient)) {
        let journal = &world.journal;
        // That time passes is no news.
        if (&journal.storms, &journal.incursions) != (&self.journal.storms, &self.journal.incursions) {
            self.journal.clone_from(journal);
            say(ToClient::Journal(journal.clone()));
        }
        let goods = world.goods(pilot);
        if goods != self.goods {
            self.goods.clone_from(&goods);
            say(ToClient::Goods(goods));
        }
        let wrecks = world.wrecks(viewer);
        if wrecks != self.wrecks {
            self.wrecks.clone_from(&wrecks);
            say(ToClient::Wrecks(wrecks));
        }
        for key in world.charted(pilot) {
            self.charts.entry(key).or_default();
        }
        for (&key, known) in &mut self.charts {
            if let Some(news) = world.chart(pilot, key, known) {
                say(ToClient::Chart(news));
            }
        }
    }
}
