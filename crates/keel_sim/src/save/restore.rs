//! A world out of its rows.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use keel_map::MapKey;
use keel_rules::fire::Owner;
use keel_rules::{Blueprint, ClassId, Fit, FitError, Pools, Sheet};
use thiserror::Error;

use super::rows::{
    BalanceRow, MapSquads, PilotRow, ShipRow, ShotRow, SquadRow, StateRow, StructureRow, WorldRow, WreckRow, fulls,
};
use super::{Key, Row, Said};
use crate::bonds::{Bonds, Charter};
use crate::clamps::Clamping;
use crate::docks::Docking;
use crate::harvest::Harvest;
use crate::ids::{CharterId, PilotId, ShipId, SquadId, WormholeId};
use crate::incursions::{Incursions, Invaded, Invader};
use crate::orders::Orders;
use crate::pay::{Charts, LiesIn, Surveyed, Wreck, WreckIndex};
use crate::pilots::Shipless;
use crate::rebalance::settle;
use crate::schedule::Now;
use crate::shot::{CombatLog, Locking, Shot};
use crate::squads::{Roster, Squad, SquadCount};
use crate::storms::{WallClock, relay};
use crate::structures::{Stands, Structure};
use crate::world::{
    Appeared, Awake, Battery, Body, Card, Condition, Docked, Fitted, Hold, InFleet, InSector, Map, Maps, Pilot,
    PilotIndex, Quiet, Rolls, Ship, ShipIndex, Tuning, in_proportion, sheet_of, spawn_pilot,
};
use crate::wormholes::{Place, Sought, Wormhole, Wormholes};

/// Why rows make no world.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum RestoreError {
    /// What the world has numbered, and its time, are not there.
    #[error("the save has no world in it")]
    NoWorld,
    /// It has a map that this world has not.
    #[error("the save has {}, which this world has not", .0.title())]
    NoMap(MapKey),
    /// It has ships of a class that the balance has not.
    #[error("the save has ships of the class {0}, which the balance has not")]
    NoClass(String),
    /// A class has a number that no class has.
    #[error("the save has a class of number {0}, and no name for it")]
    Unnamed(u8),
    /// The balance makes no ship of what is fitted to one.
    #[error("ship {ship} cannot be made by this balance: {error}")]
    Unfit {
        /// Which.
        ship: ShipId,
        /// Why.
        error: FitError,
    },
    /// A pool holds what is no number.
    #[error("a pool of ship {0} holds no number")]
    NoNumber(ShipId),
    /// Numbers that are not given out again have come to their end.
    #[error("the save has numbered so many {0} that there is no room for more")]
    Full(&'static str),
    /// A row stands without the one that it belongs to.
    #[error("the save has {0}, and nothing that it belongs to")]
    Orphan(String),
}

/// Rows by what they are about.
#[derive(Default)]
struct Parts {
    world: Option<WorldRow>,
    balance: BalanceRow,
    maps: Vec<super::MapRow>,
    rosters: Vec<MapSquads>,
    pilots: Vec<PilotRow>,
    holds: BTreeMap<PilotId, Hold>,
    charts: BTreeMap<PilotId, Charts>,
    found: Vec<super::FoundRow>,
    shots: BTreeMap<PilotId, BTreeMap<u64, Shot>>,
    ships: BTreeMap<ShipId, ShipRow>,
    states: BTreeMap<ShipId, StateRow>,
    squads: Vec<SquadRow>,
    structures: Vec<StructureRow>,
    wrecks: Vec<WreckRow>,
    wormholes: BTreeMap<WormholeId, Wormhole>,
    incursions: Option<Incursions>,
    bonds: Option<super::BondsRow>,
    charters: BTreeMap<CharterId, Charter>,
    kills: Option<super::FairKills>,
}

/// The number in a row's name. None is larger: rows are named by those who have these ids.
const fn low(id: u64) -> u32 {
    (id & u32::MAX as u64) as u32
}

impl Parts {
    fn sort(rows: impl IntoIterator<Item = (Key, Row)>) -> Self {
        let mut parts = Self::default();
        for (key, Row(said)) in rows {
            let id = low(key.id);
            match said {
                Said::World(row) => parts.world = Some(*row),
                Said::Balance(row) => parts.balance = *row,
                Said::Map(row) => parts.maps.push(*row),
                Said::Squads(row) => parts.rosters.push(*row),
                Said::Pilot(row) => parts.pilots.push(*row),
                Said::Hold(row) => drop(parts.holds.insert(PilotId(id), *row)),
                Said::Charts(row) => drop(parts.charts.insert(PilotId(id), *row)),
                Said::Found(row) => parts.found.push(*row),
                Said::Shot(row) => {
                    let ShotRow { pilot, number, shot } = *row;
                    parts.shots.entry(pilot).or_default().insert(number, shot);
                }
                Said::Ship(row) => drop(parts.ships.insert(row.id, *row)),
                Said::State(row) => drop(parts.states.insert(ShipId(id), *row)),
                Said::Squad(row) => parts.squads.push(*row),
                Said::Structure(row) => parts.structures.push(*row),
                Said::Wreck(row) => parts.wrecks.push(*row),
                Said::Wormhole(row) => drop(parts.wormholes.insert(WormholeId(id), *row)),
                Said::Incursions(row) => parts.incursions = Some(*row),
                Said::Bonds(row) => parts.bonds = Some(*row),
                Said::Charter(row) => drop(parts.charters.insert(CharterId(id), *row)),
                Said::Kills(row) => parts.kills = Some(*row),
            }
        }
        parts
    }

    /// Gives every class the number that the balance has for its name.
    fn renumber(&mut self, classes: &Classes) -> Result<(), RestoreError> {
        for row in self.ships.values_mut() {
            classes.now(&mut row.fit.class)?;
        }
        for shot in self.shots.values_mut().flat_map(BTreeMap::values_mut) {
            classes.now(&mut shot.shooter.class)?;
            classes.now(&mut shot.target.class)?;
        }
        for wreck in &mut self.wrecks {
            classes.now(&mut wreck.of.class)?;
            if let Some(Blueprint::Hull(class)) = &mut wreck.load.copy {
                classes.now(class)?;
            }
        }
        for PilotRow { cargo, .. } in &mut self.pilots {
            let copies = std::mem::take(&mut cargo.copies);
            for (of, count) in copies {
                cargo.copies.insert(classes.blueprint(of)?, count);
            }
            for of in std::mem::take(&mut cargo.originals) {
                cargo.originals.insert(classes.blueprint(of)?);
            }
        }
        Ok(())
    }
}

/// The balance's number for each class of a save, by the save's number.
struct Classes<'a> {
    names: &'a [String],
    now: Vec<Option<ClassId>>,
}

impl Classes<'_> {
    fn now(&self, class: &mut ClassId) -> Result<(), RestoreError> {
        let row = usize::from(class.0);
        let now = *self.now.get(row).ok_or(RestoreError::Unnamed(class.0))?;
        *class = now.ok_or_else(|| RestoreError::NoClass(self.names[row].clone()))?;
        Ok(())
    }

    fn blueprint(&self, mut of: Blueprint) -> Result<Blueprint, RestoreError> {
        if let Blueprint::Hull(class) = &mut of {
            self.now(class)?;
        }
        Ok(of)
    }
}

/// Makes a world that has not run a step yet into the one that the rows tell of. It goes on as that one would have.
///
/// The balance is the world's own. Where it is not the one that the rows were made under, what they hold goes by it as after a
/// [`rebalance`](crate::rebalance): pools hold the share that they did, what waits does not wait longer than it would from now on, and
/// what is not allowed any more ends. Classes are known by their names, whatever their order.
///
/// # Errors
/// When the rows make no world. What they are put into is of no use then.
pub fn restore(world: &mut World, rows: impl IntoIterator<Item = (Key, Row)>) -> Result<(), RestoreError> {
    let mut parts = Parts::sort(rows);
    let own = parts.world.take().ok_or(RestoreError::NoWorld)?;
    let balance = Arc::clone(&world.resource::<Tuning>().balance);
    let now = own.classes.iter().map(|name| ClassId::named(&balance, name)).collect();
    parts.renumber(&Classes { names: &own.classes, now })?;

    world.resource_mut::<Tuning>().seed = own.seed;
    world.resource_mut::<Now>().step = own.step;
    for row in std::mem::take(&mut parts.maps) {
        let map = world.resource::<Maps>().get(row.map).ok_or(RestoreError::NoMap(row.map))?;
        for sector in relay(world, map, row.layout, row.seed) {
            world.despawn(sector);
        }
    }
    pilots(world, &mut parts)?;
    let squads = squads(world, &mut parts)?;
    ships(world, &mut parts, &squads)?;
    wrecks(world, std::mem::take(&mut parts.wrecks))?;
    between(world, &mut parts, &own);
    pending(world, own);
    check_room(world)?;
    if parts.balance.hash != balance.hash() {
        settle(world, &parts.balance.storms);
    }
    Ok(())
}

/// Numbers that are left when there is no room for more: each thing has its own, and they are given out one by one for years.
const LAST_NUMBERS: u32 = 1 << 24;

/// Whether there are numbers left to be given to what comes.
fn check_room(world: &World) -> Result<(), RestoreError> {
    let pilots = world.resource::<PilotIndex>();
    let modules = pilots.iter().filter_map(|(_, pilot)| Some(world.get::<Hold>(pilot)?.last)).max();
    let last = [
        ("ships", world.resource::<ShipIndex>().last),
        ("pilots", pilots.iter().map(|(id, _)| id.0).max().unwrap_or_default()),
        ("modules", modules.unwrap_or_default()),
        ("wrecks", world.resource::<WreckIndex>().last),
        ("squads", world.resource::<SquadCount>().0),
        ("wormholes", world.resource::<Wormholes>().last),
        ("incursions", world.resource::<Incursions>().last),
        ("charters", world.resource::<Bonds>().last),
    ];
    let full = last.into_iter().find(|(_, last)| *last > u32::MAX - LAST_NUMBERS);
    full.map_or(Ok(()), |(what, _)| Err(RestoreError::Full(what)))
}

/// A place's sector, or the nearest to it of the map.
fn sector(world: &World, at: Place) -> Result<Entity, RestoreError> {
    let map = world.resource::<Maps>().get(at.map).and_then(|map| world.get::<Map>(map));
    Ok(map.ok_or(RestoreError::NoMap(at.map))?.nearest(at.hex))
}

/// The sector nearest to a place in which no structure stands yet: that place's own, but where a map has changed.
fn free_sector(world: &World, at: Place) -> Result<Entity, RestoreError> {
    let map = world.resource::<Maps>().get(at.map).and_then(|map| world.get::<Map>(map));
    let map = map.ok_or(RestoreError::NoMap(at.map))?;
    let sectors = map.layout.hexes().iter().zip(map.sectors());
    let free = sectors.filter(|(_, sector)| world.get::<Structure>(**sector).is_none());
    let nearest = free.min_by_key(|(hex, _)| hex.distance(at.hex)).map(|(_, &sector)| sector);
    nearest.ok_or_else(|| RestoreError::Orphan(format!("a structure on {}", at.map.title())))
}

fn pilots(world: &mut World, parts: &mut Parts) -> Result<(), RestoreError> {
    let most = usize::from(world.resource::<Tuning>().balance.combat_log);
    for PilotRow { pilot, purse, cargo, alert } in std::mem::take(&mut parts.pilots) {
        let id = pilot.id;
        let entity = spawn_pilot(world, id, &pilot.name);
        let mut log = CombatLog::new(most);
        let shots = parts.shots.remove(&id).unwrap_or_default();
        let count = shots.last_key_value().map_or(0, |(number, _)| number.saturating_add(1));
        log.resume(count, shots.into_values());
        let hold = parts.holds.remove(&id).unwrap_or_default();
        let charts = parts.charts.remove(&id).unwrap_or_default();
        let mut entity = world.entity_mut(entity);
        entity.insert((pilot, purse, cargo, hold, charts, log));
        if let Some(alert) = alert {
            entity.insert(alert);
        }
    }
    let orphan = parts.holds.keys().chain(parts.charts.keys()).chain(parts.shots.keys()).next();
    orphan.map_or(Ok(()), |pilot| Err(RestoreError::Orphan(format!("things of pilot {pilot}"))))
}

fn squads(world: &mut World, parts: &mut Parts) -> Result<BTreeMap<SquadId, Entity>, RestoreError> {
    let mut squads = BTreeMap::new();
    for SquadRow { id, stream, map, alert, invader } in std::mem::take(&mut parts.squads) {
        let map = map.map(|key| world.resource::<Maps>().get(key).ok_or(RestoreError::NoMap(key))).transpose()?;
        let mut entity = world.spawn(Squad { id, stream, map });
        if let Some(alert) = alert {
            entity.insert(alert);
        }
        if let Some(invader) = invader {
            entity.insert(Invader(invader));
        }
        squads.insert(id, entity.id());
    }
    for row in std::mem::take(&mut parts.rosters) {
        let map = world.resource::<Maps>().get(row.map).ok_or(RestoreError::NoMap(row.map))?;
        // Where squads do not come by themselves, none is waited for.
        if world.get::<Roster>(map).is_none() {
            continue;
        }
        let bound = row
            .bound
            .into_iter()
            .map(|(until, hex, ships)| Ok((until, sector(world, Place { map: row.map, hex })?, ships)));
        let roster = Roster {
            stream: row.stream,
            roaming: row.roaming,
            squads: row.squads.iter().filter_map(|id| squads.get(id).copied()).collect(),
            filled: row.filled,
            due: row.due.into(),
            roams: row.roams,
            bound: bound.collect::<Result<_, RestoreError>>()?,
        };
        world.entity_mut(map).insert(roster);
    }
    // A squad that its map does not count, because its row was another map's, is counted from now on.
    for &squad in squads.values() {
        let map = world.get::<Squad>(squad).and_then(|squad| squad.map);
        if let Some(mut roster) = map.and_then(|map| world.get_mut::<Roster>(map))
            && !roster.squads.contains(&squad)
        {
            roster.squads.push(squad);
        }
    }
    Ok(squads)
}

/// Ships in the order of their ids, as they came into the world, and then what they hold each other by.
fn ships(world: &mut World, parts: &mut Parts, squads: &BTreeMap<SquadId, Entity>) -> Result<(), RestoreError> {
    let structures: BTreeMap<ShipId, StructureRow> =
        std::mem::take(&mut parts.structures).into_iter().map(|row| (row.ship, row)).collect();
    if let Some(ship) = structures.keys().find(|ship| !parts.ships.contains_key(ship)) {
        return Err(RestoreError::Orphan(format!("the structure of ship {ship}")));
    }
    let mut holds = Vec::new();
    for (id, row) in std::mem::take(&mut parts.ships) {
        let state = parts.states.remove(&id).ok_or_else(|| RestoreError::Orphan(format!("ship {id}")))?;
        holds.push((id, state.locking, state.clamping));
        let fleet = match (row.owner, row.squad) {
            (Owner::Pilot(pilot), _) => world.resource::<PilotIndex>().get(PilotId(pilot)),
            (Owner::Npc, Some(squad)) => squads.get(&squad).copied(),
            (Owner::Npc | Owner::Charter(_), _) => Some(world.spawn_empty().id()),
        };
        let fleet = fleet.ok_or_else(|| RestoreError::Orphan(format!("ship {id}")))?;
        let entity = ship(world, row, state, fleet)?;
        if let Some(StructureRow { ship, kind, charter, at, quiet_until }) = structures.get(&id).cloned() {
            let sector = free_sector(world, at)?;
            world.entity_mut(entity).insert((Stands(sector), InSector(sector)));
            world.entity_mut(sector).insert(Structure { kind, charter, ship, base: fleet, quiet_until });
        }
    }
    if let Some(ship) = parts.states.keys().next() {
        return Err(RestoreError::Orphan(format!("the state of ship {ship}")));
    }
    let index: Vec<(PilotId, Entity)> = world.resource::<PilotIndex>().iter().collect();
    for (_, pilot) in index {
        let active = world.get::<Pilot>(pilot).and_then(|pilot| pilot.active);
        let is_own = |id| world.resource::<ShipIndex>().get(id).and_then(|ship| world.get::<InFleet>(ship));
        if let Some(gone) = active.filter(|&active| is_own(active).is_none_or(|fleet| fleet.0 != pilot)) {
            Pilot::replace_active(world, pilot, gone);
        }
    }
    for (id, locking, clamping) in holds {
        let find = |id| world.resource::<ShipIndex>().get(id);
        let Some(ship) = find(id) else { continue };
        let here = world.get::<InSector>(ship).copied();
        let held = |other: Option<ShipId>| {
            let other = other.and_then(find).filter(|&other| other != ship);
            other.filter(|&other| here.is_some() && world.get::<InSector>(other).copied() == here)
        };
        let (locking, clamping) = (held(locking), held(clamping));
        let mut ship = world.entity_mut(ship);
        if let Some(target) = locking {
            ship.insert(Locking(target));
        }
        if let Some(target) = clamping {
            ship.insert(Clamping(target));
        }
    }
    Ok(())
}

fn ship(world: &mut World, row: ShipRow, state: StateRow, fleet: Entity) -> Result<Entity, RestoreError> {
    let ShipRow { id, owner, faction, fit, .. } = row;
    let sheet = sheet_of(world, &fit).map_err(|error| RestoreError::Unfit { ship: id, error })?;
    let (pools, battery) = held(&sheet, &state).ok_or(RestoreError::NoNumber(id))?;
    let is_other = state.full.is_some_and(|full| full != fulls(&sheet));
    let at = sector(world, state.at)?;
    let mends = sheet.powers.mender.map(|_| state.mends.unwrap_or_default());
    let Fit { class, .. } = fit;
    let mut entity = world.spawn(Body {
        ship: Ship { id, owner, faction, class },
        fitted: Fitted(fit),
        condition: Condition(pools),
        battery: Battery(battery),
        card: Card(sheet),
        gun: state.gun,
        wear: state.wear,
        powers: state.powers,
        quiet: Quiet(state.quiet),
        helm: state.helm,
        arrival: state.arrival,
        mind: state.mind,
        fleet: InFleet(fleet),
        rolls: Rolls(state.rolls),
    });
    if let Some(mends) = mends {
        entity.insert(mends);
    }
    if state.docked {
        entity.insert(Docked(at));
    } else {
        entity.insert(InSector(at));
    }
    // What was full may fill further now.
    if state.awake || is_other {
        entity.insert(Awake);
    }
    if let Some(ends) = state.harvest {
        entity.insert(Harvest { ends });
    }
    let entity = entity.id();
    let mut index = world.resource_mut::<ShipIndex>();
    index.by_id.insert(id, entity);
    index.last = index.last.max(id.0);
    Ok(entity)
}

/// What a ship's pools and battery hold of what its sheet lets them: the share that they did; `None` when one of them is no number.
fn held(sheet: &Sheet, state: &StateRow) -> Option<(Pools, f32)> {
    let (shield, hull, battery) = state.full.unwrap_or_else(|| fulls(sheet));
    let share = |holds: f32, was: f32, full: f32| {
        (holds.is_finite() && was.is_finite()).then(|| in_proportion(holds, was, full).clamp(0.0, full))
    };
    let shield = share(state.shield, shield, sheet.full.shield)?;
    let hull = share(state.hull, hull, sheet.full.hull)?;
    Some((Pools { shield, hull }, share(state.battery, battery, sheet.battery)?))
}

fn wrecks(world: &mut World, rows: Vec<WreckRow>) -> Result<(), RestoreError> {
    for WreckRow { id, of, load, at, gone } in rows {
        let sector = sector(world, at)?;
        let wreck = world.spawn((Wreck { id, of, load }, LiesIn(sector))).id();
        let mut index = world.resource_mut::<WreckIndex>();
        index.by_id.insert(id, (wreck, gone));
        index.last = index.last.max(id.0);
    }
    Ok(())
}

/// Wormholes, storms, incursions, bonds and paid kills.
fn between(world: &mut World, parts: &mut Parts, own: &WorldRow) {
    let place = |at: Place| {
        let map = world.resource::<Maps>().get(at.map).and_then(|map| world.get::<Map>(map));
        map.map(|map| Place { hex: map.layout.nearest(at.hex), ..at })
    };
    let open = std::mem::take(&mut parts.wormholes).into_iter().filter_map(|(id, wormhole)| {
        let [near, far] = wormhole.ends.map(place);
        Some((id, Wormhole { ends: [near?, far?], ..wormhole }))
    });
    let open: BTreeMap<WormholeId, Wormhole> = open.collect();
    let last = open.keys().map(|id| id.0).chain([own.wormholes]).max().unwrap_or_default();
    let found = parts.found.drain(..).map(|row| (row.pilot, row.ends)).collect();
    world.insert_resource(Wormholes { open, found, last, stream: own.wormhole_stream.clone() });
    world.insert_resource(Sought(own.sought));
    world.insert_resource(Surveyed(own.storms.passed()));
    world.insert_resource(own.storms.clone());
    if let Some(mut incursions) = parts.incursions.take() {
        let mut squads = world.query::<&Invader>();
        let living: Vec<_> = squads.iter(world).map(|invader| invader.0).collect();
        for (id, incursion) in incursions.each() {
            incursion.squads = living.iter().filter(|&&of| of == id).count() as u32;
            let map = world.resource::<Maps>().get(incursion.map).and_then(|map| world.get::<Map>(map));
            let block = incursion.block.iter().filter_map(|&hex| map?.sector(hex));
            for sector in block.collect::<Vec<_>>() {
                world.entity_mut(sector).insert(Invaded);
            }
        }
        world.insert_resource(incursions);
    }
    let mut bonds = Bonds { charters: std::mem::take(&mut parts.charters), ..Bonds::default() };
    for (&id, charter) in &bonds.charters {
        bonds.members.extend(charter.members.iter().map(|&member| (member, id)));
        bonds.last = bonds.last.max(id.0);
    }
    if let Some(row) = parts.bonds.take() {
        bonds.asks.extend(row.asks);
        bonds.duels.extend(row.duels);
        bonds.last = bonds.last.max(row.last);
        bonds.loosened = row.loosened;
    }
    world.insert_resource(bonds);
    if let Some(kills) = parts.kills.take() {
        world.insert_resource(kills);
    }
}

/// What the next step is to find, and the numbers that are taken.
fn pending(world: &mut World, own: WorldRow) {
    if let Some(clock) = own.clock {
        world.resource_mut::<WallClock>().set(clock);
    }
    let mut index = world.resource_mut::<ShipIndex>();
    index.last = index.last.max(own.ships);
    let mut wrecks = world.resource_mut::<WreckIndex>();
    wrecks.last = wrecks.last.max(own.wrecks);
    let mut squads = world.query::<&Squad>();
    let last = squads.iter(world).filter(|squad| squad.map.is_some()).map(|squad| squad.id.0).max().unwrap_or_default();
    world.resource_mut::<SquadCount>().0 = last.max(own.squads);
    world.resource_mut::<Orders>().minds = own.minds;
    world.resource_mut::<Shipless>().0 = VecDeque::from(own.shipless);
    let find = |world: &World, id| world.resource::<ShipIndex>().get(id);
    for (id, is_order) in own.docking {
        if let Some(ship) = find(world, id) {
            world.resource_mut::<Docking>().0.push((ship, is_order));
        }
    }
    for ship in own.appeared.into_iter().filter_map(|id| find(world, id)).collect::<Vec<_>>() {
        if let Some(&InSector(sector)) = world.get::<InSector>(ship) {
            world.write_message(Appeared { ship, sector });
        }
    }
}
