//! Ships: what each has, how they come into the world, and how a change of fit reaches their card.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use keel_balance::{Balance, Faction};
use keel_rules::fire::Owner;
use keel_rules::{ClassId, Fit, FitError, Moment, Pools, Sheet};

use super::{Appeared, Docked, InFleet, InSector, Pilot, Tuning};
use crate::ids::{PilotId, ShipId};
use crate::minds::{Mends, Mind};
use crate::movement::Helm;
use crate::shot::{Gun, Wear};
use crate::stream::{Purpose, Stream};

/// A ship. Every ship has every component that [`spawn_ship`] gives it, whoever flies it.
#[derive(Component, Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ship {
    /// Its stable name.
    pub id: ShipId,
    /// Whose it is.
    pub owner: Owner,
    /// The maker of its gear, as a contact shows it.
    pub faction: Faction,
    /// The hull's class.
    pub class: ClassId,
}

impl Ship {
    /// The pilot whose ship it is; `None` for an NPC's and for a structure.
    #[must_use]
    pub const fn pilot(&self) -> Option<PilotId> {
        self.contact().pilot()
    }

    /// What others may know of it wherever it is.
    #[must_use]
    pub const fn contact(&self) -> Contact {
        Contact { id: self.id, owner: self.owner, faction: self.faction, class: self.class }
    }
}

/// A ship as a log names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// The pilot whose ship it is; `None` for an NPC.
    #[must_use]
    pub const fn pilot(&self) -> Option<PilotId> {
        match self.owner {
            Owner::Pilot(id) => Some(PilotId(id)),
            Owner::Npc | Owner::Charter(_) => None,
        }
    }

    /// Its maker, class and number: `Raider Patrol 12`.
    #[must_use]
    pub fn name(&self, balance: &Balance) -> String {
        format!("{:?} {} {}", self.faction, self.class.name(balance), self.id)
    }
}

/// What is fitted to a ship.
#[derive(Component, Clone, Copy, Debug)]
pub struct Fitted(pub Fit);

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
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quiet(pub Moment);

/// The state of a ship's powers, and of what others' powers do to it (rule 8).
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Powers {
    /// When Brace may be used again.
    pub brace_ready: Moment,
    /// Until when a Brace raises its resists.
    pub braced_until: Moment,
    /// When Jam may be used again.
    pub jam_ready: Moment,
    /// Until when another's Jam silences it.
    pub jammed_until: Moment,
    /// Until when no Clamp catches it.
    pub immune_until: Moment,
    /// When its mender repairs again.
    pub mender_ready: Moment,
    /// When its cloak may be used again.
    pub cloak_ready: Moment,
    /// Whether it is hidden: nobody sees it or starts a lock on it. Locks that are on it stay.
    pub cloaked: bool,
}

impl Powers {
    /// Whether a Jam silences it.
    #[must_use]
    pub fn is_jammed(&self, now: Moment) -> bool {
        now < self.jammed_until
    }

    /// Whether a Brace raises its resists.
    #[must_use]
    pub fn is_braced(&self, now: Moment) -> bool {
        now < self.braced_until
    }

    /// Drops a cloak that is up; whether one was.
    pub(crate) fn uncloak(&mut self, now: Moment, sheet: &Sheet) -> bool {
        let was = self.cloaked;
        if was {
            self.cloaked = false;
            self.cloak_ready = now + sheet.powers.cloak.map_or_else(Default::default, |cloak| cloak.cooldown);
        }
        was
    }
}

/// The flag of a ship that just arrived: it cannot be locked and its guns stay quiet.
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// Ships by their id: how an op finds its ship.
#[derive(Resource, Debug, Default)]
pub struct ShipIndex {
    pub(crate) by_id: BTreeMap<ShipId, Entity>,
    pub(crate) last: u32,
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

    pub(crate) fn remove(&mut self, id: ShipId) {
        self.by_id.remove(&id);
    }
}

/// The sheets in use: ships of one fit share one, which keeps a big fight's sheets in the cache.
#[derive(Resource, Debug, Default)]
pub(super) struct Sheets {
    by_fit: BTreeMap<Fit, Arc<Sheet>>,
    /// How many there may be before those that nobody uses are looked for.
    room: usize,
}

impl Sheets {
    fn of(&mut self, balance: &Balance, fit: &Fit) -> Result<Arc<Sheet>, FitError> {
        if let Some(sheet) = self.by_fit.get(fit) {
            return Ok(Arc::clone(sheet));
        }
        let sheet = Arc::new(Sheet::new(balance, fit)?);
        if self.by_fit.len() >= self.room {
            self.by_fit.retain(|_, sheet| Arc::strong_count(sheet) > 1);
            self.room = (self.by_fit.len() * 2).max(64);
        }
        self.by_fit.insert(*fit, Arc::clone(&sheet));
        Ok(sheet)
    }
}

/// Where a ship is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// In space, in that sector.
    Space(Entity),
    /// Docked at that sector's Haven or berth.
    Dock(Entity),
}

/// A ship to be.
#[derive(Clone, Copy, Debug)]
pub struct ShipSpec {
    /// Whose.
    pub owner: Owner,
    /// The pilot or the squad.
    pub fleet: Entity,
    /// The maker of its gear, when nothing is fitted to say so.
    pub faction: Faction,
    /// What is fitted to it.
    pub fit: Fit,
    /// Where.
    pub spot: Spot,
    /// The flag it arrives under.
    pub arrival: Arrival,
}

/// What every ship has, whoever flies it, wherever it is.
#[derive(Bundle)]
pub(crate) struct Body {
    pub(crate) ship: Ship,
    pub(crate) fitted: Fitted,
    pub(crate) condition: Condition,
    pub(crate) battery: Battery,
    pub(crate) card: Card,
    pub(crate) gun: Gun,
    pub(crate) wear: Wear,
    pub(crate) powers: Powers,
    pub(crate) quiet: Quiet,
    pub(crate) helm: Helm,
    pub(crate) arrival: Arrival,
    pub(crate) mind: Mind,
    pub(crate) fleet: InFleet,
    pub(crate) rolls: Rolls,
}

/// Has the sheets in use be those: the balance is another.
pub(crate) fn keep_sheets(world: &mut World, by_fit: BTreeMap<Fit, Arc<Sheet>>) {
    let room = (by_fit.len() * 2).max(64);
    *world.resource_mut::<Sheets>() = Sheets { by_fit, room };
}

/// The sheet of a fit by the world's balance.
pub(crate) fn sheet_of(world: &mut World, fit: &Fit) -> Result<Arc<Sheet>, FitError> {
    let balance = Arc::clone(&world.resource::<Tuning>().balance);
    world.resource_mut::<Sheets>().of(&balance, fit)
}

/// Puts a ship into the world with full pools, awake. A pilot's first ship is the active one.
///
/// # Errors
/// When its fit makes no ship.
pub fn spawn_ship(world: &mut World, spec: ShipSpec) -> Result<(ShipId, Entity), FitError> {
    let Tuning { balance, seed, .. } = world.resource::<Tuning>().clone();
    let sheet = sheet_of(world, &spec.fit)?;
    let mut index = world.resource_mut::<ShipIndex>();
    index.last += 1;
    let id = ShipId(index.last);
    let faction = made_by(&spec.fit).unwrap_or(spec.faction);
    let ship = Ship { id, owner: spec.owner, faction, class: spec.fit.class };
    let mends = sheet.powers.mender.is_some();
    let body = Body {
        ship,
        fitted: Fitted(spec.fit),
        condition: Condition(sheet.full),
        battery: Battery(sheet.battery),
        card: Card(sheet),
        gun: Gun::default(),
        wear: Wear::default(),
        powers: Powers::default(),
        quiet: Quiet(Moment::START),
        helm: Helm::default(),
        arrival: spec.arrival,
        mind: Mind::new(&balance, ship.pilot().is_some()),
        fleet: InFleet(spec.fleet),
        rolls: Rolls(Stream::new(seed, Purpose::Rolls, id.0)),
    };
    let mut entity = world.spawn((body, Awake));
    let in_space = match spec.spot {
        Spot::Space(sector) => {
            entity.insert(InSector(sector));
            Some(sector)
        }
        Spot::Dock(sector) => {
            entity.insert(Docked(sector));
            None
        }
    };
    if mends {
        entity.insert(Mends::default());
    }
    let entity = entity.id();
    world.write_message_batch(in_space.map(|sector| Appeared { ship: entity, sector }));
    world.resource_mut::<ShipIndex>().by_id.insert(id, entity);
    if let Some(mut pilot) = world.get_mut::<Pilot>(spec.fleet) {
        pilot.active.get_or_insert(id);
    }
    Ok((id, entity))
}

/// Takes a ship out of the world, without a wreck and without a word.
pub(crate) fn remove_ship(world: &mut World, entity: Entity) {
    if let Some(id) = world.get::<Ship>(entity).map(|ship| ship.id) {
        world.resource_mut::<ShipIndex>().remove(id);
        world.despawn(entity);
    }
}

/// The maker by whose gear others know a ship: its first gun's, or else its armor's or shield's.
fn made_by(fit: &Fit) -> Option<Faction> {
    let gun = fit.guns.iter().flatten().next();
    gun.or(fit.armor.as_ref()).or(fit.shield.as_ref()).map(|module| module.faction)
}

/// Fits a ship anew. Its pools and battery stay as they are: wear moves no maximum, and a dock fills them anew.
///
/// # Errors
/// When the fit makes no ship; nothing has changed then.
pub(crate) fn set_fit(world: &mut World, entity: Entity, fit: Fit) -> Result<(), FitError> {
    let sheet = sheet_of(world, &fit)?;
    let Ok(mut ship) = world.get_entity_mut(entity) else { return Ok(()) };
    if let Some(mut ship) = ship.get_mut::<Ship>() {
        ship.faction = made_by(&fit).unwrap_or(ship.faction);
    }
    ship.insert(Fitted(fit));
    take_card(&mut ship, sheet);
    Ok(())
}

fn take_card(ship: &mut EntityWorldMut<'_>, sheet: Arc<Sheet>) {
    let mends = sheet.powers.mender.is_some();
    ship.insert(Card(sheet));
    if mends && !ship.contains::<Mends>() {
        ship.insert(Mends::default());
    } else if !mends {
        ship.remove::<Mends>();
    }
}

/// Gives a ship another card for what is fitted to it. Its pools and battery hold the share that they did.
pub(crate) fn set_card(world: &mut World, entity: Entity, sheet: Arc<Sheet>) {
    let Ok(mut ship) = world.get_entity_mut(entity) else { return };
    let Some(Card(old)) = ship.get::<Card>().filter(|card| !Arc::ptr_eq(&card.0, &sheet)).cloned() else { return };
    if let Some(mut condition) = ship.get_mut::<Condition>() {
        let Pools { shield, hull } = condition.0;
        let pools = Pools {
            shield: in_proportion(shield, old.full.shield, sheet.full.shield),
            hull: in_proportion(hull, old.full.hull, sheet.full.hull),
        };
        condition.set_if_neq(Condition(pools));
    }
    if let Some(mut battery) = ship.get_mut::<Battery>() {
        let held = in_proportion(battery.0, old.battery, sheet.battery);
        battery.set_if_neq(Battery(held));
    }
    take_card(&mut ship, sheet);
    // What was full may fill further now, or faster.
    ship.insert(Awake);
}

/// What is held of `new` when it was so much of `old`. What was full is full, and what was not empty is not.
pub(crate) fn in_proportion(held: f32, old: f32, new: f32) -> f32 {
    if old == new {
        held
    } else if held >= old {
        new
    } else if held > 0.0 {
        (new * (held / old)).clamp(f32::MIN_POSITIVE, new)
    } else {
        held
    }
}

/// Changes what is fitted to a ship without a change of what takes grid and slots: wear, and repairs.
pub(crate) fn refit(world: &mut World, entity: Entity, change: impl FnOnce(&mut Fit)) {
    let Some(&Fitted(mut fit)) = world.get::<Fitted>(entity) else { return };
    let before = fit;
    change(&mut fit);
    if fit != before {
        // Only the modules' numbers changed: the ship that was one still is.
        let _ = set_fit(world, entity, fit);
    }
}
