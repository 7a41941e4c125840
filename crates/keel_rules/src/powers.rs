//! What a ship's powers do and cost, with their maker's shades (rule 8).

use keel_balance::{Balance, System};
use serde::{Deserialize, Serialize};

use crate::fit::Fit;
use crate::module::{Kind, Module, WHOLE};
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
    /// Hides the ship.
    pub cloak: Option<Cloak>,
}

impl PowerSheet {
    /// Points that an active Brace adds to every resist; 0 with none fitted.
    #[must_use]
    pub fn brace_resist(&self) -> f32 {
        self.brace.map_or(0.0, |brace| brace.resist)
    }

    /// What a power costs; `None` when its module is not fitted.
    #[must_use]
    pub fn cost(&self, power: Power) -> Option<f32> {
        match power {
            Power::Brace => self.brace.map(|brace| brace.cost),
            Power::Jam => self.jam.map(|jam| jam.cost),
            Power::Clamp => self.clamp.map(|clamp| clamp.cost),
            Power::Unclamp => self.unclamp.map(|unclamp| unclamp.cost),
            Power::Cloak => self.cloak.map(|cloak| cloak.cost),
        }
    }
}

/// A power that a pilot uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Power {
    /// Restores hull and raises every resist.
    Brace,
    /// Silences the locked target.
    Jam,
    /// Holds the locked target in its sector.
    Clamp,
    /// Breaks every Clamp on the ship.
    Unclamp,
    /// Hides the ship.
    Cloak,
}

impl Power {
    /// Every power.
    pub const ALL: [Self; 5] = [Self::Brace, Self::Jam, Self::Clamp, Self::Unclamp, Self::Cloak];

    /// The module that it needs.
    #[must_use]
    pub const fn module(self) -> System {
        match self {
            Self::Brace => System::Brace,
            Self::Jam => System::Jam,
            Self::Clamp | Self::Unclamp => System::Clamp,
            Self::Cloak => System::Cloak,
        }
    }

    /// Whether a Jam on the ship silences it (rule 8).
    #[must_use]
    pub const fn is_silenced_by_jam(self) -> bool {
        matches!(self, Self::Brace | Self::Clamp | Self::Cloak)
    }
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

/// A cloak.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cloak {
    /// Battery spent.
    pub cost: f32,
    /// Time from when it drops until it can be used again.
    pub cooldown: Micros,
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
pub(crate) fn powers(balance: &Balance, fit: &Fit) -> PowerSheet {
    let rule = &balance.powers;
    let fitted = |system| fit.system(system).map(|(_, module)| module);
    let clamp = fitted(System::Clamp);
    PowerSheet {
        brace: fitted(System::Brace).map(|module| brace(balance, module)),
        jam: fitted(System::Jam).map(|module| Jam {
            lasts: module.gear(balance).jam_s.into(),
            cost: rule.jam.cost.get(),
            cooldown: rule.jam.cooldown_s.into(),
        }),
        clamp: clamp.map(|module| Clamp {
            grapple: grapple(rule.clamp.grapple.get(), module),
            holds_at: rule.clamp.holds_at.get(),
            cost: rule.clamp.cost.get(),
        }),
        unclamp: clamp.map(|_| Unclamp { immune: rule.unclamp.immune_s.into(), cost: rule.unclamp.cost.get() }),
        mender: fitted(System::Mender).map(|module| Mender {
            every: rule.mender.every_s.into(),
            hull: rule.mender.hull.get() * module.strength(balance),
            cost: rule.mender.cost.get(),
            reach: rule.mender.reach,
        }),
        aura: fitted(System::Aura).map(|_| balance.lock.aura_cycle.get()),
        cloak: fitted(System::Cloak)
            .map(|_| Cloak { cost: rule.cloak.cost.get(), cooldown: rule.cloak.cooldown_s.into() }),
    }
}

fn brace(balance: &Balance, module: &Module) -> Brace {
    let (rule, shade) = (&balance.powers.brace, &module.gear(balance).brace);
    Brace {
        hull: shade.hull.get() * module.strength(balance),
        resist: rule.resist.get(),
        lasts: rule.lasts_s.into(),
        cost: shade.cost.get(),
        cooldown: shade.cooldown_s.into(),
    }
}

/// The grapple of a Clamp module (rule 8): it wears with the module, and under half of the baseline holds nothing.
fn grapple(baseline: f32, module: &Module) -> f32 {
    baseline * f32::from(module.durability) / f32::from(WHOLE)
}

/// Why a power is not used (rule 8). It has spent nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The ship has no such module.
    #[error("This ship has no {0}.")]
    NoModule(Kind),
    /// A Jam silences it.
    #[error("A Jam silences it.")]
    Silenced,
    /// It cools down.
    #[error("It cools down for {0:.1} s more.")]
    Cooling(Micros),
    /// The battery holds too little.
    #[error("The battery is too low.")]
    Battery,
    /// It needs a locked target, and there is none.
    #[error("Lock a target first.")]
    NoTarget,
    /// It needs a locked target, and the lock still runs.
    #[error("The lock does not hold yet.")]
    NotLocked,
    /// The target is held already.
    #[error("Your Clamp holds that ship already.")]
    Clamped,
    /// The grapple is too worn.
    #[error("Its grapple is too worn to hold a ship.")]
    Weak,
    /// The target broke free a moment ago.
    #[error("That ship just broke free. It cannot be clamped yet.")]
    Immune,
    /// No Clamp holds the ship.
    #[error("No Clamp holds this ship.")]
    Free,
    /// The ship is hidden already.
    #[error("This ship is cloaked already.")]
    Cloaked,
}

/// The battery after a power is used (rule 8). `silenced` says whether a Jam silences this power, `cooled` when it may be
/// used again.
///
/// # Errors
/// With the first reason that stands against it.
pub fn spend(cost: f32, silenced: bool, cooled: Moment, now: Moment, battery: f32) -> Result<f32, Unusable> {
    if silenced {
        Err(Unusable::Silenced)
    } else if now < cooled {
        Err(Unusable::Cooling(cooled.since(now)))
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

/// Whether a Clamp holds a ship that tries to leave (rule 8): from half of a baseline grapple on. It does not roll.
#[must_use]
pub fn clamp_holds(clamp: &Clamp) -> bool {
    clamp.grapple >= clamp.holds_at
}

/// Whether a Clamp may catch a ship (rule 8): one that broke free is not caught again before `immune_until`.
#[must_use]
pub fn clamp_catches(immune_until: Moment, now: Moment) -> bool {
    now >= immune_until
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Moment {
        Moment::START + Micros::from_seconds(seconds)
    }

    #[test]
    fn rule_8_a_refused_power_says_why_and_spends_nothing() {
        assert_eq!(spend(15.0, false, at(1.0), at(1.0), 15.0), Ok(0.0));
        assert_eq!(spend(15.0, true, at(0.0), at(1.0), 100.0), Err(Unusable::Silenced));
        let left = Micros::from_seconds(0.5);
        assert_eq!(spend(15.0, false, at(4.0), at(3.5), 100.0), Err(Unusable::Cooling(left)));
        assert_eq!(Unusable::Cooling(left).to_string(), "It cools down for 0.5 s more.");
        assert_eq!(spend(15.0, false, at(0.0), at(1.0), 14.9), Err(Unusable::Battery));
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
        assert!(clamp_holds(&clamp(50.0)));
        assert!(!clamp_holds(&clamp(49.9)));
    }

    #[test]
    fn rule_8_a_ship_that_broke_free_is_not_caught_again_for_half_a_second() {
        assert!(!clamp_catches(at(1.5), at(1.45)));
        assert!(clamp_catches(at(1.5), at(1.5)));
    }
}
