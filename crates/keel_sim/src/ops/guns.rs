//! Locks (rules 4 and 10).

use bevy_ecs::prelude::*;
use keel_rules::fire::may_fire;

use super::Bridge;
use crate::bonds::Bonds;
use crate::ids::ShipId;
use crate::movement::Helm;
use crate::notes::Note;
use crate::orders::{Done, Refusal};
use crate::shot::{Gun, LockStarted, Locking};
use crate::structures::alarm;
use crate::world::{Arrival, InFleet, InSector, Powers, ShipIndex};

impl Bridge<'_> {
    /// The ship locks the target, and so do its fleet's other ships in the sector that may.
    pub(super) fn attack(&mut self, ship: Entity, target: ShipId) -> Result<Done, Refusal> {
        let done = self.lock(ship, target, true)?;
        let sector = self.sector(ship)?;
        for escort in self.ships_of(self.get::<InFleet>(ship)?.0) {
            if escort != ship && self.sector(escort) == Ok(sector) {
                // An escort that cannot is no reason to refuse the others.
                let _ = self.lock(escort, target, true);
            }
        }
        Ok(done)
    }

    /// Starts a lock (rule 4). One that a pilot `ordered` ends the ship's arrival flag where that ends early.
    pub(super) fn lock(&mut self, ship: Entity, target_id: ShipId, ordered: bool) -> Result<Done, Refusal> {
        let (now, sector) = (self.now, self.sector(ship)?);
        if self.get::<Helm>(ship)?.in_transit() {
            return Err(Refusal::InTransit);
        }
        let target = self.world.resource::<ShipIndex>().get(target_id).ok_or(Refusal::UnknownTarget)?;
        let is_held = self.world.get::<Locking>(ship).is_some_and(|held| held.0 == target);
        let target_sector = self.world.get::<InSector>(target).ok_or(Refusal::UnknownTarget)?.0;
        if self.get::<Powers>(target)?.cloaked && !is_held {
            return Err(Refusal::UnknownTarget);
        }
        if target_sector != sector {
            return Err(Refusal::OtherSector);
        }
        let sheet = self.sheet(ship)?;
        if sheet.gun.is_none() {
            return Err(Refusal::NoWeapon);
        }
        let (mine, theirs) = (self.ship(ship)?, self.ship(target)?);
        let bond = self.world.resource::<Bonds>().between_owners(mine.owner, theirs.owner);
        may_fire(self.map(sector)?.1.fire, mine.owner, theirs.owner, bond)?;
        if self.get::<Arrival>(target)?.is_up(now) {
            return Err(Refusal::TargetArriving);
        }
        let arrival = *self.get::<Arrival>(ship)?;
        if arrival.is_up(now) {
            if !arrival.ends_early || !ordered {
                return Err(Refusal::Arriving);
            }
            self.get_mut::<Arrival>(ship)?.ends = now;
        }
        if ordered {
            self.obeying.push(ship);
        }
        if is_held {
            return Ok(Done::AlreadyLocked);
        }
        self.uncloak(ship)?;
        let takes = sheet.lock_on(self.sheet(target)?.lock_size);
        let mut gun = self.get_mut::<Gun>(ship)?;
        gun.locked_at = now + takes;
        gun.lock_takes = takes;
        self.world.entity_mut(ship).insert(Locking(target));
        self.note(ship, Note::Locking { takes });
        self.note(target, Note::LockedBy { contact: mine.contact() });
        alarm(self.world, target, mine.contact());
        self.world.write_message(LockStarted { shooter: ship, target });
        self.wake(ship);
        self.wake(target);
        Ok(Done::Locking { takes })
    }

    pub(super) fn hold(&mut self, ship: Entity) -> Result<Done, Refusal> {
        self.sector(ship)?;
        self.world.entity_mut(ship).remove::<Locking>();
        self.obeying.push(ship);
        Ok(Done::Held)
    }

    /// Drops a cloak that is up: whatever a ship does to others shows it.
    pub(super) fn uncloak(&mut self, ship: Entity) -> Result<(), Refusal> {
        let (now, sheet) = (self.now, self.sheet(ship)?);
        if self.get::<Powers>(ship)?.cloaked && self.get_mut::<Powers>(ship)?.uncloak(now, &sheet) {
            self.note(ship, Note::Uncloaked);
        }
        Ok(())
    }
}
