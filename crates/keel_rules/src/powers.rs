//! What a ship's powers do and cost, with their maker's shades (rule 8).

use keel_balance::{Balance, Faction};

use crate::fit::{Fit, faction_gear};
use crate::time::Micros;

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

/// The powers of a fit.
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
