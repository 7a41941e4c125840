//! What a ship's powers do and cost, with their maker's shades (rule 8).

use keel_balance::{Balance, Faction};

use crate::fit::{Fit, faction_gear};
use crate::time::{Micros, Moment};

/// Every power of a ship; `None` where its module is not fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PowerSheet {
    /// Restores hull and raises every resist.
    pub brace: Option<Brace>,
    /// Silences the locked target.
    pub jam: Option<Jam>,
    /// Holds a ship in its sector.
    pub clamp: Option<Clamp>,
    /// Breaks every Clamp.
    pub unclamp: Option<Unclamp>,
    /// Repairs ships nearby.
    pub mender: Option<Mender>,
    /// Factor by which it stretches an enemy's cycle.
    pub aura: Option<f32>,
}

/// A Brace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brace {
    /// Hull restored.
    pub hull: f32,
    /// Points added to every resist.
    pub resist: f32,
    /// For how long.
    pub lasts: Micros,
    /// Battery spent.
    pub cost: f32,
    /// Time until it can be used again.
    pub cooldown: Micros,
    /// Share of the hull under which an escort uses it.
    pub trigger_hull: f32,
}

/// A Jam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jam {
    /// How long it silences.
    pub lasts: Micros,
    /// Battery spent.
    pub cost: f32,
    /// Time until it can be used again.
    pub cooldown: Micros,
}

/// A Clamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamp {
    /// Its grapple.
    pub grapple: f32,
    /// The grapple it needs to hold.
    pub holds_at: f32,
    /// Battery spent.
    pub cost: f32,
}

/// An Unclamp.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unclamp {
    /// How long no Clamp can catch the ship again.
    pub immune: Micros,
    /// Battery spent.
    pub cost: f32,
}

/// A mender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mender {
    /// Time between repairs.
    pub every: Micros,
    /// Hull repaired.
    pub hull: f32,
    /// Battery spent.
    pub cost: f32,
    /// Sectors away that it reaches.
    pub reach: u8,
}

/// The powers of a fit (rule 8).
#[must_use]
pub fn powers(balance: &Balance, fit: &Fit) -> PowerSheet {
    let rule = &balance.powers;
    PowerSheet {
        brace: fit.brace.map(|faction| brace(balance, faction)),
        jam: fit.jam.map(|faction| Jam {
            lasts: faction_gear(balance, faction).jam_s.into(),
            cost: rule.jam.cost.get(),
            cooldown: rule.jam.cooldown_s.into(),
        }),
        clamp: fit.grapple.then(|| Clamp {
            grapple: rule.clamp.grapple.get(),
            holds_at: rule.clamp.holds_at.get(),
            cost: rule.clamp.cost.get(),
        }),
        unclamp: fit.grapple.then(|| Unclamp { immune: rule.unclamp.immune_s.into(), cost: rule.unclamp.cost.get() }),
        mender: fit.mender.then(|| Mender {
            every: rule.mender.every_s.into(),
            hull: rule.mender.hull.get(),
            cost: rule.mender.cost.get(),
            reach: rule.mender.reach,
        }),
        aura: fit.aura.then(|| balance.lock.aura_cycle.get()),
    }
}

fn brace(balance: &Balance, faction: Faction) -> Brace {
    let (rule, shade) = (&balance.powers.brace, &faction_gear(balance, faction).brace);
    Brace {
        hull: shade.hull.get(),
        resist: rule.resist.get(),
        lasts: rule.lasts_s.into(),
        cost: shade.cost.get(),
        cooldown: shade.cooldown_s.into(),
        trigger_hull: rule.trigger_hull.get(),
    }
}

/// Why a power is not used (rule 8). It has spent nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The ship has no such module.
    #[error("This ship has no such module.")]
    NoModule,
    /// A Jam silences it.
    #[error("A Jam silences it.")]
    Silenced,
    /// It cools down.
    #[error("It cools down.")]
    Cooling,
    /// The battery holds too little.
    #[error("The battery is too low.")]
    Battery,
}

/// The battery after a power is used (rule 8). `cost` is `None` with no module, `silenced` says whether a Jam silences this
/// power, `cooled` when it may be used again.
///
/// # Errors
/// With the first reason that stands against it.
pub fn spend(cost: Option<f32>, silenced: bool, cooled: Moment, now: Moment, battery: f32) -> Result<f32, Unusable> {
    let cost = cost.ok_or(Unusable::NoModule)?;
    if silenced {
        Err(Unusable::Silenced)
    } else if now < cooled {
        Err(Unusable::Cooling)
    } else if battery < cost {
        Err(Unusable::Battery)
    } else {
        Ok(battery - cost)
    }
}

/// The hull after a Brace or a mender restored so much of it (rule 8): never over its maximum, and one over it is not cut.
#[must_use]
pub fn restored_hull(hull: f32, full: f32, by: f32) -> f32 {
    if hull >= full { hull } else { (hull + by).min(full) }
}

/// Until when a ship is jammed after another Jam (rule 8): its time restarts if that is longer.
#[must_use]
pub fn jammed_until(until: Moment, now: Moment, lasts: Micros) -> Moment {
    until.max(now + lasts)
}

/// Whether a Clamp of that grapple holds a ship that tries to leave (rule 8). It does not roll. A ship that broke free is
/// not caught again before `immune_until`.
#[must_use]
pub fn clamp_holds(clamp: &Clamp, immune_until: Moment, now: Moment) -> bool {
    clamp.grapple >= clamp.holds_at && now >= immune_until
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Moment {
        Moment::START + Micros::from_seconds(seconds)
    }

    #[test]
    fn rule_8_a_refused_power_says_why_and_spends_nothing() {
        assert_eq!(spend(Some(15.0), false, at(1.0), at(1.0), 15.0), Ok(0.0));
        assert_eq!(spend(None, true, at(9.0), at(0.0), 0.0), Err(Unusable::NoModule));
        assert_eq!(spend(Some(15.0), true, at(0.0), at(1.0), 100.0), Err(Unusable::Silenced));
        assert_eq!(spend(Some(15.0), false, at(4.0), at(3.95), 100.0), Err(Unusable::Cooling));
        assert_eq!(spend(Some(15.0), false, at(0.0), at(1.0), 14.9), Err(Unusable::Battery));
    }

    #[test]
    fn rule_8_brace_restores_80_hull_and_no_more_than_there_is_room_for() {
        assert_eq!(restored_hull(200.0, 400.0, 80.0), 280.0);
        assert_eq!(restored_hull(350.0, 400.0, 80.0), 400.0);
        assert_eq!(restored_hull(500.0, 400.0, 80.0), 500.0);
    }

    #[test]
    fn rule_8_a_jam_on_a_jammed_ship_restarts_its_time_if_that_is_longer() {
        assert_eq!(jammed_until(at(0.0), at(10.0), Micros::from_seconds(3.0)), at(13.0));
        assert_eq!(jammed_until(at(13.0), at(11.0), Micros::from_seconds(3.75)), at(14.75));
        assert_eq!(jammed_until(at(13.75), at(11.0), Micros::from_seconds(2.4)), at(13.75));
    }

    #[test]
    fn rule_8_a_clamp_holds_from_half_of_a_baseline_grapple_on() {
        let clamp = |grapple| Clamp { grapple, holds_at: 50.0, cost: 10.0 };
        assert!(clamp_holds(&clamp(50.0), at(0.0), at(1.0)));
        assert!(!clamp_holds(&clamp(49.9), at(0.0), at(1.0)));
        assert!(!clamp_holds(&clamp(100.0), at(1.5), at(1.45)));
        assert!(clamp_holds(&clamp(100.0), at(1.5), at(1.5)));
    }
}
