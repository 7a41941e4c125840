//! What messages cost, in ops: by the work that each makes at most.

use keel_protocol::{Command, ToServer};

/// Ops a second that a pilot may send for long, and at once.
pub(super) const OPS: (f32, f32) = (20.0, 40.0);

/// What a message of a pilot's costs.
pub(super) const fn cost(message: &ToServer) -> f32 {
    match message {
        ToServer::Op { command, .. } => match command {
            // A way is looked for, over the whole map; or cards are computed, and all that is kept is told anew.
            Command::Move { .. }
            | Command::Rescue { .. }
            | Command::Gather
            | Command::Retreat
            | Command::Fit { .. }
            | Command::Repair { .. }
            | Command::Commission { .. }
            | Command::Scrap { .. } => 2.0,
            // All charters are looked at, and all members told.
            Command::Found { .. } | Command::Leave | Command::Hostile { .. } => 4.0,
            // A map is laid out anew, or filled.
            Command::Force(_) => 10.0,
            _ => 1.0,
        },
        // Two hundred shots.
        ToServer::Log => 10.0,
        ToServer::Who(_) | ToServer::Hello(_) => 1.0,
    }
}
