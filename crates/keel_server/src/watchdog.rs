//! A thread that watches whether the loop goes on.
//!
//! It counts its own looks, not time: a machine that slept, or a process that was stopped, has looked once in all that while, and
//! the loop has its seconds after it. So no clock can make a server look hung.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use bevy_log::{error, info};

use crate::health::{Health, Life};

/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// Looks without a step between them after which the server is unwell, and after which it is given up: within 5 and 15 s, with
/// the time that it takes to write down what the threads are at.
const UNWELL: u32 = 18;
const HUNG: u32 = 48;

/// What the watchdog sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vital {
    /// The first step has run.
    Ready,
    /// The loop goes on. Said at each look.
    Well,
    /// The loop does not go on.
    Unwell,
    /// The server stops.
    Stopping,
    /// The loop has not gone on for so long that it never will. Said once.
    Hung,
}

/// What was seen of the loop so far.
#[derive(Debug, Default)]
struct Watch {
    beats: u64,
    idle: u32,
    life: Option<Life>,
}

impl Watch {
    /// Looks once: how far the server is, and how often the loop has gone on.
    fn look(&mut self, life: Life, beats: u64) -> Vital {
        let (went_on, changed) = (beats != self.beats, self.life.replace(life) != Some(life));
        self.beats = beats;
        self.idle = if went_on || changed { 0 } else { self.idle.saturating_add(1) };
        match life {
            _ if self.idle == HUNG => Vital::Hung,
            // A stop has no steps, and its own time.
            Life::Starting | Life::Running if self.idle >= UNWELL => Vital::Unwell,
            Life::Running if changed => Vital::Ready,
            Life::Stopping if changed => Vital::Stopping,
            _ => Vital::Well,
        }
    }
}

/// Watches until it is dropped.
#[derive(Debug)]
pub struct Watchdog {
    stop: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Watches the loop of a server from a thread named `watchdog`, which says what it sees to `tell`.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(health: Arc<Health>, mut tell: impl FnMut(Vital) + Send + 'static) -> io::Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let run = move || {
            let (mut watch, mut was_well) = (Watch::default(), true);
            while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                let vital = watch.look(health.life(), health.beats());
                let is_well = !matches!(vital, Vital::Unwell | Vital::Hung);
                health.set_stalled(!is_well);
                let stage = health.stage().unwrap_or("none");
                // First: to log is to wait for others.
                tell(vital);
                match (was_well, is_well) {
                    (true, false) => error!(stage, "no step for five seconds"),
                    (false, true) => info!("steps run again"),
                    _ => {}
                }
                was_well = is_well;
            }
            // A stop that took less than a look.
            if watch.life != Some(Life::Stopping) && health.life() == Life::Stopping {
                tell(Vital::Stopping);
            }
        };
        let thread = std::thread::Builder::new().name("watchdog".to_owned()).spawn(run)?;
        Ok(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_stops_is_unwell_within_5_s_and_given_up_within_15_once() {
        let mut watch = Watch::default();
        assert_eq!(watch.look(Life::Starting, 0), Vital::Well);
        assert_eq!(watch.look(Life::Running, 1), Vital::Ready);
        for beats in 2..200 {
            assert_eq!(watch.look(Life::Running, beats), Vital::Well);
        }
        let seen: Vec<_> = (0..100).map(|_| watch.look(Life::Running, 199)).collect();
        let at = |vital| LOOK * (1 + seen.iter().position(|&seen| seen == vital).unwrap() as u32);
        // A look may come just before the last step's end.
        assert!(at(Vital::Unwell) + LOOK < Duration::from_secs(5), "{:?}", at(Vital::Unwell));
        let dump = Duration::from_millis(1500);
        assert!(at(Vital::Hung) + LOOK + dump < Duration::from_secs(15), "{:?}", at(Vital::Hung));
        assert_eq!(seen.iter().filter(|&&vital| vital == Vital::Hung).count(), 1);
        assert_eq!(watch.look(Life::Running, 200), Vital::Well, "one that goes on after all is well");
    }

    #[test]
    fn a_machine_that_sleeps_ten_minutes_has_not_hung() {
        // However long it took, it is one look without a step; then steps run again.
        let mut watch = Watch::default();
        watch.look(Life::Running, 1);
        for beats in 2..100 {
            assert_eq!(watch.look(Life::Running, beats), Vital::Well);
            assert_eq!(watch.look(Life::Running, beats), Vital::Well);
        }
    }

    #[test]
    fn a_start_and_a_stop_have_their_own_time() {
        let mut watch = Watch::default();
        watch.look(Life::Running, 1);
        for _ in 1..UNWELL {
            watch.look(Life::Running, 1);
        }
        assert_eq!(watch.look(Life::Stopping, 1), Vital::Stopping);
        let seen: Vec<_> = (0..HUNG).map(|_| watch.look(Life::Stopping, 1)).collect();
        assert_eq!(seen.iter().filter(|&&vital| vital == Vital::Well).count(), seen.len() - 1);
        assert_eq!(seen.last(), Some(&Vital::Hung));
    }
}
