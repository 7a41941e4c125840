//! A hash of all that a step can change (rule 1.3): two worlds with the same one are the same.

use std::hash::Hasher;

use bevy_ecs::prelude::*;
use fnv::FnvHasher;
use keel_rules::Moment;

use crate::lock::Gun;
use crate::minds::Alert;
use crate::movement::{Helm, Leg};
use crate::orders::Orders;
use crate::pilots::Shipless;
use crate::record::CombatLog;
use crate::schedule::Now;
use crate::squads::{Roster, Squad};
use crate::world::{
    Arrival, Awake, Battery, Condition, Fleet, InFleet, InSector, PilotIndex, Quiet, Rolls, Sector, Ship, ShipIndex,
};

/// The hash of the world after its last step. Floats count by their bits.
#[must_use]
pub fn world_hash(world: &World) -> u64 {
    let mut hash = Words(FnvHasher::default());
    hash.word(world.resource::<Now>().step());
    for (_, entity) in world.resource::<ShipIndex>().iter() {
        hash_ship(&mut hash, world, entity);
    }
    for (id, &entity) in &world.resource::<PilotIndex>().0 {
        hash.word(id.0.into());
        hash.word(world.get::<Fleet>(entity).map_or(0, |fleet| fleet.iter().len() as u64));
        for shot in world.get::<CombatLog>(entity).into_iter().flat_map(CombatLog::iter) {
            hash.word(shot.step);
            hash.word(shot.shooter.id.0.into());
            hash.word(shot.target.id.0.into());
            hash.word(shot.outcome as u64);
            hash.floats([shot.raw, shot.dealt.shield, shot.dealt.hull]);
        }
    }
    let index = world.resource::<ShipIndex>();
    hash.word(index.last().into());
    for op in &world.resource::<Orders>().minds {
        hash.word(op.ship().0.into());
    }
    if let Some(roster) = world.get_resource::<Roster>() {
        roster.words().for_each(|word| hash.word(word));
    }
    for (due, pilot) in world.resource::<Shipless>().iter() {
        hash.moment(*due);
        hash.word(pilot.0.into());
    }
    hash.0.finish()
}

fn hash_ship(hash: &mut Words, world: &World, entity: Entity) {
    let Ok(ship) = world.get_entity(entity) else { return };
    let (Some(name), Some(sector)) = (ship.get::<Ship>(), ship.get::<InSector>()) else { return };
    hash.word(name.id.0.into());
    hash.word(name.pilot().map_or(0, |pilot| u64::from(pilot.0) + 1));
    hash.word(ship.contains::<Awake>().into());
    if let Some(sector) = world.get::<Sector>(sector.0) {
        hash.hex(sector.hex);
    }
    if let (Some(condition), Some(battery)) = (ship.get::<Condition>(), ship.get::<Battery>()) {
        hash.floats([condition.0.shield, condition.0.hull, battery.0]);
    }
    if let Some(gun) = ship.get::<Gun>() {
        hash.word(gun.target.map_or(0, |target| target.id.0.into()));
        hash.moment(gun.locked_at);
        hash.moment(gun.ready_at);
    }
    if let Some(helm) = ship.get::<Helm>() {
        match helm.leg() {
            Leg::Still => hash.word(0),
            Leg::Window { ends } | Leg::Hop { ends } => hash.moment(ends),
        }
        helm.course().for_each(|hex| hash.hex(hex));
    }
    if let (Some(quiet), Some(arrival)) = (ship.get::<Quiet>(), ship.get::<Arrival>()) {
        hash.moment(quiet.0);
        hash.moment(arrival.ends);
        hash.word(arrival.ends_early.into());
    }
    if let Some(rolls) = ship.get::<Rolls>() {
        hash.word(rolls.fingerprint());
    }
    if let Some(squad) = ship.get::<InFleet>().and_then(|fleet| world.get::<Squad>(fleet.0)) {
        hash.word(squad.id.0.into());
        hash.word(squad.stream.fingerprint());
        let alert = ship.get::<InFleet>().and_then(|fleet| world.get::<Alert>(fleet.0));
        hash.word(alert.map_or(0, |alert| 1 + alert.engages.map_or(0, Moment::get)));
    }
}

/// Words go in by their little-endian bytes, so that every platform hashes alike.
struct Words(FnvHasher);

impl Words {
    fn word(&mut self, word: u64) {
        self.0.write(&word.to_le_bytes());
    }

    fn moment(&mut self, moment: Moment) {
        self.word(moment.get());
    }

    fn hex(&mut self, hex: keel_map::Hex) {
        self.0.write(&hex.col.to_le_bytes());
        self.0.write(&hex.row.to_le_bytes());
    }

    fn floats<const N: usize>(&mut self, floats: [f32; N]) {
        for float in floats {
            self.word(float.to_bits().into());
        }
    }
}
