//! What steps cost, for whoever watches a server.
//!
//! The step takes the lock once, for as long as it takes to count three numbers; whoever reads copies them out. Nothing is
//! decided by what stands here.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest span that is told from longer ones, in microseconds: a minute.
const MOST: u64 = 60_000_000;

/// Digits of a span that are right.
const DIGITS: u8 = 3;

/// What a server's steps have cost since the last [`reset`](Gauges::reset).
#[derive(Debug)]
pub struct Gauges(Mutex<Counted>);

#[derive(Debug)]
struct Counted {
    sim: Histogram<u32>,
    telling: Histogram<u32>,
    whole: Histogram<u32>,
    lost: Lost,
    pace: u8,
}

/// What clients did not get, as samples.
#[derive(Clone, Copy, Debug, Default)]
struct Lost {
    sum: f64,
    samples: u32,
}

/// What steps have cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Steps that were run.
    pub steps: u64,
    /// The world's own part of a step.
    pub sim: Quantiles,
    /// Telling everyone: messages, views, and the datagrams that carry them.
    pub telling: Quantiles,
    /// Both.
    pub whole: Quantiles,
    /// The share of datagrams to clients that were not acknowledged, 0 to 1.
    pub lost: f64,
    /// How fast the world went at the last step, in percent of the clock: what clients are told.
    pub pace: u8,
}

/// How long something takes, in microseconds: half of the times at most so long, and so on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quantiles {
    /// The median.
    pub p50: u64,
    /// The 95th percentile.
    pub p95: u64,
    /// The 99th percentile.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

impl Gauges {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Counted { sim: spans(), telling: spans(), whole: spans(), lost: Lost::default(), pace: 100 }))
    }

    /// Counts a step: the world's own part of it, and all of it, in a world that goes at a pace.
    pub(crate) fn count(&self, sim: Duration, whole: Duration, pace: u8) {
        let mut counted = self.counted();
        counted.pace = pace;
        counted.sim.saturating_record(micros(sim));
        counted.telling.saturating_record(micros(whole.saturating_sub(sim)));
        counted.whole.saturating_record(micros(whole));
    }

    /// Counts a sample of the share of datagrams that get lost.
    pub(crate) fn count_lost(&self, share: f64) {
        let lost = &mut self.counted().lost;
        lost.sum += share;
        lost.samples += 1;
    }

    /// Forgets all that was counted.
    pub fn reset(&self) {
        let mut counted = self.counted();
        counted.sim.reset();
        counted.telling.reset();
        counted.whole.reset();
        counted.lost = Lost::default();
    }

    /// What was counted.
    #[must_use]
    pub fn read(&self) -> Figures {
        let counted = self.counted();
        Figures {
            steps: counted.whole.len(),
            sim: quantiles(&counted.sim),
            telling: quantiles(&counted.telling),
            whole: quantiles(&counted.whole),
            lost: counted.lost.sum / f64::from(counted.lost.samples.max(1)),
            pace: counted.pace,
        }
    }

    /// Whoever panicked has left numbers at worst.
    fn counted(&self) -> MutexGuard<'_, Counted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn spans() -> Histogram<u32> {
    Histogram::new_with_bounds(1, MOST, DIGITS).expect("the bounds are sound")
}

fn micros(span: Duration) -> u64 {
    span.as_micros() as u64
}

fn quantiles(spans: &Histogram<u32>) -> Quantiles {
    let at = |quantile| spans.value_at_quantile(quantile);
    Quantiles { p50: at(0.50), p95: at(0.95), p99: at(0.99), max: spans.max() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_steps_are_told_by_their_quantiles_and_forgotten() {
        let gauges = Gauges::new();
        for step in 1..=100 {
            gauges.count(Duration::from_micros(step), Duration::from_micros(3 * step), step as u8);
        }
        gauges.count_lost(0.5);
        gauges.count_lost(0.0);
        let figures = gauges.read();
        assert_eq!((figures.steps, figures.lost, figures.pace), (100, 0.25, 100));
        assert_eq!(figures.sim, Quantiles { p50: 50, p95: 95, p99: 99, max: 100 });
        assert_eq!(figures.telling, Quantiles { p50: 100, p95: 190, p99: 198, max: 200 });
        assert_eq!(figures.whole, Quantiles { p50: 150, p95: 285, p99: 297, max: 300 });
        gauges.reset();
        assert_eq!((gauges.read().steps, gauges.read().whole), (0, Quantiles::default()));
    }

    #[test]
    fn a_step_longer_than_any_is_counted() {
        let gauges = Gauges::new();
        gauges.count(Duration::ZERO, Duration::from_secs(3600), 10);
        assert!(gauges.read().whole.max >= MOST);
    }
}
