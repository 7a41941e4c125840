//! Incursions (rule 11): [`WorldSet::Incursions`]. NPCs come in waves into a block of sectors. Whoever does enough of the
//! damage is paid when all of them are destroyed; who is too late is not.

mod clear;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_balance::{Balance, Faction};
use keel_map::{Hex, MapKey};
use keel_rules::{Fit, Moment, STEPS_PER_SECOND, Site};

use crate::expiry::FleetLost;
use crate::ids::{IncursionId, PilotId};
use crate::notes::Note;
use crate::save::pairs;
use crate::schedule::{Now, SimSet, WorldSet};
use crate::shot::Struck;
use crate::squads::{Roster, SquadCount, crew, draw_fits, man, spawn};
use crate::storms::tell_all;
use crate::stream::{Purpose, Stream};
use crate::world::{Fleet, InFleet, Map, Maps, Ship, Tuning, remove_ship};
use clear::clear;

pub(crate) struct IncursionsPlugin;

impl Plugin for IncursionsPlugin {
    fn build(&self, app: &mut App) {
        let stream = Stream::new(app.world().resource::<Tuning>().seed, Purpose::Incursions, 0);
        let none = Incursions { on: BTreeMap::new(), due: BTreeMap::new(), last: 0, stream };
        app.insert_resource(none)
            .add_systems(FixedUpdate, count_damage.in_set(SimSet::Record))
            .add_systems(FixedUpdate, (count_losses, run).chain().in_set(WorldSet::Incursions));
    }
}

/// An incursion.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Incursion {
    /// Where.
    pub map: MapKey,
    /// Its sectors, the middle one first.
    pub block: Vec<Hex>,
    /// Who comes.
    pub faction: Faction,
    /// When its first wave comes.
    pub begins: Moment,
    /// When it is too late to clear it.
    pub ends: Moment,
    /// Waves that have begun to come.
    pub waves: u8,
    /// Squads of it that live.
    pub squads: u32,
    /// Sectors to which the wave has still to come.
    coming: Vec<Hex>,
    /// When the next wave comes at the latest.
    next_wave: Moment,
    /// Damage that pilots have done to its ships.
    #[serde(with = "pairs")]
    dealt: BTreeMap<PilotId, f64>,
}

impl Incursion {
    /// Damage to its ships, by whom.
    pub fn dealt(&self) -> impl Iterator<Item = (PilotId, f64)> {
        self.dealt.iter().map(|(&pilot, &dealt)| (pilot, dealt))
    }
}

/// Every incursion.
#[derive(Resource, Clone, Debug, Serialize, Deserialize)]
pub struct Incursions {
    #[serde(with = "pairs")]
    on: BTreeMap<IncursionId, Incursion>,
    /// When the next one of each map is announced.
    #[serde(with = "pairs")]
    due: BTreeMap<MapKey, Moment>,
    pub(crate) last: u32,
    stream: Stream,
}

impl Incursions {
    /// Those that are announced or run, in the order in which they were announced.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (IncursionId, &Incursion)> {
        self.on.iter().map(|(&id, incursion)| (id, incursion))
    }

    /// Those that are announced or run, to be changed.
    pub(crate) fn each(&mut self) -> impl Iterator<Item = (IncursionId, &mut Incursion)> {
        self.on.iter_mut().map(|(&id, incursion)| (id, incursion))
    }

    /// No map's next one is announced later than the longest pause from now.
    pub(crate) fn wait_at_most(&mut self, balance: &Balance, now: Moment) {
        let latest = Moment::of_step(now.step() + steps(balance.incursions.most_min));
        self.due.values_mut().for_each(|due| *due = (*due).min(latest));
    }

    fn is_on(&self, map: MapKey) -> bool {
        self.on.values().any(|incursion| incursion.map == map)
    }

    /// All that it is, for a hash.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let on = self.on.iter().flat_map(|(id, incursion)| {
            let own = [
                id.0.into(),
                incursion.map.code().into(),
                incursion.begins.get(),
                incursion.ends.get(),
                incursion.next_wave.get(),
                incursion.waves.into(),
                incursion.squads.into(),
                incursion.coming.len() as u64,
                incursion.faction as u64,
            ];
            let block = incursion
                .block
                .iter()
                .map(|hex| (u64::from(hex.col.cast_unsigned()) << 32) | u64::from(hex.row.cast_unsigned()));
            let dealt = incursion.dealt.iter().flat_map(|(pilot, dealt)| [pilot.0.into(), dealt.to_bits()]);
            own.into_iter().chain(block).chain(dealt)
        });
        let due = self.due.iter().flat_map(|(map, due)| [map.code().into(), due.get()]);
        on.chain(due).chain([self.last.into(), self.stream.fingerprint()])
    }
}

/// A sector into which an incursion comes. Squads keep out of it, and storms leave it alone.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Invaded;

/// A squad of an incursion's. Its ships leave no wreck.
#[derive(Component, Clone, Copy, Debug, Hash)]
pub(crate) struct Invader(pub(crate) IncursionId);

fn steps(minutes: u16) -> u64 {
    u64::from(minutes) * 60 * u64::from(STEPS_PER_SECOND)
}

/// The pause after an incursion, from the least to the most of the balance.
fn pause(balance: &Balance, now: Moment, stream: &mut Stream) -> Moment {
    let (least, most) = (steps(balance.incursions.least_min), steps(balance.incursions.most_min));
    Moment::of_step(now.step() + least + stream.below((most - least + 1) as usize) as u64)
}

/// Adds what pilots do to an incursion's ships.
fn count_damage(
    mut struck: MessageReader<Struck>,
    mut incursions: ResMut<Incursions>,
    ships: Query<(&Ship, &InFleet)>,
    invaders: Query<&Invader>,
) {
    if incursions.on.is_empty() {
        struck.clear();
        return;
    }
    for Struck { shooter, target, dealt, .. } in struck.read() {
        let invader = ships.get(*target).ok().and_then(|(_, fleet)| invaders.get(fleet.0).ok());
        let by = ships.get(*shooter).ok().and_then(|(ship, _)| ship.pilot());
        if let (Some(Invader(id)), Some(by)) = (invader, by)
            && let Some(incursion) = incursions.on.get_mut(id)
        {
            *incursion.dealt.entry(by).or_default() += f64::from(dealt.shield) + f64::from(dealt.hull);
        }
    }
}

fn count_losses(mut lost: MessageReader<FleetLost>, invaders: Query<&Invader>, mut incursions: ResMut<Incursions>) {
    for loss in lost.read() {
        let of = invaders.get(loss.fleet).ok();
        if let Some(incursion) = of.and_then(|of| incursions.on.get_mut(&of.0)) {
            incursion.squads -= 1;
        }
    }
}

fn run(world: &mut World) {
    let now = world.resource::<Now>().moment();
    announce(world, now);
    // With none on, nothing is allocated.
    let ids: Vec<IncursionId> = world.resource::<Incursions>().on.keys().copied().collect();
    for id in ids {
        advance(world, id, now);
    }
}

/// Announces those that are due. They are looked for once a second.
fn announce(world: &mut World, now: Moment) {
    if !now.step().is_multiple_of(STEPS_PER_SECOND.into()) {
        return;
    }
    for key in MapKey::all() {
        // Where squads are, incursions come by themselves.
        if world.resource::<Maps>().get(key).is_none_or(|map| world.get::<Roster>(map).is_none()) {
            continue;
        }
        if world.resource::<Incursions>().due.get(&key).is_some_and(|due| now < *due) {
            continue;
        }
        let balance = world.resource::<Tuning>().balance.clone();
        let incursions = &mut *world.resource_mut::<Incursions>();
        match incursions.due.get(&key) {
            Some(_) => {
                let begins = now + balance.incursions.warn_s.into();
                begin(world, key, None, begins);
            }
            None if incursions.is_on(key) => {}
            None => {
                let due = pause(&balance, now, &mut incursions.stream);
                incursions.due.insert(key, due);
            }
        }
    }
}

/// Announces an incursion on a map, around a sector or a random one; whether none was on and there was a place for one.
pub(crate) fn begin(world: &mut World, key: MapKey, around: Option<Hex>, begins: Moment) -> bool {
    let (now, balance) = (world.resource::<Now>().moment(), world.resource::<Tuning>().balance.clone());
    let Some(map) = world.resource::<Maps>().get(key) else { return false };
    let Some(parts) = world.get::<Map>(map) else { return false };
    let reach = u32::from(balance.incursions.reach);
    // Not where pilots come into the world.
    let far = |hex: &Hex| hex.distance(Hex::CENTRE) > reach;
    let places: Vec<Hex> = parts.layout.hexes().iter().copied().filter(far).collect();
    let around = around.filter(|hex| parts.layout.contains(*hex));
    let site = parts.site();
    if world.resource::<Incursions>().is_on(key) || (around.is_none() && places.is_empty()) {
        return false;
    }
    let mut stream = world.resource::<Incursions>().stream.clone();
    let middle = around.unwrap_or_else(|| places[stream.below(places.len())]);
    let is_of_it = |hex: &Hex| *hex != Hex::CENTRE && parts.layout.contains(*hex);
    let mut block: Vec<Hex> = middle.within(reach).into_iter().filter(is_of_it).collect();
    block.sort_by_key(|hex| (hex.distance(middle), hex.row, hex.col));
    let sectors: Vec<Entity> = block.iter().filter_map(|&hex| parts.sector(hex)).collect();
    let factions = &balance.layers[site.row()].npcs.factions;
    let faction = factions[stream.below(factions.len())];
    let incursion = Incursion {
        map: key,
        block,
        faction,
        begins,
        ends: begins + balance.incursions.lasts_s.into(),
        waves: 0,
        squads: 0,
        coming: Vec::new(),
        next_wave: begins,
        dealt: BTreeMap::new(),
    };
    let mut incursions = world.resource_mut::<Incursions>();
    incursions.stream = stream;
    incursions.last += 1;
    let id = IncursionId(incursions.last);
    incursions.due.remove(&key);
    incursions.on.insert(id, incursion);
    for sector in sectors {
        world.entity_mut(sector).insert(Invaded);
    }
    tell_all(world, Note::IncursionComing { map: key, at: middle, faction, after: begins.since(now) });
    true
}

/// Goes on with an incursion: the next wave, a sector of it, or its end.
fn advance(world: &mut World, id: IncursionId, now: Moment) {
    let balance = world.resource::<Tuning>().balance.clone();
    let rule = &balance.incursions;
    let mut incursions = world.resource_mut::<Incursions>();
    let Some(incursion) = incursions.on.get_mut(&id) else { return };
    if now < incursion.begins {
        return;
    }
    let is_met = incursion.squads == 0 && incursion.coming.is_empty();
    if incursion.waves < rule.waves && incursion.coming.is_empty() && (now >= incursion.next_wave || is_met) {
        incursion.waves += 1;
        incursion.coming = incursion.block.iter().rev().copied().collect();
        incursion.next_wave = now + rule.wave_s.into();
        let note = Note::IncursionWave { map: incursion.map, wave: incursion.waves, of: rule.waves };
        tell_all(world, note);
    } else if is_met {
        clear(world, id, now);
    } else if now >= incursion.ends {
        withdraw(world, id, now);
    } else if let Some(hex) = incursion.coming.pop() {
        // A sector a step, so that no step stalls for a wave.
        land(world, id, hex, &balance);
    }
}

/// Puts a wave's share of ships into a sector.
fn land(world: &mut World, id: IncursionId, hex: Hex, balance: &Balance) {
    let incursions = world.resource::<Incursions>();
    let Some(&Incursion { map: key, faction, .. }) = incursions.on.get(&id) else { return };
    let Some(map) = world.resource::<Maps>().get(key).and_then(|map| world.get::<Map>(map)) else { return };
    let Some(sector) = map.sector(hex) else { return };
    let cap = usize::from(map.incursion_cap);
    let share = cap.div_ceil(balance.incursions.waves.into()).min(cap.saturating_sub(crew(world, sector)));
    if share == 0 {
        return;
    }
    let site = map.site();
    let mut stream = incursions.stream.clone();
    let strength = match site {
        Site::Layer(_) => 1,
        Site::Rift(_) => balance.incursions.rift_strength,
    };
    let fits = draw_fits(balance, &balance.layers[site.row()], faction, share, &mut stream);
    let fits: Vec<Fit> = fits.into_iter().map(|fit| Fit { strength, ..fit }).collect();
    let squad = world.resource_mut::<SquadCount>().next();
    let fleet = spawn(world, squad, None);
    world.entity_mut(fleet).insert(Invader(id));
    man(world, fleet, faction, &fits, sector);
    let mut incursions = world.resource_mut::<Incursions>();
    incursions.stream = stream;
    if let Some(incursion) = incursions.on.get_mut(&id) {
        incursion.squads += 1;
    }
}

/// It is over: its sectors are free, and the map's next one is due after the pause.
fn end(world: &mut World, id: IncursionId, now: Moment) -> Option<Incursion> {
    let balance = world.resource::<Tuning>().balance.clone();
    let incursions = &mut *world.resource_mut::<Incursions>();
    let incursion = incursions.on.remove(&id)?;
    let due = pause(&balance, now, &mut incursions.stream);
    incursions.due.insert(incursion.map, due);
    let map = world.resource::<Maps>().get(incursion.map).and_then(|map| world.get::<Map>(map));
    let sectors: Vec<Entity> =
        map.into_iter().flat_map(|map| incursion.block.iter().filter_map(|&hex| map.sector(hex))).collect();
    for sector in sectors {
        world.entity_mut(sector).remove::<Invaded>();
    }
    Some(incursion)
}

/// What is left of it goes, and pays nobody.
fn withdraw(world: &mut World, id: IncursionId, now: Moment) {
    let Some(incursion) = end(world, id, now) else { return };
    let mut invaders = world.query::<(Entity, &Invader, &Fleet)>();
    let left = invaders.iter(world).filter(|(_, of, _)| of.0 == id);
    let left: Vec<(Entity, Vec<Entity>)> = left.map(|(squad, _, fleet)| (squad, fleet.iter().collect())).collect();
    for (squad, ships) in left {
        for ship in ships {
            remove_ship(world, ship);
        }
        world.despawn(squad);
    }
    tell_all(world, Note::IncursionOver { map: incursion.map });
}
