//! Powers that a ship uses by itself (rule 8): the one path for NPCs and escorts.

use bevy_ecs::prelude::*;
use keel_rules::Moment;
use keel_rules::powers::{Power, clamp_catches, clamp_holds};

use super::{SeenItem, Sight};

/// How far a ship goes against its locked target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zeal {
    /// It Jams it whatever it does.
    pub(super) jams: bool,
    /// It Clamps it.
    pub(super) clamps: bool,
}

impl Sight<'_, '_> {
    /// The power that a ship uses in the next step, if any does something for it.
    pub(super) fn triggered(&self, ship: &SeenItem<'_, '_>, next: Moment, zeal: Zeal) -> Option<Power> {
        let sheet = &*ship.card.0;
        let can = |power| ship.powers.spend(power, sheet, ship.battery, next).is_ok();
        let brace_under = sheet.full.hull * f32::from(ship.mind.brace_percent) / 100.0;
        if ship.condition.0.hull < brace_under && can(Power::Brace) {
            return Some(Power::Brace);
        }
        if sheet.powers.jam.is_none() && sheet.powers.clamp.is_none() {
            return None;
        }
        let target = ship.locking.filter(|_| ship.gun.is_locked(next)).and_then(|locking| self.ship(locking.0))?;
        let provokes = || target.powers.is_braced(next) || self.holds_one_of(&target, ship.fleet.0);
        if !target.powers.is_jammed(next) && can(Power::Jam) && (zeal.jams || (ship.mind.jam && provokes())) {
            return Some(Power::Jam);
        }
        let is_clamped = ship.clamping.is_some_and(|clamping| clamping.0 == target.entity);
        let holds = sheet.powers.clamp.as_ref().is_some_and(clamp_holds);
        let catches = holds && clamp_catches(target.powers.immune_until, next);
        (zeal.clamps && !is_clamped && catches && can(Power::Clamp)).then_some(Power::Clamp)
    }

    /// Whether a ship's Clamp is on one of a fleet's.
    fn holds_one_of(&self, ship: &SeenItem<'_, '_>, fleet: Entity) -> bool {
        ship.clamping.and_then(|clamping| self.ship(clamping.0)).is_some_and(|held| held.fleet.0 == fleet)
    }
}
