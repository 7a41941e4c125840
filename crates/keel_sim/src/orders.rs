//! What pilots and minds may order, and the answers.

use std::fmt;

use bevy_ecs::prelude::*;
use keel_map::Hex;
use keel_rules::fire::Forbidden;
use keel_rules::{Micros, Moment};
use thiserror::Error;

use crate::ids::{PilotId, ShipId};

/// An order to one ship.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Go to a sector by the shortest way.
    Move {
        /// The ship.
        ship: ShipId,
        /// Where to.
        to: Hex,
    },
    /// Stop: in the window at once, later after the hop that runs.
    Cancel {
        /// The ship.
        ship: ShipId,
    },
    /// Lock and fire, with the pilot's other ships in the sector.
    Attack {
        /// The ship.
        ship: ShipId,
        /// At which ship.
        target: ShipId,
    },
    /// Lock and fire alone.
    Focus {
        /// The ship.
        ship: ShipId,
        /// At which ship.
        target: ShipId,
    },
    /// Drop the lock and hold fire.
    Hold {
        /// The ship.
        ship: ShipId,
    },
}

/// A pilot's op, with the number by which the pilot knows its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// Who orders.
    pub pilot: PilotId,
    /// The pilot's own number for it.
    pub seq: u32,
    /// What.
    pub op: Op,
}

/// The way in for all that comes from outside a step. What is pushed here is applied in the next step, exactly once,
/// however often or seldom a step runs.
#[derive(Resource, Debug, Default)]
pub struct Orders {
    pub(crate) joins: Vec<(PilotId, String)>,
    pub(crate) pilots: Vec<Order>,
    /// What NPCs decided in the last step.
    pub(crate) minds: Vec<Op>,
}

impl Orders {
    /// A pilot is here. One who is new gets a ship; one who is known finds theirs as it is.
    pub fn join(&mut self, pilot: PilotId, name: impl Into<String>) {
        self.joins.push((pilot, name.into()));
    }

    /// A pilot orders something.
    pub fn push(&mut self, order: Order) {
        self.pilots.push(order);
    }
}

/// What an op that was accepted does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Done {
    /// The ship is under way.
    Course {
        /// In how many hops.
        hops: u16,
        /// Until it is there.
        takes: Micros,
        /// When it is there.
        arrives: Moment,
    },
    /// The ship stays where it is.
    Stopped,
    /// The hop that runs can no longer be cancelled; the ship stops after it.
    Stopping,
    /// The lock runs.
    Locking {
        /// For how long.
        takes: Micros,
    },
    /// The target is locked, or the lock runs, already: nothing changed.
    AlreadyLocked,
    /// The guns are silent.
    Held,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Course { hops: 1, takes, .. } => write!(f, "Under way. 1 hop, {takes:.2} s."),
            Self::Course { hops, takes, .. } => write!(f, "Under way. {hops} hops, {takes:.2} s."),
            Self::Stopped => f.write_str("Stopped."),
            Self::Stopping => f.write_str("Stopping after this hop."),
            Self::Locking { takes } => write!(f, "Locking. {takes:.2} s."),
            Self::AlreadyLocked => f.write_str("That ship is your target already."),
            Self::Held => f.write_str("Holding fire."),
        }
    }
}

/// Why an op was refused. It changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The pilot is not in the world.
    #[error("You are not in this world.")]
    UnknownPilot,
    /// The ship is not in the world.
    #[error("You have no such ship.")]
    UnknownShip,
    /// The ship is another's.
    #[error("That is not your ship.")]
    NotYours,
    /// The target is not in the world, or nowhere that the pilot can see.
    #[error("There is no such target.")]
    UnknownTarget,
    /// A lock needs the target in the same sector.
    #[error("That ship is not in your sector.")]
    OtherSector,
    /// The target's arrival flag stands.
    #[error("That ship just jumped in. It cannot be locked yet.")]
    TargetArriving,
    /// The ship's own flag stands, and does not end early.
    #[error("This ship just jumped in. Its guns stay quiet.")]
    Arriving,
    /// A lock needs a weapon.
    #[error("This ship has no weapon fitted.")]
    NoWeapon,
    /// The rules of who may fire on whom.
    #[error("{0}")]
    Forbidden(#[from] Forbidden),
    /// The map has no such sector.
    #[error("There is no such sector.")]
    UnknownSector,
    /// No way leads there.
    #[error("No way leads there.")]
    NoWay,
    /// The ship is there.
    #[error("The ship is there already.")]
    AlreadyThere,
    /// The ship is not under way.
    #[error("There is nothing to cancel.")]
    NothingToCancel,
    /// The last hop runs.
    #[error("This hop can no longer be cancelled.")]
    TooLate,
}
