//! Refills (rule 7): [`SimSet::Clocks`]. Shield, hull, then battery.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::clocks::{refill, shield_refills};

use crate::notes::{Note, Noted};
use crate::schedule::{Now, SimSet};
use crate::world::{Awake, Battery, Card, Condition, Powers, Quiet, Ship};

pub(crate) struct ClocksPlugin;

impl Plugin for ClocksPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(FixedUpdate, refill_ships.in_set(SimSet::Clocks));
    }
}

/// A ship's refills touch that ship alone, so one pass over the ships does all three in their order.
fn refill_ships(
    now: Res<Now>,
    mut ships: Query<(&Ship, &Card, &mut Condition, &mut Battery, &Quiet, &Powers), With<Awake>>,
    mut notes: MessageWriter<Noted>,
) {
    let now = now.moment();
    for (ship, card, mut condition, mut battery, quiet, powers) in &mut ships {
        let sheet = &*card.0;
        let mut pools = condition.0;
        if pools.shield < sheet.full.shield && shield_refills(powers.is_jammed(now), battery.0, sheet.battery_empty) {
            pools.shield = refill(pools.shield, sheet.full.shield, sheet.shield_per_step);
        }
        if pools.hull < sheet.full.hull && quiet.0 + sheet.hull_quiet <= now {
            pools.hull = sheet.full.hull;
            notes.write_batch(Noted::ship(ship, Note::HullRefilled));
        }
        condition.set_if_neq(Condition(pools));
        if battery.0 < sheet.battery {
            battery.0 = refill(battery.0, sheet.battery, sheet.battery_per_step);
        }
    }
}
