//! The hit roll (rule 5). Chances are points, 0 to 100.

use serde::{Deserialize, Serialize};

/// Evasion that the difference of two classes adds, in points (rule 5): `step` for each class that the shooter is larger,
/// less the share that its tracking takes off. A smaller shooter meets a negative step, which tracking does not touch.
/// `tracking` is a share, 0 to 1; classes are their places, the smallest 0.
#[must_use]
pub fn size_evasion(step: f32, shooter_class: u8, target_class: u8, tracking: f32) -> f32 {
    let evasion = step * f32::from(i16::from(shooter_class) - i16::from(target_class));
    if evasion > 0.0 { evasion * (1.0 - tracking) } else { evasion }
}

/// The chance to hit in points (rule 5): the gun's own less the evasion (which may be negative), kept within 0 to 100.
#[must_use]
pub fn hit_chance(gun: f32, evasion: f32) -> f32 {
    (gun - evasion).clamp(0.0, 100.0)
}

/// Whether something with that chance in points happens (rule 1.4). Draws 32 random bits only when it is neither certain nor
/// impossible, so that a certain hit leaves the stream as it was.
pub fn happens(chance: f32, draw: impl FnOnce() -> u32) -> bool {
    if chance <= 0.0 {
        false
    } else if chance >= 100.0 {
        true
    } else {
        const DRAWS: f64 = (1u64 << 32) as f64;
        f64::from(draw()) * 100.0 < f64::from(chance) * DRAWS
    }
}

/// How a shot left the roll.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It passes by.
    Miss,
    /// It lands with its volley.
    Hit,
    /// It lands with its critical factor.
    Crit,
}

impl Outcome {
    /// Whether it passes by.
    #[must_use]
    pub const fn is_miss(self) -> bool {
        matches!(self, Self::Miss)
    }
}

/// Rolls one shot (rule 5): the hit, and on a hit the crit. Chances in points, 0 to 100; beyond is certain or never.
pub fn roll(hit: f32, crit: f32, mut draw: impl FnMut() -> u32) -> Outcome {
    if !happens(hit, &mut draw) {
        Outcome::Miss
    } else if happens(crit, &mut draw) {
        Outcome::Crit
    } else {
        Outcome::Hit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn no_draw() -> u32 {
        panic!("a certain roll drew a number")
    }

    #[test]
    fn rule_1_4_a_certain_roll_draws_no_number() {
        assert!(happens(100.0, no_draw));
        assert!(!happens(0.0, no_draw));
        assert_eq!(roll(100.0, 0.0, no_draw), Outcome::Hit);
        assert_eq!(roll(100.0, 100.0, no_draw), Outcome::Crit);
        assert_eq!(roll(0.0, 50.0, no_draw), Outcome::Miss);
    }

    #[test]
    fn a_chance_is_met_by_exactly_its_share_of_draws() {
        let edge = |chance: f64| (chance / 100.0 * 4_294_967_296.0) as u32;
        assert!(happens(25.0, || edge(25.0) - 1));
        assert!(!happens(25.0, || edge(25.0)));
        assert!(happens(f32::MIN_POSITIVE, || 0));
        assert!(!happens(99.999, || u32::MAX));
    }

    #[test]
    fn rule_5_crit_is_rolled_only_on_a_hit() {
        let mut drawn = 0;
        let outcome = roll(50.0, 50.0, || {
            drawn += 1;
            u32::MAX
        });
        assert_eq!((outcome, drawn), (Outcome::Miss, 1));
    }

    #[test]
    fn rule_5_tracking_takes_its_share_off_a_larger_shooter_only() {
        assert_eq!(size_evasion(5.0, 4, 0, 0.0), 20.0);
        assert_eq!(size_evasion(5.0, 4, 0, 0.5), 10.0);
        assert_eq!(size_evasion(5.0, 4, 0, 0.25), 15.0);
        assert_eq!(size_evasion(5.0, 0, 4, 0.5), -20.0);
        assert_eq!(size_evasion(5.0, 2, 2, 0.5), 0.0);
    }

    #[test]
    fn rule_5_only_the_hit_chance_is_clamped() {
        assert_eq!(hit_chance(100.0, -20.0), 100.0);
        assert_eq!(hit_chance(80.0, -15.0), 95.0);
        assert_eq!(hit_chance(50.0, 70.0), 0.0);
    }
}
