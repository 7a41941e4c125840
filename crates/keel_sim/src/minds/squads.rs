//! NPC squads (rules 4 and 10): [`MindsSet::Squads`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::Micros;

use super::triggers::Zeal;
use super::{Act, Alert, Preys, Sight};
use crate::orders::Orders;
use crate::schedule::{MindsSet, Now};
use crate::squads::Squad;
use crate::world::{Fleet, Tuning};

pub(super) struct SquadMindsPlugin;

impl Plugin for SquadMindsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(FixedUpdate, decide.in_set(MindsSet::Squads));
    }
}

/// NPCs hold whom they fight.
const ZEAL: Zeal = Zeal { jams: false, clamps: true };

fn decide(
    now: Res<Now>,
    tuning: Res<Tuning>,
    mut squads: Query<(Entity, &mut Squad, &mut Alert, &Fleet)>,
    sight: Sight,
    mut preys: Local<Preys>,
    mut orders: ResMut<Orders>,
    mut commands: Commands,
) {
    let now = now.moment();
    for (entity, mut squad, mut alert, fleet) in &mut squads {
        let (mut idle, mut enemies, mut any_pilot) = (false, false, false);
        for ship in fleet.iter().filter_map(|ship| sight.ship(ship)) {
            if ship.locking.is_none() {
                // A squad may be apart: each of its ships looks about where it is.
                let prey = sight.prey(&mut preys, ship.sector.0, now);
                idle = true;
                enemies |= prey.pilot.is_some();
                any_pilot |= prey.any_pilot;
            }
            if let Some(power) = sight.triggered(&ship, now.next_step(), ZEAL) {
                orders.minds.push((ship.ship.id, Act::Power(power)));
            }
        }
        if !idle {
            continue;
        }
        if !enemies {
            alert.engages = None;
            if !any_pilot {
                commands.entity(entity).remove::<Alert>();
            }
            continue;
        }
        let engages = *alert.engages.get_or_insert_with(|| {
            let most = Micros::from(tuning.balance.lock.npc_delay_s);
            now + squad.stream.up_to(most)
        });
        if engages <= now.next_step() {
            for ship in fleet.iter().filter_map(|ship| sight.ship(ship)).filter(|ship| ship.locking.is_none()) {
                let enemy = sight.prey(&mut preys, ship.sector.0, now).pilot;
                orders.minds.extend(enemy.map(|enemy| (ship.ship.id, Act::Lock(enemy))));
            }
        }
    }
    preys.clear();
}
