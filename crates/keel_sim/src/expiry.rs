//! What has ended: [`crate::SimSet::Expiry`]. Ships whose hull gave out are destroyed or towed (rule 6), and ships at rest
//! sleep.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;

use crate::minds::Mends;
use crate::movement::{Helm, Leg};
use crate::notes::{Note, Noted};
use crate::pay::Destroyed;
use crate::pilots::Shipless;
use crate::schedule::{ExpirySet, Now};
use crate::shot::{Downed, Gun, LockedBy, Locking};
use crate::world::{
    Appeared, Arrival, Awake, Battery, Card, Condition, Docked, Fitted, Fleet, InFleet, InSector, Map, Pilot, Rolls,
    Sector, Ship, ShipIndex, Tuning,
};

pub(crate) struct ExpiryPlugin;

impl Plugin for ExpiryPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<FleetLost>()
            .add_systems(FixedUpdate, end_downed.in_set(ExpirySet::Hulls))
            .add_systems(FixedUpdate, sleep.in_set(ExpirySet::Sleep));
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
    sectors: Query<&Sector>,
    mut downed: MessageReader<Downed>,
    mut ships: Query<(&Ship, &InSector, &InFleet, &Fitted, &Rolls, &mut Helm, Option<&LockedBy>)>,
    names: Query<&Ship>,
    fleets: Query<&Fleet>,
    mut index: ResMut<ShipIndex>,
    mut shipless: ResMut<Shipless>,
    mut appeared: MessageWriter<Appeared>,
    mut notes: MessageWriter<Noted>,
    mut lost: MessageWriter<FleetLost>,
    mut destroyed: MessageWriter<Destroyed>,
    mut gone: Local<Vec<Entity>>,
    mut commands: Commands,
) {
    for &Downed { ship: entity, by } in downed.read() {
        let Ok((&ship, sector, &InFleet(fleet), fitted, rolls, mut helm, locked_by)) = ships.get_mut(entity) else {
            continue;
        };
        let Some(map) = sectors.get(sector.0).ok().and_then(|sector| maps.get(sector.map).ok()) else { continue };
        if !map.destroys(&ship) {
            helm.stop();
            commands.entity(entity).insert(InSector(map.centre()));
            appeared.write(Appeared { ship: entity, sector: map.centre() });
            notes.write_batch(Noted::ship(&ship, Note::Towed));
            continue;
        }
        let hunters = locked_by.into_iter().flat_map(LockedBy::iter).filter_map(|hunter| names.get(hunter).ok());
        let note = Note::TargetDestroyed { contact: ship.contact() };
        notes.write_batch(hunters.filter_map(|hunter| Noted::ship(hunter, note)));
        gone.push(entity);
        let by = by.and_then(|by| names.get(by).ok()).copied();
        let (fit, rolls, sector) = (fitted.0, rolls.0.clone(), sector.0);
        destroyed.write(Destroyed { ship, fit, rolls, sector, fleet, by });
        index.remove(ship.id);
        commands.entity(entity).despawn();
        notes.write_batch(Noted::ship(&ship, Note::ShipDestroyed));
        let last = fleets.get(fleet).is_ok_and(|fleet| fleet.iter().all(|ship| gone.contains(&ship)));
        if let Some(pilot) = ship.pilot() {
            commands.queue(move |world: &mut World| Pilot::replace_active(world, fleet, ship.id));
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
    ships: Query<
        (Entity, &Card, &Gun, &Helm, &Condition, &Battery, &Arrival, Has<Locking>, Option<&Mends>, Has<Docked>),
        With<Awake>,
    >,
    mut commands: Commands,
) {
    let now = now.moment();
    for (entity, card, gun, helm, condition, battery, arrival, locking, mends, docked) in &ships {
        let sheet = &*card.0;
        let at_rest = !locking
            && gun.ready_at <= now
            && helm.leg() == Leg::Still
            && condition.0.hull >= sheet.full.hull
            && condition.0.shield >= sheet.full.shield
            && battery.0 >= sheet.battery
            && !arrival.is_up(now)
            && (docked || mends.is_none_or(|mends| mends.idle));
        if at_rest {
            commands.entity(entity).remove::<Awake>();
        }
    }
}
