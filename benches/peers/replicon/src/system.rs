//! What is measured, whichever system does it.

use std::time::Duration;

/// A server with its world and all its clients, which shows them each step of a [`Workload`](crate::workload::Workload).
pub(crate) trait System {
    /// What it is called.
    fn name(&self) -> &str;

    /// Does to its world what the workload says of `step`, shows it to every client, and lets each acknowledge what it was
    /// sent in time for the next step. Steps come one after the other from [`FIRST_STEP`](crate::workload::FIRST_STEP); in that
    /// first one clients see the world for the first time.
    fn step(&mut self, step: u64) -> Measured;
}

/// What one step took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Measured {
    /// Time to collect, encode and hand over to the transport what all clients are sent: neither the change of the world nor
    /// the transport's work, encryption or the clients'.
    pub(crate) time: Duration,
    /// Time to take in what all clients acknowledged of the step before.
    pub(crate) acks: Duration,
    /// Payload handed over for all clients and channels, in bytes.
    pub(crate) bytes: u64,
}
