//! The world's rows, as far as they have changed.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use bevy_ecs::query::QueryData;
use bevy_ecs::system::SystemParam;
use keel_map::MapKey;

use super::rows::{
    BalanceRow, BondsRow, FoundRow, MapRow, MapSquads, PilotRow, ShipRow, ShotRow, SquadRow, StateRow, StructureRow,
    WorldRow, WreckRow, fulls,
};
use super::{Cut, Key, Kind, Row};
use crate::bonds::{Bonds, Charter};
use crate::clamps::Clamping;
use crate::docks::Docking;
use crate::harvest::Harvest;
use crate::ids::{CharterId, PilotId, ShipId, SquadId, WormholeId, WreckId};
use crate::incursions::{Incursions, Invader};
use crate::minds::{Alert, Mends, Mind, Noticed};
use crate::movement::Helm;
use crate::orders::Orders;
use crate::pay::{Charts, FairKills, LiesIn, Wreck, WreckIndex};
use crate::pilots::Shipless;
use crate::schedule::Now;
use crate::shot::{CombatLog, Gun, Locking, Wear};
use crate::squads::{Roster, Squad, SquadCount};
use crate::storms::{Storms, WallClock};
use crate::structures::Structure;
use crate::world::{
    Appeared, Arrival, Awake, Battery, Card, Cargo, Condition, Docked, Fitted, Hold, InFleet, InSector, Map, Pilot,
    Powers, Purse, Quiet, Rolls, Sector, Ship, ShipIndex, Tuning,
};
use crate::wormholes::{End, Place, Sought, Wormhole, Wormholes};

/// All that a ship's rows are made of.
#[derive(QueryData)]
pub(super) struct ShipParts {
    entity: Entity,
    ship: Ref<'static, Ship>,
    fitted: Ref<'static, Fitted>,
    condition: Ref<'static, Condition>,
    card: Ref<'static, Card>,
    battery: Ref<'static, Battery>,
    gun: Ref<'static, Gun>,
    wear: Ref<'static, Wear>,
    powers: Ref<'static, Powers>,
    quiet: Ref<'static, Quiet>,
    helm: Ref<'static, Helm>,
    arrival: Ref<'static, Arrival>,
    mind: Ref<'static, Mind>,
    rolls: Ref<'static, Rolls>,
    fleet: &'static InFleet,
    in_sector: Option<Ref<'static, InSector>>,
    docked: Option<Ref<'static, Docked>>,
    mends: Option<Ref<'static, Mends>>,
    harvest: Option<Ref<'static, Harvest>>,
    locking: Option<Ref<'static, Locking>>,
    clamping: Option<Ref<'static, Clamping>>,
    awake: Has<Awake>,
}

impl ShipPartsItem<'_, '_> {
    /// Which of the parts that come and go are there: that one is gone no tick tells.
    fn present(&self) -> u8 {
        let parts = [
            self.in_sector.is_some(),
            self.docked.is_some(),
            self.mends.is_some(),
            self.harvest.is_some(),
            self.locking.is_some(),
            self.clamping.is_some(),
            self.awake,
        ];
        parts.into_iter().fold(0, |present, is_there| present << 1 | u8::from(is_there))
    }

    fn is_state_changed(&self) -> bool {
        fn is_changed<C: Component>(part: Option<&Ref<'_, C>>) -> bool {
            part.is_some_and(DetectChanges::is_changed)
        }
        self.condition.is_changed()
            || self.card.is_changed()
            || self.battery.is_changed()
            || self.gun.is_changed()
            || self.wear.is_changed()
            || self.powers.is_changed()
            || self.quiet.is_changed()
            || self.helm.is_changed()
            || self.arrival.is_changed()
            || self.mind.is_changed()
            || self.rolls.is_changed()
            || is_changed(self.in_sector.as_ref())
            || is_changed(self.docked.as_ref())
            || is_changed(self.mends.as_ref())
            || is_changed(self.harvest.as_ref())
            || is_changed(self.locking.as_ref())
            || is_changed(self.clamping.as_ref())
    }
}

/// All that is looked at besides ships.
#[derive(SystemParam)]
pub(super) struct Rest<'w, 's> {
    ships: Query<'w, 's, &'static Ship>,
    sectors: Query<'w, 's, &'static Sector>,
    maps: Query<'w, 's, (Ref<'static, Map>, Option<Ref<'static, Roster>>)>,
    pilots: Query<
        'w,
        's,
        (
            Ref<'static, Pilot>,
            Ref<'static, Purse>,
            Ref<'static, Cargo>,
            Option<Ref<'static, Alert>>,
            Ref<'static, Hold>,
            Ref<'static, Charts>,
            Ref<'static, CombatLog>,
        ),
    >,
    squads: Query<'w, 's, (Ref<'static, Squad>, Option<Ref<'static, Alert>>, Option<&'static Invader>)>,
    structures: Query<'w, 's, (&'static Sector, Ref<'static, Structure>)>,
    wrecks: Query<'w, 's, (Ref<'static, Wreck>, Ref<'static, LiesIn>)>,
}

/// The world's own.
#[derive(SystemParam)]
pub(super) struct Own<'w> {
    now: Res<'w, Now>,
    tuning: Res<'w, Tuning>,
    index: Res<'w, ShipIndex>,
    wreck_index: Res<'w, WreckIndex>,
    count: Res<'w, SquadCount>,
    wormholes: Res<'w, Wormholes>,
    sought: Res<'w, Sought>,
    storms: Res<'w, Storms>,
    clock: Res<'w, WallClock>,
    shipless: Res<'w, Shipless>,
    orders: Res<'w, Orders>,
    docking: Res<'w, Docking>,
    appeared: Res<'w, Messages<Appeared>>,
    noticed: Res<'w, Noticed>,
    incursions: Res<'w, Incursions>,
    bonds: Res<'w, Bonds>,
    kills: Res<'w, FairKills>,
}

/// What the last cut had, where no tick tells what has gone since.
#[derive(Default)]
pub(super) struct Known {
    is_begun: bool,
    ships: BTreeMap<ShipId, ()>,
    /// The ship at each entity's place, and which of its parts were there. Looked at for every ship, so no map.
    present: Vec<(ShipId, u8)>,
    /// The squads, and whether each was alert.
    squads: BTreeMap<SquadId, bool>,
    alert: BTreeSet<PilotId>,
    structures: BTreeMap<ShipId, ()>,
    wrecks: BTreeMap<WreckId, ()>,
    wormholes: BTreeMap<WormholeId, Wormhole>,
    found: BTreeMap<PilotId, BTreeSet<(WormholeId, End)>>,
    charters: BTreeMap<CharterId, Charter>,
    shots: BTreeMap<PilotId, Told>,
}

impl Known {
    /// Notes which parts of a ship are there; which were, and whether it is new.
    fn see(&mut self, entity: Entity, id: ShipId, present: u8) -> (u8, bool) {
        let place = entity.index_u32() as usize;
        if place >= self.present.len() {
            self.present.resize(place + 1, (ShipId::default(), 0));
        }
        let (was, before) = std::mem::replace(&mut self.present[place], (id, present));
        let is_new = was != id;
        if is_new {
            self.ships.insert(id, ());
        }
        (before, is_new)
    }
}

/// Which shots of a combat log the last cut had, by how many came before each.
#[derive(Default)]
struct Told {
    first: u64,
    end: u64,
    /// How many the log kept.
    most: u64,
}

/// Rows as they are found.
struct Rows(BTreeMap<Key, Option<Row>>);

impl Rows {
    fn say(&mut self, kind: Kind, id: impl Into<u64>, row: impl Into<Row>) {
        self.0.insert(Key { kind, id: id.into() }, Some(row.into()));
    }

    fn gone(&mut self, kind: Kind, id: impl Into<u64>) {
        self.0.insert(Key { kind, id: id.into() }, None);
    }

    /// Says which of those that were known are not there any more. While there are as many as are known, none is looked for.
    fn part<I: Copy + Ord + Into<u64>, V>(
        &mut self,
        kinds: &[Kind],
        known: &mut BTreeMap<I, V>,
        count: usize,
        is_there: impl Fn(I) -> bool,
    ) {
        if known.len() > count {
            known.retain(|&id, _| {
                let stays = is_there(id);
                kinds.iter().filter(|_| !stays).for_each(|&kind| self.gone(kind, id));
                stays
            });
        }
    }

    /// Says what of a kind is new or other than it was, and what is gone.
    fn compare<I: Copy + Ord + Into<u64>, V: Clone + PartialEq>(
        &mut self,
        kind: Kind,
        now: &BTreeMap<I, V>,
        known: &mut BTreeMap<I, V>,
        row: impl Fn(I, &V) -> Row,
    ) {
        for (&id, value) in now.iter().filter(|&(id, value)| known.get(id) != Some(value)) {
            self.say(kind, id, row(id, value));
        }
        for &id in known.keys().filter(|id| !now.contains_key(id)) {
            self.gone(kind, id);
        }
        known.clone_from(now);
    }
}

pub(super) fn cut(
    In(asks_for_all): In<bool>,
    ships: Query<ShipParts>,
    rest: Rest,
    own: Own,
    mut known: Local<Known>,
) -> Cut {
    let known = &mut *known;
    if asks_for_all {
        *known = Known::default();
    }
    let is_whole = !std::mem::replace(&mut known.is_begun, true);
    let mut rows = Rows(BTreeMap::new());
    rows.say(Kind::World, 0u64, rest.world(&own));
    if is_whole || own.tuning.is_changed() {
        let balance = &own.tuning.balance;
        rows.say(Kind::Balance, 0u64, BalanceRow { hash: balance.hash(), storms: balance.storms.names.clone() });
    }
    rest.ships(&own, &ships, known, &mut rows);
    rest.places(&own, known, &mut rows, is_whole);
    rest.pilots(known, &mut rows, is_whole);
    rest.squads(known, &mut rows);
    between(&own, known, &mut rows, is_whole);
    Cut { step: own.now.step, is_whole, rows: rows.0 }
}

/// Wormholes, incursions, bonds and paid kills.
fn between(own: &Own, known: &mut Known, rows: &mut Rows, is_whole: bool) {
    if is_whole || own.wormholes.is_changed() {
        rows.compare(Kind::Wormhole, &own.wormholes.open, &mut known.wormholes, |_, wormhole| Row::from(*wormhole));
        rows.compare(Kind::Found, &own.wormholes.found, &mut known.found, |pilot, ends| {
            Row::from(FoundRow { pilot, ends: ends.clone() })
        });
    }
    if is_whole || own.incursions.is_changed() {
        rows.say(Kind::Incursions, 0u64, Incursions::clone(&own.incursions));
    }
    if is_whole || own.bonds.is_changed() {
        let pairs = |of: &BTreeMap<_, _>| of.iter().map(|(&pair, &until)| (pair, until)).collect();
        let Bonds { asks, duels, charters, last, loosened, .. } = &*own.bonds;
        let bonds = BondsRow { asks: pairs(asks), duels: pairs(duels), last: *last, loosened: *loosened };
        rows.say(Kind::Bonds, 0u64, bonds);
        rows.compare(Kind::Charter, charters, &mut known.charters, |_, charter| Row::from(charter.clone()));
    }
    if is_whole || own.kills.is_changed() {
        rows.say(Kind::Kills, 0u64, FairKills::clone(&own.kills));
    }
}

impl Rest<'_, '_> {
    fn world(&self, own: &Own) -> WorldRow {
        let id = |ship| self.ships.get(ship).ok().map(|ship| ship.id);
        let mut noticed = own.noticed.0.clone();
        WorldRow {
            step: own.now.step,
            seed: own.tuning.seed,
            classes: own.tuning.balance.classes.iter().map(|(name, _)| name.to_owned()).collect(),
            ships: own.index.last,
            wrecks: own.wreck_index.last,
            squads: own.count.0,
            wormholes: own.wormholes.last,
            sought: own.sought.0,
            wormhole_stream: own.wormholes.stream.clone(),
            storms: Storms::clone(&own.storms),
            clock: own.clock.seconds(),
            shipless: own.shipless.iter().copied().collect(),
            minds: own.orders.decided(),
            docking: own.docking.0.iter().filter_map(|&(ship, is_order)| Some((id(ship)?, is_order))).collect(),
            appeared: noticed.read(&own.appeared).filter_map(|appeared| id(appeared.ship)).collect(),
        }
    }

    fn place(&self, sector: Entity) -> Option<Place> {
        let sector = self.sectors.get(sector).ok()?;
        Some(Place { map: self.key(sector.map)?, hex: sector.hex })
    }

    fn key(&self, map: Entity) -> Option<MapKey> {
        self.maps.get(map).ok().map(|(map, _)| map.key)
    }

    fn ships(&self, own: &Own, ships: &Query<ShipParts>, known: &mut Known, rows: &mut Rows) {
        for parts in ships {
            let id = parts.ship.id;
            let present = parts.present();
            let (before, is_new) = known.see(parts.entity, id, present);
            if is_new || parts.ship.is_changed() || parts.fitted.is_changed() {
                let squad = self.squads.get(parts.fleet.0).ok().map(|(squad, ..)| squad.id);
                let Ship { owner, faction, .. } = *parts.ship;
                rows.say(Kind::Ship, id, ShipRow { id, owner, faction, fit: parts.fitted.0, squad });
            }
            if is_new || before != present || parts.is_state_changed() {
                self.state(&parts, rows);
            }
        }
        let is_there = |id| own.index.get(id).is_some();
        rows.part(&[Kind::Ship, Kind::State], &mut known.ships, own.index.by_id.len(), is_there);
    }

    fn state(&self, parts: &ShipPartsItem<'_, '_>, rows: &mut Rows) {
        let name = |ship: Entity| self.ships.get(ship).ok().map(|ship| ship.id);
        let in_space = parts.in_sector.as_ref().map(|sector| sector.0);
        let Some(at) = in_space.or_else(|| Some(parts.docked.as_ref()?.0)).and_then(|at| self.place(at)) else {
            return;
        };
        let state = StateRow {
            at,
            docked: in_space.is_none(),
            awake: parts.awake,
            shield: parts.condition.0.shield,
            hull: parts.condition.0.hull,
            battery: parts.battery.0,
            full: Some(fulls(&parts.card.0)),
            gun: *parts.gun,
            wear: *parts.wear,
            powers: *parts.powers,
            quiet: parts.quiet.0,
            helm: Helm::clone(&parts.helm),
            arrival: *parts.arrival,
            mind: *parts.mind,
            mends: parts.mends.as_ref().map(|mends| **mends),
            harvest: parts.harvest.as_ref().map(|harvest| harvest.ends),
            locking: parts.locking.as_ref().and_then(|locking| name(locking.0)),
            clamping: parts.clamping.as_ref().and_then(|clamping| name(clamping.0)),
            rolls: parts.rolls.0.clone(),
        };
        rows.say(Kind::State, parts.ship.id, state);
    }

    /// Maps, their squads, structures and wrecks.
    fn places(&self, own: &Own, known: &mut Known, rows: &mut Rows, is_whole: bool) {
        for (map, roster) in &self.maps {
            if is_whole || map.is_changed() {
                let row = MapRow { map: map.key, seed: map.seed, layout: map.layout.clone() };
                rows.say(Kind::Map, map.key.code(), row);
            }
            if let Some(roster) = roster.filter(|roster| is_whole || roster.is_changed()) {
                rows.say(Kind::Squads, map.key.code(), self.roster(map.key, &roster));
            }
        }
        let mut standing = 0;
        for (sector, structure) in &self.structures {
            standing += 1;
            let Structure { kind, charter, ship, quiet_until, .. } = *structure;
            if (known.structures.insert(ship, ()).is_none() || structure.is_changed())
                && let Some(map) = self.key(sector.map)
            {
                let at = Place { map, hex: sector.hex };
                rows.say(Kind::Structure, ship, StructureRow { ship, kind, charter, at, quiet_until });
            }
        }
        let stand = |ship| self.structures.iter().any(|(_, structure)| structure.ship == ship);
        rows.part(&[Kind::Structure], &mut known.structures, standing, stand);
        for (&id, &(wreck, gone)) in &own.wreck_index.by_id {
            let Ok((wreck, lies_in)) = self.wrecks.get(wreck) else { continue };
            if (known.wrecks.insert(id, ()).is_none() || wreck.is_changed() || lies_in.is_changed())
                && let Some(at) = self.place(lies_in.0)
            {
                rows.say(Kind::Wreck, id, WreckRow { id, of: wreck.of, load: wreck.load.clone(), at, gone });
            }
        }
        let is_there = |id| own.wreck_index.get(id).is_some();
        rows.part(&[Kind::Wreck], &mut known.wrecks, own.wreck_index.by_id.len(), is_there);
    }

    fn roster(&self, map: MapKey, roster: &Roster) -> MapSquads {
        let id = |squad: Entity| self.squads.get(squad).ok().map(|(squad, ..)| squad.id);
        let bound = roster.bound().filter_map(|(until, sector, ships)| {
            let sector = self.sectors.get(sector).ok()?;
            Some((until, sector.hex, ships))
        });
        MapSquads {
            map,
            stream: roster.stream.clone(),
            roaming: roster.roaming.clone(),
            squads: roster.squads().filter_map(id).collect(),
            filled: roster.filled,
            due: roster.due.iter().copied().collect(),
            roams: roster.roams,
            bound: bound.collect(),
        }
    }

    fn pilots(&self, known: &mut Known, rows: &mut Rows, is_whole: bool) {
        for (pilot, purse, cargo, alert, hold, charts, log) in &self.pilots {
            let id = pilot.id;
            let is_alert = alert.is_some();
            let was_alert = if is_alert { !known.alert.insert(id) } else { known.alert.remove(&id) };
            if is_whole
                || pilot.is_changed()
                || purse.is_changed()
                || cargo.is_changed()
                || is_alert != was_alert
                || alert.as_ref().is_some_and(DetectChanges::is_changed)
            {
                let alert = alert.map(|alert| *alert);
                let (pilot, purse, cargo) = (Pilot::clone(&pilot), Purse::clone(&purse), Cargo::clone(&cargo));
                let row = PilotRow { pilot, purse, cargo, alert };
                rows.say(Kind::Pilot, id, row);
            }
            if is_whole || hold.is_changed() {
                rows.say(Kind::Hold, id, Hold::clone(&hold));
            }
            if is_whole || charts.is_changed() {
                rows.say(Kind::Charts, id, Charts::clone(&charts));
            }
            if is_whole || log.is_changed() {
                let (end, most) = (log.count(), log.most() as u64);
                let first = end - log.iter().len() as u64;
                let mut told = known.shots.insert(id, Told { first, end, most }).unwrap_or_default();
                // A new shot takes the place of the one that is forgotten for it.
                let place = |number: u64, most: u64| (u64::from(id) << 16) | (number % most);
                if told.most != most {
                    (told.first..told.end).for_each(|number| rows.gone(Kind::Shot, place(number, told.most)));
                    told.end = 0;
                }
                for (number, &shot) in (first..).zip(log.iter()).filter(|&(number, _)| number >= told.end) {
                    rows.say(Kind::Shot, place(number, most), ShotRow { pilot: id, number, shot });
                }
            }
        }
    }

    fn squads(&self, known: &mut Known, rows: &mut Rows) {
        let mut living = 0;
        for (squad, alert, invader) in &self.squads {
            living += 1;
            let is_alert = alert.is_some();
            let before = known.squads.insert(squad.id, is_alert);
            if before != Some(is_alert) || squad.is_changed() || alert.as_ref().is_some_and(DetectChanges::is_changed) {
                let row = SquadRow {
                    id: squad.id,
                    stream: squad.stream.clone(),
                    map: squad.map.and_then(|map| self.key(map)),
                    alert: alert.map(|alert| *alert),
                    invader: invader.map(|invader| invader.0),
                };
                rows.say(Kind::Squad, squad.id, row);
            }
        }
        if known.squads.len() > living {
            let live: BTreeSet<SquadId> = self.squads.iter().map(|(squad, ..)| squad.id).collect();
            rows.part(&[Kind::Squad], &mut known.squads, living, |id| live.contains(&id));
        }
    }
}
