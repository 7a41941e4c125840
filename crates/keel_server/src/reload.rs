//! Another balance while the server runs: checked on a thread of its own, and handed whole to the loop, which applies it
//! between two steps.

mod file;
mod places;

pub use file::BalanceFile;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use keel_balance::{Balance, BalanceError};
use keel_sim::{RebalanceError, UnfitError};
use thiserror::Error;

use crate::metrics::Metrics;

/// Why the balance stays what it was.
#[derive(Debug, Error)]
pub enum ReloadError {
    /// The file cannot be read, or something in it is wrong.
    #[error(transparent)]
    Balance(#[from] BalanceError),
    /// What it has the world make cannot be made.
    #[error(transparent)]
    Fits(#[from] UnfitError),
    /// The world has what it does not allow.
    #[error(transparent)]
    World(#[from] RebalanceError),
    /// The server has stopped.
    #[error("the server has stopped")]
    Stopped,
}

/// A balance for the loop, and where it says what became of it.
struct Asked {
    balance: Arc<Balance>,
    answer: SyncSender<Result<(), RebalanceError>>,
}

/// Has a running server go by another balance, from any thread.
#[derive(Clone, Debug)]
pub struct Reloader {
    ask: SyncSender<Asked>,
    metrics: Arc<Metrics>,
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Asked({:016x})", self.balance.hash())
    }
}

impl Reloader {
    /// Hands a whole and checked balance to the loop, and waits until it has been applied between two steps.
    ///
    /// # Errors
    /// When the world cannot go by it, or the server has stopped. Nothing has changed then.
    pub fn reload(&self, balance: Arc<Balance>) -> Result<(), ReloadError> {
        let (answer, answered) = sync_channel(1);
        self.ask.send(Asked { balance, answer }).map_err(|_| ReloadError::Stopped)?;
        Ok(answered.recv().map_err(|_| ReloadError::Stopped)??)
    }

    /// Counts what became of a file.
    fn count(&self, taken: &Result<u64, ReloadError>) {
        match taken {
            Ok(_) => self.metrics.count_balance("taken"),
            Err(ReloadError::Stopped) => {}
            Err(_) => self.metrics.count_balance("refused"),
        }
    }
}

/// Where the loop finds what it was asked for: one balance waits at most, and whoever has another waits with it.
pub(crate) struct Reloads {
    taken: Receiver<Asked>,
    given: Reloader,
}

impl Reloads {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        let (ask, taken) = sync_channel(1);
        Self { taken, given: Reloader { ask, metrics } }
    }

    pub(crate) fn reloader(&self) -> Reloader {
        self.given.clone()
    }

    /// The balance that waits, and what takes the answer.
    pub(crate) fn next(&self) -> Option<(Arc<Balance>, impl FnOnce(Result<(), RebalanceError>) + use<>)> {
        let Asked { balance, answer } = self.taken.try_recv().ok()?;
        // Whoever asked may have gone.
        Some((balance, move |result| drop(answer.try_send(result))))
    }
}
