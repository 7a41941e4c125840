//! The world as rows that can be kept, and back.
//!
//! A [`Cut`] is the world as it stands between two steps: each row of it says one thing, and names others by their ids. The
//! first cut of a world has every row; each later one has those that have changed since, and says which are gone. What
//! rows are kept in is no business of the sim's: they serialise. [`restore`] makes a world of them that goes on as if it
//! had never stopped: its hash after every further step is the same.

mod cut;
pub(crate) mod pairs;
mod restore;
mod resume;
mod rows;

use std::collections::BTreeMap;

use bevy_ecs::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use restore::{RestoreError, restore};
pub use resume::resume;
use rows::{
    BalanceRow, BondsRow, FoundRow, MapRow, MapSquads, PilotRow, ShipRow, ShotRow, SquadRow, StateRow, StructureRow,
    WorldRow, WreckRow,
};

use crate::bonds::Charter;
use crate::incursions::Incursions;
use crate::pay::{Charts, FairKills};
use crate::world::Hold;
use crate::wormholes::Wormhole;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident($row:ty) = $word:literal,)*) => {
        /// What a row is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// What it is called where rows are kept.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$kind => $word,)*
                }
            }
        }

        #[derive(Clone, Debug)]
        enum Said {
            $($kind(Box<$row>),)*
        }

        impl Row {
            /// Reads a row of that kind.
            ///
            /// # Errors
            /// When it says something else than a row of that kind does.
            pub fn read<'de, D: Deserializer<'de>>(kind: Kind, deserializer: D) -> Result<Self, D::Error> {
                Ok(Self(match kind {
                    $(Kind::$kind => Said::$kind(Box::new(Deserialize::deserialize(deserializer)?)),)*
                }))
            }
        }

        impl Serialize for Row {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match &self.0 {
                    $(Said::$kind(row) => row.serialize(serializer),)*
                }
            }
        }

        $(
            impl From<$row> for Row {
                fn from(row: $row) -> Self {
                    Self(Said::$kind(Box::new(row)))
                }
            }
        )*
    };
}

kinds! {
    /// The world's own time, numbers and chances. There is one, of id 0.
    World(WorldRow) = "world",
    /// The balance that the world goes by. There is one row, of id 0.
    Balance(BalanceRow) = "balance",
    /// A map's sectors, by the map's code.
    Map(MapRow) = "map",
    /// A map's squads, by the map's code.
    Squads(MapSquads) = "squads",
    /// A pilot, by their id.
    Pilot(PilotRow) = "pilot",
    /// The modules that a pilot keeps, by the pilot's id.
    Hold(Hold) = "hold",
    /// What a pilot has charted, by the pilot's id.
    Charts(Charts) = "charts",
    /// The ends of wormholes that a pilot has found, by the pilot's id.
    Found(FoundRow) = "found",
    /// A shot of a pilot's combat log, by the pilot's id and its place in the log.
    Shot(ShotRow) = "shot",
    /// What a ship is, by its id.
    Ship(ShipRow) = "ship",
    /// How a ship is, by its id.
    State(StateRow) = "state",
    /// An NPC squad, by its id.
    Squad(SquadRow) = "squad",
    /// A structure, by its ship's id.
    Structure(StructureRow) = "structure",
    /// A wreck, by its id.
    Wreck(WreckRow) = "wreck",
    /// A wormhole, by its id.
    Wormhole(Wormhole) = "wormhole",
    /// Every incursion. There is one row, of id 0.
    Incursions(Incursions) = "incursions",
    /// Duels. There is one row, of id 0.
    Bonds(BondsRow) = "bonds",
    /// A charter, by its id.
    Charter(Charter) = "charter",
    /// Kills that were paid for. There is one row, of id 0.
    Kills(FairKills) = "kills",
}

impl Kind {
    /// The kind of that name.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.word() == word)
    }
}

/// What one row says.
#[derive(Clone, Debug)]
pub struct Row(Said);

/// The name of a row: what it is about, and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What it is about.
    pub kind: Kind,
    /// Whose it is.
    pub id: u64,
}

/// The world after a step, or what has changed in it since an earlier cut.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The last step that it has.
    pub step: u64,
    /// Whether it has all that there is: what it does not name is not there.
    pub is_whole: bool,
    /// Rows that are new or have changed; `None` for those that are gone.
    pub rows: BTreeMap<Key, Option<Row>>,
}

impl Cut {
    /// Takes in what has changed since.
    pub fn merge(&mut self, newer: Self) {
        if newer.is_whole {
            *self = newer;
            return;
        }
        self.step = newer.step;
        for (key, row) in newer.rows {
            // What is not in a whole cut is gone as it is.
            if row.is_none() && self.is_whole {
                self.rows.remove(&key);
            } else {
                self.rows.insert(key, row);
            }
        }
    }
}

/// The world as it stands, or what has changed in it since this was last asked: between two steps.
///
/// A row costs a copy of what it says. What has not changed costs a look at its change ticks.
pub fn changes(world: &mut World) -> Cut {
    cut(world, false)
}

/// The world as it stands, with all that there is in it.
pub fn whole(world: &mut World) -> Cut {
    cut(world, true)
}

fn cut(world: &mut World, asks_for_all: bool) -> Cut {
    world
        .run_system_cached_with(cut::cut, asks_for_all)
        .unwrap_or_else(|error| unreachable!("a cut needs nothing that a world lacks: {error}"))
}
