//! The last net.
//!
//! What clients send is checked before it is used, so nothing below panics. If something does all the same, it is a fault of
//! the server's, and one client's session is what it may cost: the work for that client is broken off, the fault is in the log
//! and counted, and whoever called puts the client out with all that was kept of it. Work that is given here touches what is that
//! client's, and things that are whole between any two calls (the queue of orders, the roster).

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_log::error;
use prometheus_client::metrics::counter::Counter;

/// Catches who falls. All that are cloned from one count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct LastNet {
    falls: Counter,
}

impl LastNet {
    /// Does something for somebody; `None` if it panicked.
    pub(crate) fn catch<T>(&self, who: impl Display, work: impl FnOnce() -> T) -> Option<T> {
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(done) => Some(done),
            Err(panic) => {
                self.falls.inc();
                let words = panic.downcast_ref::<String>().map(String::as_str);
                let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
                error!(%who, words, "a fault of this server's: handling what a client sent panicked");
                None
            }
        }
    }

    /// What counts those who fell.
    pub(crate) const fn falls(&self) -> &Counter {
        &self.falls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_falls_is_caught_and_counted() {
        let net = LastNet::default();
        assert_eq!(net.catch("ann", || 7), Some(7));
        assert_eq!(net.falls.get(), 0);
        assert_eq!(net.clone().catch("bob", || -> u8 { panic!("with {}", "words") }), None);
        assert_eq!(net.catch("eve", || -> u8 { panic!("without") }), None);
        assert_eq!(net.falls.get(), 2);
    }
}
