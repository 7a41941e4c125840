//! Orders are applied and answered: [`OpsSet::Orders`]. An op that is refused has changed nothing.
//!
//! An op may touch anything, so they are applied one after the other with the whole world at hand, by a [`Bridge`] whose
//! methods stand in one file for each subject. What minds decided goes through the same methods.

mod fitting;
mod fleet;
mod flight;
mod force;
mod guns;
mod industry;
mod powers;
mod society;

use std::sync::Arc;

use bevy_app::prelude::*;
use bevy_ecs::component::Mutable;
use bevy_ecs::prelude::*;
use keel_balance::Balance;
use keel_rules::{Moment, Sheet};

use crate::ids::{PilotId, ShipId};
use crate::minds::{Act, Alert};
use crate::notes::{Note, Noted};
use crate::orders::{Done, Op, OperatorOps, Order, Orders, Refusal};
use crate::schedule::{Now, OpsSet};
use crate::world::{Awake, Card, Fleet, InFleet, InSector, Map, Pilot, PilotIndex, Sector, Ship, ShipIndex, Tuning};
use crate::wormholes::Place;

pub(crate) struct OpsPlugin;

impl Plugin for OpsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Orders>()
            .init_resource::<OperatorOps>()
            .add_message::<Answered>()
            .add_message::<Operated>()
            .add_message::<Noted>()
            .add_systems(FixedUpdate, apply_orders.in_set(OpsSet::Orders));
    }
}

/// What became of a pilot's op.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct Answered {
    /// Who ordered it.
    pub pilot: PilotId,
    /// The pilot's number for it.
    pub seq: u32,
    /// What it does, or why it does not.
    pub result: Result<Done, Refusal>,
}

/// What became of what an operator wanted.
#[derive(Message, Clone, Copy, Debug, PartialEq)]
pub struct Operated {
    /// The number that it was asked for with.
    pub ticket: u32,
    /// What happens, or why it does not.
    pub result: Result<Done, Refusal>,
}

fn apply_orders(world: &mut World) {
    let mut orders = world.resource_mut::<Orders>();
    if orders.pilots.is_empty() && orders.minds.is_empty() && orders.operators.is_empty() {
        return;
    }
    let (mut pilots, mut minds) = (std::mem::take(&mut orders.pilots), std::mem::take(&mut orders.minds));
    let operators = std::mem::take(&mut orders.operators);
    let (now, balance) = (world.resource::<Now>().moment(), Arc::clone(&world.resource::<Tuning>().balance));
    let mut bridge = Bridge { world, now, balance, obeying: Vec::new() };
    for (ticket, force) in operators {
        let result = bridge.have(None, force);
        bridge.world.write_message(Operated { ticket, result });
    }
    // In the order of pilots, then of arrival: the sort is stable.
    pilots.sort_by_key(|order| order.pilot);
    for Order { pilot, seq, op } in pilots.drain(..) {
        let result = bridge.order(pilot, op);
        bridge.world.write_message(Answered { pilot, seq, result });
    }
    bridge.obeying.sort_unstable();
    minds.sort_by_key(|(ship, _)| *ship);
    for (ship, act) in minds.drain(..) {
        // A mind decided on what it saw a step ago; what has gone since is no fault.
        let _ = bridge.act(ship, act);
    }
    // The buffers are kept: a step in which minds decide takes no memory.
    let mut orders = world.resource_mut::<Orders>();
    (orders.pilots, orders.minds) = (pilots, minds);
}

/// All that an op may look at and change.
struct Bridge<'w> {
    world: &'w mut World,
    now: Moment,
    balance: Arc<Balance>,
    /// Ships that have orders of this step from their pilot about what to lock or where to be; in order once all are in.
    obeying: Vec<Entity>,
}

impl Bridge<'_> {
    fn order(&mut self, pilot: PilotId, op: Op) -> Result<Done, Refusal> {
        let fleet = self.pilot(pilot).ok_or(Refusal::UnknownPilot)?;
        let own = |ship| self.own(fleet, ship);
        let done = match op {
            Op::Move { ship, to } => self.go(own(ship)?, fleet, to),
            Op::Cancel { ship } => self.stop(own(ship)?, fleet),
            Op::Attack { ship, target } => self.attack(own(ship)?, target),
            Op::Focus { ship, target } => self.lock(own(ship)?, target, true),
            Op::Hold { ship } => self.hold(own(ship)?),
            Op::Power(power) => self.power(self.active(fleet)?, power),
            Op::Travel { ship, way } => self.travel(own(ship)?, way),
            Op::Rescue { ship } => self.rescue(own(ship)?),
            Op::Jump { ship, wormhole } => self.jump(own(ship)?, pilot, wormhole),
            Op::Take { ship, wreck } => self.take(own(ship)?, fleet, wreck),
            Op::Dock { ship } => self.dock(own(ship)?, pilot),
            Op::Undock { ship } => self.undock(own(ship)?),
            Op::Activate { ship } => self.activate(own(ship)?, fleet),
            Op::Stance { ship, stance } => self.set_mind(own(ship)?, |mind| mind.stance = stance),
            Op::Protect { ship, protectee } => self.protect(fleet, ship, protectee),
            Op::Triggers { ship, brace_percent, jam } => self.set_triggers(own(ship)?, brace_percent, jam),
            Op::Follow { ship, follows } => self.follow(own(ship)?, fleet, follows),
            Op::Gather => self.gather(fleet),
            Op::Kos { pilot: other, marked } => self.mark(pilot, fleet, other, marked),
            Op::AskDuel(other) => self.ask_duel(pilot, other),
            Op::AcceptDuel(other) => self.accept_duel(pilot, other),
            Op::EndDuel(other) => self.end_duel(pilot, other),
            Op::Found { name } => self.found(pilot, &name),
            Op::Invite(other) => self.invite(pilot, other),
            Op::Join(charter) => self.join(pilot, charter),
            Op::Leave => self.leave(pilot),
            Op::Hostile { charter, hostile } => self.declare(pilot, charter, hostile),
            Op::Build { ship, kind } => self.build(own(ship)?, fleet, pilot, kind),
            Op::Harvest { ship } => self.harvest(own(ship)?),
            Op::Fit { ship, slot, part } => self.fit(own(ship)?, fleet, slot, part),
            Op::Repair { ship, slot } => self.repair(own(ship)?, slot),
            Op::Commission { class, line } => self.commission(pilot, fleet, class, line),
            Op::Scrap { ship } => self.scrap(own(ship)?, fleet),
            Op::Drop(module) => self.drop_module(fleet, module),
            Op::Retreat => self.retreat(fleet),
            Op::Force(force) => self.force(fleet, force),
        }?;
        // What its pilot does concerns a fleet's escorts: they look about.
        Alert::raise(self.world, fleet);
        Ok(done)
    }

    fn act(&mut self, ship: ShipId, act: Act) -> Result<Done, Refusal> {
        let entity = self.world.resource::<ShipIndex>().get(ship).ok_or(Refusal::UnknownShip)?;
        // What its mind decided a step ago does not undo what its pilot orders now.
        if matches!(act, Act::Lock(_) | Act::Move(_)) && self.obeying.binary_search(&entity).is_ok() {
            return Ok(Done::Held);
        }
        match act {
            Act::Lock(target) => self.lock(entity, target, false),
            Act::Move(to) => self.set_course(entity, to),
            Act::Power(power) => self.power(entity, power),
            Act::Mend(target) => self.mend(entity, target),
        }
    }

    fn pilot(&self, id: PilotId) -> Option<Entity> {
        self.world.resource::<PilotIndex>().get(id)
    }

    /// The ship of that id, if it is of the fleet.
    fn own(&self, fleet: Entity, id: ShipId) -> Result<Entity, Refusal> {
        let entity = self.world.resource::<ShipIndex>().get(id).ok_or(Refusal::UnknownShip)?;
        let of_fleet = self.world.get::<InFleet>(entity).is_some_and(|of| of.0 == fleet);
        if of_fleet { Ok(entity) } else { Err(Refusal::NotYours) }
    }

    /// The ship that the pilot flies.
    fn active(&self, fleet: Entity) -> Result<Entity, Refusal> {
        let active = self.world.get::<Pilot>(fleet).and_then(|pilot| pilot.active);
        active.and_then(|id| self.world.resource::<ShipIndex>().get(id)).ok_or(Refusal::NoShip)
    }

    /// A component of a ship: every ship has those that are asked for here.
    fn get<C: Component>(&self, ship: Entity) -> Result<&C, Refusal> {
        self.world.get::<C>(ship).ok_or(Refusal::UnknownShip)
    }

    fn get_mut<C: Component<Mutability = Mutable>>(&mut self, ship: Entity) -> Result<Mut<'_, C>, Refusal> {
        self.world.get_mut::<C>(ship).ok_or(Refusal::UnknownShip)
    }

    fn ship(&self, ship: Entity) -> Result<Ship, Refusal> {
        self.get::<Ship>(ship).copied()
    }

    fn sheet(&self, ship: Entity) -> Result<Arc<Sheet>, Refusal> {
        Ok(Arc::clone(&self.get::<Card>(ship)?.0))
    }

    /// The sector that a ship is in, in space.
    fn sector(&self, ship: Entity) -> Result<Entity, Refusal> {
        self.world.get::<InSector>(ship).map(|sector| sector.0).ok_or(Refusal::Docked)
    }

    /// The map that a sector is of.
    fn map(&self, sector: Entity) -> Result<(Sector, &Map), Refusal> {
        let sector = *self.world.get::<Sector>(sector).ok_or(Refusal::UnknownSector)?;
        Ok((sector, self.world.get::<Map>(sector.map).ok_or(Refusal::UnknownSector)?))
    }

    /// Where a sector is.
    fn place(&self, sector: Entity) -> Result<Place, Refusal> {
        let (here, map) = self.map(sector)?;
        Ok(Place { map: map.key, hex: here.hex })
    }

    fn ships_of(&self, fleet: Entity) -> Vec<Entity> {
        self.world.get::<Fleet>(fleet).into_iter().flat_map(Fleet::iter).collect()
    }

    fn wake(&mut self, ship: Entity) {
        if let Ok(mut ship) = self.world.get_entity_mut(ship)
            && !ship.contains::<Awake>()
        {
            ship.insert(Awake);
        }
    }

    fn note(&mut self, ship: Entity, note: Note) {
        let noted = self.world.get::<Ship>(ship).and_then(|ship| Noted::ship(ship, note));
        self.world.write_message_batch(noted);
    }

    fn note_pilot(&mut self, pilot: PilotId, note: Note) {
        self.world.write_message(Noted::pilot(pilot, note));
    }
}
