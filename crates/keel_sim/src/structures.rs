//! What charters build (rule 11). A structure is a ship that nobody flies: it is locked, hit and destroyed by the one path, and
//! its sector says what it is good for.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_balance::{Balance, Structure as StructureRule};
use keel_map::{Hex, MapKey};
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, FitError, Kind, Module, Moment};
use serde::{Deserialize, Serialize};

use crate::bonds::Bonds;
use crate::ids::{CharterId, ShipId};
use crate::notes::{Note, Noted};
use crate::schedule::Now;
use crate::world::{
    Appeared, Arrival, Awake, Contact, Docked, InSector, Map, Sector, Ship, ShipIndex, ShipSpec, Spot, Tuning, port,
    remove_ship, spawn_ship,
};

pub(crate) struct StructuresPlugin;

impl Plugin for StructuresPlugin {
    fn build(&self, app: &mut App) {
        app.add_observer(fall);
    }
}

/// What a structure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StructureKind {
    /// The charter's pilots dock there.
    Berth,
    /// The charter's pilots harvest more there.
    Outpost,
}

impl StructureKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Berth, Self::Outpost];

    /// What a text calls it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Berth => "berth",
            Self::Outpost => "outpost",
        }
    }

    pub(crate) const fn rule(self, balance: &Balance) -> &StructureRule {
        match self {
            Self::Berth => &balance.structures.berth,
            Self::Outpost => &balance.structures.outpost,
        }
    }

    /// What it is made of.
    pub(crate) fn fit(self, balance: &Balance) -> Fit {
        let module = |kind| Some(Module::common(kind, balance.structures.faction));
        let class = ClassId::named(balance, &self.rule(balance).class).unwrap_or_default();
        Fit { armor: module(Kind::Armor), shield: module(Kind::Shield), ..Fit::bare(class) }
    }
}

/// A sector with a structure.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// What it is.
    pub kind: StructureKind,
    /// Whose.
    pub charter: CharterId,
    /// As what it is locked and hit.
    pub ship: ShipId,
    /// The fleet that its ship is of.
    pub(crate) base: Entity,
    /// Until when no further lock on it is told of.
    pub(crate) quiet_until: Moment,
}

/// The sector in which a structure's ship stands.
#[derive(Component, Clone, Copy, Debug)]
pub(crate) struct Stands(pub(crate) Entity);

/// Puts a structure into a sector.
pub(crate) fn build(
    world: &mut World,
    kind: StructureKind,
    charter: CharterId,
    sector: Entity,
) -> Result<(), FitError> {
    let balance = world.resource::<Tuning>().balance.clone();
    let base = world.spawn_empty().id();
    let spec = ShipSpec {
        owner: Owner::Charter(charter.0),
        fleet: base,
        faction: balance.structures.faction,
        fit: kind.fit(&balance),
        spot: Spot::Space(sector),
        arrival: Arrival::default(),
    };
    match spawn_ship(world, spec) {
        Ok((ship, entity)) => {
            world.entity_mut(entity).insert(Stands(sector));
            world.entity_mut(sector).insert(Structure { kind, charter, ship, base, quiet_until: Moment::START });
            world.resource_mut::<Bonds>().has_built(charter);
            Ok(())
        }
        Err(error) => {
            world.despawn(base);
            Err(error)
        }
    }
}

/// Someone locks a structure's ship: its charter is told, and then of no lock on it for a while.
pub(crate) fn alarm(world: &mut World, target: Entity, by: Contact) {
    let now = world.resource::<Now>().moment();
    let quiet = world.resource::<Tuning>().balance.structures.alarm_s.into();
    let Some(&Stands(sector)) = world.get::<Stands>(target) else { return };
    let Some(mut structure) = world.get_mut::<Structure>(sector).filter(|structure| structure.quiet_until <= now)
    else {
        return;
    };
    structure.quiet_until = now + quiet;
    let (kind, charter) = (structure.kind, structure.charter);
    tell_members(world, charter, sector, |map, at| Note::StructureLocked { by, kind, map, at });
}

/// A line for every pilot of a charter, about a sector.
fn tell_members(world: &mut World, charter: CharterId, sector: Entity, note: impl Fn(MapKey, Hex) -> Note) {
    let Some(place) = world.get::<Sector>(sector).copied() else { return };
    let Some(map) = world.get::<Map>(place.map).map(|map| map.key) else { return };
    let members = world.resource::<Bonds>().charter(charter).map(|charter| charter.members.clone());
    let noted = members.into_iter().flatten().map(|member| Noted::pilot(member, note(map, place.hex)));
    world.write_message_batch(noted.collect::<Vec<_>>());
}

/// A structure's ship is no more: neither is what it was good for.
fn fall(fallen: On<Remove<Stands>>, stands: Query<&Stands>, mut commands: Commands) {
    if let Ok(&Stands(sector)) = stands.get(fallen.entity) {
        commands.queue(move |world: &mut World| close(world, sector));
    }
}

fn close(world: &mut World, sector: Entity) {
    let Some(structure) = world.get_entity_mut(sector).ok().and_then(|mut sector| sector.take::<Structure>()) else {
        return;
    };
    world.despawn(structure.base);
    world.resource_mut::<Bonds>().has_built(structure.charter);
    let kind = structure.kind;
    tell_members(world, structure.charter, sector, |map, at| Note::StructureLost { kind, map, at });
    cast_off(world, sector);
}

/// Ships that were docked where there is no dock for them any more are in space.
pub(crate) fn cast_off(world: &mut World, sector: Entity) {
    let mut docked = world.query::<(Entity, &Docked, &Ship)>();
    let space = &*world;
    let stays = |ship: &Ship| ship.pilot().is_some_and(|pilot| port(space, sector, pilot));
    let here = docked.iter(space).filter(|(_, at, ship)| at.0 == sector && !stays(ship));
    let mut ships: Vec<(ShipId, Entity)> = here.map(|(entity, _, ship)| (ship.id, entity)).collect();
    ships.sort_unstable();
    for (_, ship) in ships {
        world.entity_mut(ship).remove::<Docked>().insert((InSector(sector), Awake));
        world.write_message(Appeared { ship, sector });
        let noted = world.get::<Ship>(ship).and_then(|ship| Noted::ship(ship, Note::CastOff));
        world.write_message_batch(noted);
    }
}

/// A charter is no more, and neither are its structures.
pub(crate) fn raze(world: &mut World, charter: CharterId) {
    let mut structures = world.query::<&Structure>();
    let mut theirs: Vec<ShipId> = structures
        .iter(world)
        .filter(|structure| structure.charter == charter)
        .map(|structure| structure.ship)
        .collect();
    theirs.sort_unstable();
    for id in theirs {
        if let Some(entity) = world.resource::<ShipIndex>().get(id) {
            remove_ship(world, entity);
        }
    }
}
