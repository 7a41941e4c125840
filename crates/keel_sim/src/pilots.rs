//! Pilots come into the world, and get a ship when they have none: [`OpsSet::Joins`] and [`WorldSet::Ships`].

use std::collections::VecDeque;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_log::warn;
use keel_rules::fire::Owner;
use keel_rules::{Fit, Moment};

use crate::ids::PilotId;
use crate::notes::{Note, Noted};
use crate::orders::Orders;
use crate::schedule::{Now, OpsSet, WorldSet};
use crate::world::{Arrival, Map, PilotIndex, ShipSpec, Tuning, spawn_pilot, spawn_ship};

pub(crate) struct PilotsPlugin;

impl Plugin for PilotsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Shipless>()
            .add_systems(FixedUpdate, join_pilots.in_set(OpsSet::Joins))
            .add_systems(FixedUpdate, replace_ships.in_set(WorldSet::Ships));
    }
}

/// Pilots whose last ship was lost, and when each gets the next one; soonest first.
#[derive(Resource, Debug, Default)]
pub(crate) struct Shipless(VecDeque<(Moment, PilotId)>);

impl Shipless {
    /// Waits are all of one length, so the order of losses is the order of their ends.
    pub(crate) fn wait(&mut self, until: Moment, pilot: PilotId) {
        self.0.push_back((until, pilot));
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
        if !world.resource::<PilotIndex>().0.contains_key(&pilot) {
            spawn_pilot(world, pilot, &name);
            give_starter(world, pilot, Arrival::default());
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
        world.write_message(Noted { pilot, note: Note::NewShip });
    }
}

fn give_starter(world: &mut World, pilot: PilotId, arrival: Arrival) {
    let Some(&fleet) = world.resource::<PilotIndex>().0.get(&pilot) else { return };
    let balance = world.resource::<Tuning>().balance.clone();
    let Ok(sector) = world.query::<&Map>().single(world).map(Map::centre) else { return };
    let faction = balance.starter.faction;
    let spec = ShipSpec { owner: Owner::Pilot(pilot.0), fleet, faction, fit: Fit::starter(&balance), sector, arrival };
    if let Err(error) = spawn_ship(world, spec) {
        warn!("the balance's starter ship cannot be made: {error}");
    }
}
