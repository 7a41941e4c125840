//! The world's time between snapshots.

use std::time::{Duration, Instant};

use keel_protocol::{LEAST_PACE, STEP_MICROS};

/// How far the clock runs on when nothing comes, in microseconds.
const MOST_AHEAD: u64 = 1_000_000;

/// Off by more than this it is set anew, rather than brought back.
const MOST_ERROR: f64 = 1_000_000.0;

/// The error that it makes good in one second, and how much faster or slower it goes for that at most.
const MADE_GOOD: f64 = 500_000.0;
const MOST_SLEW: f64 = 0.5;

/// Follows the server's steps at the pace that it tells. Snapshots come early and late; the clock never jumps for that and
/// never goes back, it goes a little faster or slower.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// The world's time at an instant, in microseconds.
    time: f64,
    at: Instant,
    /// Microseconds of the world's time in one.
    rate: f64,
    newest: u64,
}

impl Clock {
    pub(super) fn new(step: u64, pace: u8, at: Instant) -> Self {
        Self { time: moment(step) as f64, at, rate: share(pace), newest: step }
    }

    /// A snapshot of a step has come, of a world that goes at so many percent.
    pub(super) fn hear(&mut self, step: u64, pace: u8, at: Instant) {
        if step <= self.newest {
            return;
        }
        self.newest = step;
        let told = moment(step) as f64;
        self.time = self.run(at);
        self.at = at;
        let error = told - self.time;
        if error.abs() > MOST_ERROR {
            self.time = told;
        }
        let slew = (error / MADE_GOOD).clamp(-MOST_SLEW, MOST_SLEW);
        self.rate = share(pace) * (1.0 + slew);
    }

    fn run(&self, at: Instant) -> f64 {
        self.time + at.saturating_duration_since(self.at).as_micros() as f64 * self.rate
    }

    /// The world's time at an instant, in microseconds.
    pub(super) fn time(&self, at: Instant) -> u64 {
        (self.run(at) as u64).min(moment(self.newest).saturating_add(MOST_AHEAD))
    }

    /// For how long nothing new has come.
    pub(super) fn silence(&self, at: Instant) -> Duration {
        at.saturating_duration_since(self.at)
    }
}

const fn moment(step: u64) -> u64 {
    step.saturating_mul(STEP_MICROS)
}

fn share(pace: u8) -> f64 {
    f64::from(pace.clamp(LEAST_PACE, 100)) / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hears steps that come late by what `late_ms` gives, at a pace, and looks at the clock each 5 ms: the greatest error
    /// after the first two seconds and the greatest step between looks, in milliseconds.
    fn follow(pace: u8, late_ms: impl Fn(u64) -> Option<u64>) -> (i64, u64) {
        let start = Instant::now();
        let every = 5000 / u64::from(pace);
        let mut arrivals: Vec<(u64, u64)> =
            (1..400).filter_map(|step| Some((step * every + late_ms(step)?, step))).collect();
        arrivals.sort_unstable();
        let mut arrivals = arrivals.into_iter().peekable();
        let (mut clock, mut last) = (None::<Clock>, None::<u64>);
        let (mut worst, mut jump) = (0, 0);
        for look in 0..399 * every / 5 {
            let ms = look * 5;
            let at = start + Duration::from_millis(ms);
            while let Some((_, step)) = arrivals.next_if(|(due, _)| *due <= ms) {
                clock.get_or_insert_with(|| Clock::new(step, pace, at)).hear(step, pace, at);
            }
            let Some(clock) = clock else { continue };
            let time = clock.time(at) / 1000;
            assert!(last.is_none_or(|last| time >= last), "time goes back");
            jump = jump.max(time - last.unwrap_or(time));
            last = Some(time);
            if ms > 2000 {
                let right = ms * 50 / every;
                worst = worst.max((time as i64 - right as i64).abs());
            }
        }
        (worst, jump)
    }

    #[test]
    fn a_late_snapshot_is_no_jump() {
        let (worst, jump) = follow(100, |step| Some(20 + if step % 40 == 0 { 300 } else { 0 }));
        assert!(worst <= 80 && jump <= 8, "{worst} ms off, {jump} ms in 5");
    }

    #[test]
    fn jitter_and_loss_are_no_jumps() {
        let (worst, jump) = follow(100, |step| (step % 3 != 0).then_some(step * 7919 % 300));
        assert!(worst <= 300 && jump <= 8, "{worst} ms off, {jump} ms in 5");
    }

    #[test]
    fn a_world_that_slows_down_is_followed() {
        for pace in [10, 50, 90] {
            let (worst, jump) = follow(pace, |_| Some(20));
            assert!(worst <= 60 && jump <= 8, "{pace} %: {worst} ms off, {jump} ms in 5");
        }
    }

    #[test]
    fn a_server_that_stops_stops_the_clock_and_one_that_is_far_ahead_sets_it() {
        let start = Instant::now();
        let mut clock = Clock::new(100, 100, start);
        let at = start + Duration::from_secs(60);
        assert_eq!(clock.time(at), 100 * STEP_MICROS + MOST_AHEAD);
        clock.hear(5000, 100, at);
        assert_eq!(clock.time(at), 5000 * STEP_MICROS);
    }
}
