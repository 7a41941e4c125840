//! Guns: what one delivers and how two fold into one (rule 3).

use keel_balance::Balance;

use crate::edge::Damage;
use crate::module::{Module, Variant};
use crate::time::{Micros, Moment};

/// A gun, or a folded pair, as the card prints it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GunSheet {
    /// Damage of a shot before the target's edge and resist.
    pub volley: f32,
    /// Time between shots.
    pub cycle: Micros,
    /// Battery a shot.
    pub cost: f32,
    /// What the shot is made of.
    pub damage: Damage,
    /// Share of a smaller target's size step that it takes off, 0 to 1.
    pub tracking: f32,
    /// Factor of the lock time.
    pub lock: f32,
}

impl GunSheet {
    /// Damage a second while the battery holds (rule 3).
    #[must_use]
    pub fn sustained(&self) -> f32 {
        self.volley / self.cycle.seconds()
    }

    /// Damage a second when each shot has to wait for its battery (rules 3 and 7), which gains `battery_per_s` units.
    #[must_use]
    pub fn battery_limited(&self, battery_per_s: f32) -> f32 {
        if self.cost <= battery_per_s * self.cycle.seconds() {
            self.sustained()
        } else {
            self.volley * battery_per_s / self.cost
        }
    }

    /// The pair of this gun and a second one (rule 3), which rolls once a cycle as this gun: the second adds its damage a second
    /// and its battery a second.
    #[must_use]
    pub fn folded_with(&self, second: &Self) -> Self {
        let cycles = self.cycle.seconds() / second.cycle.seconds();
        Self { volley: self.volley + second.volley * cycles, cost: self.cost + second.cost * cycles, ..*self }
    }
}

/// One gun on a hull whose class, with its Shard, has that volley factor (rules 2 and 3).
#[must_use]
pub(crate) fn gun(balance: &Balance, module: &Module, variant: Variant, hull_volley: f32) -> GunSheet {
    let (gear, variant) = (module.gear(balance), variant.factors(balance));
    let plain = balance.baseline.volley.get() * gear.gun.volley.get() * variant.volley.get();
    GunSheet {
        volley: plain * module.strength(balance) * hull_volley,
        cycle: Micros::from_seconds(gear.gun.cycle_s.get() * f64::from(variant.cycle.get())),
        cost: gear.gun.battery.get(),
        damage: gear.damage.into(),
        tracking: gear.gun.tracking.get(),
        lock: gear.gun.lock.get(),
    }
}

/// A cycle that starts under an enemy's suppression aura (rule 4). Of several auras the strongest alone counts: `factors`
/// are what each stretches a cycle by, 1 or more.
#[must_use]
pub fn suppressed_cycle(cycle: Micros, factors: impl IntoIterator<Item = f32>) -> Micros {
    cycle.scaled(factors.into_iter().fold(1.0, f32::max))
}

/// When a gun that fires now may fire again (rule 1.1).
///
/// `ready` is when its cycle ended. When that was within this very step, the cycle's remainder is carried, so that a
/// 0.713 s cycle averages 0.713 s; a gun that had to wait, for a lock or for battery, starts afresh.
#[must_use]
pub fn next_ready(ready: Moment, now: Moment, cycle: Micros) -> Moment {
    if ready.is_stale(now) { now + cycle } else { ready + cycle }
}
