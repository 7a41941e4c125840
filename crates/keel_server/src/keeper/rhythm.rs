//! When a cut is due, and when it is to be a whole one.

use std::time::Duration;

use keel_rules::STEP;

/// While the save is behind by more than this, a cut is a whole one this often.
const WHOLE_EVERY: Duration = Duration::from_secs(60);

/// Cuts by steps and by the server's clock, whichever comes first: of a world that goes slowly no more time is lost than of
/// one that keeps up.
#[derive(Debug)]
pub(super) struct Rhythm {
    every: u64,
    /// The step of the last cut, and when it was.
    cut: (u64, Duration),
    /// When a whole one was last cut, as far as is known.
    whole: Duration,
}

impl Rhythm {
    /// A cut after so many steps, or the time that they take at full speed.
    pub(super) fn new(every: u64, step: u64, now: Duration) -> Self {
        Self { every: every.max(1), cut: (step, now), whole: now }
    }

    /// Whether it is time for a cut after a step.
    pub(super) fn is_due(&self, step: u64, now: Duration) -> bool {
        let (last, at) = self.cut;
        let span =
            Duration::from_micros(STEP.get().into()).saturating_mul(u32::try_from(self.every).unwrap_or(u32::MAX));
        step >= last.saturating_add(self.every) || now.saturating_sub(at) >= span
    }

    /// Notes a cut; whether it is to be a whole one, as it has to be if it `must`.
    ///
    /// What waits for a disk keeps a word for each row that has gone. A whole cut takes the place of all that, so however
    /// long it lasts, no more waits than a world and what a minute has changed.
    pub(super) fn cut(&mut self, step: u64, now: Duration, behind: Duration, must: bool) -> bool {
        self.cut = (step, now);
        let is_whole = must || (behind > WHOLE_EVERY && now.saturating_sub(self.whole) >= WHOLE_EVERY);
        if is_whole {
            self.whole = now;
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use keel_sim::{Cut, Key, Kind};

    use super::*;

    const HALF_SECOND: Duration = Duration::from_millis(500);

    /// The steps after which a cut is due, of so many that take so long each.
    fn due(every: u64, steps: u64, step_takes: Duration) -> Vec<u64> {
        let mut rhythm = Rhythm::new(every, 100, Duration::from_secs(9));
        let mut now = Duration::from_secs(9);
        let is_cut = |&step: &u64| {
            now += step_takes;
            let is_due = rhythm.is_due(100 + step, now);
            if is_due {
                rhythm.cut(100 + step, now, Duration::ZERO, false);
            }
            is_due
        };
        (1..=steps).filter(is_cut).collect()
    }

    #[test]
    fn a_cut_is_due_after_its_steps_or_their_time_whichever_comes_first() {
        let millis = Duration::from_millis;
        for (every, step_takes, expected) in [
            (10, millis(50), vec![10, 20, 30]),
            // Faster than the clock, as worlds are that nobody waits for.
            (10, millis(1), vec![10, 20, 30]),
            (10, millis(200), vec![3, 6, 9, 12, 15, 18, 21, 24, 27, 30]),
            (1, millis(50), (1..=30).collect()),
            (0, millis(50), (1..=30).collect()),
            (u64::MAX, millis(1), vec![]),
        ] {
            assert_eq!(due(every, 30, step_takes), expected, "{every} steps of {step_takes:?}");
        }
    }

    #[test]
    fn what_waits_for_a_disk_grows_no_further_however_long_rows_come_and_go() {
        let key = |id| Key { kind: Kind::Wreck, id };
        let (mut rhythm, mut now) = (Rhythm::new(10, 0, Duration::ZERO), Duration::ZERO);
        let mut waits = Cut { step: 0, is_whole: false, rows: BTreeMap::new() };
        let mut whole = 0;
        for step in (10..).step_by(10).take(2 * 3_600) {
            now += HALF_SECOND;
            let is_whole = rhythm.cut(step, now, now, false);
            whole += u32::from(is_whole);
            // A row goes with every cut, and there is none that stays.
            let rows = if is_whole { BTreeMap::new() } else { BTreeMap::from([(key(step), None)]) };
            waits.merge(Cut { step, is_whole, rows });
            assert!(waits.rows.len() <= 2 * 61, "{} rows wait after {now:?}", waits.rows.len());
        }
        assert_eq!(whole, 59, "once a minute from the second on");
    }

    #[test]
    fn no_whole_cut_is_made_of_a_save_that_keeps_up_unless_it_must_be() {
        let mut rhythm = Rhythm::new(10, 0, Duration::ZERO);
        for second in 1..600 {
            assert!(!rhythm.cut(second * 20, Duration::from_secs(second), Duration::from_secs(2), false));
        }
        assert!(rhythm.cut(12_000, Duration::from_secs(600), Duration::ZERO, true));
        let late = Duration::from_secs(61);
        assert!(!rhythm.cut(12_010, Duration::from_secs(659), late, false), "the last one is young");
        assert!(rhythm.cut(12_020, Duration::from_secs(660), late, false));
    }
}
