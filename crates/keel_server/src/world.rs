//! The world as the server holds it: stepped, ordered about and looked at.

mod census;
mod news;

pub(crate) use news::Charted;

use census::Counted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::{Fixed, Time, TimePlugin, TimeUpdateStrategy};
use keel_balance::{Balance, Faction, Grade};
use keel_map::{MapKey, MapKind};
use keel_protocol::{Card, Charter, Journal, Line, Map, Module, PROTOCOL_VERSION, Pilot, Shot, Welcome, Wormhole};
use keel_rules::danger;
use keel_rules::{Kind, STEPS_PER_SECOND, Sheet};
use keel_sim::{
    Answered, Bonds, CharterId, CombatLog, Cut, Docked, Fitted, Fleet, Force, Haven, Hold, InSector, Key, Maps, Noted,
    Now, Operated, OperatorOps, Order, Orders, PilotId, RestoreError, Row, Sector, Ship, ShipId, SimPlugin, SimSet,
    Structure, StructureKind, WallClock, Wormholes,
};

use crate::health::Health;
use crate::replication::{Replication, Sight, Viewer};
use crate::stages::{self, Stages};
use crate::{Config, convert};

pub(crate) struct World {
    app: App,
    replication: Replication,
    balance: Arc<Balance>,
    /// For each map the pilots with a ship in space there: those who are connected, and those who are not.
    inside: BTreeMap<MapKey, (u16, u16)>,
    /// What is to come and what is on, for all pilots.
    pub(crate) journal: Journal,
    counted: Counted,
}

/// A pilot's charter, and how often something of it was built or fell.
pub(crate) type Ports = (CharterId, u32);

/// What the last step has to tell pilots.
#[derive(Resource, Debug, Default)]
pub(crate) struct Told {
    pub(crate) answers: Vec<Answered>,
    pub(crate) operated: Vec<Operated>,
    pub(crate) notes: Vec<Noted>,
    /// Whether anything may have changed among duels and charters.
    pub(crate) bonds: bool,
}

impl World {
    pub(crate) fn new(config: &Config, health: Arc<Health>) -> Self {
        let mut app = App::new();
        app.add_plugins((
            TimePlugin,
            SimPlugin {
                balance: config.balance.clone(),
                ground: keel_sim::Ground::Generated,
                maps: MapKey::all().collect(),
                start: config.layer,
                seed: config.seed,
                threads: config.threads,
                squads: true,
            },
        ))
        .insert_resource(Time::<Fixed>::from_hz(STEPS_PER_SECOND.into()))
        // The loop says when a step runs; an update is one.
        .insert_resource(TimeUpdateStrategy::FixedTimesteps(1))
        .init_resource::<Told>()
        .add_systems(FixedUpdate, hear.in_set(SimSet::Replicate));
        app.insert_resource(OperatorOps(config.operator_ops));
        stages::time(&mut app, health);
        app.finish();
        app.cleanup();
        // The first update moves no time.
        app.update();
        let counted = Counted::new(app.world_mut());
        Self {
            app,
            counted,
            replication: Replication::default(),
            balance: config.balance.clone(),
            inside: BTreeMap::new(),
            journal: Journal::default(),
        }
    }

    /// Becomes the world that those rows tell of, as it was.
    pub(crate) fn restore(&mut self, rows: impl IntoIterator<Item = (Key, Row)>) -> Result<(), RestoreError> {
        keel_sim::restore(self.app.world_mut(), rows)
    }

    /// Takes it up after a restart: see [`keel_sim::resume`].
    pub(crate) fn resume(&mut self) {
        keel_sim::resume(self.app.world_mut());
    }

    /// A number that two worlds have in common only if they are the same.
    pub(crate) fn hash(&self) -> u64 {
        keel_sim::world_hash(self.app.world())
    }

    /// What has changed since the last cut, or all that there is.
    pub(crate) fn cut(&mut self, is_whole: bool) -> Cut {
        let world = self.app.world_mut();
        if is_whole { keel_sim::whole(world) } else { keel_sim::changes(world) }
    }

    /// Every pilot that there is, by name.
    pub(crate) fn pilots(&self) -> impl Iterator<Item = (PilotId, &str)> {
        let world = self.app.world();
        let pilots = world.resource::<keel_sim::PilotIndex>().iter();
        pilots.filter_map(|(id, pilot)| Some((id, world.get::<keel_sim::Pilot>(pilot)?.name.as_str())))
    }

    /// Goes by another balance from the next step on; whether it is another.
    pub(crate) fn rebalance(&mut self, balance: &Arc<Balance>) -> Result<bool, keel_sim::RebalanceError> {
        if *self.balance == **balance {
            return Ok(false);
        }
        keel_sim::rebalance(self.app.world_mut(), Arc::clone(balance))?;
        self.balance = Arc::clone(balance);
        self.renew();
        Ok(true)
    }

    /// Runs one step, with the clock of the wall at so many seconds since 1970, UTC.
    pub(crate) fn step(&mut self, clock: u64) {
        self.app.world_mut().resource_mut::<WallClock>().set(clock);
        self.app.update();
    }

    /// The last step that ran.
    pub(crate) fn now(&self) -> u64 {
        self.app.world().resource::<Now>().step()
    }

    pub(crate) fn join(&mut self, pilot: PilotId, name: &str) {
        self.app.world_mut().resource_mut::<Orders>().join(pilot, name);
    }

    pub(crate) fn leave(&mut self, pilot: PilotId) {
        self.app.world_mut().resource_mut::<Orders>().leave(pilot);
    }

    /// Drops what a pilot has ordered since the last step.
    pub(crate) fn forget_orders(&mut self, pilot: PilotId) {
        self.app.world_mut().resource_mut::<Orders>().forget(pilot);
    }

    pub(crate) fn order(&mut self, order: Order) {
        self.app.world_mut().resource_mut::<Orders>().push(order);
    }

    /// Has something happen in the next step, whatever pilots may; what becomes of it carries the ticket.
    pub(crate) fn operate(&mut self, ticket: u32, force: Force) {
        self.app.world_mut().resource_mut::<Orders>().operate(ticket, force);
    }

    /// What became of what operators wanted of the last step.
    pub(crate) fn operated(&self) -> &[Operated] {
        &self.app.world().resource::<Told>().operated
    }

    /// Orders that wait for the next step.
    pub(crate) fn waiting(&self) -> usize {
        self.app.world().resource::<Orders>().waiting()
    }

    /// The clock of a step's stages.
    pub(crate) fn stages(&mut self) -> Mut<'_, Stages> {
        self.app.world_mut().resource_mut::<Stages>()
    }

    pub(crate) fn balance_hash(&self) -> u64 {
        self.balance.hash()
    }

    /// What every client is told of this world, but for who they are.
    pub(crate) fn welcome(&self) -> Welcome {
        let balance = &*self.balance;
        let yard = balance.yard.factions.iter().map(|&faction| faction as u8);
        Welcome {
            version: PROTOCOL_VERSION,
            balance: balance.hash(),
            pilot: 0,
            classes: balance.classes.iter().map(|(name, _)| name.to_owned()).collect(),
            lines: keel_rules::Line::ALL.iter().map(|line| format!("{line:?}")).collect(),
            factions: Faction::ALL.iter().map(|faction| format!("{faction:?}")).collect(),
            grades: Grade::ALL.iter().map(|grade| format!("{grade:?}")).collect(),
            kinds: Kind::ALL.iter().map(|&kind| convert::kind(&self.balance, kind)).collect(),
            yard: yard.collect(),
        }
    }

    /// A line of a pilot's log, in words.
    pub(crate) fn line(&self, noted: &Noted) -> Line {
        Line { step: self.now(), ship: noted.ship.0, text: noted.text(self.app.world()) }
    }

    /// What the last step has to tell. Give it back for the next one to fill.
    pub(crate) fn take_told(&mut self) -> Told {
        std::mem::take(&mut *self.app.world_mut().resource_mut::<Told>())
    }

    pub(crate) fn put_back(&mut self, mut told: Told) {
        told.answers.clear();
        told.operated.clear();
        told.notes.clear();
        told.bonds = false;
        *self.app.world_mut().resource_mut::<Told>() = told;
    }

    /// The cards of a pilot's ships that `known` has not, or has otherwise. It then has them all, and no others.
    pub(crate) fn cards(&self, pilot: PilotId, known: &mut BTreeMap<ShipId, Arc<Sheet>>) -> Vec<Card> {
        let Some(pilot) = self.pilot(pilot) else { return Vec::new() };
        let world = self.app.world();
        let mut cards = Vec::new();
        let mut count = 0;
        for ship in world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter) {
            let (Some(ship), Some(card), Some(fitted)) =
                (world.get::<Ship>(ship), world.get::<keel_sim::Card>(ship), world.get::<Fitted>(ship))
            else {
                continue;
            };
            count += 1;
            // Ships of one fit share a card, so another card is another fit.
            if known.get(&ship.id).is_none_or(|sheet| !Arc::ptr_eq(sheet, &card.0)) {
                known.insert(ship.id, Arc::clone(&card.0));
                cards.push(convert::card(ship.id, &fitted.0, &card.0));
            }
        }
        if known.len() > count {
            let index = world.resource::<keel_sim::ShipIndex>();
            known.retain(|&id, _| index.get(id).is_some());
        }
        cards
    }

    /// The modules of a pilot's hold.
    pub(crate) fn hold(&self, pilot: PilotId) -> Vec<(u32, Module)> {
        let hold = self.pilot(pilot).and_then(|pilot| self.app.world().get::<Hold>(pilot));
        let modules = hold.into_iter().flat_map(Hold::iter);
        modules.map(|(id, module)| (id.0, convert::module(module))).collect()
    }

    /// The maps on which a pilot has ships.
    pub(crate) fn maps(&self, pilot: PilotId) -> impl Iterator<Item = MapKey> {
        let world = self.app.world();
        let fleet = self.pilot(pilot).and_then(|pilot| world.get::<Fleet>(pilot)).into_iter().flat_map(Fleet::iter);
        fleet.filter_map(|ship| {
            let docked = || world.get::<Docked>(ship).map(|docked| docked.0);
            let sector = world.get::<InSector>(ship).map(|sector| sector.0).or_else(docked)?;
            Some(world.get::<keel_sim::Map>(world.get::<Sector>(sector)?.map)?.key)
        })
    }

    /// Whether a pilot has a ship in space.
    pub(crate) fn is_in_space(&self, pilot: PilotId) -> bool {
        let world = self.app.world();
        let fleet = self.pilot(pilot).and_then(|pilot| world.get::<Fleet>(pilot));
        fleet.into_iter().flat_map(Fleet::iter).any(|ship| world.get::<InSector>(ship).is_some())
    }

    /// What changes whenever what is a pilot's charter's on some map does.
    pub(crate) fn ports(&self, pilot: PilotId) -> Option<Ports> {
        self.app.world().resource::<Bonds>().ports(pilot)
    }

    /// What a map was laid out by: a storm changes it.
    pub(crate) fn seed(&self, key: MapKey) -> u64 {
        let world = self.app.world();
        let map = world.resource::<Maps>().get(key).and_then(|map| world.get::<keel_sim::Map>(map));
        map.map_or(0, |map| map.seed)
    }

    /// A map, with a pilot's ports on it.
    pub(crate) fn map(&self, key: MapKey, pilot: PilotId) -> Option<Map> {
        let world = self.app.world();
        let map = world.get::<keel_sim::Map>(world.resource::<Maps>().get(key)?)?;
        let charter = world.resource::<Bonds>().charter_of(pilot);
        let places = |is_one: &dyn Fn(Entity) -> bool| {
            let sectors = map.layout.hexes().iter().zip(map.sectors());
            sectors.filter(|(_, sector)| is_one(**sector)).map(|(&hex, _)| convert::place(hex)).collect()
        };
        let is_own = |sector, kind| {
            let structure = world.get::<Structure>(sector).filter(|structure| structure.kind == kind);
            structure.is_some_and(|structure| Some(structure.charter) == charter)
        };
        Some(Map {
            map: key.code(),
            sectors: places(&|_| true),
            havens: places(&|sector| world.get::<Haven>(sector).is_some()),
            berths: places(&|sector| is_own(sector, StructureKind::Berth)),
            outposts: places(&|sector| is_own(sector, StructureKind::Outpost)),
            hazards: map.layout.hazards().iter().map(|&hex| convert::place(hex)).collect(),
        })
    }

    /// What is between a pilot and others.
    pub(crate) fn bonds(&self, pilot: PilotId) -> keel_protocol::Bonds {
        let world = self.app.world();
        let kos = self.pilot(pilot).and_then(|pilot| world.get::<keel_sim::Pilot>(pilot)).map(|pilot| &pilot.kos);
        keel_protocol::Bonds {
            charter: self.charter(pilot),
            duels: world.resource::<Bonds>().rivals(pilot).map(|rival| rival.0).collect(),
            kos: kos.into_iter().flatten().map(|marked| marked.0).collect(),
        }
    }

    fn charter(&self, pilot: PilotId) -> Option<Charter> {
        let bonds = self.app.world().resource::<Bonds>();
        let id = bonds.charter_of(pilot)?;
        let charter = bonds.charter(id)?;
        let hostile = bonds.charters().map(|(other, _)| other).filter(|&other| bonds.are_hostile(id, other));
        Some(Charter {
            id: id.0,
            name: charter.name.clone(),
            head: charter.head.0,
            members: charter.members.iter().map(|member| member.0).collect(),
            hostile: hostile.map(|other| other.0).collect(),
        })
    }

    /// The ends of wormholes that a pilot has found.
    pub(crate) fn wormholes(&self, pilot: PilotId) -> Vec<Wormhole> {
        let wormholes = self.app.world().resource::<Wormholes>();
        let found = wormholes.found_by(pilot).map(|(id, end, wormhole)| {
            let (at, to) = (wormhole.at(end), wormhole.far(end).map);
            let is_rift = to.kind == MapKind::Rift;
            Wormhole {
                id: id.0,
                code: wormhole.code.to_string(),
                map: at.map.code(),
                place: convert::place(at.hex),
                to: to.code(),
                opened: wormhole.opened.get(),
                danger: if is_rift {
                    danger::of_rift(&self.balance, to.tier)
                } else {
                    danger::of_layer(&self.balance, to.tier)
                },
                inside: is_rift.then(|| self.inside.get(&to).copied().unwrap_or_default()),
            }
        });
        found.collect()
    }

    /// Looks anew at what is the same for all pilots.
    pub(crate) fn renew(&mut self) {
        self.inside = self.count_inside();
        self.journal = self.write_journal();
    }

    /// The pilots who have a ship in space on each map, for the cards of all pilots' wormholes.
    fn count_inside(&self) -> BTreeMap<MapKey, (u16, u16)> {
        let world = self.app.world();
        let map_of = |ship: Entity| {
            let sector = world.get::<Sector>(world.get::<InSector>(ship)?.0)?;
            Some(world.get::<keel_sim::Map>(sector.map)?.key)
        };
        let mut inside: BTreeMap<MapKey, (u16, u16)> = BTreeMap::new();
        for (_, pilot) in world.resource::<keel_sim::PilotIndex>().iter() {
            let ships = world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter);
            let maps: BTreeSet<MapKey> = ships.filter_map(map_of).collect();
            let online = world.get::<keel_sim::Pilot>(pilot).is_some_and(|pilot| pilot.online);
            for map in maps {
                let (here, away) = inside.entry(map).or_default();
                *(if online { here } else { away }) += 1;
            }
        }
        inside
    }

    /// A pilot as anyone may know them.
    pub(crate) fn who(&self, pilot: PilotId) -> Option<Pilot> {
        let world = self.app.world();
        let name = world.get::<keel_sim::Pilot>(self.pilot(pilot)?)?.name.clone();
        let charter = world.resource::<Bonds>().charter_of(pilot).map_or(0, |charter| charter.0);
        Some(Pilot { id: pilot.0, name, charter })
    }

    /// A pilot's last shots, oldest first.
    pub(crate) fn shots(&self, pilot: PilotId) -> Vec<Shot> {
        let log = self.pilot(pilot).and_then(|pilot| self.app.world().get::<CombatLog>(pilot));
        log.into_iter().flat_map(CombatLog::iter).map(convert::shot).collect()
    }

    /// A step has run, at a pace in percent of the clock, and is about to be looked at.
    pub(crate) fn begin_views(&mut self, pace: u8) {
        self.replication.begin(self.app.world(), pace);
    }

    pub(crate) fn view(&mut self, pilot: PilotId, viewer: &mut Viewer, show: &mut dyn FnMut(Vec<u8>)) {
        if let Some(pilot) = self.pilot(pilot) {
            self.replication.view(self.app.world(), pilot, viewer, show);
        }
    }

    pub(crate) fn sight(&self, pilot: PilotId) -> Option<Sight> {
        Some(Sight::of(self.app.world(), self.pilot(pilot)?))
    }

    fn pilot(&self, pilot: PilotId) -> Option<Entity> {
        self.app.world().resource::<keel_sim::PilotIndex>().get(pilot)
    }
}

fn hear(
    mut told: ResMut<Told>,
    mut answers: MessageReader<Answered>,
    mut operated: MessageReader<Operated>,
    mut notes: MessageReader<Noted>,
    bonds: Res<Bonds>,
) {
    told.answers.extend(answers.read());
    told.operated.extend(operated.read());
    told.notes.extend(notes.read());
    told.bonds |= bonds.is_changed();
}
