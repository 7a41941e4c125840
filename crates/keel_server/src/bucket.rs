//! Rates: what may be done for long, and at once.

use std::time::Duration;

/// Fills at a steady rate of real time, up to a measure; what is done takes out of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    level: f32,
    most: f32,
    per_second: f32,
    at: Duration,
}

impl Bucket {
    pub(crate) const fn full(per_second: f32, most: f32, at: Duration) -> Self {
        Self { level: most, most, per_second, at }
    }

    /// Fills it for the time that has passed.
    pub(crate) fn fill(&mut self, now: Duration) {
        let gained = now.saturating_sub(self.at).as_secs_f32() * self.per_second;
        self.level = (self.level + gained).min(self.most);
        self.at = self.at.max(now);
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.level >= self.most
    }

    /// Whether so much can be taken.
    pub(crate) const fn has(&self, cost: f32) -> bool {
        self.level >= cost
    }

    /// Takes so much out of it, if there is so much.
    pub(crate) const fn take(&mut self, cost: f32) -> bool {
        let enough = self.has(cost);
        if enough {
            self.level -= cost;
        }
        enough
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_goes_at_once_and_so_much_for_long() {
        let mut bucket = Bucket::full(20.0, 40.0, Duration::ZERO);
        let mut taken = 0;
        for ms in 0..10_000 {
            bucket.fill(Duration::from_millis(ms));
            taken += u32::from(bucket.take(1.0));
        }
        assert!((238..=240).contains(&taken), "{taken}");
        bucket.fill(Duration::from_secs(60));
        assert!(bucket.is_full() && !bucket.take(41.0) && bucket.take(40.0));
        // A clock that goes back gives nothing.
        bucket.fill(Duration::ZERO);
        bucket.fill(Duration::from_secs(60));
        assert!(!bucket.take(1.0));
    }
}
