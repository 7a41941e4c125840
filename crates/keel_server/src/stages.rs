//! What each stage of a step takes, and which one is on.
//!
//! Between the phases of the world stand systems that look at the clock. The world does not: nothing that they write is read by a
//! rule.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_sim::SimSet;

use crate::health::Health;

/// The world's phases, in order.
const PHASES: [SimSet; 12] = [
    SimSet::Ops,
    SimSet::Movement,
    SimSet::Lock,
    SimSet::Cycle,
    SimSet::Roll,
    SimSet::Pools,
    SimSet::Record,
    SimSet::Clocks,
    SimSet::Expiry,
    SimSet::Minds,
    SimSet::World,
    SimSet::Replicate,
];

/// All stages of a step by name: the world's phases, then what the loop does about it.
pub(crate) const NAMES: [&str; 15] = [
    "ops",
    "movement",
    "lock",
    "cycle",
    "roll",
    "pools",
    "record",
    "clocks",
    "expiry",
    "minds",
    "world",
    "replicate",
    "telling",
    "sending",
    "keeping",
];

/// Messages and views are written.
pub(crate) const TELLING: usize = 12;

/// What is written is sent.
pub(crate) const SENDING: usize = 13;

/// What has changed is handed to the save.
pub(crate) const KEEPING: usize = 14;

/// A clock that is stopped at the end of each stage.
#[derive(Resource, Debug)]
pub(crate) struct Stages {
    began: Instant,
    on: Option<usize>,
    took: [Duration; NAMES.len()],
    health: Arc<Health>,
}

impl Stages {
    /// A stage begins, and the one before is over.
    pub(crate) fn enter(&mut self, stage: usize) {
        self.mark(Some(stage));
    }

    /// The last one is over.
    pub(crate) fn end(&mut self) {
        self.mark(None);
    }

    fn mark(&mut self, next: Option<usize>) {
        let now = Instant::now();
        if let Some(on) = self.on {
            self.took[on] = now - self.began;
        }
        (self.began, self.on) = (now, next);
        self.health.enter(next);
    }

    /// What each stage of the last step took.
    pub(crate) const fn took(&self) -> &[Duration] {
        &self.took
    }
}

/// Has the phases of an app's world timed.
pub(crate) fn time(app: &mut App, health: Arc<Health>) {
    app.insert_resource(Stages { began: Instant::now(), on: None, took: Default::default(), health });
    for (stage, phase) in PHASES.into_iter().enumerate() {
        let mark = (move |mut stages: ResMut<Stages>| stages.enter(stage)).before(phase);
        match stage.checked_sub(1) {
            Some(before) => app.add_systems(FixedUpdate, mark.after(PHASES[before])),
            None => app.add_systems(FixedUpdate, mark),
        };
    }
    let end = (|mut stages: ResMut<Stages>| stages.end()).after(SimSet::Replicate);
    app.add_systems(FixedUpdate, end);
}
