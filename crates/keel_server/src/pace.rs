//! When a step is due.

use std::time::Duration;

use keel_protocol::LEAST_PACE;

/// Keeps steps on the clock: each is due a period after the one before was *due*, so late wake-ups do not add up.
///
/// At most one step is due at a time. When the world cannot keep up it slips: it never runs steps in bursts and never
/// skips one, it just runs slower, and says by how much.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    period: Duration,
    next: Duration,
    slipped: Duration,
    /// When the last step ran, and the time from one to the next of the last few.
    ran: Duration,
    intervals: [Duration; AVERAGED],
    count: usize,
}

/// How far the world may lag before it gives up catching up.
const MOST_LAG: u32 = 3;

/// Steps over which the pace is averaged, and the most that one of them counts for.
const AVERAGED: usize = 16;
const MOST_INTERVAL: Duration = Duration::from_secs(1);

/// The longest rest: what arrives is looked at this often.
const MOST_REST: Duration = Duration::from_millis(10);

impl Pace {
    /// A pace of one step a period; the first is due after one.
    #[must_use]
    pub const fn new(period: Duration) -> Self {
        Self {
            period,
            next: period,
            slipped: Duration::ZERO,
            ran: Duration::ZERO,
            intervals: [period; AVERAGED],
            count: 0,
        }
    }

    /// Whether a step is due at a time since the start. If so it counts as run.
    pub fn is_due(&mut self, now: Duration) -> bool {
        if now < self.next {
            return false;
        }
        let most = self.period * MOST_LAG;
        let lag = now - self.next;
        if lag > most {
            self.slipped += lag - most;
            self.next = now - most;
        }
        self.next += self.period;
        let passed = now.saturating_sub(self.ran).min(MOST_INTERVAL);
        self.ran = now;
        self.intervals[self.count % AVERAGED] = passed;
        self.count = self.count.wrapping_add(1);
        true
    }

    /// How fast the world goes, in percent of the clock: over the last second or so. Never over 100, and never under the least that
    /// clients are told: a world whose steps take longer than ten periods is no slower for that on purpose, it is broken.
    #[must_use]
    pub fn percent(&self) -> u8 {
        let interval = self.intervals.iter().sum::<Duration>() / AVERAGED as u32;
        let percent = 100.0 * self.period.as_secs_f32() / interval.as_secs_f32().max(f32::MIN_POSITIVE);
        percent.round().clamp(LEAST_PACE.into(), 100.0) as u8
    }

    /// How long the loop may rest.
    #[must_use]
    pub fn rest(&self, now: Duration) -> Duration {
        self.next.saturating_sub(now).min(MOST_REST)
    }

    /// Time by which the world has fallen behind the clock.
    #[must_use]
    pub const fn slipped(&self) -> Duration {
        self.slipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Duration = Duration::from_millis(50);

    /// Runs a loop whose wake-ups are late by what `late` gives, for an hour; the steps run.
    fn hour(mut late: impl FnMut(u64) -> Duration) -> (u64, Pace) {
        let mut pace = Pace::new(PERIOD);
        let (mut now, mut steps, mut polls) = (Duration::ZERO, 0, 0);
        while now < Duration::from_secs(3600) {
            steps += u64::from(pace.is_due(now));
            now += pace.rest(now) + late(polls);
            polls += 1;
        }
        (steps, pace)
    }

    #[test]
    fn an_hour_of_late_wake_ups_is_72_000_steps() {
        for late_us in [0, 60, 1100, 7000] {
            let (steps, pace) = hour(|poll| Duration::from_micros(late_us * (poll % 3)));
            assert!((71_998..=72_000).contains(&steps), "{steps} steps with wake-ups {late_us} us late");
            assert_eq!(pace.slipped(), Duration::ZERO);
        }
    }

    #[test]
    fn work_of_80_ms_a_step_slows_the_world_and_does_not_pile_up() {
        let mut pace = Pace::new(PERIOD);
        let (mut now, mut steps) = (Duration::ZERO, 0u32);
        while now < Duration::from_secs(60) {
            if pace.is_due(now) {
                steps += 1;
                now += Duration::from_millis(80);
            } else {
                now += pace.rest(now).max(Duration::from_micros(1));
            }
        }
        assert!((745..=751).contains(&steps), "{steps}");
        // And when the work is done it is back on the clock after a few steps, not after a burst of hundreds.
        let behind = (0..1000).take_while(|_| pace.is_due(now)).count();
        assert!(behind <= MOST_LAG as usize + 1, "{behind} steps in a burst");
        assert!(pace.slipped() > Duration::from_secs(20));
    }

    #[test]
    fn the_pace_is_told_in_percent_of_the_clock() {
        for (takes_ms, percent) in
            [(10, 100), (49, 100), (80, 62), (100, 50), (200, 25), (500, 10), (700, 10), (900, 10)]
        {
            let mut pace = Pace::new(PERIOD);
            let mut now = Duration::ZERO;
            while now < Duration::from_secs(20) {
                now += if pace.is_due(now) { Duration::from_millis(takes_ms) } else { pace.rest(now) };
            }
            assert!(pace.percent().abs_diff(percent) <= 1, "{takes_ms} ms: {} %", pace.percent());
        }
    }

    #[test]
    fn full_speed_is_told_within_a_second_of_the_last_slow_step() {
        let mut pace = Pace::new(PERIOD);
        let (mut now, mut told) = (Duration::ZERO, None);
        while now < Duration::from_secs(20) {
            let is_slow = now < Duration::from_secs(10);
            let is_due = pace.is_due(now);
            if is_due && !is_slow && pace.percent() == 100 {
                told.get_or_insert(now);
            }
            now += if is_due && is_slow {
                Duration::from_millis(200)
            } else {
                pace.rest(now).max(Duration::from_micros(1))
            };
        }
        assert!(told.unwrap() < Duration::from_millis(11_100), "{told:?}");
    }

    #[test]
    fn a_leap_of_the_clock_is_no_burst() {
        let mut pace = Pace::new(PERIOD);
        let now = Duration::from_secs(3600);
        let steps = (0..1000).take_while(|_| pace.is_due(now)).count();
        assert!(steps <= MOST_LAG as usize + 1, "{steps}");
    }
}
