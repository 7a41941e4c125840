//! A pilot's fleet: what its escorts do by themselves (rule 10).

use bevy_ecs::prelude::*;
use keel_map::Hex;

use super::Bridge;
use crate::ids::{PilotId, ShipId};
use crate::minds::Mind;
use crate::movement::Helm;
use crate::orders::{Done, Refusal};
use crate::world::{InSector, Pilot};

impl Bridge<'_> {
    pub(super) fn set_mind(&mut self, ship: Entity, set: impl FnOnce(&mut Mind)) -> Result<Done, Refusal> {
        let mut mind = self.get_mut::<Mind>(ship)?;
        // Whatever it is told anew, it waits no longer.
        mind.waits = false;
        set(&mut mind);
        self.obeying.push(ship);
        self.wake(ship);
        Ok(Done::Set)
    }

    pub(super) fn protect(&mut self, fleet: Entity, ship: ShipId, protectee: Option<ShipId>) -> Result<Done, Refusal> {
        let entity = self.own(fleet, ship)?;
        if let Some(other) = protectee {
            self.own(fleet, other)?;
            if other == ship {
                return Err(Refusal::Itself);
            }
        }
        self.set_mind(entity, |mind| mind.protectee = protectee)
    }

    pub(super) fn set_triggers(&mut self, ship: Entity, brace_percent: u8, jam: bool) -> Result<Done, Refusal> {
        if brace_percent > 100 {
            return Err(Refusal::NoShare);
        }
        self.set_mind(ship, |mind| (mind.brace_percent, mind.jam) = (brace_percent, jam))
    }

    /// An escort that is told to stay stops where it is; one in transit with the others goes on.
    pub(super) fn follow(&mut self, ship: Entity, fleet: Entity, follows: bool) -> Result<Done, Refusal> {
        let changes = self.get::<Mind>(ship)?.follows != follows;
        if changes && !follows && self.active(fleet) != Ok(ship) && !self.get::<Helm>(ship)?.in_transit() {
            // That it is on no course is no reason to refuse.
            let _ = self.cancel(ship);
        }
        self.set_mind(ship, |mind| mind.follows = follows)
    }

    /// Every escort on the map comes to where the active ship is, and follows it from now on.
    pub(super) fn gather(&mut self, fleet: Entity) -> Result<Done, Refusal> {
        let active = self.active(fleet)?;
        let (here, _) = self.map(self.sector(active)?)?;
        let mut ships = 0;
        for escort in self.ships_of(fleet) {
            let sector = self.world.get::<InSector>(escort).and_then(|sector| self.map(sector.0).ok());
            let is_away = sector.is_some_and(|(sector, _)| sector.map == here.map);
            if escort == active {
                continue;
            }
            let mut mind = self.get_mut::<Mind>(escort)?;
            (mind.follows, mind.waits) = (true, false);
            self.obeying.push(escort);
            if is_away && matches!(self.set_course(escort, here.hex), Ok(Done::Course { .. })) {
                ships += 1;
            }
        }
        Ok(Done::Gathering { ships })
    }

    /// Every escort flies to the centre of its map, and waits there: it follows no more. One that is there already waits too.
    pub(super) fn retreat(&mut self, fleet: Entity) -> Result<Done, Refusal> {
        let active = self.active(fleet)?;
        let mut ships = 0;
        for escort in self.ships_of(fleet) {
            if escort == active || self.sector(escort).is_err() || self.get::<Helm>(escort)?.in_transit() {
                continue;
            }
            let mut mind = self.get_mut::<Mind>(escort)?;
            (mind.follows, mind.waits) = (false, true);
            self.obeying.push(escort);
            if matches!(self.set_course(escort, Hex::CENTRE), Ok(Done::Course { .. })) {
                ships += 1;
            }
        }
        Ok(Done::Retreating { ships })
    }

    pub(super) fn mark(
        &mut self,
        pilot: PilotId,
        fleet: Entity,
        other: PilotId,
        marked: bool,
    ) -> Result<Done, Refusal> {
        self.other(pilot, other)?;
        let mut pilot = self.get_mut::<Pilot>(fleet)?;
        if marked {
            pilot.kos.insert(other);
        } else {
            pilot.kos.remove(&other);
        }
        Ok(Done::Set)
    }
}
