//! Shots go into the combat logs (rule 10): [`SimSet::Record`].

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use keel_rules::Dealt;
use keel_rules::roll::Outcome;

use super::pools::Struck;
use crate::notes::{Note, Noted};
use crate::schedule::{Now, SimSet};
use crate::world::{Contact, PilotIndex, Ship};

pub(crate) struct RecordPlugin;

impl Plugin for RecordPlugin {
    fn build(&self, app: &mut App) {
        app.add_message::<Logged>().add_systems(FixedUpdate, record.in_set(SimSet::Record));
    }
}

/// A shot as a log keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shot {
    /// When.
    pub step: u64,
    /// Who fired.
    pub shooter: Contact,
    /// At whom.
    pub target: Contact,
    /// Hit, miss or crit.
    pub outcome: Outcome,
    /// Damage before edge and resist.
    pub raw: f32,
    /// What it took.
    pub dealt: Dealt,
}

/// A shot has been recorded.
#[derive(Message, Clone, Copy, Debug)]
pub struct Logged(pub Shot);

/// A pilot's last shots, fired and taken.
#[derive(Component, Debug)]
pub struct CombatLog {
    shots: VecDeque<Shot>,
    /// How many there have been, kept or not.
    count: u64,
    most: usize,
}

impl CombatLog {
    pub(crate) fn new(most: usize) -> Self {
        // Room for all of them at once: a fight must not stop to find some.
        Self { shots: VecDeque::with_capacity(most), count: 0, most }
    }

    /// The shots, oldest first.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Shot> {
        self.shots.iter()
    }

    /// How many there have been, kept or not.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// How many are kept.
    pub(crate) const fn most(&self) -> usize {
        self.most
    }

    /// Keeps so many from now on.
    pub(crate) fn resize(&mut self, most: usize) {
        self.shots.drain(..self.shots.len().saturating_sub(most));
        self.shots.reserve_exact(most - self.shots.len());
        self.most = most;
    }

    /// Takes up where the shots so far have left off.
    pub(crate) fn resume(&mut self, count: u64, shots: impl Iterator<Item = Shot>) {
        shots.for_each(|shot| self.push(shot));
        self.count = count;
    }

    fn push(&mut self, shot: Shot) {
        self.count += 1;
        if self.shots.len() == self.most {
            self.shots.pop_front();
        }
        self.shots.push_back(shot);
    }
}

fn record(
    now: Res<Now>,
    pilots: Res<PilotIndex>,
    mut struck: MessageReader<Struck>,
    ships: Query<&Ship>,
    mut logs: Query<&mut CombatLog>,
    mut logged: MessageWriter<Logged>,
    mut notes: MessageWriter<Noted>,
) {
    for &Struck { shooter, target, outcome, raw, dealt } in struck.read() {
        let Ok([shooter, target]) = ships.get_many([shooter, target]) else { continue };
        let shot = Shot { step: now.step(), shooter: shooter.contact(), target: target.contact(), outcome, raw, dealt };
        let (by, at) = (shooter.pilot(), target.pilot());
        for pilot in by.into_iter().chain(at.filter(|&at| Some(at) != by)) {
            if let Some(mut log) = pilots.get(pilot).and_then(|pilot| logs.get_mut(pilot).ok()) {
                log.push(shot);
            }
        }
        notes.write_batch(Noted::ship(shooter, Note::Fired(shot)));
        notes.write_batch(Noted::ship(target, Note::Taken(shot)));
        logged.write(Logged(shot));
    }
}
