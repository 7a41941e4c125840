//! Guns fire (rules 3 and 4): [`SimSet::Cycle`].

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::fire::{Owner, may_fire};
use keel_rules::gun::{next_ready, suppressed_cycle};

use super::lock::{Gun, Locking};
use super::wear::{Part, Wear, Worn};
use crate::bonds::Bonds;
use crate::ids::ShipId;
use crate::schedule::{Now, SimSet};
use crate::world::{Awake, Battery, Card, InSector, Map, Powers, Quiet, Sector, Ship, Tuning};

pub(crate) struct CyclePlugin;

impl Plugin for CyclePlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Fired>()
            .add_observer(suppress)
            .add_observer(stop_suppressing)
            .add_systems(FixedUpdate, fire.in_set(SimSet::Cycle));
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

/// The sector in which a ship's suppression aura works: the one it is in.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = Suppressors)]
pub(crate) struct Suppresses(Entity);

/// The ships in a sector that have a suppression aura.
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = Suppresses)]
pub(crate) struct Suppressors(Vec<Entity>);

impl Suppressors {
    fn iter(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.0.iter().copied()
    }
}

fn suppress(came: On<Insert<InSector>>, ships: Query<(&Card, &InSector)>, mut commands: Commands) {
    if let Ok((card, sector)) = ships.get(came.entity)
        && card.0.powers.aura.is_some()
    {
        commands.entity(came.entity).insert(Suppresses(sector.0));
    }
}

fn stop_suppressing(left: On<Discard<InSector>>, auras: Query<(), With<Suppresses>>, mut commands: Commands) {
    if auras.contains(left.entity) {
        commands.entity(left.entity).try_remove::<Suppresses>();
    }
}

fn fire(
    now: Res<Now>,
    tuning: Res<Tuning>,
    bonds: Res<Bonds>,
    mut ships: Query<
        (Entity, &Ship, &Card, &Locking, &InSector, &mut Gun, &mut Battery, &mut Quiet, &mut Wear),
        With<Awake>,
    >,
    sectors: Query<(&Sector, &Suppressors)>,
    maps: Query<&Map>,
    auras: Query<(&Ship, &Card, &Powers)>,
    mut fired: MessageWriter<Fired>,
    mut worn: ResMut<Worn>,
    mut shots: Local<Vec<Fired>>,
) {
    let now = now.moment();
    let (bonds, auras) = (&*bonds, &auras);
    // What each enemy aura over a ship stretches its cycle by.
    let suppression = |owner: Owner, sector: Entity| {
        let there = sectors.get(sector).ok();
        let there = there.and_then(|(sector, suppressors)| Some((maps.get(sector.map).ok()?, suppressors)));
        there.into_iter().flat_map(move |(map, suppressors)| {
            suppressors.iter().filter_map(move |aura| {
                let (ship, card, powers) = auras.get(aura).ok()?;
                let is_enemy = may_fire(map.fire, ship.owner, owner, bonds.between_owners(ship.owner, owner)).is_ok();
                card.0.powers.aura.filter(|_| is_enemy && !powers.is_jammed(now))
            })
        })
    };
    for (shooter, ship, card, locking, sector, mut gun, mut battery, mut quiet, mut wear) in &mut ships {
        // The first shot leaves one step after the lock holds.
        if gun.ready_at > now || !gun.locked_at.is_stale(now) {
            continue;
        }
        let Some(sheet) = card.0.gun else { continue };
        if battery.0 < sheet.cost {
            continue;
        }
        battery.0 -= sheet.cost;
        let cycle = suppressed_cycle(sheet.cycle, suppression(ship.owner, sector.0));
        gun.ready_at = next_ready(gun.ready_at, now, cycle);
        quiet.0 = now;
        if wear.count(Part::Guns, &tuning.balance.wear) {
            worn.add(ship.id, Part::Guns);
        }
        shots.push(Fired { shooter, shooter_id: ship.id, target: locking.0 });
    }
    shots.sort_unstable_by_key(|shot| shot.shooter_id);
    fired.write_batch(shots.drain(..));
}
