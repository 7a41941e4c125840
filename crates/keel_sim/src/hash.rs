//! A hash of all that a step can change (rule 1.3): two worlds with the same one are the same.

use std::hash::{Hash, Hasher};

use bevy_ecs::prelude::*;
use fnv::FnvHasher;
use keel_map::MapKey;

use crate::bonds::Bonds;
use crate::clamps::Clamping;
use crate::harvest::Harvest;
use crate::ids::ShipId;
use crate::incursions::{Incursions, Invader};
use crate::minds::{Alert, Mends, Mind};
use crate::movement::Helm;
use crate::orders::Orders;
use crate::pay::{Charts, FairKills, LiesIn, Wreck, WreckIndex};
use crate::pilots::Shipless;
use crate::schedule::Now;
use crate::shot::{CombatLog, Gun, Locking, Wear};
use crate::squads::{Roster, Squad, SquadCount};
use crate::storms::Storms;
use crate::structures::Structure;
use crate::world::{
    Arrival, Awake, Battery, Cargo, Condition, Docked, Fitted, Fleet, Hold, InFleet, InSector, Map, Maps, Pilot,
    PilotIndex, Powers, Purse, Quiet, Rolls, Sector, Ship, ShipIndex,
};
use crate::wormholes::Wormholes;

/// The hash of the world after its last step. Floats count by their bits.
#[must_use]
pub fn world_hash(world: &World) -> u64 {
    let hash = &mut Words(FnvHasher::default());
    world.resource::<Now>().step().hash(hash);
    for (_, ship) in world.resource::<ShipIndex>().iter() {
        hash_ship(hash, world, ship);
    }
    world.resource::<ShipIndex>().last.hash(hash);
    for (_, pilot) in world.resource::<PilotIndex>().iter() {
        hash_pilot(hash, world, pilot);
    }
    for map in world.resource::<Maps>().iter() {
        hash_map(hash, world, map);
    }
    world.resource::<SquadCount>().hash(hash);
    let wrecks = world.resource::<WreckIndex>();
    for ((_, wreck), (_, gone)) in wrecks.iter().zip(wrecks.words()) {
        (world.get::<Wreck>(wreck), gone).hash(hash);
        place(world, world.get::<LiesIn>(wreck).map(|sector| sector.0)).hash(hash);
    }
    wrecks.last.hash(hash);
    world.resource::<FairKills>().hash(hash);
    world.resource::<Wormholes>().words().hash(hash);
    world.resource::<Storms>().words().hash(hash);
    world.resource::<Incursions>().words().for_each(|word| word.hash(hash));
    world.resource::<Bonds>().hash(hash);
    world.resource::<Orders>().decided().hash(hash);
    world.resource::<Shipless>().iter().for_each(|waits| waits.hash(hash));
    hash.finish()
}

fn place(world: &World, sector: Option<Entity>) -> Option<(MapKey, i32, i32)> {
    let sector = sector.and_then(|sector| world.get::<Sector>(sector))?;
    Some((world.get::<Map>(sector.map)?.key, sector.hex.col, sector.hex.row))
}

fn hash_ship(hash: &mut Words, world: &World, entity: Entity) {
    let Ok(ship) = world.get_entity(entity) else { return };
    let id = |ship: Option<Entity>| ship.and_then(|ship| world.get::<Ship>(ship)).map_or(ShipId(0), |ship| ship.id);
    id(Some(entity)).hash(hash);
    ship.get::<Ship>().map(|ship| (ship.owner, ship.faction)).hash(hash);
    place(world, ship.get::<InSector>().map(|sector| sector.0)).hash(hash);
    place(world, ship.get::<Docked>().map(|sector| sector.0)).hash(hash);
    ship.contains::<Awake>().hash(hash);
    if let (Some(condition), Some(battery)) = (ship.get::<Condition>(), ship.get::<Battery>()) {
        [condition.0.shield, condition.0.hull, battery.0].map(f32::to_bits).hash(hash);
    }
    id(ship.get::<Locking>().map(|locking| locking.0)).hash(hash);
    id(ship.get::<Clamping>().map(|clamping| clamping.0)).hash(hash);
    ship.get::<Fitted>().map(|fitted| fitted.0).hash(hash);
    ship.get::<Gun>().hash(hash);
    ship.get::<Wear>().hash(hash);
    ship.get::<Helm>().hash(hash);
    ship.get::<Powers>().hash(hash);
    ship.get::<Quiet>().hash(hash);
    ship.get::<Arrival>().hash(hash);
    ship.get::<Mind>().hash(hash);
    ship.get::<Mends>().hash(hash);
    ship.get::<Harvest>().hash(hash);
    ship.get::<Rolls>().map(Rolls::fingerprint).hash(hash);
    let fleet = ship.get::<InFleet>().map(|fleet| fleet.0);
    fleet.and_then(|fleet| world.get::<Alert>(fleet)).hash(hash);
    let squad = fleet.and_then(|fleet| world.get::<Squad>(fleet));
    squad.map(|squad| (squad.id, squad.stream.fingerprint())).hash(hash);
    fleet.and_then(|fleet| world.get::<Invader>(fleet)).hash(hash);
}

fn hash_pilot(hash: &mut Words, world: &World, entity: Entity) {
    world.get::<Pilot>(entity).hash(hash);
    world.get::<Hold>(entity).hash(hash);
    (world.get::<Cargo>(entity), world.get::<Purse>(entity), world.get::<Charts>(entity)).hash(hash);
    world.get::<Fleet>(entity).map_or(0, |fleet| fleet.iter().len()).hash(hash);
    for shot in world.get::<CombatLog>(entity).into_iter().flat_map(CombatLog::iter) {
        (shot.step, shot.shooter.id, shot.target.id, shot.outcome as u8).hash(hash);
        [shot.raw, shot.dealt.shield, shot.dealt.hull].map(f32::to_bits).hash(hash);
    }
}

fn hash_map(hash: &mut Words, world: &World, entity: Entity) {
    world.get::<Map>(entity).map(|map| map.seed).hash(hash);
    if let Some(roster) = world.get::<Roster>(entity) {
        roster.words().for_each(|word| word.hash(hash));
        roster.squads().for_each(|squad| world.get::<Squad>(squad).map(|squad| squad.id).hash(hash));
        for (until, sector, ships) in roster.bound() {
            (until, place(world, Some(sector)), ships).hash(hash);
        }
    }
    for &sector in world.get::<Map>(entity).map_or(&[][..], Map::sectors) {
        if let Some(structure) = world.get::<Structure>(sector) {
            (place(world, Some(sector)), structure.kind, structure.charter, structure.ship, structure.quiet_until)
                .hash(hash);
        }
    }
}

/// Every number goes in as eight little-endian bytes, so that every platform hashes alike.
struct Words(FnvHasher);

macro_rules! words {
    ($($write:ident: $number:ty),*) => {
        $(
            #[allow(clippy::cast_lossless, reason = "some of the widths that this is for can be lost, others not")]
            fn $write(&mut self, number: $number) {
                self.0.write(&(number as u64).to_le_bytes());
            }
        )*
    };
}

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    words!(
        write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_usize: usize,
        write_i8: i8, write_i16: i16, write_i32: i32, write_i64: i64, write_isize: isize
    );
}
