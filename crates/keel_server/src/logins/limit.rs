//! How often whoever may try.

use std::collections::BTreeMap;
use std::time::Duration;

/// Those that are remembered. Beyond that newcomers share one bucket until there is room.
const MOST: usize = 16 * 1024;

/// Between two looks at who need not be remembered any more.
const PRUNED_EVERY: Duration = Duration::from_secs(1);

/// A bucket for each of many, which fills steadily, and out of which each try takes what it costs.
#[derive(Debug)]
pub(super) struct Limit<K> {
    full: f32,
    per_second: f32,
    buckets: BTreeMap<K, Bucket>,
    others: Bucket,
    pruned: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    level: f32,
    at: Duration,
}

impl<K: Ord + Clone> Limit<K> {
    /// So much at once, and so much a second for long.
    pub(super) const fn new(full: f32, per_second: f32) -> Self {
        let others = Bucket { level: full, at: Duration::ZERO };
        Self { full, per_second, buckets: BTreeMap::new(), others, pruned: Duration::ZERO }
    }

    /// Whether a try can be paid, at a time since the start. Who `is_known` does not share what newcomers have.
    ///
    /// # Errors
    /// With how long it takes until it can, when it cannot.
    pub(super) fn check(&mut self, key: &K, cost: f32, now: Duration, is_known: bool) -> Result<(), Duration> {
        let (full, per_second) = (self.full, self.per_second);
        let bucket = self.make(key, now, is_known);
        let passed = now.saturating_sub(bucket.at).as_secs_f32();
        *bucket = Bucket { level: (bucket.level + passed * per_second).min(full), at: now };
        if bucket.level < cost {
            return Err(Duration::from_secs_f32((cost - bucket.level) / per_second));
        }
        Ok(())
    }

    /// Takes what a try costs, once it was [checked](Self::check).
    pub(super) fn take(&mut self, key: &K, cost: f32) {
        let bucket = self.buckets.get_mut(key).unwrap_or(&mut self.others);
        bucket.level = (bucket.level - cost).max(0.0);
    }

    /// Gives back what was taken for nothing.
    pub(super) fn give_back(&mut self, key: &K, cost: f32) {
        if let Some(bucket) = self.buckets.get_mut(key) {
            bucket.level = (bucket.level + cost).min(self.full);
        }
    }

    /// The bucket of a key. Those who are known are few, and have their own also where there is no room for others.
    fn make(&mut self, key: &K, now: Duration, is_known: bool) -> &mut Bucket {
        let (full, per_second) = (self.full, self.per_second);
        if self.buckets.len() >= MOST && !is_known && !self.buckets.contains_key(key) {
            if now >= self.pruned + PRUNED_EVERY {
                self.pruned = now;
                // One that is full again is as good as new.
                self.buckets
                    .retain(|_, bucket| bucket.level + now.saturating_sub(bucket.at).as_secs_f32() * per_second < full);
            }
            if self.buckets.len() >= MOST {
                return &mut self.others;
            }
        }
        self.buckets.entry(key.clone()).or_insert(Bucket { level: full, at: now })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn take(limit: &mut Limit<u32>, key: &u32, cost: f32, now: Duration) -> Result<(), Duration> {
        limit.check(key, cost, now, false)?;
        limit.take(key, cost);
        Ok(())
    }

    #[test]
    fn so_many_at_once_and_so_many_a_second() {
        let mut limit = Limit::new(10.0, 0.5);
        for _ in 0..10 {
            assert_eq!(take(&mut limit, &1, 1.0, at(100)), Ok(()));
        }
        assert_eq!(take(&mut limit, &1, 1.0, at(100)), Err(at(2)), "and says when to try again");
        assert_eq!(take(&mut limit, &2, 1.0, at(100)), Ok(()), "each has its own");
        assert_eq!(take(&mut limit, &1, 1.0, at(102)), Ok(()));
        assert_eq!(take(&mut limit, &1, 1.0, at(103)), Err(at(1)));
        limit.give_back(&1, 3.0);
        assert_eq!(take(&mut limit, &1, 3.0, at(103)), Ok(()));
        assert_eq!(take(&mut limit, &1, 10.0, at(10_000)), Ok(()), "it never holds more than at first");
        assert!(take(&mut limit, &1, 0.5, at(10_000)).is_err());
        assert!(take(&mut limit, &1, 0.5, at(1)).is_err(), "a time before is no gain");
    }

    #[test]
    fn a_million_strangers_take_no_more_room_and_cost_nobody_who_is_known() {
        let mut limit = Limit::new(10.0, 0.5);
        for stranger in 0..1_000_000u32 {
            let _ = take(&mut limit, &stranger, 1.0, Duration::from_micros(stranger.into()));
        }
        assert!(limit.buckets.len() <= MOST);
        assert_eq!(take(&mut limit, &1, 1.0, at(1)), Ok(()));
        assert!(take(&mut limit, &5_000_000, 5.0, at(1)).is_err(), "newcomers share what is left");
        assert_eq!(take(&mut limit, &5_000_000, 5.0, at(60)), Ok(()), "until the others are forgotten");
    }
}
