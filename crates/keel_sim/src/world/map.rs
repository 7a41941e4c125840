//! Maps, their sectors, and where a ship can be.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use keel_balance::{Balance, FireRule};
use keel_map::{Hex, Layout, MapKey, MapKind, Plan, generate};
use keel_rules::Site;

use super::Tuning;
use crate::bonds::Bonds;
use crate::ids::PilotId;
use crate::structures::{Structure, StructureKind};

/// A map: a layer or a Rift.
#[derive(Component, Debug)]
pub struct Map {
    /// Which.
    pub key: MapKey,
    /// Whether pilots may fire on pilots.
    pub fire: FireRule,
    /// Whether a pilot's ship at zero hull is destroyed.
    pub hull_loss: bool,
    /// Whether charters may build there.
    pub structures: bool,
    /// NPCs that a sector holds at most.
    pub sector_cap: u8,
    /// NPCs that a sector in an incursion holds at most.
    pub incursion_cap: u8,
    /// NPCs in a squad, on paper: the sector's cap wins.
    pub squad: u8,
    /// NPC squads at most.
    pub most_squads: u16,
    /// Its sectors' places.
    pub layout: Layout,
    /// What they follow from, together with the sectors that were kept.
    pub seed: u64,
    sectors: Vec<Entity>,
}

impl Map {
    /// The sector at a place.
    #[must_use]
    pub fn sector(&self, hex: Hex) -> Option<Entity> {
        self.layout.index(hex).map(|index| self.sectors[index])
    }

    /// The sector where ships arrive and are towed to.
    #[must_use]
    pub fn centre(&self) -> Entity {
        self.sector(Hex::CENTRE).unwrap_or(self.sectors[0])
    }

    /// Where it is, as far as rules ask.
    #[must_use]
    pub const fn site(&self) -> Site {
        match self.key.kind {
            MapKind::Layer => Site::Layer(self.key.tier),
            MapKind::Rift => Site::Rift(self.key.tier),
        }
    }

    /// The sector at a place, or else the one nearest to it.
    #[must_use]
    pub fn nearest(&self, hex: Hex) -> Entity {
        self.sector(self.layout.nearest(hex)).unwrap_or_else(|| self.centre())
    }

    /// Takes its numbers from a balance.
    pub(crate) fn follow(&mut self, balance: &Balance) {
        let tier = usize::from(self.key.tier - 1);
        let (layer, rift) = (&balance.layers[tier], &balance.rifts[tier]);
        match self.key.kind {
            MapKind::Layer => {
                (self.fire, self.hull_loss, self.structures) = (layer.fire, layer.hull_loss, layer.structures);
                (self.sector_cap, self.incursion_cap) = (layer.sector_cap, layer.incursion_cap);
                (self.squad, self.most_squads) = (layer.squad, balance.map.layer.squads);
            }
            // Open fire and hull loss are the Rift's own, whatever its layer's (rule 11).
            MapKind::Rift => {
                (self.fire, self.hull_loss, self.structures) = (FireRule::Open, true, true);
                (self.sector_cap, self.incursion_cap) = (rift.sector_cap, rift.incursion_cap);
                (self.squad, self.most_squads) = (rift.squad, balance.map.rift.squads);
            }
        }
    }

    /// Takes a new layout, with its sectors in the layout's order.
    pub(crate) fn reshape(&mut self, layout: Layout, seed: u64, sectors: Vec<Entity>) {
        (self.layout, self.seed, self.sectors) = (layout, seed, sectors);
    }

    /// The sectors in the layout's order.
    #[must_use]
    pub fn sectors(&self) -> &[Entity] {
        &self.sectors
    }
}

/// The maps by their key.
#[derive(Resource, Debug, Default)]
pub struct Maps(BTreeMap<MapKey, Entity>);

impl Maps {
    /// A map, if the world has it.
    #[must_use]
    pub fn get(&self, key: MapKey) -> Option<Entity> {
        self.0.get(&key).copied()
    }

    /// All maps, Layer 1 first and Rift 6 last.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.0.values().copied()
    }
}

/// A sector of a map.
#[derive(Component, Clone, Copy, Debug)]
pub struct Sector {
    /// Its place.
    pub hex: Hex,
    /// Its map.
    pub map: Entity,
}

/// A sector with a Haven: anyone docks there, and travels between layers from there.
#[derive(Component, Clone, Copy, Debug)]
pub struct Haven;

/// The sector that a ship is in. A hop is one insert of this; a docked ship has none.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
#[relationship(relationship_target = Occupants)]
pub struct InSector(pub Entity);

/// The ships in a sector.
#[derive(Component, Debug, Default)]
#[relationship_target(relationship = InSector)]
pub struct Occupants(Vec<Entity>);

impl Occupants {
    /// The ships, in the order in which they came.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Entity> {
        self.0.iter().copied()
    }
}

/// The sector at whose Haven or berth a ship is docked. It is not in space: nobody sees it or reaches it.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Docked(pub Entity);

/// A ship has come into a sector, or into sight there.
#[derive(Message, Clone, Copy, Debug)]
pub(crate) struct Appeared {
    pub(crate) ship: Entity,
    pub(crate) sector: Entity,
}

/// What maps look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// As the generator lays them out from the world's seed.
    Generated,
    /// Plain hexagons, so many hops from centre to rim: to try things in.
    Open(u8),
}

pub(super) fn lay_out(world: &mut World, key: MapKey, ground: Ground) {
    let balance = Arc::clone(&world.resource::<Tuning>().balance);
    let seed = world.resource::<Tuning>().seed;
    let layout = match ground {
        Ground::Generated => generate(&Plan::of(&balance, key), seed, &[]),
        Ground::Open(radius) => Layout::open(radius),
    };
    let map = world.spawn_empty().id();
    let sectors =
        layout.hexes().iter().map(|&hex| world.spawn((Sector { hex, map }, Occupants::default())).id()).collect();
    let mut parts = Map {
        key,
        fire: FireRule::Open,
        hull_loss: true,
        structures: true,
        sector_cap: 0,
        incursion_cap: 0,
        squad: 0,
        most_squads: 0,
        layout,
        seed,
        sectors,
    };
    parts.follow(&balance);
    let layer = &balance.layers[usize::from(key.tier - 1)];
    if key.kind == MapKind::Layer && layer.haven {
        world.entity_mut(parts.centre()).insert(Haven);
    }
    world.entity_mut(map).insert(parts);
    world.resource_mut::<Maps>().0.insert(key, map);
}

/// Whether a pilot may dock in a sector (rule 7): at a Haven, or at a berth of their charter's.
pub(crate) fn port(world: &World, sector: Entity, pilot: PilotId) -> bool {
    let is_own = |structure: &Structure| {
        structure.kind == StructureKind::Berth && world.resource::<Bonds>().charter_of(pilot) == Some(structure.charter)
    };
    world.get::<Haven>(sector).is_some() || world.get::<Structure>(sector).is_some_and(is_own)
}
