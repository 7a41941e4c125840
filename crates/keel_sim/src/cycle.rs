//! Guns fire (rules 3 and 4): [`SimSet::Cycle`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::gun::next_ready;

use crate::ids::ShipId;
use crate::lock::Gun;
use crate::schedule::{Now, SimSet};
use crate::world::{Awake, Battery, Card, Quiet, Ship};

pub(crate) struct CyclePlugin;

impl Plugin for CyclePlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Fired>().add_systems(FixedUpdate, fire.in_set(SimSet::Cycle));
    }
}

/// A gun has fired. Messages of a step come in the order of their shooters' ids.
#[derive(Message, Clone, Copy, Debug)]
pub struct Fired {
    /// Who.
    pub shooter: Entity,
    /// Their stable name.
    pub shooter_id: ShipId,
    /// At whom.
    pub target: Entity,
}

fn fire(
    now: Res<Now>,
    mut ships: Query<(Entity, &Ship, &Card, &mut Gun, &mut Battery, &mut Quiet), With<Awake>>,
    mut fired: MessageWriter<Fired>,
    mut shots: Local<Vec<Fired>>,
) {
    let now = now.moment();
    for (shooter, ship, card, mut gun, mut battery, mut quiet) in &mut ships {
        let Some(target) = gun.target else { continue };
        // The first shot leaves one step after the lock holds.
        if gun.ready_at > now || !gun.locked_at.is_stale(now) {
            continue;
        }
        let Some(sheet) = card.0.gun else { continue };
        if battery.0 < sheet.cost {
            continue;
        }
        battery.0 -= sheet.cost;
        gun.ready_at = next_ready(gun.ready_at, now, sheet.cycle);
        quiet.0 = now;
        shots.push(Fired { shooter, shooter_id: ship.id, target: target.entity });
    }
    shots.sort_unstable_by_key(|shot| shot.shooter_id);
    fired.write_batch(shots.drain(..));
}
