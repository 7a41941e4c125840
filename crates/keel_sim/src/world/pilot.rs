//! Pilots and their fleets.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::prelude::*;
use keel_rules::Module;

use super::{Cargo, Purse, Ship, Tuning};
use crate::ids::{ModuleId, PilotId, ShipId};
use crate::notes::{Note, Noted};
use crate::pay::Charts;
use crate::save::pairs;
use crate::shot::CombatLog;

/// Whose fleet a ship is of: a pilot's, or an NPC squad's.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = Fleet)]
pub struct InFleet(pub Entity);

/// The ships of a pilot or of a squad.
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = InFleet)]
pub struct Fleet(Vec<Entity>);

impl Fleet {
    /// The ships, in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.0.iter().copied()
    }
}

/// A pilot, present or not.
#[derive(Component, Clone, Debug, Hash, Serialize, Deserialize)]
pub struct Pilot {
    /// Their stable name.
    pub id: PilotId,
    /// What others call them.
    pub name: String,
    /// Whether they are connected.
    pub online: bool,
    /// The ship that they fly themselves; the others are its escorts. `None` only while they have none.
    pub active: Option<ShipId>,
    /// Pilots on whose ships their Aggressive escorts fire on sight, where that is allowed.
    pub kos: BTreeSet<PilotId>,
}

impl Pilot {
    /// Another ship of the fleet is flown when the one that was is gone: the one of the lowest id.
    pub(crate) fn replace_active(world: &mut World, fleet: Entity, gone: ShipId) {
        if world.get::<Self>(fleet).is_none_or(|pilot| pilot.active != Some(gone)) {
            return;
        }
        let ships = world.get::<Fleet>(fleet).into_iter().flat_map(Fleet::iter);
        let next =
            ships.filter_map(|ship| world.get::<Ship>(ship)).filter(|ship| ship.id != gone).min_by_key(|ship| ship.id);
        let next = next.copied();
        if let Some(mut pilot) = world.get_mut::<Self>(fleet) {
            pilot.active = next.map(|ship| ship.id);
        }
        world.write_message_batch(next.and_then(|ship| Noted::ship(&ship, Note::Active)));
    }
}

/// Modules that a pilot keeps besides those that are fitted.
#[derive(Component, Clone, Debug, Default, Hash, Serialize, Deserialize)]
pub struct Hold {
    #[serde(with = "pairs")]
    modules: BTreeMap<ModuleId, Module>,
    pub(crate) last: u32,
}

impl Hold {
    /// The modules in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ModuleId, &Module)> {
        self.modules.iter().map(|(&id, module)| (id, module))
    }

    /// One of them.
    #[must_use]
    pub fn get(&self, id: ModuleId) -> Option<&Module> {
        self.modules.get(&id)
    }

    pub(crate) fn take(&mut self, id: ModuleId) {
        self.modules.remove(&id);
    }

    /// Keeps a module under a new id.
    pub fn keep(&mut self, module: Module) -> ModuleId {
        self.last += 1;
        let id = ModuleId(self.last);
        self.modules.insert(id, module);
        id
    }
}

/// Pilots by their id.
#[derive(Resource, Debug, Default)]
pub struct PilotIndex(BTreeMap<PilotId, Entity>);

impl PilotIndex {
    /// The pilot of that id, if they are in the world.
    #[must_use]
    pub fn get(&self, id: PilotId) -> Option<Entity> {
        self.0.get(&id).copied()
    }

    /// All pilots in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (PilotId, Entity)> {
        self.0.iter().map(|(&id, &entity)| (id, entity))
    }
}

/// Puts a pilot into the world, with an empty log and no ship.
pub fn spawn_pilot(world: &mut World, id: PilotId, name: &str) -> Entity {
    let shots = usize::from(world.resource::<Tuning>().balance.combat_log);
    let pilot = Pilot { id, name: name.to_owned(), online: true, active: None, kos: BTreeSet::new() };
    let entity = world
        .spawn((pilot, Hold::default(), Cargo::default(), Purse::default(), Charts::default(), CombatLog::new(shots)))
        .id();
    world.resource_mut::<PilotIndex>().0.insert(id, entity);
    entity
}
