//! A map's squads: how many there are to be, which there are, and where the next one comes.

use std::collections::VecDeque;

use bevy_ecs::prelude::*;
use bevy_log::warn;
use keel_balance::{Balance, Faction, Layer};
use keel_map::Hex;
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, Moment};

use super::roam::longest_rest;
use super::{Squad, spawn};
use crate::expiry::FleetLost;
use crate::ids::SquadId;
use crate::incursions::Invaded;
use crate::schedule::Now;
use crate::stream::Stream;
use crate::world::{Arrival, Map, Maps, Occupants, Sector, Ship, ShipSpec, Spot, Tuning, spawn_ship};

/// Squads that there have been, in all.
#[derive(Resource, Debug, Default, Hash)]
pub(crate) struct SquadCount(pub(crate) u32);

impl SquadCount {
    /// The name of the next one.
    pub(crate) fn next(&mut self) -> SquadId {
        self.0 += 1;
        SquadId(self.0)
    }
}

/// A map's squads, and when the next one is due.
#[derive(Component, Debug)]
pub(crate) struct Roster {
    /// Where squads stand and what they are.
    pub(crate) stream: Stream,
    /// Which roam, and where to.
    pub(crate) roaming: Stream,
    /// Those that live.
    pub(crate) squads: Vec<Entity>,
    /// Whether the map has held all its squads once. From then on the respawn clock runs.
    pub(crate) filled: bool,
    pub(crate) due: VecDeque<Moment>,
    /// When a squad roams next.
    pub(crate) roams: Moment,
    /// Sectors that squads are on their way to, until when, and how many ships come.
    pub(crate) bound: Vec<(Moment, Entity, usize)>,
}

impl Roster {
    pub(super) const fn new([stream, roaming]: [Stream; 2]) -> Self {
        Self {
            stream,
            roaming,
            squads: Vec::new(),
            filled: false,
            due: VecDeque::new(),
            roams: Moment::START,
            bound: Vec::new(),
        }
    }

    /// No squad is waited for longer than the balance has one wait.
    pub(crate) fn wait_at_most(&mut self, balance: &Balance, now: Moment) {
        let (respawn, roam) = (now + balance.squads.respawn_s.into(), now + longest_rest(balance));
        self.due.iter_mut().for_each(|due| *due = (*due).min(respawn));
        self.roams = self.roams.min(roam);
    }

    /// Nobody is on the way anywhere any more.
    pub(crate) fn stop_all(&mut self) {
        self.bound.clear();
    }

    /// All that it is but for entities, for a hash.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let own = [self.stream.fingerprint(), self.roaming.fingerprint(), self.filled.into(), self.roams.get()];
        own.into_iter().chain(self.due.iter().map(|due| due.get()))
    }

    /// Its squads, in the order in which they came.
    pub(crate) fn squads(&self) -> impl Iterator<Item = Entity> {
        self.squads.iter().copied()
    }

    /// Sectors that squads are on their way to, until when, and how many ships come.
    pub(crate) fn bound(&self) -> impl Iterator<Item = (Moment, Entity, usize)> {
        self.bound.iter().copied()
    }
}

pub(super) fn count_losses(
    now: Res<Now>,
    tuning: Res<Tuning>,
    squads: Query<&Squad>,
    mut rosters: Query<(&Map, &mut Roster)>,
    mut lost: MessageReader<FleetLost>,
    mut commands: Commands,
) {
    for loss in lost.read() {
        let Ok(squad) = squads.get(loss.fleet) else { continue };
        if let Some((map, mut roster)) = squad.map.and_then(|map| rosters.get_mut(map).ok()) {
            roster.squads.retain(|&squad| squad != loss.fleet);
            // A storm may have made the map too small for all that it held.
            if roster.squads.len() + roster.due.len() < wanted(&tuning.balance, map) {
                roster.due.push_back(now.moment() + tuning.balance.squads.respawn_s.into());
            }
        }
        commands.entity(loss.fleet).despawn();
    }
}

pub(super) fn fill(world: &mut World) {
    let now = world.resource::<Now>().moment();
    for map in maps_where(world, |roster| !roster.filled || roster.due.front().is_some_and(|&due| due <= now)) {
        fill_map(world, map, now);
    }
}

/// The maps whose squads are like that. For none, nothing is allocated.
pub(super) fn maps_where(world: &World, is_one: impl Fn(&Roster) -> bool) -> Vec<Entity> {
    let maps = world.resource::<Maps>().iter();
    maps.filter(|&map| world.get::<Roster>(map).is_some_and(&is_one)).collect()
}

fn fill_map(world: &mut World, map: Entity, now: Moment) {
    let balance = world.resource::<Tuning>().balance.clone();
    let Some(wanted) = world.get::<Map>(map).map(|map| wanted(&balance, map)) else { return };
    for _ in 0..balance.squads.fill_per_step {
        let Some(mut roster) = world.get_mut::<Roster>(map) else { return };
        if roster.filled {
            // Due moments are in order: waits are all of one length.
            if roster.due.front().is_none_or(|&due| due > now) {
                break;
            }
            roster.due.pop_front();
        } else if roster.squads.len() + roster.due.len() >= wanted {
            roster.filled = true;
            break;
        }
        if place_squad(world, &balance, map).is_none()
            && let Some(mut roster) = world.get_mut::<Roster>(map)
        {
            // No sector has room: what is missing waits for some.
            roster.filled = true;
            for _ in roster.squads.len() + roster.due.len()..wanted {
                roster.due.push_back(now + balance.squads.respawn_s.into());
            }
            break;
        }
    }
}

/// NPCs that are in a sector.
pub(crate) fn crew(world: &World, sector: Entity) -> usize {
    let occupants = world.get::<Occupants>(sector).into_iter().flat_map(Occupants::iter);
    occupants.filter(|&ship| world.get::<Ship>(ship).is_some_and(|ship| ship.owner == Owner::Npc)).count()
}

/// NPCs of squads that a sector has room for, under its map's cap. Where an incursion is, there is none for them.
pub(crate) fn room(world: &World, map: &Map, sector: Entity) -> usize {
    if world.get::<Invaded>(sector).is_some() {
        return 0;
    }
    let roster = world.get::<Sector>(sector).and_then(|sector| world.get::<Roster>(sector.map));
    let bound = roster.into_iter().flat_map(|roster| &roster.bound).filter(|(_, to, _)| *to == sector);
    let coming: usize = bound.map(|(.., ships)| ships).sum();
    usize::from(map.sector_cap).saturating_sub(crew(world, sector) + coming)
}

/// Squads that a map holds when it is full.
fn wanted(balance: &Balance, map: &Map) -> usize {
    (map.sectors().len() / usize::from(balance.squads.per_sectors)).min(map.most_squads.into())
}

/// A map that a storm has made larger gets the squads that it has room for now, and one that it has made smaller waits until it
/// has fewer.
pub(crate) fn top_up(world: &mut World, map: Entity) {
    let (now, balance) = (world.resource::<Now>().moment(), world.resource::<Tuning>().balance.clone());
    let Some(wanted) = world.get::<Map>(map).map(|map| wanted(&balance, map)) else { return };
    let Some(mut roster) = world.get_mut::<Roster>(map) else { return };
    if roster.filled {
        let coming = roster.squads.len() + roster.due.len();
        for _ in coming..wanted {
            roster.due.push_front(now);
        }
        let surplus = coming.saturating_sub(wanted).min(roster.due.len());
        let stays = roster.due.len() - surplus;
        roster.due.truncate(stays);
    }
}

/// Puts one squad into a sector of a map that has room for it, if one has.
fn place_squad(world: &mut World, balance: &Balance, entity: Entity) -> Option<SquadId> {
    let map = world.get::<Map>(entity)?;
    let rules = &balance.layers[map.site().row()];
    let rooms = map.sectors().iter().filter_map(|&sector| {
        let room = room(world, map, sector);
        // Pilots come into the world at the centre, and are not to be met there.
        let centre = world.get::<Sector>(sector).is_none_or(|sector| sector.hex == Hex::CENTRE);
        (room > 0 && !centre).then_some((sector, room))
    });
    let free: Vec<(Entity, usize)> = rooms.collect();
    if free.is_empty() {
        return None;
    }
    let squad = usize::from(map.squad);
    let mut roster = world.get_mut::<Roster>(entity)?;
    let (sector, room) = free[roster.stream.below(free.len())];
    let faction = rules.npcs.factions[roster.stream.below(rules.npcs.factions.len())];
    // The sector's cap wins over the squad's size.
    let size = squad.min(room);
    let fits = draw_fits(balance, rules, faction, size, &mut roster.stream);
    let id = world.resource_mut::<SquadCount>().next();
    let fleet = spawn(world, id, Some(entity));
    world.get_mut::<Roster>(entity)?.squads.push(fleet);
    man(world, fleet, faction, &fits, sector);
    Some(id)
}

/// What so many ships of a layer's NPCs fly, each of a class drawn from its list.
pub(crate) fn draw_fits(
    balance: &Balance,
    layer: &Layer,
    faction: Faction,
    ships: usize,
    stream: &mut Stream,
) -> Vec<Fit> {
    let classes = (0..ships).filter_map(|_| {
        let name = &layer.npcs.classes[stream.below(layer.npcs.classes.len())];
        ClassId::named(balance, name)
    });
    classes.map(|class| Fit::npc(balance, layer, class, faction)).collect()
}

/// Gives a squad its ships.
pub(crate) fn man(world: &mut World, fleet: Entity, faction: Faction, fits: &[Fit], sector: Entity) {
    for &fit in fits {
        let spot = Spot::Space(sector);
        let spec = ShipSpec { owner: Owner::Npc, fleet, faction, fit, spot, arrival: Arrival::default() };
        if let Err(error) = spawn_ship(world, spec) {
            warn!("the balance's {faction:?} squads cannot be made: {error}");
        }
    }
}
