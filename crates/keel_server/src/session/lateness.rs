//! How long ago a step was, by the clock: in a world that is slowed down steps say little of time.

use std::collections::VecDeque;
use std::time::Duration;

/// Steps of which it is remembered when they ran: fifty seconds of them, or more.
const MOST: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Lateness(VecDeque<Duration>);

impl Lateness {
    /// A step has run.
    pub(super) fn ran(&mut self, now: Duration) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(now);
    }

    /// How long ago the step ran that was so many before the last one; for one that is forgotten, the first that is not.
    pub(super) fn since(&self, steps: u64, now: Duration) -> Duration {
        let last = self.0.len().saturating_sub(1);
        let index = last.saturating_sub(usize::try_from(steps).unwrap_or(last));
        self.0.get(index).map_or(Duration::ZERO, |&at| now.saturating_sub(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_as_late_as_the_clock_says() {
        let mut lateness = Lateness::default();
        assert_eq!(lateness.since(7, Duration::from_secs(9)), Duration::ZERO);
        for step in 0..2_000 {
            lateness.ran(Duration::from_millis(500 * step));
        }
        let now = Duration::from_millis(500 * 1999);
        assert_eq!(lateness.since(0, now), Duration::ZERO);
        assert_eq!(lateness.since(16, now + Duration::from_millis(3)), Duration::from_millis(8_003));
        assert_eq!(lateness.since(u64::MAX, now), Duration::from_millis(500 * 1023));
    }
}
