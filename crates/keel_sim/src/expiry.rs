//! What has ended: [`SimSet::Expiry`]. Ships whose hull gave out are destroyed or towed (rule 6), and ships at rest sleep.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;

use crate::lock::{Departures, Gun, break_locks};
use crate::movement::{Helm, Leg};
use crate::notes::{Note, Noted};
use crate::pilots::Shipless;
use crate::pools::Downed;
use crate::schedule::{Now, SimSet};
use crate::world::{
    Arrival, Awake, Battery, Card, Condition, Fleet, InFleet, InSector, Map, Occupants, Ship, ShipIndex, Tuning,
};

pub(crate) struct ExpiryPlugin;

impl Plugin for ExpiryPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<FleetLost>()
            .add_systems(FixedUpdate, (end_downed, break_locks, sleep).chain().in_set(SimSet::Expiry));
    }
}

/// The last ship of a fleet is destroyed.
#[derive(Message, Clone, Copy, Debug)]
pub(crate) struct FleetLost {
    pub(crate) fleet: Entity,
}

fn end_downed(
    now: Res<Now>,
    tuning: Res<Tuning>,
    maps: Query<&Map>,
    mut downed: MessageReader<Downed>,
    mut ships: Query<(&Ship, &InSector, &InFleet, &mut Helm)>,
    guns: Query<(&Ship, &Gun)>,
    sectors: Query<&Occupants>,
    fleets: Query<&Fleet>,
    mut index: ResMut<ShipIndex>,
    mut shipless: ResMut<Shipless>,
    mut departures: ResMut<Departures>,
    mut notes: MessageWriter<Noted>,
    mut lost: MessageWriter<FleetLost>,
    mut gone: Local<Vec<Entity>>,
    mut commands: Commands,
) {
    let Ok(map) = maps.single() else { return };
    for &Downed { ship: entity } in downed.read() {
        let Ok((ship, sector, fleet, mut helm)) = ships.get_mut(entity) else { continue };
        let (ship, fleet) = (*ship, fleet.0);
        departures.add(entity, sector.0);
        if !map.destroys(&ship) {
            helm.stop();
            commands.entity(entity).insert(InSector(map.centre()));
            notes.write_batch(ship.pilot().map(|pilot| Noted { pilot, note: Note::Towed }));
            continue;
        }
        let hunters =
            sectors.get(sector.0).into_iter().flat_map(Occupants::iter).filter_map(|other| guns.get(other).ok());
        for (hunter, _) in hunters.filter(|(_, gun)| gun.target.is_some_and(|target| target.entity == entity)) {
            let note = Note::TargetDestroyed { contact: ship.contact() };
            notes.write_batch(hunter.pilot().map(|pilot| Noted { pilot, note }));
        }
        gone.push(entity);
        index.remove(ship.id);
        commands.entity(entity).despawn();
        let last = fleets.get(fleet).is_ok_and(|fleet| fleet.iter().all(|ship| gone.contains(&ship)));
        if let Some(pilot) = ship.pilot() {
            notes.write(Noted { pilot, note: Note::ShipDestroyed });
            if last {
                shipless.wait(now.moment() + tuning.balance.starter.respawn_s.into(), pilot);
            }
        } else if last {
            lost.write(FleetLost { fleet });
        }
    }
    gone.clear();
}

/// A ship that nothing will happen to by itself is visited by no phase until something wakes it.
fn sleep(
    now: Res<Now>,
    ships: Query<(Entity, &Card, &Gun, &Helm, &Condition, &Battery, &Arrival), With<Awake>>,
    mut commands: Commands,
) {
    let now = now.moment();
    for (entity, card, gun, helm, condition, battery, arrival) in &ships {
        let sheet = &*card.0;
        let at_rest = gun.target.is_none()
            && gun.ready_at <= now
            && helm.leg() == Leg::Still
            && condition.0.hull >= sheet.full.hull
            && condition.0.shield >= sheet.full.shield
            && battery.0 >= sheet.battery
            && !arrival.is_up(now);
        if at_rest {
            commands.entity(entity).remove::<Awake>();
        }
    }
}
