//! Stable names. They are the only ones that leave the process; an `Entity` never does.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(
                Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
            )]
            pub struct $name(pub u32);

            impl From<$name> for u64 {
                fn from(id: $name) -> Self {
                    id.0.into()
                }
            }

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }
        )*
    };
}

ids! {
    /// A ship, from 1, in the order in which they came into the world.
    ShipId;
    /// A pilot.
    PilotId;
    /// An NPC squad.
    SquadId;
    /// A charter, from 1, in the order in which they were founded.
    CharterId;
    /// A wormhole, from 1, in the order in which they opened.
    WormholeId;
    /// An incursion, from 1, in the order in which they were announced.
    IncursionId;
    /// A wreck, from 1, in the order in which they came.
    WreckId;
    /// A module in a pilot's hold, from 1, in the order in which they came there.
    ModuleId;
}
