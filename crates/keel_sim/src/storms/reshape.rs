//! What a storm does where it lands.

use bevy_ecs::prelude::*;
use keel_map::{Hex, Kept, Layout, MapKey, Plan, Shape, generate};
use keel_rules::fire::Owner;

use super::{Storms, tell_all};
use crate::docks::Docking;
use crate::ids::ShipId;
use crate::incursions::Invaded;
use crate::movement::Helm;
use crate::notes::{Note, Noted};
use crate::pay::{LiesIn, Wrecks, forget};
use crate::squads::{Roster, room, top_up};
use crate::structures::Structure;
use crate::world::{Appeared, Docked, Fleet, InFleet, InSector, Map, Maps, Occupants, Pilot, Sector, Ship, Tuning};
use crate::wormholes::Wormholes;

/// A storm lands on a map: it is laid out anew, and what was in sectors that go is in the nearest that is open.
pub(super) fn land(world: &mut World, key: MapKey) {
    let Some(map) = world.resource::<Maps>().get(key) else { return };
    let Some((layout, seed)) = settle(world, map, key) else { return };
    let shape = layout.shape();
    let gone = relay(world, map, layout, seed);
    move_all(world, map, &gone);
    for sector in gone {
        world.despawn(sector);
    }
    stop_courses(world, map);
    forget(world, key);
    if let Some(map) = world.get::<Map>(map).map(|map| (map.key, map.layout.clone())) {
        world.resource_mut::<Wormholes>().move_ends(map.0, |hex| map.1.nearest(hex));
    }
    top_up(world, map);
    if let Some(shape) = shape {
        tell_all(world, Note::StormPassed { map: key, shape });
    }
}

/// Shapes that are drawn before the old one is put up with.
const MOST_DRAWS: usize = 32;

/// A layout of a new seed and another shape, in which sectors with a structure, or in an incursion, are as they were.
fn settle(world: &mut World, map: Entity, key: MapKey) -> Option<(Layout, u64)> {
    let plan = Plan::of(&world.resource::<Tuning>().balance, key);
    let old = world.get::<Map>(map)?;
    let kept: Vec<Kept> = old
        .layout
        .sectors()
        .zip(old.sectors())
        .filter(|(_, sector)| world.get::<Structure>(**sector).is_some() || world.get::<Invaded>(**sector).is_some())
        .map(|((hex, terrain), _)| Kept { hex, terrain })
        .collect();
    let before: Option<Shape> = old.layout.shape();
    let mut storms = world.resource_mut::<Storms>();
    storms.passed += 1;
    let mut draw = || {
        let seed = u64::from(storms.stream.draw()) << 32 | u64::from(storms.stream.draw());
        (generate(&plan, seed, &kept), seed)
    };
    let mut drawn = draw();
    for _ in 1..MOST_DRAWS {
        if drawn.0.shape() != before {
            break;
        }
        drawn = draw();
    }
    Some(drawn)
}

/// Gives a map its new sectors. Those that it keeps stay what they are; those that go are given back.
pub(crate) fn relay(world: &mut World, map: Entity, layout: Layout, seed: u64) -> Vec<Entity> {
    let Some(old) = world.get::<Map>(map) else { return Vec::new() };
    let stay: Vec<Option<Entity>> = layout.hexes().iter().map(|&hex| old.sector(hex)).collect();
    let goes = |hex: &Hex| !layout.contains(*hex);
    let gone = old.layout.hexes().iter().zip(old.sectors()).filter(|(hex, _)| goes(hex)).map(|(_, &sector)| sector);
    let gone: Vec<Entity> = gone.collect();
    let places = layout.hexes().to_vec();
    let sectors = places
        .into_iter()
        .zip(stay)
        .map(|(hex, stays)| stays.unwrap_or_else(|| world.spawn((Sector { hex, map }, Occupants::default())).id()));
    let sectors = sectors.collect();
    if let Some(mut map) = world.get_mut::<Map>(map) {
        map.reshape(layout, seed, sectors);
    }
    gone
}

/// Ships and wrecks of sectors that are gone come to the nearest one; those of an NPC squad together to the nearest that has room.
fn move_all(world: &mut World, map: Entity, gone: &[Entity]) {
    // Those that are docked at what is no port any more.
    let docked: Vec<(Entity, Entity)> = {
        let mut docked = world.query::<(Entity, &Docked)>();
        docked.iter(world).filter(|(_, at)| gone.contains(&at.0)).map(|(ship, at)| (ship, at.0)).collect()
    };
    for (ship, from) in docked {
        if let Some(to) = nearest(world, map, from, 0) {
            world.entity_mut(ship).insert(Docked(to));
        }
    }
    for &from in gone {
        let wrecks: Vec<Entity> = world.get::<Wrecks>(from).into_iter().flat_map(Wrecks::iter).collect();
        for wreck in wrecks {
            if let Some(to) = nearest(world, map, from, 0) {
                world.entity_mut(wreck).insert(LiesIn(to));
            }
        }
        let mut ships: Vec<(Option<Entity>, ShipId, Entity)> = world
            .get::<Occupants>(from)
            .into_iter()
            .flat_map(Occupants::iter)
            .filter_map(|entity| {
                let ship = world.get::<Ship>(entity)?;
                let squad = world.get::<InFleet>(entity)?.0;
                Some((ship.pilot().is_none().then_some(squad), ship.id, entity))
            })
            .collect();
        ships.sort_unstable_by_key(|&(squad, id, _)| (squad.map(|squad| first_of(world, squad)), id));
        for group in ships.chunk_by(|one, two| one.0 == two.0) {
            let npcs = if group[0].0.is_some() { group.len() } else { 0 };
            let Some(to) = nearest(world, map, from, npcs) else { continue };
            for &(_, _, ship) in group {
                if let Some(mut helm) = world.get_mut::<Helm>(ship)
                    && !helm.in_transit()
                {
                    helm.stop();
                }
                world.entity_mut(ship).insert(InSector(to));
                world.write_message(Appeared { ship, sector: to });
                tell_moved(world, ship, to);
            }
        }
    }
}

/// A storm has moved a pilot's ship. Where its pilot is not there and it is at a port now, it docks.
fn tell_moved(world: &mut World, ship: Entity, to: Entity) {
    let (Some(&name), Some(place)) = (world.get::<Ship>(ship), world.get::<Sector>(to)) else { return };
    let note = Note::StormMoved { at: place.hex };
    world.write_message_batch(Noted::ship(&name, note));
    let fleet = world.get::<InFleet>(ship).map(|fleet| fleet.0);
    if fleet.and_then(|fleet| world.get::<Pilot>(fleet)).is_some_and(|pilot| !pilot.online) {
        world.resource_mut::<Docking>().add(ship);
    }
}

/// The lowest id of a fleet: an order that no entity's number has a part in.
fn first_of(world: &World, fleet: Entity) -> Option<ShipId> {
    let ships = world.get::<Fleet>(fleet).into_iter().flat_map(Fleet::iter);
    ships.filter_map(|ship| world.get::<Ship>(ship)).map(|ship| ship.id).min()
}

/// The open sector nearest to one that is gone that has room for so many NPCs more; the nearest of all when none has.
fn nearest(world: &World, map: Entity, from: Entity, npcs: usize) -> Option<Entity> {
    let from = world.get::<Sector>(from)?.hex;
    let parts = world.get::<Map>(map)?;
    let sectors = parts.layout.hexes().iter().zip(parts.sectors());
    // Pilots come into the world at the centre: no squad is put there.
    let may = |hex: &&Hex| npcs == 0 || **hex != Hex::CENTRE;
    let sectors = sectors.filter(|(hex, _)| may(hex));
    let has_room = |sector: Entity| npcs == 0 || room(world, parts, sector) >= npcs;
    let near = sectors.clone().filter(|(_, sector)| has_room(**sector)).min_by_key(|(hex, _)| hex.distance(from));
    near.or_else(|| sectors.min_by_key(|(hex, _)| hex.distance(from))).map(|(_, &sector)| sector)
}

/// Courses that lead through what is no more end where the ship is, and squads wait: where they go may be full by now.
fn stop_courses(world: &mut World, map: Entity) {
    if let Some(mut roster) = world.get_mut::<Roster>(map) {
        roster.stop_all();
    }
    let Some(parts) = world.get::<Map>(map) else { return };
    let lost: Vec<(Entity, Ship)> = parts
        .sectors()
        .iter()
        .filter_map(|&sector| world.get::<Occupants>(sector))
        .flat_map(Occupants::iter)
        .filter(|&ship| {
            let course = world.get::<Helm>(ship).into_iter().flat_map(Helm::course);
            let is_npc = world.get::<Ship>(ship).is_some_and(|ship| ship.owner == Owner::Npc);
            course.into_iter().any(|hex| is_npc || !parts.layout.contains(hex))
        })
        .filter_map(|entity| Some((entity, *world.get::<Ship>(entity)?)))
        .collect();
    for (entity, ship) in lost {
        if let Some(mut helm) = world.get_mut::<Helm>(entity) {
            helm.stop();
        }
        world.write_message_batch(Noted::ship(&ship, Note::CourseLost));
    }
}
