//! What a load is made of: which bot does what.

use std::fmt;
use std::str::FromStr;

use keel_map::MapKey;

/// The layer of big fights: the first on which any pilot may fire on any other.
pub(super) const ARENA: MapKey = MapKey::layer(3);

/// The map of incursions: the one with the most and strongest of them.
pub(super) const INVADED: MapKey = MapKey::rift(6);

/// A load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scenario {
    /// Everyone in one sector, against each other and an incursion.
    BigFight,
    /// Everyone on all twelve maps, against the squads they meet.
    Spread,
    /// Everyone on one course after the other.
    Hop,
    /// Everyone in one transit after the other.
    Jump,
    /// A share of each.
    Mixed,
    /// Everyone against an incursion into Rift 6.
    Incursion,
}

/// What one bot of a load does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Fights whoever is in the arena's one sector.
    Brawl,
    /// Looks for squads on a map and fights them.
    Hunt(MapKey),
    /// Hops from one place to another and fights nobody.
    Hop,
    /// Goes from map to map.
    Jump,
    /// Fights the incursion.
    Raid,
}

impl Scenario {
    const ALL: [(Self, &str); 6] = [
        (Self::BigFight, "big-fight"),
        (Self::Spread, "spread"),
        (Self::Hop, "hop"),
        (Self::Jump, "jump"),
        (Self::Mixed, "mixed"),
        (Self::Incursion, "incursion"),
    ];

    /// The layer where its pilots come into the world, on a server of its own.
    pub(super) const fn layer(self) -> u8 {
        match self {
            // There nobody fires on a pilot, and a lost hull is towed.
            Self::Hop => 1,
            // Ways up and down, and no open fire at the crossings.
            Self::Jump => 2,
            Self::BigFight | Self::Spread | Self::Mixed | Self::Incursion => ARENA.tier,
        }
    }

    /// What its bot of that number, from 0, does.
    pub(super) fn role(self, nth: usize) -> Role {
        let hunt = |nth: usize| Role::Hunt(MapKey::all().nth(nth % MapKey::all().count()).unwrap_or(ARENA));
        match self {
            Self::BigFight => Role::Brawl,
            Self::Spread => hunt(nth),
            Self::Hop => Role::Hop,
            Self::Jump => Role::Jump,
            Self::Incursion => Role::Raid,
            // Of ten, so that every share is there from ten bots on.
            Self::Mixed => match nth % 10 {
                0..4 => Role::Brawl,
                4..6 => hunt(nth / 10 * 2 + nth % 10 - 4),
                6 => Role::Hop,
                7 => Role::Jump,
                _ => Role::Raid,
            },
        }
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.into_iter().find(|(scenario, _)| scenario == self).map_or("", |(_, name)| name);
        f.write_str(name)
    }
}

/// A name that is no scenario's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoScenario(String);

impl fmt::Display for NoScenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Scenario::ALL.map(|(_, name)| name).join(", ");
        write!(f, "there is no scenario {}: scenarios are {names}", self.0)
    }
}

impl std::error::Error for NoScenario {}

impl FromStr for Scenario {
    type Err = NoScenario;

    fn from_str(name: &str) -> Result<Self, NoScenario> {
        let known = Self::ALL.into_iter().find(|(_, known)| *known == name);
        known.map(|(scenario, _)| scenario).ok_or_else(|| NoScenario(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_scenario_goes_by_its_name() {
        for (scenario, name) in Scenario::ALL {
            assert_eq!((scenario.to_string().as_str(), name.parse()), (name, Ok(scenario)));
        }
        let error = "war".parse::<Scenario>().unwrap_err().to_string();
        assert!(error.starts_with("there is no scenario war: scenarios are big-fight, spread, "), "{error}");
    }

    #[test]
    fn twelve_spread_bots_are_on_twelve_maps_and_a_mixed_load_has_every_role() {
        let maps = |scenario: Scenario, count| -> BTreeSet<MapKey> {
            let hunted = (0..count).filter_map(|nth| match scenario.role(nth) {
                Role::Hunt(map) => Some(map),
                _ => None,
            });
            hunted.collect()
        };
        assert_eq!(maps(Scenario::Spread, 12).len(), 12);
        assert_eq!(maps(Scenario::Mixed, 60).len(), 12);
        let roles: Vec<Role> = (0..10).map(|nth| Scenario::Mixed.role(nth)).collect();
        for role in [Role::Brawl, Role::Hop, Role::Jump, Role::Raid] {
            assert!(roles.contains(&role), "{role:?}");
        }
    }
}
