//! What pilots may order, and the answers: the way in for all that comes from outside a step.

mod done;
mod op;
mod refusal;

pub use done::Done;
pub use op::{Force, Op, OperatorOps, Part, Way};
pub use refusal::Refusal;

use bevy_ecs::prelude::*;

use crate::ids::{PilotId, ShipId};
use crate::minds::Act;

/// A pilot's op, with the number by which the pilot knows its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    pub(crate) leaves: Vec<PilotId>,
    pub(crate) pilots: Vec<Order>,
    /// What operators have happen, each with the number that its answer carries.
    pub(crate) operators: Vec<(u32, Force)>,
    /// What minds decided in the last step.
    pub(crate) minds: Vec<(ShipId, Act)>,
}

impl Orders {
    /// A pilot is here. One who is new gets a ship; one who is known finds theirs as it is.
    pub fn join(&mut self, pilot: PilotId, name: impl Into<String>) {
        self.leaves.retain(|&leaves| leaves != pilot);
        self.joins.push((pilot, name.into()));
    }

    /// A pilot has gone. Their ships at a Haven or berth dock; the others stay in space.
    pub fn leave(&mut self, pilot: PilotId) {
        self.joins.retain(|&(joins, _)| joins != pilot);
        self.leaves.push(pilot);
    }

    /// An operator has something happen, whatever pilots may. `ticket` is the number that its [`crate::Operated`] carries.
    pub fn operate(&mut self, ticket: u32, force: Force) {
        self.operators.push((ticket, force));
    }

    /// Orders that wait for the next step.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.pilots.len() + self.operators.len()
    }

    /// What minds decided in the last step, by the ships' ids: that is how it is carried out.
    pub(crate) fn decided(&self) -> Vec<(ShipId, Act)> {
        let mut decided = self.minds.clone();
        decided.sort_by_key(|(ship, _)| *ship);
        decided
    }

    /// What a pilot has ordered and no step has done yet is not to be done.
    pub fn forget(&mut self, pilot: PilotId) {
        self.pilots.retain(|order| order.pilot != pilot);
    }

    /// A pilot orders something.
    pub fn push(&mut self, order: Order) {
        self.pilots.push(order);
    }
}
