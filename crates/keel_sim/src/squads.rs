//! NPC squads come into the world (rule 11): [`WorldSet::Squads`].

use std::collections::VecDeque;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_log::warn;
use keel_balance::Balance;
use keel_map::Hex;
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, FitError, Moment, Sheet};
use thiserror::Error;

use crate::expiry::FleetLost;
use crate::ids::SquadId;
use crate::schedule::{Now, WorldSet};
use crate::stream::{Purpose, Stream};
use crate::world::{Arrival, Map, Maps, Occupants, Sector, Ship, ShipSpec, Spot, Tuning, spawn_ship};

pub(crate) struct SquadsPlugin;

impl Plugin for SquadsPlugin {
    fn build(&self, app: &mut App) {
        let world = app.world_mut();
        let seed = world.resource::<Tuning>().seed;
        let maps: Vec<Entity> = world.resource::<Maps>().iter().collect();
        for map in maps {
            let code = world.get::<Map>(map).map_or(0, |map| map.key.code());
            let stream = Stream::new(seed, Purpose::Placing, code.into());
            let roster = Roster { stream, living: 0, filled: false, due: VecDeque::new() };
            world.entity_mut(map).insert(roster);
        }
        app.init_resource::<SquadCount>()
            .add_systems(FixedUpdate, (count_losses, fill).chain().in_set(WorldSet::Squads));
    }
}

/// An NPC squad. Its ships are its [`crate::Fleet`].
#[derive(Component, Debug)]
pub struct Squad {
    /// Its stable name.
    pub id: SquadId,
    pub(crate) stream: Stream,
    /// The map that counts it among its squads; `None` for one that was put there by hand.
    map: Option<Entity>,
}

impl Squad {
    /// The map that counts it among its squads; `None` for one that was put there by hand.
    #[must_use]
    pub const fn map(&self) -> Option<Entity> {
        self.map
    }
}

/// Ships that the balance has the world make and that cannot be made.
#[derive(Debug, Error)]
#[error("the balance makes ships that cannot be:{}", .0.iter().map(|(what, error)| format!("\n  {what}: {error}")).collect::<String>())]
pub struct UnfitError(pub Vec<(String, FitError)>);

/// Whether every ship that the balance has the world make can be made: the starter, and what each layer's squads fly.
///
/// # Errors
/// With all that cannot be made, and why.
pub fn check_fits(balance: &Balance) -> Result<(), UnfitError> {
    let mut unfit = Vec::new();
    let mut check = |what: String, fit: &Fit| {
        if let Err(error) = Sheet::new(balance, fit) {
            unfit.push((what, error));
        }
    };
    check("starter".to_owned(), &Fit::starter(balance));
    for (number, layer) in (1..).zip(&balance.layers) {
        for name in &layer.npcs.classes {
            let class = ClassId::named(balance, name).unwrap_or_default();
            for &faction in &layer.npcs.factions {
                check(format!("{faction:?} {name} of layer {number}"), &Fit::npc(balance, layer, class, faction));
            }
        }
    }
    if unfit.is_empty() { Ok(()) } else { Err(UnfitError(unfit)) }
}

/// Puts a squad without ships into the world. When it is lost it does not come back.
pub fn spawn_squad(world: &mut World, id: SquadId) -> Entity {
    spawn(world, id, None)
}

fn spawn(world: &mut World, id: SquadId, map: Option<Entity>) -> Entity {
    let seed = world.resource::<Tuning>().seed;
    world.spawn(Squad { id, stream: Stream::new(seed, Purpose::Squad, id.0), map }).id()
}

/// Squads that maps have had, in all.
#[derive(Resource, Debug, Default, Hash)]
pub(crate) struct SquadCount(u32);

/// A map's squads: how many live, and when the next one is due.
#[derive(Component, Debug)]
pub(crate) struct Roster {
    stream: Stream,
    living: usize,
    /// Whether the map has held all its squads once. From then on the respawn clock runs.
    filled: bool,
    due: VecDeque<Moment>,
}

impl Roster {
    /// All that it is, for a hash.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> {
        let own = [self.stream.fingerprint(), self.living as u64, self.filled.into()];
        own.into_iter().chain(self.due.iter().map(|due| due.get()))
    }
}

fn count_losses(
    now: Res<Now>,
    tuning: Res<Tuning>,
    squads: Query<&Squad>,
    mut rosters: Query<(&Map, &mut Roster)>,
    mut lost: MessageReader<FleetLost>,
    mut commands: Commands,
) {
    for loss in lost.read() {
        let map = squads.get(loss.fleet).ok().and_then(|squad| squad.map);
        if let Some((map, mut roster)) = map.and_then(|map| rosters.get_mut(map).ok()) {
            roster.living -= 1;
            // A storm may have made the map too small for all that it held.
            if roster.living + roster.due.len() < wanted(&tuning.balance, map) {
                roster.due.push_back(now.moment() + tuning.balance.squads.respawn_s.into());
            }
        }
        commands.entity(loss.fleet).despawn();
    }
}

fn fill(world: &mut World) {
    let now = world.resource::<Now>().moment();
    let maps = world.resource::<Maps>().iter().len();
    for place in 0..maps {
        let Some(map) = world.resource::<Maps>().iter().nth(place) else { return };
        let is_due = |roster: &Roster| !roster.filled || roster.due.front().is_some_and(|&due| due <= now);
        if world.get::<Roster>(map).is_some_and(is_due) {
            fill_map(world, map, now);
        }
    }
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
        } else if roster.living + roster.due.len() >= wanted {
            roster.filled = true;
            break;
        }
        if place_squad(world, &balance, map).is_none()
            && let Some(mut roster) = world.get_mut::<Roster>(map)
        {
            // No sector has room: what is missing waits for some.
            roster.filled = true;
            roster.due.push_back(now + balance.squads.respawn_s.into());
        }
    }
}

/// NPCs that a sector has room for, under its map's cap.
pub(crate) fn room(world: &World, map: &Map, sector: Entity) -> usize {
    let occupants = world.get::<Occupants>(sector).into_iter().flat_map(Occupants::iter);
    let npcs = occupants.filter(|&ship| world.get::<Ship>(ship).is_some_and(|ship| ship.pilot().is_none())).count();
    usize::from(map.sector_cap).saturating_sub(npcs)
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
        let coming = roster.living + roster.due.len();
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
    let rules = &balance.layers[usize::from(map.key.tier - 1)];
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
    let classes: Vec<ClassId> = (0..size)
        .filter_map(|_| {
            let name = &rules.npcs.classes[roster.stream.below(rules.npcs.classes.len())];
            ClassId::named(balance, name)
        })
        .collect();
    roster.living += 1;
    let mut count = world.resource_mut::<SquadCount>();
    count.0 += 1;
    let id = SquadId(count.0);
    let fleet = spawn(world, id, Some(entity));
    let spot = Spot::Space(sector);
    for class in classes {
        let fit = Fit::npc(balance, rules, class, faction);
        let spec = ShipSpec { owner: Owner::Npc, fleet, faction, fit, spot, arrival: Arrival::default() };
        if let Err(error) = spawn_ship(world, spec) {
            warn!("the balance's {faction:?} squads cannot be made: {error}");
        }
    }
    Some(id)
}
