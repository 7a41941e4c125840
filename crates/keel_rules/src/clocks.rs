//! Refills (rule 7). Each gives what one step makes of a pool.

use crate::time::{Micros, STEP};

/// A pool after one step's refill (rule 7) at so much a step, never over its maximum.
#[must_use]
pub fn refill(pool: f32, maximum: f32, per_step: f32) -> f32 {
    // A pool over its maximum (after a refit) is not cut by a refill.
    if pool >= maximum {
        return pool;
    }
    let filled = pool + per_step;
    // Rounding must not cost a step: what is left over after a whole refill's sums is no part of the pool.
    if filled >= maximum - per_step * 1e-3 { maximum } else { filled }
}

/// What a shield gains in a step (rule 7) when it fills over so long.
#[must_use]
pub fn shield_per_step(maximum: f32, fills_in: Micros) -> f32 {
    if fills_in <= STEP {
        maximum
    } else {
        (f64::from(maximum) * f64::from(STEP.get()) / f64::from(fills_in.get())) as f32
    }
}

/// What a rate a second comes to in a step (rule 1.1).
#[must_use]
pub fn per_step(per_second: f32) -> f32 {
    per_second / crate::STEPS_PER_SECOND as f32
}

/// Whether a shield refills in a step (rule 7): a Jam stops it, and so does a battery under `empty` before the step's trickle.
#[must_use]
pub fn shield_refills(jammed: bool, battery: f32, empty: f32) -> bool {
    !jammed && battery >= empty
}
