//! How the save is, for whoever watches a server.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// How far the save is behind the world, and what keeping it costs. Read by anyone, at any time.
#[derive(Debug)]
pub struct Status(Mutex<State>);

#[derive(Debug)]
struct State {
    report: Report,
    /// When the oldest change that is not on disk was handed over.
    waiting_since: Option<Instant>,
    wants_whole: bool,
}

/// What there is to say of the save.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The last step that is on disk.
    pub saved_step: Option<u64>,
    /// When that was written, by the clock of the wall.
    pub saved_at: Option<SystemTime>,
    /// How long ago the oldest change was handed over that is not on disk yet; zero if all are.
    pub lag: Duration,
    /// Why the last try failed; `None` once it has caught up.
    pub error: Option<String>,
    /// Times that it began to fail.
    pub outages: u64,
    /// Tries that failed.
    pub failures: u64,
    /// Rows in the save.
    pub rows: u64,
    /// Bytes of the save, with its log.
    pub bytes: u64,
    /// Cuts that were committed.
    pub commits: u64,
    /// Rows written or removed, over all commits.
    pub rows_written: u64,
    /// How long the last one took until it was on disk.
    pub last_commit: Duration,
    /// Copies kept since the start.
    pub copies: u64,
    /// When the newest copy was kept.
    pub copied_at: Option<SystemTime>,
    /// Why the last copy could not be kept.
    pub copy_error: Option<String>,
    /// Whether the save was broken at the start, and a copy took its place.
    pub fell_back: bool,
}

impl Status {
    pub(crate) fn new(report: Report) -> Self {
        Self(Mutex::new(State { report, waiting_since: None, wants_whole: false }))
    }

    /// How it stands.
    #[must_use]
    pub fn report(&self) -> Report {
        let state = self.state();
        Report { lag: state.lag(), ..state.report.clone() }
    }

    /// How long ago the oldest change was handed over that is not on disk yet; zero if all are.
    #[must_use]
    pub fn lag(&self) -> Duration {
        self.state().lag()
    }

    /// Whether what happens now would be lost for longer than is bearable: time to let nobody new in.
    #[must_use]
    pub fn is_behind(&self, limit: Duration) -> bool {
        self.lag() > limit
    }

    /// Whether the file is gone, so that the next cut has to be a whole one ([`Cut::is_whole`](super::Cut::is_whole)).
    #[must_use]
    pub fn wants_whole(&self) -> bool {
        self.state().wants_whole
    }

    pub(super) fn want_whole(&self, wants: bool) {
        self.state().wants_whole = wants;
    }

    /// Notes since when something waits to be on disk.
    pub(super) fn wait_since(&self, since: Option<Instant>) {
        self.state().waiting_since = since;
    }

    /// Notes that something was handed over.
    pub(super) fn hand_over(&self, at: Instant) {
        self.state().waiting_since.get_or_insert(at);
    }

    /// Notes a commit, and how long it took.
    pub(super) fn commit(&self, took: Duration, note: impl FnOnce(&mut Report)) {
        let mut state = self.state();
        state.report.commits += 1;
        state.report.last_commit = took;
        note(&mut state.report);
    }

    /// Notes something else.
    pub(super) fn note<T>(&self, note: impl FnOnce(&mut Report) -> T) -> T {
        note(&mut self.state().report)
    }

    /// Whoever panicked has left numbers at worst.
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn lag(&self) -> Duration {
        self.waiting_since.map_or(Duration::ZERO, |since| since.elapsed())
    }
}
