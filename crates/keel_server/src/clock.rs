//! What time it is: for the loop and the network a clock that only goes forward, for storms that of the wall.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The clocks that a server goes by.
pub trait Clock {
    /// Time since some moment of its own, such as the start. It never goes back; it may leap, when the machine has slept.
    fn now(&self) -> Duration;

    /// The clock of the wall that storms go by, in seconds since 1970, UTC. It may be set to anything at any time.
    fn utc(&self) -> u64;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    start: Instant,
    /// What storms take the start for; `None` where they go by the machine's clock of the wall.
    storms: Option<u64>,
}

impl SystemClock {
    /// One that begins now, and that storms may take for another time: seconds since 1970, UTC.
    #[must_use]
    pub fn start(storms: Option<u64>) -> Self {
        Self { start: Instant::now(), storms }
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn utc(&self) -> u64 {
        self.storms.map_or_else(utc, |start| start.saturating_add(self.now().as_secs()))
    }
}

/// The time of the network since the start, as the transport's last poll has it, for other threads to read: to the microsecond.
#[derive(Clone, Debug, Default)]
pub(crate) struct NetworkTime(Arc<AtomicU64>);

impl NetworkTime {
    pub(crate) fn get(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    pub(crate) fn set(&self, now: Duration) {
        self.0.store(u64::try_from(now.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// The clock of the wall, in seconds since 1970; 0 for one that stands before that.
pub(crate) fn utc() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
