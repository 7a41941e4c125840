//! Who is in, for those who let others in.
//!
//! While nobody new is let in, who is in stays so. That is not only whoever is connected: a pilot whose client has crashed, and whose
//! ship stands in space without them, is to get back to it.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use keel_sim::PilotId;

use crate::roster::folded;

/// Those who have come since the start and are in, by name.
#[derive(Debug, Default)]
pub(crate) struct Presence(Mutex<BTreeMap<String, Here>>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Here {
    pilot: PilotId,
    plays: bool,
}

impl Presence {
    /// A pilot plays from now on.
    pub(crate) fn come(&self, name: &str, pilot: PilotId) {
        self.here().insert(folded(name), Here { pilot, plays: true });
    }

    /// A pilot has gone. Where their ships are is seen when they are next [kept](Self::keep).
    pub(crate) fn go(&self, pilot: PilotId) {
        if let Some(here) = self.here().values_mut().find(|here| here.pilot == pilot) {
            here.plays = false;
        }
    }

    /// Forgets those who have gone, but for the pilots that `is_in_space` is true of.
    pub(crate) fn keep(&self, is_in_space: impl Fn(PilotId) -> bool) {
        self.here().retain(|_, here| here.plays || is_in_space(here.pilot));
    }

    /// Whether a pilot is in: plays, or has gone and left a ship in space.
    pub(crate) fn is_in(&self, name: &str) -> bool {
        self.here().contains_key(&folded(name))
    }

    /// Whether a pilot plays.
    pub(crate) fn plays(&self, name: &str) -> bool {
        self.here().get(&folded(name)).is_some_and(|here| here.plays)
    }

    /// Whoever panicked has left a list that is whole.
    fn here(&self) -> MutexGuard<'_, BTreeMap<String, Here>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_gone_is_in_for_as_long_as_a_ship_of_theirs_is_in_space() {
        let presence = Presence::default();
        for (pilot, name) in [(1, "Ann"), (2, "bob"), (3, "eve")] {
            presence.come(name, PilotId(pilot));
        }
        presence.go(PilotId(1));
        presence.go(PilotId(2));
        let state = |name| (presence.is_in(name), presence.plays(name));
        assert_eq!(
            (state("ann"), state("BOB")),
            ((true, false), (true, false)),
            "where their ships are is not seen yet"
        );
        presence.keep(|pilot| pilot == PilotId(1));
        assert_eq!((state("ann"), state("bob"), state("eve")), ((true, false), (false, false), (true, true)));
        presence.come("ANN", PilotId(1));
        presence.keep(|_| false);
        assert_eq!((state("ann"), state("nobody")), ((true, true), (false, false)));
    }
}
