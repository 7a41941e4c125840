//! What time it is: for the loop and the network a clock that only goes forward, for storms that of the wall.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The clocks that a server goes by.
pub trait Clock {
    /// Time since some moment of its own, such as the start. It never goes back; it may leap, when the machine has slept.
    fn now(&self) -> Duration;

    /// The clock of the wall, in seconds since 1970, UTC. It may be set to anything at any time.
    fn utc(&self) -> u64;
}

/// The machine's clocks.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock(Instant);

impl SystemClock {
    /// One that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for SystemClock {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn utc(&self) -> u64 {
        utc()
    }
}

/// The clock of the wall, in seconds since 1970; 0 for one that stands before that.
pub(crate) fn utc() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
