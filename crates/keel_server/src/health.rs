//! Whether a server is well: what the loop says by going on, and what others may know of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

use crate::admission::Admission;
use crate::stages;

/// How far a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Life {
    /// No step has run yet.
    Starting,
    /// Steps run.
    Running,
    /// It says goodbye, and saves.
    Stopping,
}

/// What the loop says of itself as it goes. Nothing here waits, whoever looks.
#[derive(Debug)]
pub struct Health {
    beats: AtomicU64,
    life: AtomicU8,
    /// The stage that is on, from 1; 0 for none.
    stage: AtomicU8,
    stalled: AtomicBool,
    admission: Arc<Admission>,
}

impl Health {
    pub(crate) fn new(admission: Arc<Admission>) -> Self {
        Self {
            beats: AtomicU64::new(0),
            life: AtomicU8::new(Life::Starting as u8),
            stage: AtomicU8::new(0),
            stalled: AtomicBool::new(false),
            admission,
        }
    }

    /// How often the loop has got on.
    pub(crate) fn beats(&self) -> u64 {
        self.beats.load(Ordering::Relaxed)
    }

    /// A step has run.
    pub(crate) fn step(&self) {
        self.beats.fetch_add(1, Ordering::Relaxed);
        self.life.fetch_max(Life::Running as u8, Ordering::Relaxed);
    }

    pub(crate) fn stop(&self) {
        self.life.store(Life::Stopping as u8, Ordering::Relaxed);
    }

    pub(crate) fn enter(&self, stage: Option<usize>) {
        self.stage.store(stage.map_or(0, |stage| stage as u8 + 1), Ordering::Relaxed);
    }

    /// The stage of a step that the loop is in.
    #[must_use]
    pub fn stage(&self) -> Option<&'static str> {
        let stage = usize::from(self.stage.load(Ordering::Relaxed)).checked_sub(1)?;
        stages::NAMES.get(stage).copied()
    }

    pub(crate) fn set_stalled(&self, stalled: bool) {
        self.stalled.store(stalled, Ordering::Relaxed);
    }

    /// How far the server is.
    #[must_use]
    pub fn life(&self) -> Life {
        match self.life.load(Ordering::Relaxed) {
            0 => Life::Starting,
            1 => Life::Running,
            _ => Life::Stopping,
        }
    }

    /// Whether the loop goes on. One that does not for five seconds is unwell.
    #[must_use]
    pub fn is_well(&self) -> bool {
        !self.stalled.load(Ordering::Relaxed)
    }

    /// Whether pilots may be sent here: steps run, and who comes is let in.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.is_well() && self.life() == Life::Running && self.admission.closed().is_none()
    }
}
