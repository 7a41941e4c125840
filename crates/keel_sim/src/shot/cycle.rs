//! Guns fire (rules 3 and 4): [`SimSet::Cycle`].

use bevy_app::prelude::*;
use bevy_ecs::entity::EntityHashMap;
use bevy_ecs::prelude::*;
use keel_rules::fire::{Owner, may_fire};
use keel_rules::gun::{next_ready, suppressed_cycle};

use super::lock::{Gun, Locking};
use super::wear::{Part, Wear, Worn};
use crate::bonds::Bonds;
use crate::ids::ShipId;
use crate::schedule::{Now, SimSet};
use crate::world::{Arrival, Awake, Battery, Card, InSector, Map, Powers, Quiet, Sector, Ship, Tuning};

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

/// Auras over sectors, each sector looked through once a step, however many fire there.
#[derive(Default)]
struct Auras {
    sectors: EntityHashMap<(usize, usize)>,
    /// What each stretches a cycle by, and whose it is. A sector's stand together, the strongest first.
    strongest: Vec<(f32, Owner)>,
}

impl Auras {
    fn over(&mut self, sector: Entity, auras: impl Iterator<Item = (f32, Owner)>) -> &[(f32, Owner)] {
        let strongest = &mut self.strongest;
        let &mut (from, to) = self.sectors.entry(sector).or_insert_with(|| {
            let from = strongest.len();
            strongest.extend(auras);
            strongest[from..].sort_unstable_by(|one, two| two.0.total_cmp(&one.0).then(one.1.cmp(&two.1)));
            (from, strongest.len())
        });
        &self.strongest[from..to]
    }

    fn clear(&mut self) {
        self.sectors.clear();
        self.strongest.clear();
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
    auras: Query<(&Ship, &Card, &Powers, &Arrival)>,
    mut fired: MessageWriter<Fired>,
    mut worn: ResMut<Worn>,
    mut shots: Local<Vec<Fired>>,
    mut known: Local<Auras>,
) {
    let now = now.moment();
    // The strongest enemy aura over a ship.
    let mut suppression = |owner: Owner, sector: Entity| {
        let (sector_of, suppressors) = sectors.get(sector).ok()?;
        let rule = maps.get(sector_of.map).ok()?.fire;
        let working = suppressors.iter().filter_map(|aura| {
            let (ship, card, powers, arrival) = auras.get(aura).ok()?;
            // What cannot be locked works on nobody.
            let works = !powers.is_jammed(now) && !powers.cloaked && !arrival.is_up(now);
            Some((card.0.powers.aura.filter(|_| works)?, ship.owner))
        });
        let over = known.over(sector, working).iter();
        let is_enemy = |by: Owner| may_fire(rule, by, owner, bonds.between_owners(by, owner)).is_ok();
        over.copied().find(|&(_, by)| is_enemy(by)).map(|(factor, _)| factor)
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
    known.clear();
}
