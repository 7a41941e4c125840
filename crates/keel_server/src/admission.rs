//! Whether new logins are let in, and if not, why.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why nobody new is let in. Who is in stays, and whose client has crashed is in for as long as their ship plays on without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bar {
    /// The operator lets the server run empty.
    Draining,
    /// What happens cannot be saved, so it might be lost.
    Unsaved,
}

/// What a server's logins and greetings go by, whoever sets it. While several bars are up the first is told.
#[derive(Debug, Default)]
pub struct Admission(Mutex<BTreeMap<Bar, String>>);

impl Admission {
    /// Lets nobody new in, and tells them why in a sentence.
    pub fn close(&self, bar: Bar, reason: impl Into<String>) {
        self.bars().insert(bar, reason.into());
    }

    /// Takes a bar away.
    pub fn open(&self, bar: Bar) {
        self.bars().remove(&bar);
    }

    /// Why nobody new is let in; `None` when they are.
    #[must_use]
    pub fn closed(&self) -> Option<String> {
        self.bars().values().next().cloned()
    }

    /// Whoever panicked has left a list that is whole.
    fn bars(&self) -> MutexGuard<'_, BTreeMap<Bar, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_bar_is_taken_away_by_itself() {
        let admission = Admission::default();
        assert_eq!(admission.closed(), None);
        admission.close(Bar::Unsaved, "The disk is full.");
        admission.close(Bar::Draining, "The server stops at noon.");
        assert_eq!(admission.closed().as_deref(), Some("The server stops at noon."));
        admission.open(Bar::Draining);
        assert_eq!(admission.closed().as_deref(), Some("The disk is full."));
        admission.open(Bar::Unsaved);
        assert_eq!(admission.closed(), None);
    }
}
