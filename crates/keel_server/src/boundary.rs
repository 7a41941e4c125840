//! The last net.
//!
//! What clients send is checked before it is used, so nothing below panics. If something does all the same, it is a fault of
//! the server's, and one client's session is what it may cost: the work for that client is broken off, the fault is in the log,
//! and whoever called puts the client out with all that was kept of it. Work that is given here touches what is that client's, and
//! things that are whole between any two calls (the queue of orders, the roster).

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bevy_log::error;

/// Does something for somebody; `None` if it panicked.
pub(crate) fn last_net<T>(who: impl Display, work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(done) => Some(done),
        Err(panic) => {
            let words = panic.downcast_ref::<String>().map(String::as_str);
            let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
            error!(%who, words, "a fault of this server's: handling what a client sent panicked");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_falls_is_caught() {
        assert_eq!(last_net("ann", || 7), Some(7));
        assert_eq!(last_net("bob", || -> u8 { panic!("with {}", "words") }), None);
        assert_eq!(last_net("eve", || -> u8 { panic!("without") }), None);
    }
}
