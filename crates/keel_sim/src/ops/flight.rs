//! Moving, travelling, docking (rules 7 and 9).

use bevy_ecs::prelude::*;
use keel_map::{Hex, MapKey, MapKind};

use super::Bridge;
use crate::clamps::is_held;
use crate::docks::Docking;
use crate::harvest::Harvest;
use crate::ids::{PilotId, WormholeId};
use crate::minds::Mind;
use crate::movement::{Errand, Helm, Leg, Passage};
use crate::notes::Note;
use crate::orders::{Done, Refusal, Way};
use crate::shot::Locking;
use crate::world::{Appeared, Arrival, Docked, Haven, InFleet, InSector, Maps, Pilot, port};
use crate::wormholes::Wormholes;

impl Bridge<'_> {
    /// A pilot's order to go: the active ship takes the escorts of its sector along that follow, and an escort that is
    /// sent by itself follows no more.
    pub(super) fn go(&mut self, ship: Entity, fleet: Entity, to: Hex) -> Result<Done, Refusal> {
        let done = self.set_course(ship, to)?;
        self.obeying.push(ship);
        if self.active(fleet) != Ok(ship) {
            let mut mind = self.get_mut::<Mind>(ship)?;
            (mind.follows, mind.waits) = (false, false);
            return Ok(done);
        }
        let sector = self.sector(ship)?;
        for escort in self.ships_of(fleet) {
            if escort != ship && self.sector(escort) == Ok(sector) && self.get::<Mind>(escort)?.follows {
                self.obeying.push(escort);
                // An escort that cannot is no reason to refuse the others.
                let _ = self.set_course(escort, to);
            }
        }
        Ok(done)
    }

    pub(super) fn set_course(&mut self, ship: Entity, to: Hex) -> Result<Done, Refusal> {
        let (here, map) = self.map(self.sector(ship)?)?;
        let helm = self.get::<Helm>(ship)?;
        if helm.in_transit() {
            return Err(Refusal::InTransit);
        }
        if !to.is_sane() || !map.layout.contains(to) {
            return Err(Refusal::UnknownSector);
        }
        // A hop that runs is finished first; the way goes on from its end.
        let from = helm.hopping_to().unwrap_or(here.hex);
        let path = map.layout.path(from, to).ok_or(Refusal::NoWay)?;
        if path.is_empty() {
            // It is there, or will be after this hop: what would take it on is what there is to stop.
            return self.cancel(ship).map_err(|_| Refusal::AlreadyThere);
        }
        let hops = path.len() as u16;
        let (now, navigation) = (self.now, self.sheet(ship)?.navigation);
        let arrives = self.get_mut::<Helm>(ship)?.set_course(path, now, &navigation);
        self.wake(ship);
        Ok(Done::Course { hops, takes: arrives.since(now), arrives })
    }

    /// A pilot's order to stop. Those who are in the active ship's transit stop with it.
    pub(super) fn stop(&mut self, ship: Entity, fleet: Entity) -> Result<Done, Refusal> {
        if self.get::<Helm>(ship)?.leg() == Leg::Still && self.world.entity_mut(ship).take::<Harvest>().is_some() {
            return Ok(Done::Stopped);
        }
        let of = |helm: &Helm| (helm.leg(), helm.passage());
        let passage = of(self.get::<Helm>(ship)?);
        let done = self.cancel(ship)?;
        self.obeying.push(ship);
        if passage.1.is_some() && self.active(fleet) == Ok(ship) {
            for escort in self.ships_of(fleet) {
                if of(self.get::<Helm>(escort)?) == passage {
                    self.cancel(escort)?;
                }
            }
        }
        Ok(done)
    }

    pub(super) fn cancel(&mut self, ship: Entity) -> Result<Done, Refusal> {
        self.sector(ship)?;
        let (now, cooldown) = (self.now, self.sheet(ship)?.navigation.jump_cooldown);
        self.get_mut::<Helm>(ship)?.halt(now, cooldown)
    }

    pub(super) fn travel(&mut self, ship: Entity, way: Way) -> Result<Done, Refusal> {
        let sector = self.world.get::<Docked>(ship).map(|docked| docked.0);
        let sector = sector.map_or_else(|| self.sector(ship), Ok)?;
        self.may_jump(ship)?;
        self.check_layer(sector)?;
        if self.world.get::<Haven>(sector).is_none() {
            return Err(Refusal::NoHaven);
        }
        let (_, map) = self.map(sector)?;
        let layer = match way {
            Way::Up => map.key.tier + 1,
            Way::Down => map.key.tier - 1,
        };
        if self.world.resource::<Maps>().get(MapKey::layer(layer)).is_none() {
            return Err(Refusal::LastLayer);
        }
        self.begin(ship, sector, Passage::Travel { layer })
    }

    pub(super) fn rescue(&mut self, ship: Entity) -> Result<Done, Refusal> {
        let sector = self.sector(ship)?;
        self.may_jump(ship)?;
        self.check_layer(sector)?;
        // One flag after the other would make a ship safe for ever.
        if self.get::<Arrival>(ship)?.is_up(self.now) {
            return Err(Refusal::Rescued);
        }
        self.begin(ship, sector, Passage::Rescue)
    }

    pub(super) fn jump(&mut self, ship: Entity, pilot: PilotId, id: WormholeId) -> Result<Done, Refusal> {
        let sector = self.sector(ship)?;
        self.may_jump(ship)?;
        let place = self.place(sector)?;
        let wormholes = self.world.resource::<Wormholes>();
        let (wormhole, end) = wormholes.end_at(pilot, id, place).ok_or(Refusal::NoWormhole)?;
        self.begin(ship, sector, Passage::Jump { code: wormhole.code, to: wormhole.far(end) })
    }

    /// Whether a sector is of a layer: a Rift has no Haven, and no way out but its wormholes (rule 11).
    fn check_layer(&self, sector: Entity) -> Result<(), Refusal> {
        match self.map(sector)?.1.key.kind {
            MapKind::Layer => Ok(()),
            MapKind::Rift => Err(Refusal::NoHavenInRift),
        }
    }

    /// Whether a ship may begin a transit.
    fn may_jump(&self, ship: Entity) -> Result<(), Refusal> {
        let helm = self.get::<Helm>(ship)?;
        match helm.leg() {
            Leg::Transit { .. } => Err(Refusal::InTransit),
            Leg::Hop { .. } => Err(Refusal::MidHop),
            Leg::Still | Leg::Window { .. } if self.now < helm.jump_ready() => {
                Err(Refusal::JumpCooling(helm.jump_ready().since(self.now)))
            }
            Leg::Still | Leg::Window { .. } => Ok(()),
        }
    }

    /// Begins a transit, together with the escorts of the place that follow the active ship and may.
    fn begin(&mut self, ship: Entity, sector: Entity, passage: Passage) -> Result<Done, Refusal> {
        let mut ships = vec![ship];
        let fleet = self.get::<InFleet>(ship)?.0;
        if self.active(fleet).is_ok_and(|active| active == ship) {
            for escort in self.ships_of(fleet) {
                let at = |place: Option<Entity>| place == Some(sector);
                let here = at(self.world.get::<InSector>(escort).map(|at| at.0))
                    || (matches!(passage, Passage::Travel { .. })
                        && at(self.world.get::<Docked>(escort).map(|at| at.0)));
                let follows = self.get::<Mind>(escort)?.follows;
                let flagged = passage == Passage::Rescue && self.get::<Arrival>(escort)?.is_up(self.now);
                if escort != ship && here && follows && !flagged && self.may_jump(escort).is_ok() {
                    ships.push(escort);
                }
            }
        }
        let takes = match passage {
            Passage::Travel { .. } => self.balance.moving.travel_s,
            Passage::Rescue | Passage::Jump { .. } => self.balance.moving.jump_s,
        }
        .into();
        for &ship in &ships {
            self.send(ship, passage)?;
            self.obeying.push(ship);
        }
        Ok(Done::Transit { takes, ships: ships.len() as u8 })
    }

    fn send(&mut self, ship: Entity, passage: Passage) -> Result<(), Refusal> {
        if self.world.get::<Docked>(ship).is_some() {
            self.undock(ship)?;
        }
        let navigation = self.sheet(ship)?.navigation;
        let (takes, note) = match passage {
            Passage::Travel { layer } => {
                let from = self.map(self.sector(ship)?)?.1.key.tier;
                let way = if layer > from { Way::Up } else { Way::Down };
                (navigation.travel, Note::Travelling { way, layer, takes: navigation.travel })
            }
            Passage::Rescue => (navigation.jump, Note::Rescuing { takes: navigation.jump }),
            Passage::Jump { code, to } => (navigation.jump, Note::Jumping { code, to: to.map, takes: navigation.jump }),
        };
        let ends = self.now + takes;
        let mut helm = self.get_mut::<Helm>(ship)?;
        helm.set_passage(passage, ends);
        if is_held(self.world, ship) {
            self.get_mut::<Helm>(ship)?.catch();
            self.note(ship, Note::Clamped);
            return Ok(());
        }
        self.world.entity_mut(ship).remove::<(Locking, Harvest)>();
        self.wake(ship);
        self.note(ship, note);
        Ok(())
    }

    /// What a Clamp has stopped goes again.
    pub(super) fn resume(&mut self, ship: Entity) -> Result<(), Refusal> {
        match self.get_mut::<Helm>(ship)?.take_stopped() {
            Some(Errand::Course(to)) => self.set_course(ship, to).map(drop),
            Some(Errand::Passage(passage)) => self.send(ship, passage),
            None => Ok(()),
        }
    }

    /// The sector in which a ship has time for something: it is in space, and neither in mid-hop nor in transit.
    pub(super) fn at_rest(&self, ship: Entity) -> Result<Entity, Refusal> {
        let sector = self.sector(ship)?;
        match self.get::<Helm>(ship)?.leg() {
            Leg::Transit { .. } => Err(Refusal::InTransit),
            Leg::Hop { .. } => Err(Refusal::MidHop),
            Leg::Still | Leg::Window { .. } => Ok(sector),
        }
    }

    pub(super) fn dock(&mut self, ship: Entity, pilot: PilotId) -> Result<Done, Refusal> {
        self.sector(ship).map_err(|_| Refusal::AlreadyDocked)?;
        let sector = self.at_rest(ship)?;
        if !port(self.world, sector, pilot) {
            self.check_layer(sector)?;
            return Err(Refusal::NoPort);
        }
        if is_held(self.world, ship) {
            return Err(Refusal::Clamped);
        }
        self.get_mut::<Helm>(ship)?.stop();
        self.obeying.push(ship);
        self.world.resource_mut::<Docking>().order(ship);
        Ok(Done::Docking)
    }

    pub(super) fn undock(&mut self, ship: Entity) -> Result<Done, Refusal> {
        let &Docked(sector) = self.world.get::<Docked>(ship).ok_or(Refusal::NotDocked)?;
        self.world.entity_mut(ship).remove::<Docked>().insert(InSector(sector));
        self.world.write_message(Appeared { ship, sector });
        self.wake(ship);
        Ok(Done::Undocked)
    }

    pub(super) fn activate(&mut self, ship: Entity, fleet: Entity) -> Result<Done, Refusal> {
        let id = self.ship(ship)?.id;
        self.get_mut::<Pilot>(fleet)?.active = Some(id);
        self.obeying.push(ship);
        Ok(Done::Set)
    }
}
