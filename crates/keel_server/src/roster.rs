//! Which name is which pilot.

use std::collections::BTreeMap;

use keel_sim::PilotId;

/// What names have in common that are one pilot's: `Ann` and `ann` are one.
pub(crate) fn folded(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// Pilots by their names as [`folded`].
#[derive(Debug, Default)]
pub(crate) struct Roster(BTreeMap<String, PilotId>);

/// The most pilots that a server remembers. Each has a ship that stays in space.
pub(crate) const MOST_PILOTS: usize = 4096;

impl Roster {
    /// The roster of pilots that there are already.
    pub(crate) fn of<'a>(pilots: impl Iterator<Item = (PilotId, &'a str)>) -> Self {
        Self(pilots.map(|(pilot, name)| (folded(name), pilot)).collect())
    }

    /// The pilot of that name, if there is one.
    pub(crate) fn get(&self, name: &str) -> Option<PilotId> {
        self.0.get(&folded(name)).copied()
    }

    /// The pilot of that name, a new one if there is room.
    pub(crate) fn pilot(&mut self, name: &str) -> Option<PilotId> {
        let next = PilotId(self.0.values().map(|pilot| pilot.0).max().unwrap_or_default() + 1);
        let name = folded(name);
        if !self.0.contains_key(&name) && self.0.len() >= MOST_PILOTS {
            return None;
        }
        Some(*self.0.entry(name).or_insert(next))
    }
}
