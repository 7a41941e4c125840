//! NPC squads decide (rules 4 and 10): [`SimSet::Minds`]. What they order acts in the next step's phases, by the same path
//! as a pilot's ops.

use bevy_app::prelude::*;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use keel_rules::{Micros, Moment};

use crate::ids::ShipId;
use crate::lock::{Gun, LockStarted};
use crate::movement::Arrived;
use crate::orders::{Op, Orders};
use crate::schedule::{Now, SimSet};
use crate::squads::Squad;
use crate::world::{Arrival, Fleet, InFleet, InSector, Occupants, Ship, Tuning};

pub(crate) struct MindsPlugin;

impl Plugin for MindsPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(FixedUpdate, (raise_alarms, decide).chain().in_set(SimSet::Minds));
    }
}

/// A squad that has an enemy in its sector. Squads without one are not looked at.
#[derive(Component, Clone, Copy, Debug, Default)]
pub(crate) struct Alert {
    /// When it starts its locks; `None` while there is no one it may lock.
    pub(crate) engages: Option<Moment>,
}

/// A lock on one of its ships, or a ship that comes into its sector, alarms a squad.
fn raise_alarms(
    mut locks: MessageReader<LockStarted>,
    mut arrivals: MessageReader<Arrived>,
    ships: Query<(&Ship, &InFleet)>,
    sectors: Query<&Occupants>,
    squads: Query<(), (With<Squad>, Without<Alert>)>,
    mut commands: Commands,
) {
    let mut alarm = |ship: Entity| {
        if let Ok((_, fleet)) = ships.get(ship)
            && squads.contains(fleet.0)
        {
            commands.entity(fleet.0).insert(Alert::default());
        }
    };
    for lock in locks.read() {
        alarm(lock.target);
    }
    for arrival in arrivals.read() {
        sectors.get(arrival.sector).into_iter().flat_map(Occupants::iter).for_each(&mut alarm);
    }
}

/// What a sector holds for a squad to fight.
#[derive(Clone, Copy, Debug, Default)]
struct Prey {
    /// The pilots' ship of the lowest id that may be locked: squads skip a ship that is arriving.
    enemy: Option<ShipId>,
    /// Whether any ship of a pilot's is there.
    any: bool,
}

fn decide(
    now: Res<Now>,
    tuning: Res<Tuning>,
    mut squads: Query<(Entity, &mut Squad, &mut Alert, &Fleet)>,
    ships: Query<(&Ship, &InSector, &Arrival, &Gun)>,
    sectors: Query<&Occupants>,
    mut prey: Local<EntityHashMap<Prey>>,
    mut orders: ResMut<Orders>,
    mut commands: Commands,
) {
    let now = now.moment();
    for (entity, mut squad, mut alert, fleet) in &mut squads {
        let members = || fleet.iter().filter_map(|ship| ships.get(ship).ok());
        let Some((_, sector, ..)) = members().find(|(.., gun)| gun.target.is_none()) else { continue };
        // A sector is looked through once a step, however many squads fight in it.
        let Prey { enemy, any } = *prey.entry(sector.0).or_insert_with(|| {
            let occupants = sectors.get(sector.0).into_iter().flat_map(Occupants::iter);
            let pilots = occupants.filter_map(|ship| ships.get(ship).ok()).filter(|(ship, ..)| ship.pilot().is_some());
            pilots.fold(Prey::default(), |prey, (ship, _, arrival, _)| {
                let id = (!arrival.is_up(now)).then_some(ship.id);
                Prey { enemy: prey.enemy.into_iter().chain(id).min(), any: true }
            })
        });
        let Some(enemy) = enemy else {
            alert.engages = None;
            if !any {
                commands.entity(entity).remove::<Alert>();
            }
            continue;
        };
        let engages = *alert.engages.get_or_insert_with(|| {
            let most = Micros::from(tuning.balance.lock.npc_delay_s);
            now + squad.stream.up_to(most)
        });
        if engages <= now.next_step() {
            let idle = members().filter(|(.., gun)| gun.target.is_none());
            orders.minds.extend(idle.map(|(ship, ..)| Op::Focus { ship: ship.id, target: enemy }));
        }
    }
    prey.clear();
}
