//! Powers and the mender (rule 8).

use bevy_ecs::prelude::*;
use keel_balance::System;
use keel_rules::powers::{Power, Unusable, clamp_catches, clamp_holds, jammed_until, restored_hull, spend};
use keel_rules::{Kind, Moment, Sheet};

use super::Bridge;
use crate::clamps::{ClampedBy, Clamping, break_clamps_on};
use crate::ids::ShipId;
use crate::notes::Note;
use crate::orders::{Done, Refusal};
use crate::shot::{Gun, Locking};
use crate::world::{Battery, Condition, Powers, Quiet, ShipIndex, refit};

impl Powers {
    /// When a power has cooled down.
    pub(crate) const fn ready(&self, power: Power) -> Moment {
        match power {
            Power::Brace => self.brace_ready,
            Power::Jam => self.jam_ready,
            Power::Cloak => self.cloak_ready,
            Power::Clamp | Power::Unclamp => Moment::START,
        }
    }

    /// The battery that a power would leave (rule 8).
    pub(crate) fn spend(&self, power: Power, sheet: &Sheet, battery: &Battery, now: Moment) -> Result<f32, Unusable> {
        let cost = sheet.powers.cost(power).ok_or(Unusable::NoModule(Kind::System(power.module())))?;
        let silenced = power.is_silenced_by_jam() && self.is_jammed(now);
        spend(cost, silenced, self.ready(power), now, battery.0)
    }
}

impl Bridge<'_> {
    pub(super) fn power(&mut self, ship: Entity, power: Power) -> Result<Done, Refusal> {
        self.sector(ship)?;
        let (now, sheet, powers) = (self.now, self.sheet(ship)?, *self.get::<Powers>(ship)?);
        let left = powers.spend(power, &sheet, self.get::<Battery>(ship)?, now)?;
        match power {
            Power::Brace => self.brace(ship, &sheet)?,
            Power::Jam => self.jam(ship, &sheet)?,
            Power::Clamp => self.clamp(ship)?,
            Power::Unclamp => self.unclamp(ship, &sheet)?,
            Power::Cloak => self.cloak(ship)?,
        }
        self.get_mut::<Battery>(ship)?.0 = left;
        self.get_mut::<Quiet>(ship)?.0 = now;
        self.wear(ship, power.module());
        self.wake(ship);
        if power != Power::Cloak {
            self.uncloak(ship)?;
        }
        Ok(Done::Used(power))
    }

    /// A use of a system wears it (rule 3).
    fn wear(&mut self, ship: Entity, system: System) {
        let points = self.balance.wear.use_points;
        refit(self.world, ship, |fit| {
            let slot = fit.system(system).map(|(slot, _)| slot);
            if let Some(module) = slot.and_then(|slot| fit.slot_mut(slot)) {
                *module = module.map(|module| module.worn_by(points));
            }
        });
    }

    fn brace(&mut self, ship: Entity, sheet: &Sheet) -> Result<(), Refusal> {
        let Some(brace) = sheet.powers.brace else { return Ok(()) };
        let now = self.now;
        let mut condition = self.get_mut::<Condition>(ship)?;
        let before = condition.0.hull;
        condition.0.hull = restored_hull(before, sheet.full.hull, brace.hull);
        let hull = condition.0.hull - before;
        let mut powers = self.get_mut::<Powers>(ship)?;
        powers.braced_until = now + brace.lasts;
        powers.brace_ready = now + brace.cooldown;
        self.note(ship, Note::Braced { hull, resist: brace.resist, lasts: brace.lasts });
        Ok(())
    }

    /// The target that a ship has locked.
    fn locked(&self, ship: Entity) -> Result<Entity, Unusable> {
        let &Locking(target) = self.world.get::<Locking>(ship).ok_or(Unusable::NoTarget)?;
        let holds = self.world.get::<Gun>(ship).is_some_and(|gun| gun.is_locked(self.now));
        if holds { Ok(target) } else { Err(Unusable::NotLocked) }
    }

    fn jam(&mut self, ship: Entity, sheet: &Sheet) -> Result<(), Refusal> {
        let Some(jam) = sheet.powers.jam else { return Ok(()) };
        let (now, target) = (self.now, self.locked(ship)?);
        self.get_mut::<Powers>(ship)?.jam_ready = now + jam.cooldown;
        let mut theirs = self.get_mut::<Powers>(target)?;
        theirs.jammed_until = jammed_until(theirs.jammed_until, now, jam.lasts);
        theirs.braced_until = Moment::START;
        self.world.entity_mut(target).remove::<Clamping>();
        self.uncloak(target)?;
        break_clamps_on(self.world, ship);
        self.wake(target);
        let contact = self.ship(ship)?.contact();
        self.note(ship, Note::Jammed { lasts: jam.lasts });
        self.note(target, Note::JammedBy { contact, lasts: jam.lasts });
        Ok(())
    }

    fn clamp(&mut self, ship: Entity) -> Result<(), Refusal> {
        let target = self.locked(ship)?;
        if self.world.get::<Clamping>(ship).is_some_and(|held| held.0 == target) {
            return Err(Unusable::Clamped.into());
        }
        if self.sheet(ship)?.powers.clamp.as_ref().is_some_and(|clamp| !clamp_holds(clamp)) {
            return Err(Unusable::Weak.into());
        }
        if !clamp_catches(self.get::<Powers>(target)?.immune_until, self.now) {
            return Err(Unusable::Immune.into());
        }
        self.world.entity_mut(ship).insert(Clamping(target));
        self.wake(target);
        let (mine, theirs) = (self.ship(ship)?.contact(), self.ship(target)?.contact());
        self.note(ship, Note::Clamping { contact: theirs });
        self.note(target, Note::ClampedBy { contact: mine });
        Ok(())
    }

    fn unclamp(&mut self, ship: Entity, sheet: &Sheet) -> Result<(), Refusal> {
        let Some(unclamp) = sheet.powers.unclamp else { return Ok(()) };
        if self.world.get::<ClampedBy>(ship).is_none_or(|clamps| clamps.iter().len() == 0) {
            return Err(Unusable::Free.into());
        }
        break_clamps_on(self.world, ship);
        let now = self.now;
        self.get_mut::<Powers>(ship)?.immune_until = now + unclamp.immune;
        self.note(ship, Note::Unclamped { immune: unclamp.immune });
        let _ = self.resume(ship);
        Ok(())
    }

    fn cloak(&mut self, ship: Entity) -> Result<(), Refusal> {
        let mut powers = self.get_mut::<Powers>(ship)?;
        if powers.cloaked {
            return Err(Unusable::Cloaked.into());
        }
        powers.cloaked = true;
        // Who cannot be answered holds nobody.
        self.world.entity_mut(ship).remove::<(Locking, Clamping)>();
        self.note(ship, Note::Cloaked);
        Ok(())
    }

    /// A mender repairs a ship (rule 8).
    pub(super) fn mend(&mut self, ship: Entity, target: ShipId) -> Result<Done, Refusal> {
        let (now, sheet, powers) = (self.now, self.sheet(ship)?, *self.get::<Powers>(ship)?);
        let target = self.world.resource::<ShipIndex>().get(target).ok_or(Refusal::UnknownTarget)?;
        let mender = sheet.powers.mender.ok_or(Unusable::NoModule(Kind::System(System::Mender)))?;
        let (here, there) = (self.map(self.sector(ship)?)?.0, self.map(self.sector(target)?)?.0);
        if here.map != there.map || here.hex.distance(there.hex) > mender.reach.into() {
            return Err(Refusal::OtherSector);
        }
        let battery = self.get::<Battery>(ship)?.0;
        if powers.cloaked {
            return Err(Unusable::Cloaked.into());
        }
        let left = spend(mender.cost, powers.is_jammed(now), powers.mender_ready, now, battery)?;
        let full = self.sheet(target)?.full.hull;
        let mut condition = self.get_mut::<Condition>(target)?;
        let before = condition.0.hull;
        if before >= full {
            return Err(Refusal::Whole);
        }
        condition.0.hull = restored_hull(before, full, mender.hull);
        let hull = condition.0.hull - before;
        self.get_mut::<Battery>(ship)?.0 = left;
        self.get_mut::<Powers>(ship)?.mender_ready = now + mender.every;
        self.wear(ship, System::Mender);
        self.wake(ship);
        let contact = self.ship(target)?.contact();
        self.note(ship, Note::Mended { contact, hull });
        Ok(Done::Set)
    }
}
