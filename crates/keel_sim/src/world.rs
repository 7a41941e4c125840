//! What is in the world: the map and its sectors, ships and pilots. No systems but the one that lays it out.

use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_balance::{Balance, Faction, FireRule};
use keel_map::{Hex, Layout};
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, FitError, Moment, Pools, Sheet};

use crate::ids::{PilotId, ShipId};
use crate::lock::Gun;
use crate::movement::Helm;
use crate::record::CombatLog;
use crate::stream::{Purpose, Stream};

pub(crate) struct WorldPlugin {
    pub(crate) balance: Arc<Balance>,
    pub(crate) layer: u8,
    pub(crate) seed: u64,
}

impl Plugin for WorldPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Tuning { balance: Arc::clone(&self.balance), seed: self.seed })
            .init_resource::<ShipIndex>()
            .init_resource::<Sheets>()
            .init_resource::<PilotIndex>();
        lay_out(app.world_mut(), self.layer);
    }
}

fn lay_out(world: &mut World, layer: u8) {
    let balance = Arc::clone(&world.resource::<Tuning>().balance);
    let rules = &balance.layers[usize::from(layer - 1)];
    let layout = Layout::open(balance.map.radius);
    let sectors = layout.hexes().iter().map(|&hex| world.spawn((Sector { hex }, Occupants::default())).id()).collect();
    world.spawn(Map { layer, fire: rules.fire, hull_loss: rules.hull_loss, layout, sectors });
}

/// Every number, and what every chance follows from.
#[derive(Resource, Clone)]
pub struct Tuning {
    /// The balance.
    pub balance: Arc<Balance>,
    /// The world's seed.
    pub seed: u64,
}

/// A map: one layer.
#[derive(Component, Debug)]
pub struct Map {
    /// 1 to 6.
    pub layer: u8,
    /// Whether pilots may fire on pilots.
    pub fire: FireRule,
    /// Whether a pilot's ship at zero hull is destroyed.
    pub hull_loss: bool,
    /// Its sectors' places.
    pub layout: Layout,
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

    /// The sectors in the layout's order.
    #[must_use]
    pub fn sectors(&self) -> &[Entity] {
        &self.sectors
    }
}

/// A sector of a map.
#[derive(Component, Clone, Copy, Debug)]
pub struct Sector {
    /// Its place.
    pub hex: Hex,
}

/// The sector that a ship is in. A hop is one insert of this.
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

/// A ship. Every ship has every component of [`spawn_ship`], whoever flies it.
#[derive(Component, Clone, Copy, Debug)]
pub struct Ship {
    /// Its stable name.
    pub id: ShipId,
    /// Whose it is.
    pub owner: Owner,
    /// The maker of its gear, as a contact shows it.
    pub faction: Faction,
    /// What is fitted to it.
    pub fit: Fit,
}

impl Ship {
    /// The pilot whose ship it is; `None` for an NPC.
    #[must_use]
    pub const fn pilot(&self) -> Option<PilotId> {
        match self.owner {
            Owner::Pilot(id) => Some(PilotId(id)),
            Owner::Npc => None,
        }
    }

    /// What others may know of it wherever it is.
    #[must_use]
    pub const fn contact(&self) -> Contact {
        Contact { id: self.id, owner: self.owner, faction: self.faction, class: self.fit.class }
    }
}

/// A ship as a log names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contact {
    /// Its stable name.
    pub id: ShipId,
    /// Whose it is.
    pub owner: Owner,
    /// The maker of its gear.
    pub faction: Faction,
    /// Its class.
    pub class: ClassId,
}

impl Contact {
    /// Its maker, class and number: `Raider Patrol 12`.
    #[must_use]
    pub fn name(&self, balance: &Balance) -> String {
        let class = balance.classes.get(self.class.0.into()).map_or("hull", |(name, _)| name);
        format!("{:?} {class} {}", self.faction, self.id)
    }
}

/// The sheet of a ship's fit. Ships of one fit share it.
#[derive(Component, Clone, Debug)]
pub struct Card(pub Arc<Sheet>);

/// What a ship's pools hold.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Condition(pub Pools);

/// What a ship's battery holds.
#[derive(Component, Clone, Copy, Debug, PartialEq)]
pub struct Battery(pub f32);

/// Since when a ship has been quiet: no shot fired, no hit taken, no power used.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet(pub Moment);

/// The flag of a ship that just arrived: it cannot be locked and its guns stay quiet.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// When the flag ends.
    pub ends: Moment,
    /// Whether a lock or shot that its pilot orders ends it at once.
    pub ends_early: bool,
}

impl Arrival {
    /// Whether the flag stands.
    #[must_use]
    pub fn is_up(&self, now: Moment) -> bool {
        now < self.ends
    }
}

/// A ship's own chances.
#[derive(Component, Clone, Debug)]
pub struct Rolls(pub(crate) Stream);

impl Rolls {
    /// A number that changes with every draw, and with nothing else.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.0.fingerprint()
    }
}

/// A ship that is not at rest. The phases visit no other, so whatever takes a ship out of rest inserts this: an order, a
/// lock or a hit. The expiry phase takes it off again.
#[derive(Component, Clone, Copy, Debug, Default)]
pub struct Awake;

/// A pilot, present or not.
#[derive(Component, Debug)]
pub struct Pilot {
    /// Their stable name.
    pub id: PilotId,
    /// What others call them.
    pub name: String,
}

/// Ships by their id: how an op finds its ship.
#[derive(Resource, Debug, Default)]
pub struct ShipIndex {
    by_id: BTreeMap<ShipId, Entity>,
    last: u32,
}

impl ShipIndex {
    /// The ship of that id, if it is in the world.
    #[must_use]
    pub fn get(&self, id: ShipId) -> Option<Entity> {
        self.by_id.get(&id).copied()
    }

    /// All ships in the order of their ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (ShipId, Entity)> {
        self.by_id.iter().map(|(&id, &entity)| (id, entity))
    }

    pub(crate) const fn last(&self) -> u32 {
        self.last
    }

    pub(crate) fn remove(&mut self, id: ShipId) {
        self.by_id.remove(&id);
    }
}

/// Pilots by their id.
#[derive(Resource, Debug, Default)]
pub struct PilotIndex(pub(crate) BTreeMap<PilotId, Entity>);

impl PilotIndex {
    /// The pilot of that id, if they are in the world.
    #[must_use]
    pub fn get(&self, id: PilotId) -> Option<Entity> {
        self.0.get(&id).copied()
    }
}

/// The sheets in use: ships of one fit share one, which keeps a big fight's sheets in the cache.
#[derive(Resource, Debug, Default)]
struct Sheets(Vec<(Fit, Arc<Sheet>)>);

impl Sheets {
    fn of(&mut self, balance: &Balance, fit: &Fit) -> Result<Arc<Sheet>, FitError> {
        if let Some((_, sheet)) = self.0.iter().find(|(known, _)| known == fit) {
            return Ok(Arc::clone(sheet));
        }
        let sheet = Arc::new(Sheet::new(balance, fit)?);
        self.0.retain(|(_, sheet)| Arc::strong_count(sheet) > 1);
        self.0.push((*fit, Arc::clone(&sheet)));
        Ok(sheet)
    }
}

/// A ship to be.
#[derive(Clone, Copy, Debug)]
pub struct ShipSpec {
    /// Whose.
    pub owner: Owner,
    /// The pilot or the squad.
    pub fleet: Entity,
    /// The maker of its gear.
    pub faction: Faction,
    /// What is fitted to it.
    pub fit: Fit,
    /// Where.
    pub sector: Entity,
    /// The flag it arrives under.
    pub arrival: Arrival,
}

/// Puts a ship into the world with full pools, awake.
///
/// # Errors
/// When its fit makes no ship.
pub fn spawn_ship(world: &mut World, spec: ShipSpec) -> Result<(ShipId, Entity), FitError> {
    let Tuning { balance, seed } = world.resource::<Tuning>().clone();
    let sheet = world.resource_mut::<Sheets>().of(&balance, &spec.fit)?;
    let mut index = world.resource_mut::<ShipIndex>();
    index.last += 1;
    let id = ShipId(index.last);
    let ship = Ship { id, owner: spec.owner, faction: spec.faction, fit: spec.fit };
    let entity = world
        .spawn((
            ship,
            Condition(sheet.full),
            Battery(sheet.battery),
            Card(sheet),
            InSector(spec.sector),
            InFleet(spec.fleet),
            Gun::default(),
            Helm::default(),
            Quiet(Moment::START),
            spec.arrival,
            Rolls(Stream::new(seed, Purpose::Rolls, id.0)),
            Awake,
        ))
        .id();
    world.resource_mut::<ShipIndex>().by_id.insert(id, entity);
    Ok((id, entity))
}

/// Puts a pilot into the world, with an empty log and no ship.
pub fn spawn_pilot(world: &mut World, id: PilotId, name: &str) -> Entity {
    let shots = usize::from(world.resource::<Tuning>().balance.combat_log);
    let pilot = Pilot { id, name: name.to_owned() };
    let entity = world.spawn((pilot, CombatLog::new(shots))).id();
    world.resource_mut::<PilotIndex>().0.insert(id, entity);
    entity
}
