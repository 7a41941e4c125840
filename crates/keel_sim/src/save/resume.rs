//! What a restart does to a world: nobody is to lose a ship because the server was away.

use bevy_ecs::prelude::*;
use keel_rules::Moment;

use crate::clamps::break_clamps_on;
use crate::orders::Orders;
use crate::schedule::Now;
use crate::shot::{LockedBy, Locking};
use crate::world::{Arrival, Awake, Fleet, InSector, Pilot, PilotIndex, Tuning};

/// Takes a world up again whose server has stopped while pilots played.
///
/// Whoever was connected is not any more. Their ships in space come under an arrival's flag for `resume_s`, which ends
/// early when their pilot acts, and what had them locked or clamped has lost them; at a port they dock as they do when
/// their pilot leaves.
pub fn resume(world: &mut World) {
    let (now, flag) = (world.resource::<Now>().moment(), world.resource::<Tuning>().balance.moving.resume_s);
    let ends: Moment = now.next_step() + flag.into();
    let pilots: Vec<_> = world.resource::<PilotIndex>().iter().collect();
    for (id, pilot) in pilots {
        if !world.get::<Pilot>(pilot).is_some_and(|pilot| pilot.online) {
            continue;
        }
        world.resource_mut::<Orders>().leave(id);
        let ships = world.get::<Fleet>(pilot).into_iter().flat_map(Fleet::iter);
        let in_space: Vec<Entity> = ships.filter(|&ship| world.get::<InSector>(ship).is_some()).collect();
        for ship in in_space {
            let hunters: Vec<Entity> = world.get::<LockedBy>(ship).into_iter().flat_map(LockedBy::iter).collect();
            for hunter in hunters {
                world.entity_mut(hunter).remove::<Locking>();
            }
            break_clamps_on(world, ship);
            let mut ship = world.entity_mut(ship);
            ship.remove::<Locking>();
            ship.insert((Arrival { ends, ends_early: true }, Awake));
        }
    }
}
