//! Orders are applied and answered: [`OpsSet::Orders`]. An op that is refused has changed nothing.

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemParam;
use keel_map::Hex;
use keel_rules::fire::{Owner, may_fire};

use crate::ids::{PilotId, ShipId};
use crate::lock::{Gun, LockStarted, Target};
use crate::movement::Helm;
use crate::notes::{Note, Noted};
use crate::orders::{Done, Op, Order, Orders, Refusal};
use crate::schedule::{Now, OpsSet};
use crate::world::{Arrival, Awake, Card, Fleet, InFleet, InSector, Map, PilotIndex, Sector, Ship, ShipIndex};

pub(crate) struct OpsPlugin;

impl Plugin for OpsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Orders>()
            .add_message::<Answered>()
            .add_message::<Noted>()
            .add_systems(FixedUpdate, apply_orders.in_set(OpsSet::Orders));
    }
}

/// What became of a pilot's op.
#[derive(Message, Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// Who ordered it.
    pub pilot: PilotId,
    /// The pilot's number for it.
    pub seq: u32,
    /// What it does, or why it does not.
    pub result: Result<Done, Refusal>,
}

fn apply_orders(mut orders: ResMut<Orders>, mut bridge: Bridge, mut answers: MessageWriter<Answered>) {
    let Orders { pilots, minds, .. } = &mut *orders;
    // In the order of pilots, then of arrival: the sort is stable.
    pilots.sort_by_key(|order| order.pilot);
    for Order { pilot, seq, op } in pilots.drain(..) {
        let result = bridge.apply(Some(pilot), op);
        answers.write(Answered { pilot, seq, result });
    }
    minds.sort_by_key(|op| op.ship());
    for op in minds.drain(..) {
        // A mind decided on what it saw a step ago; what has gone since is no fault.
        let _ = bridge.apply(None, op);
    }
}

impl Op {
    /// The ship that is ordered.
    #[must_use]
    pub const fn ship(self) -> ShipId {
        match self {
            Self::Move { ship, .. }
            | Self::Cancel { ship }
            | Self::Attack { ship, .. }
            | Self::Focus { ship, .. }
            | Self::Hold { ship } => ship,
        }
    }
}

/// All that an op may look at and change.
#[derive(SystemParam)]
struct Bridge<'w, 's> {
    now: Res<'w, Now>,
    index: Res<'w, ShipIndex>,
    pilots: Res<'w, PilotIndex>,
    maps: Query<'w, 's, &'static Map>,
    sectors: Query<'w, 's, &'static Sector>,
    fleets: Query<'w, 's, &'static Fleet>,
    ships: Query<
        'w,
        's,
        (
            &'static Ship,
            &'static Card,
            &'static InSector,
            &'static InFleet,
            &'static mut Gun,
            &'static mut Helm,
            &'static mut Arrival,
        ),
    >,
    locks: MessageWriter<'w, LockStarted>,
    notes: MessageWriter<'w, Noted>,
    commands: Commands<'w, 's>,
}

impl Bridge<'_, '_> {
    /// Applies one op of a pilot, or of a mind when there is no pilot.
    fn apply(&mut self, pilot: Option<PilotId>, op: Op) -> Result<Done, Refusal> {
        let ship = self.own(pilot, op.ship())?;
        match op {
            Op::Move { to, .. } => self.set_course(ship, to),
            Op::Cancel { .. } => self.cancel(ship),
            Op::Attack { target, .. } => self.attack(ship, target),
            Op::Focus { target, .. } => self.lock(ship, target),
            Op::Hold { .. } => self.hold(ship),
        }
    }

    /// The ship of that id, if it is the pilot's.
    fn own(&self, pilot: Option<PilotId>, id: ShipId) -> Result<Entity, Refusal> {
        if pilot.is_some_and(|pilot| !self.pilots.0.contains_key(&pilot)) {
            return Err(Refusal::UnknownPilot);
        }
        let entity = self.index.get(id).ok_or(Refusal::UnknownShip)?;
        let (ship, ..) = self.ships.get(entity).map_err(|_| Refusal::UnknownShip)?;
        if ship.pilot() == pilot { Ok(entity) } else { Err(Refusal::NotYours) }
    }

    fn set_course(&mut self, entity: Entity, to: Hex) -> Result<Done, Refusal> {
        let map = self.maps.single().map_err(|_| Refusal::UnknownSector)?;
        let (_, card, sector, _, _, mut helm, _) = self.ships.get_mut(entity).map_err(|_| Refusal::UnknownShip)?;
        let here = self.sectors.get(sector.0).map_err(|_| Refusal::UnknownSector)?.hex;
        if !to.is_sane() || !map.layout.contains(to) {
            return Err(Refusal::UnknownSector);
        }
        // A hop that runs is finished first; the way goes on from its end.
        let from = helm.hopping_to().unwrap_or(here);
        let path = map.layout.path(from, to).ok_or(Refusal::NoWay)?;
        if path.is_empty() {
            // It is there, or will be after this hop: what would take it on is what there is to stop.
            return helm.halt().map_err(|_| Refusal::AlreadyThere);
        }
        let hops = path.len() as u16;
        let arrives = helm.set_course(path, self.now.moment(), &card.0.navigation);
        self.commands.entity(entity).insert(Awake);
        Ok(Done::Course { hops, takes: arrives.since(self.now.moment()), arrives })
    }

    fn cancel(&mut self, entity: Entity) -> Result<Done, Refusal> {
        let (.., mut helm, _) = self.ships.get_mut(entity).map_err(|_| Refusal::UnknownShip)?;
        helm.halt()
    }

    /// The ship locks the target, and so do its fleet's other ships in the sector that may.
    fn attack(&mut self, entity: Entity, target: ShipId) -> Result<Done, Refusal> {
        let done = self.lock(entity, target)?;
        let (_, _, sector, fleet, ..) = self.ships.get(entity).map_err(|_| Refusal::UnknownShip)?;
        let (sector, fleet) = (sector.0, fleet.0);
        let escorts = self.fleets.get(fleet).map_or(0, |fleet| fleet.iter().len());
        for place in 0..escorts {
            let Some(escort) = self.fleets.get(fleet).ok().and_then(|fleet| fleet.iter().nth(place)) else { break };
            let here = self.ships.get(escort).is_ok_and(|(_, _, at, ..)| at.0 == sector);
            if escort != entity && here {
                // An escort that cannot is no reason to refuse the others.
                let _ = self.lock(escort, target);
            }
        }
        Ok(done)
    }

    /// Starts a lock (rule 4).
    fn lock(&mut self, entity: Entity, target_id: ShipId) -> Result<Done, Refusal> {
        let now = self.now.moment();
        let target = self.index.get(target_id).ok_or(Refusal::UnknownTarget)?;
        let (target_ship, target_card, target_sector, _, _, _, target_arrival) =
            self.ships.get(target).map_err(|_| Refusal::UnknownTarget)?;
        let (target_owner, lock_size) = (target_ship.owner, target_card.0.lock_size);
        let (target_sector, target_arriving) = (*target_sector, target_arrival.is_up(now));
        let fire = self.maps.single().map_err(|_| Refusal::UnknownSector)?.fire;

        let (ship, card, sector, _, mut gun, _, mut arrival) =
            self.ships.get_mut(entity).map_err(|_| Refusal::UnknownShip)?;
        if *sector != target_sector {
            return Err(Refusal::OtherSector);
        }
        if card.0.gun.is_none() {
            return Err(Refusal::NoWeapon);
        }
        may_fire(fire, ship.owner, target_owner, false)?;
        if target_arriving {
            return Err(Refusal::TargetArriving);
        }
        if arrival.is_up(now) {
            if !arrival.ends_early {
                return Err(Refusal::Arriving);
            }
            arrival.ends = now;
        }
        if gun.target.is_some_and(|held| held.entity == target) {
            return Ok(Done::AlreadyLocked);
        }
        let takes = card.0.lock_on(lock_size);
        gun.target = Some(Target { id: target_id, entity: target });
        gun.locked_at = now + takes;
        gun.lock_takes = takes;
        if let Some(pilot) = ship.pilot() {
            self.notes.write(Noted { pilot, note: Note::Locking { takes } });
        }
        if let Owner::Pilot(pilot) = target_owner {
            let note = Note::LockedBy { contact: ship.contact() };
            self.notes.write(Noted { pilot: PilotId(pilot), note });
        }
        self.locks.write(LockStarted { target });
        self.commands.entity(entity).insert(Awake);
        self.commands.entity(target).insert(Awake);
        Ok(Done::Locking { takes })
    }

    fn hold(&mut self, entity: Entity) -> Result<Done, Refusal> {
        let (.., mut gun, _, _) = self.ships.get_mut(entity).map_err(|_| Refusal::UnknownShip)?;
        gun.target = None;
        Ok(Done::Held)
    }
}
