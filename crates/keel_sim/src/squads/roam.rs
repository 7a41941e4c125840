//! Squads that nobody disturbs go on to the next sector.

use bevy_ecs::prelude::*;
use keel_balance::Balance;
use keel_map::Hex;
use keel_rules::{Micros, Moment};

use super::roster::{Roster, maps_where, room};
use crate::ids::ShipId;
use crate::minds::{Act, Alert};
use crate::movement::{Helm, Leg};
use crate::orders::Orders;
use crate::schedule::Now;
use crate::stream::Stream;
use crate::world::{Card, Fleet, InSector, Map, Sector, Ship, Tuning};

/// One squad of a map at a time: each as often as the balance says on average.
pub(super) fn roam(world: &mut World) {
    let now = world.resource::<Now>().moment();
    for map in maps_where(world, |roster| roster.roams <= now && !roster.squads.is_empty()) {
        roam_one(world, map, now);
    }
}

/// The longest that no squad of a map roams, when it has one alone: twice the average.
pub(super) fn longest_rest(balance: &Balance) -> Micros {
    Micros::from(balance.squads.roam_s).scaled(2.0)
}

fn roam_one(world: &mut World, map: Entity, now: Moment) {
    let every = Micros::from(world.resource::<Tuning>().balance.squads.roam_s);
    let Some(mut roster) = world.get_mut::<Roster>(map) else { return };
    roster.bound.retain(|(until, ..)| now < *until);
    let begins = roster.roams == Moment::START;
    // From none to twice the average.
    let mean = Micros::new(every.get() / roster.squads.len() as u32);
    roster.roams = now + roster.roaming.up_to(mean.scaled(2.0));
    if begins {
        return;
    }
    let Roster { roaming, squads, .. } = &mut *roster;
    let squad = squads[roaming.below(squads.len())];
    let mut stream: Stream = roaming.clone();
    let way = way_of(world, map, squad, &mut stream);
    let Some(mut roster) = world.get_mut::<Roster>(map) else { return };
    roster.roaming = stream;
    let Some(Way { to, hex, ships, takes }) = way else { return };
    roster.bound.push((now.next_step() + takes, to, ships.len()));
    let mut orders = world.resource_mut::<Orders>();
    orders.minds.extend(ships.into_iter().map(|ship| (ship, Act::Move(hex))));
}

/// Where a squad goes.
struct Way {
    to: Entity,
    hex: Hex,
    ships: Vec<ShipId>,
    /// Until the last one is there.
    takes: Micros,
}

/// A sector beside a squad's own that has room for it, if it is at rest and undisturbed; for one that is apart, where it comes
/// together.
fn way_of(world: &World, map: Entity, squad: Entity, stream: &mut Stream) -> Option<Way> {
    if world.get::<Alert>(squad).is_some() {
        return None;
    }
    let fleet: Vec<Entity> = world.get::<Fleet>(squad)?.iter().collect();
    let is_still = |&ship: &Entity| world.get::<Helm>(ship).is_some_and(|helm| helm.leg() == Leg::Still);
    if !fleet.iter().all(is_still) {
        return None;
    }
    let parts = world.get::<Map>(map)?;
    let at = world.get::<InSector>(*fleet.first()?)?.0;
    let is_away = |ship: &Entity| world.get::<InSector>(*ship).is_some_and(|sector| sector.0 != at);
    let stray: Vec<Entity> = fleet.iter().copied().filter(is_away).collect();
    let here = world.get::<Sector>(at)?.hex;
    let (hex, to, goes) = if stray.is_empty() {
        let beside = here.neighbours().filter(|&hex| hex != Hex::CENTRE);
        let open = beside.filter_map(|hex| Some((hex, parts.sector(hex)?)));
        let free: Vec<(Hex, Entity)> = open.filter(|&(_, to)| room(world, parts, to) >= fleet.len()).collect();
        let &(hex, to) = free.get(stream.below(free.len().max(1)))?;
        (hex, to, fleet)
    } else {
        // A storm has parted them: they come together first.
        (room(world, parts, at) >= stray.len()).then_some((here, at, stray))?
    };
    let way = |ship: Entity| {
        let from = world.get::<Sector>(world.get::<InSector>(ship)?.0)?.hex;
        // No squad goes by way of where pilots come into the world.
        let path = parts.layout.path(from, hex).filter(|path| !path.contains(&Hex::CENTRE))?;
        let navigation = world.get::<Card>(ship)?.0.navigation;
        // The order is obeyed a step later, and the last hop ends with a step.
        Some((navigation.window.get() + navigation.hop.get()).saturating_mul(path.len() as u32).saturating_add(200_000))
    };
    let takes: Option<Vec<u32>> = goes.iter().map(|&ship| way(ship)).collect();
    let takes = Micros::new(takes?.into_iter().max()?);
    let ships = goes.iter().filter_map(|&ship| world.get::<Ship>(ship)).map(|ship| ship.id).collect();
    Some(Way { to, hex, ships, takes })
}
