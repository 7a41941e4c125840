//! Which name is which pilot.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

pub(crate) use keel_names::folded;
use keel_names::looks;
use keel_sim::PilotId;
use thiserror::Error;

/// Pilots by name, whatever its case: `Ann` and `ann` are one.
#[derive(Debug, Default)]
pub(crate) struct Roster {
    pilots: BTreeMap<String, PilotId>,
    /// Who has the name that looks so.
    looks: BTreeMap<String, PilotId>,
}

/// The most pilots that a server remembers. Each has a ship that stays in space.
pub(crate) const MOST_PILOTS: usize = 4096;

/// Why a name that is one cannot be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(crate) enum Taken {
    /// There are enough.
    #[error("This server knows {MOST_PILOTS} pilots and has room for no more.")]
    Full,
    /// Nobody could tell the two apart.
    #[error("Your name looks like another pilot's.")]
    Alike,
}

impl Taken {
    /// What a count calls it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Full => "too_many_pilots",
            Self::Alike => "look_alike",
        }
    }
}

impl Roster {
    /// The roster of pilots that there are already.
    pub(crate) fn of<'a>(pilots: impl Iterator<Item = (PilotId, &'a str)>) -> Self {
        let mut roster = Self::default();
        for (pilot, name) in pilots {
            roster.looks.extend(looks(name).map(|look| (look, pilot)));
            roster.pilots.insert(folded(name), pilot);
        }
        roster
    }

    /// The pilot of that name, if there is one.
    pub(crate) fn get(&self, name: &str) -> Option<PilotId> {
        self.pilots.get(&folded(name)).copied()
    }

    /// The pilot of that name: a new one if there is room, and no other whose name looks the same.
    pub(crate) fn pilot(&mut self, name: &str) -> Result<PilotId, Taken> {
        let next = PilotId(self.pilots.values().map(|pilot| pilot.0).max().unwrap_or_default() + 1);
        let is_full = self.pilots.len() >= MOST_PILOTS;
        let vacant = match self.pilots.entry(folded(name)) {
            Entry::Occupied(known) => return Ok(*known.get()),
            Entry::Vacant(_) if is_full => return Err(Taken::Full),
            Entry::Vacant(vacant) => vacant,
        };
        let looks = looks(name);
        if looks.iter().any(|look| self.looks.contains_key(look)) {
            return Err(Taken::Alike);
        }
        self.looks.extend(looks.map(|look| (look, next)));
        Ok(*vacant.insert(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_pilots_whatever_its_case_and_nobody_elses_who_looks_the_same() {
        let mut roster = Roster::default();
        assert_eq!(roster.pilot("Bill"), Ok(PilotId(1)));
        assert_eq!(roster.pilot("bILL"), Ok(PilotId(1)));
        for alike in ["BiIl", "Bi1l", "BilI"] {
            assert_eq!(roster.pilot(alike), Err(Taken::Alike), "{alike}");
        }
        assert_eq!(
            (roster.pilot("Will"), roster.get("WILL"), roster.get("nobody")),
            (Ok(PilotId(2)), Some(PilotId(2)), None)
        );
        assert_eq!((roster.pilot("ace"), roster.pilot("асе")), (Ok(PilotId(3)), Err(Taken::Alike)));
    }

    #[test]
    fn a_roster_that_is_full_takes_no_one_new() {
        let mut roster = Roster::default();
        for n in 0..MOST_PILOTS {
            assert!(roster.pilot(&format!("p{n}")).is_ok(), "{n}");
        }
        assert_eq!(roster.pilot("late"), Err(Taken::Full));
        assert_eq!(roster.pilot("P7"), Ok(PilotId(8)));
    }
}
