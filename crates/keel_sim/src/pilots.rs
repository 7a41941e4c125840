//! Pilots come into the world and leave it, and get a ship when they have none: [`OpsSet::Joins`] and
//! [`WorldSet::Ships`].

use std::collections::VecDeque;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_log::warn;
use keel_map::MapKey;
use keel_rules::fire::Owner;
use keel_rules::{Fit, Moment};

use crate::docks::try_dock;
use crate::ids::PilotId;
use crate::movement::{Helm, Leg};
use crate::notes::{Note, Noted};
use crate::orders::Orders;
use crate::schedule::{Now, OpsSet, WorldSet};
use crate::world::{
    Arrival, Fleet, InSector, Map, Maps, Pilot, PilotIndex, Ship, ShipSpec, Spot, Tuning, port, spawn_pilot, spawn_ship,
};

pub(crate) struct PilotsPlugin;

impl Plugin for PilotsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Shipless>()
            .add_systems(FixedUpdate, (join_pilots, part_pilots).chain().in_set(OpsSet::Joins))
            .add_systems(FixedUpdate, replace_ships.in_set(WorldSet::Ships));
    }
}

/// Pilots whose last ship was lost, and when each gets the next one; soonest first.
#[derive(Resource, Debug, Default)]
pub(crate) struct Shipless(pub(crate) VecDeque<(Moment, PilotId)>);

impl Shipless {
    /// Waits are all of one length, so the order of losses is the order of their ends.
    pub(crate) fn wait(&mut self, until: Moment, pilot: PilotId) {
        self.0.push_back((until, pilot));
    }

    /// Nobody waits beyond a moment.
    pub(crate) fn wait_at_most(&mut self, latest: Moment) {
        self.0.iter_mut().for_each(|(until, _)| *until = (*until).min(latest));
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Moment, PilotId)> {
        self.0.iter()
    }
}

fn join_pilots(world: &mut World) {
    if world.resource::<Orders>().joins.is_empty() {
        return;
    }
    let mut joins = std::mem::take(&mut world.resource_mut::<Orders>().joins);
    joins.sort_by_key(|(pilot, _)| *pilot);
    for (pilot, name) in joins {
        if let Some(known) = world.resource::<PilotIndex>().get(pilot) {
            if let Some(mut pilot) = world.get_mut::<Pilot>(known) {
                pilot.online = true;
            }
        } else {
            spawn_pilot(world, pilot, &name);
            give_starter(world, pilot, Arrival::default());
        }
    }
}

/// Whoever leaves is berthed where there is a Haven or a berth of theirs (rule 10); elsewhere the ships stay in space.
fn part_pilots(world: &mut World) {
    if world.resource::<Orders>().leaves.is_empty() {
        return;
    }
    let mut leaves = std::mem::take(&mut world.resource_mut::<Orders>().leaves);
    leaves.sort_unstable();
    for pilot in leaves {
        let Some(fleet) = world.resource::<PilotIndex>().get(pilot) else { continue };
        if let Some(mut pilot) = world.get_mut::<Pilot>(fleet) {
            pilot.online = false;
        }
        let mut ships: Vec<Entity> = world.get::<Fleet>(fleet).into_iter().flat_map(Fleet::iter).collect();
        ships.sort_unstable_by_key(|&ship| world.get::<Ship>(ship).map(|ship| ship.id));
        for ship in ships {
            // At a port, a hop that has not begun does not begin any more.
            let is_at_port = world.get::<InSector>(ship).is_some_and(|&InSector(sector)| port(world, sector, pilot));
            if is_at_port
                && let Some(mut helm) = world.get_mut::<Helm>(ship)
                && matches!(helm.leg(), Leg::Window { .. })
            {
                helm.stop();
            }
            try_dock(world, ship);
        }
    }
}

fn replace_ships(world: &mut World) {
    let now = world.resource::<Now>().moment();
    while let Some(&(due, pilot)) = world.resource::<Shipless>().0.front()
        && due <= now
    {
        world.resource_mut::<Shipless>().0.pop_front();
        // The flag of an arrival, from the next step on, so that a loss at the centre is not followed by the next at once.
        let grace = world.resource::<Tuning>().balance.moving.grace_s;
        give_starter(world, pilot, Arrival { ends: now.next_step() + grace.into(), ends_early: true });
        world.write_message(Noted::pilot(pilot, Note::NewShip));
    }
}

/// A starter ship at the centre of the layer where new pilots begin.
fn give_starter(world: &mut World, pilot: PilotId, arrival: Arrival) {
    let Some(fleet) = world.resource::<PilotIndex>().get(pilot) else { return };
    let Tuning { balance, start, .. } = world.resource::<Tuning>().clone();
    let map = world.resource::<Maps>().get(MapKey::layer(start)).and_then(|map| world.get::<Map>(map));
    let Some(centre) = map.map(Map::centre) else { return };
    // Whoever is not there finds it berthed, where there is a Haven.
    let is_absent = world.get::<Pilot>(fleet).is_some_and(|pilot| !pilot.online) && port(world, centre, pilot);
    let spec = ShipSpec {
        owner: Owner::Pilot(pilot.0),
        fleet,
        faction: balance.starter.faction,
        fit: Fit::starter(&balance),
        spot: if is_absent { Spot::Dock(centre) } else { Spot::Space(centre) },
        arrival,
    };
    if let Err(error) = spawn_ship(world, spec) {
        warn!("the balance's starter ship cannot be made: {error}");
    }
}
