//! How much there is of everything.

use bevy_ecs::prelude::*;
use keel_rules::fire::Owner;
use keel_sim::{Incursions, Pilot, Ship, Squad, Wormholes, Wreck};

use super::World;
use crate::metrics::Census;

/// Where everything is that is counted.
pub(super) struct Counted {
    ships: QueryState<&'static Ship>,
    pilots: QueryState<(), With<Pilot>>,
    squads: QueryState<(), With<Squad>>,
    wrecks: QueryState<(), With<Wreck>>,
}

impl Counted {
    pub(super) fn new(world: &mut bevy_ecs::world::World) -> Self {
        Self {
            ships: world.query(),
            pilots: world.query_filtered(),
            squads: world.query_filtered(),
            wrecks: world.query_filtered(),
        }
    }
}

impl World {
    /// Counts what there is in the world.
    pub(crate) fn census(&mut self) -> Census {
        let (world, counted) = (self.app.world(), &mut self.counted);
        let mut census = Census {
            pilots: counted.pilots.iter(world).len(),
            squads: counted.squads.iter(world).len(),
            wrecks: counted.wrecks.iter(world).len(),
            wormholes: world.resource::<Wormholes>().iter().count(),
            incursions: world.resource::<Incursions>().iter().count(),
            ..Census::default()
        };
        for ship in counted.ships.iter(world) {
            *match ship.owner {
                Owner::Npc => &mut census.npc_ships,
                Owner::Pilot { .. } => &mut census.pilot_ships,
                Owner::Charter { .. } => &mut census.structures,
            } += 1;
        }
        census
    }
}
