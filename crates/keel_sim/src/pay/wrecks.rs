//! Wrecks: what is left of ships, for whoever takes it first.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use keel_balance::Balance;
use keel_rules::fire::Owner;
use keel_rules::pay::{rift_multiple, wreck_material, wreck_odds};
use keel_rules::{Blueprint, Fit, Module, Moment, Site};

use super::Destroyed;
use crate::ids::WreckId;
use crate::incursions::Invader;
use crate::schedule::Now;
use crate::stream::Stream;
use crate::structures::StructureKind;
use crate::world::{Contact, Map, Sector, Tuning};

/// A wreck.
#[derive(Component, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wreck {
    /// Its stable name.
    pub id: WreckId,
    /// What it was.
    pub of: Contact,
    /// What is in it.
    pub load: Load,
}

/// What is in a wreck.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Load {
    /// Modules, as worn as they were.
    pub modules: Vec<Module>,
    /// Pieces of material.
    pub material: u32,
    /// Remnants.
    pub remnants: u32,
    /// A copy of one of the ship's modules.
    pub copy: Option<Blueprint>,
}

impl Load {
    /// Whether nothing is left.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.modules.is_empty() && self.material == 0 && self.remnants == 0 && self.copy.is_none()
    }
}

/// The sector that a wreck is in.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = Wrecks)]
pub struct LiesIn(pub Entity);

/// The wrecks in a sector.
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = LiesIn)]
pub struct Wrecks(Vec<Entity>);

impl Wrecks {
    /// The wrecks, in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.0.iter().copied()
    }
}

/// Wrecks by their id.
#[derive(Resource, Debug, Default)]
pub struct WreckIndex {
    /// With the moment at which each is gone; they last equally long, so that the first is the next to go.
    pub(crate) by_id: BTreeMap<WreckId, (Entity, Moment)>,
    pub(crate) last: u32,
}

impl WreckIndex {
    /// The wreck of that id, if it is there.
    #[must_use]
    pub fn get(&self, id: WreckId) -> Option<Entity> {
        self.by_id.get(&id).map(|&(wreck, _)| wreck)
    }

    /// All wrecks in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (WreckId, Entity)> {
        self.by_id.iter().map(|(&id, &(wreck, _))| (id, wreck))
    }

    /// All that it is, for a hash.
    pub(crate) fn words(&self) -> impl Iterator<Item = (WreckId, Moment)> {
        self.by_id.iter().map(|(&id, &(_, gone))| (id, gone))
    }

    /// None lasts beyond a moment; those that would have.
    pub(crate) fn last_at_most(&mut self, latest: Moment) -> Vec<Entity> {
        let long = self.by_id.values_mut().filter(|(_, gone)| *gone > latest);
        long.map(|(wreck, gone)| (*gone = latest, *wreck).1).collect()
    }

    pub(crate) fn remove(&mut self, id: WreckId) {
        self.by_id.remove(&id);
    }
}

/// What is left of an NPC: its modules by chance, material, and what else the place's pay says.
fn load_of_npc(balance: &Balance, site: Site, fit: &Fit, stream: &mut Stream) -> Load {
    let multiple = rift_multiple(balance, site, false);
    let odds = wreck_odds(balance, multiple);
    let modules = fit.modules().filter(|_| stream.happens(odds.drop)).map(|(_, module)| *module).collect();
    let remnants = stream.happens(odds.remnant).into();
    let fitted: Vec<&Module> = fit.modules().map(|(_, module)| module).collect();
    let copied = stream.happens(odds.copy) && !fitted.is_empty();
    let copy = copied.then(|| Blueprint::of(fitted[stream.below(fitted.len())]));
    Load { modules, material: wreck_material(balance, fit.class, multiple), remnants, copy }
}

/// What is left of a pilot's ship: its modules by chance, and nothing that was not there before.
fn load_of_pilots(balance: &Balance, fit: &Fit, stream: &mut Stream) -> Load {
    let odds = wreck_odds(balance, 1);
    let modules = fit.modules().filter(|_| stream.happens(odds.drop)).map(|(_, module)| *module).collect();
    Load { modules, ..Load::default() }
}

/// What is left of a structure: less than it took, so that nobody builds one for its wreck.
fn load_of_structure(balance: &Balance, fit: &Fit) -> Load {
    let is_one = |kind: &StructureKind| kind.fit(balance).class == fit.class;
    let took = StructureKind::ALL.into_iter().find(is_one).map_or(0, |kind| kind.rule(balance).material);
    Load { material: (took as f32 * balance.structures.wreck.get()) as u32, ..Load::default() }
}

/// Ships that are lost leave a wreck.
pub(super) fn leave(
    now: Res<Now>,
    tuning: Res<Tuning>,
    sectors: Query<&Sector>,
    maps: Query<&Map>,
    invaders: Query<(), With<Invader>>,
    mut destroyed: MessageReader<Destroyed>,
    mut index: ResMut<WreckIndex>,
    mut commands: Commands,
) {
    let balance = &*tuning.balance;
    for Destroyed { ship, fit, rolls, sector, fleet, .. } in destroyed.read() {
        // An incursion pays when it is cleared; its ships leave nothing.
        if invaders.contains(*fleet) {
            continue;
        }
        let Some(map) = sectors.get(*sector).ok().and_then(|sector| maps.get(sector.map).ok()) else { continue };
        let mut rolls = rolls.clone();
        let load = match ship.owner {
            Owner::Pilot(_) => load_of_pilots(balance, fit, &mut rolls),
            Owner::Npc => load_of_npc(balance, map.site(), fit, &mut rolls),
            Owner::Charter(_) => load_of_structure(balance, fit),
        };
        if load.is_empty() {
            continue;
        }
        index.last += 1;
        let id = WreckId(index.last);
        let wreck = commands.spawn((Wreck { id, of: ship.contact(), load }, LiesIn(*sector))).id();
        index.by_id.insert(id, (wreck, now.moment() + balance.pay.wreck_s.into()));
    }
}

/// Wrecks whose time is over are gone.
pub(super) fn fade(now: Res<Now>, mut index: ResMut<WreckIndex>, mut commands: Commands) {
    while let Some((&id, &(wreck, gone))) = index.by_id.first_key_value()
        && gone <= now.moment()
    {
        index.remove(id);
        commands.entity(wreck).despawn();
    }
}
