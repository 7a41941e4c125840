//! The thread that writes the save, so that the step never waits on a disk.

use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant, SystemTime};

use bevy_log::{error, info, warn};

use super::keep::{Copier, first_copy, kept_at};
use super::status::{Report, Status};
use super::store::{Store, Trouble};

/// What the world looks like at the end of a step, or how it differs from what was handed over before.
pub trait Cut: Send + 'static {
    /// The step.
    fn step(&self) -> u64;

    /// Whether it holds every row there is, so that a save can be made of it alone. The first cut of a new world is one,
    /// and so should be the next whenever [`Status::wants_whole`] says so.
    fn is_whole(&self) -> bool;

    /// Takes in what has changed since, by a cut of a later step: afterwards it is that step's. What is whole stays whole,
    /// and a newer cut that is whole takes the place of all that was there.
    fn merge(&mut self, newer: Self);

    /// Tells each row once: its kind, its number, and its data, or nothing for a row that is no more. It may be asked
    /// more than once, always by the thread that writes, which is the place to encode.
    fn rows(&self, put: &mut dyn FnMut(&str, u64, Option<&[u8]>));
}

/// How a save is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long after a failure it is tried again.
    pub retry: Duration,
    /// How long after one copy the next is kept.
    pub copy_every: Duration,
    /// How many copies are kept; none with 0.
    pub copies: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self { retry: Duration::from_secs(1), copy_every: Duration::from_secs(600), copies: 3 }
    }
}

/// What became of a save when its server stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// Whether all that was handed over is on disk.
    pub is_saved: bool,
    /// The last step that is on disk.
    pub step: Option<u64>,
    /// Why it is not all on disk, or why the save does not say that the server stopped in order.
    pub error: Option<String>,
}

/// A thread of its own that writes cuts, the newest that there is, and keeps copies.
#[derive(Debug)]
pub struct Writer<C: Cut> {
    shared: Arc<Shared<C>>,
    done: Receiver<Finished>,
}

#[derive(Debug)]
struct Shared<C> {
    slot: Mutex<Slot<C>>,
    wake: Condvar,
    status: Arc<Status>,
}

/// What has been handed over and not been taken yet: one cut, however many came.
#[derive(Debug)]
struct Slot<C> {
    cut: Option<Waiting<C>>,
    /// Until when to try to get everything on disk, once the server stops.
    close: Option<Instant>,
}

/// A cut that is not on disk, and since when the oldest change in it waits to be.
#[derive(Debug)]
struct Waiting<C> {
    cut: C,
    since: Instant,
}

impl<C: Cut> Waiting<C> {
    fn merge(&mut self, newer: Self) {
        self.cut.merge(newer.cut);
    }
}

impl<C: Cut> Writer<C> {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(store: Store, settings: Settings) -> std::io::Result<Self> {
        let meta = store.meta();
        let has_file = !store.wants_whole();
        let status = Arc::new(Status::new(Report {
            saved_step: has_file.then_some(meta.step),
            saved_at: has_file.then_some(meta.written_at),
            rows: meta.rows,
            bytes: store.bytes(),
            copied_at: kept_at(&store.files),
            fell_back: store.fell_back,
            ..Report::default()
        }));
        status.want_whole(!has_file);
        let slot = Mutex::new(Slot { cut: None, close: None });
        let shared = Arc::new(Shared { slot, wake: Condvar::new(), status });
        let (tell, done) = sync_channel(1);
        let thread = Thread::new(store, settings, Arc::clone(&shared));
        Builder::new().name("saves".to_owned()).spawn(move || {
            // Whoever waits may have given up.
            let _ = tell.try_send(thread.run());
        })?;
        Ok(Self { shared, done })
    }

    /// Hands a cut over, to be written as soon as may be. Never waits for the disk: while the last cut is being written, or
    /// cannot be, what comes is merged into one.
    pub fn submit(&self, cut: C) {
        let newer = Waiting { cut, since: Instant::now() };
        let mut slot = self.shared.slot();
        self.shared.status.hand_over(newer.since);
        match &mut slot.cut {
            Some(waiting) => waiting.merge(newer),
            none => *none = Some(newer),
        }
        drop(slot);
        self.shared.wake.notify_one();
    }

    /// How the save is.
    #[must_use]
    pub fn status(&self) -> Arc<Status> {
        Arc::clone(&self.shared.status)
    }

    /// Gets everything on disk that was handed over, notes that the server stops in order, and ends the thread; gives up
    /// after so long.
    #[must_use]
    pub fn finish(self, within: Duration) -> Finished {
        let step = || self.shared.status.report().saved_step;
        self.shared.close(within);
        match self.done.recv_timeout(within.min(NEVER) + GRACE) {
            Ok(finished) => finished,
            Err(RecvTimeoutError::Timeout) => {
                Finished { is_saved: false, step: step(), error: Some("the disk does not answer".to_owned()) }
            }
            Err(RecvTimeoutError::Disconnected) => {
                Finished { is_saved: false, step: step(), error: Some("the thread that saves has died".to_owned()) }
            }
        }
    }
}

/// How much longer than the thread whoever waits for it waits.
const GRACE: Duration = Duration::from_millis(250);

impl<C: Cut> Drop for Writer<C> {
    /// Whoever does not wait gets one last try.
    fn drop(&mut self) {
        self.shared.close(Duration::ZERO);
    }
}

impl<C: Cut> Shared<C> {
    /// Nothing is decided by whoever panicked while they had it.
    fn slot(&self) -> MutexGuard<'_, Slot<C>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, within: Duration) {
        self.slot().close.get_or_insert_with(|| Instant::now() + within.min(NEVER));
        self.wake.notify_one();
    }
}

/// What the thread has.
struct Thread<C: Cut> {
    store: Store,
    settings: Settings,
    shared: Arc<Shared<C>>,
    /// What was taken and is not on disk.
    held: Option<Waiting<C>>,
    /// When it is tried again, after a failure, and since when it fails.
    retry_at: Option<Instant>,
    failing_since: Option<Instant>,
    copier: Option<Copier>,
    /// When the next copy is kept.
    copy_at: Option<Instant>,
}

impl<C: Cut> Thread<C> {
    fn new(store: Store, settings: Settings, shared: Arc<Shared<C>>) -> Self {
        let copy_at =
            (settings.copies > 0).then(|| Instant::now() + first_copy(&store.files, store.meta(), settings.copy_every));
        Self { store, settings, shared, held: None, retry_at: None, failing_since: None, copier: None, copy_at }
    }

    fn run(mut self) -> Finished {
        let _bell = Bell(Arc::clone(&self.shared.status));
        let mut closing = None;
        loop {
            if let Some(newer) = self.wait(&mut closing) {
                match &mut self.held {
                    Some(held) => held.merge(newer),
                    none => *none = Some(newer),
                }
            }
            if self.retry_at.is_none_or(|at| at <= Instant::now()) {
                self.save();
            }
            if let Some(until) = closing {
                if self.held.is_none() {
                    return self.close();
                }
                if until <= Instant::now() {
                    return self.give_up();
                }
            } else {
                self.keep_copies();
            }
        }
    }

    /// Waits until there is something to do, and takes what was handed over.
    fn wait(&self, closing: &mut Option<Instant>) -> Option<Waiting<C>> {
        let copying = self.copier.as_ref().map(|_| Instant::now() + COPIER_LOOK);
        let held = self.held.as_ref().and(self.retry_at);
        let next = [held, *closing, copying, self.copy_at.filter(|_| closing.is_none())].into_iter().flatten().min();
        let has_work = |slot: &Slot<C>| slot.cut.is_some() || (slot.close.is_some() && closing.is_none());
        let mut slot = self.shared.slot();
        while !has_work(&slot) {
            let span = match next {
                Some(next) if next <= Instant::now() => break,
                Some(next) => next - Instant::now(),
                None => NEVER,
            };
            slot = self.shared.wake.wait_timeout(slot, span).unwrap_or_else(PoisonError::into_inner).0;
        }
        *closing = slot.close;
        slot.cut.take()
    }

    /// Writes what is held, if anything is, and says so when that begins to fail or works again.
    fn save(&mut self) {
        let Some(held) = self.held.take() else { return };
        let step = held.cut.step();
        if self.copier.is_some() && self.store.will_open() {
            self.stop_copying();
            self.copy_at = Some(self.soon());
        }
        let saved = self.store.save(&held.cut);
        // Before anyone is told that it is saved: whoever waits for that must not be asked for all of it once more.
        self.shared.status.want_whole(self.store.wants_whole());
        match saved {
            Ok(saved) => {
                {
                    let slot = self.shared.slot();
                    self.shared.status.wait_since(slot.cut.as_ref().map(|waiting| waiting.since));
                }
                let (rows, bytes) = (self.store.meta().rows, self.store.bytes());
                self.shared.status.commit(saved.took, |report| {
                    report.saved_step = Some(step);
                    report.saved_at = Some(SystemTime::now());
                    report.rows_written += saved.changed;
                    (report.rows, report.bytes) = (rows, bytes);
                });
                // After a failure, what is in the log may be in the system's memory alone: nobody puts it on disk again.
                match self.store.tidy(self.failing_since.is_some()) {
                    Ok(()) => self.recover(step),
                    Err(trouble) => self.fail(&trouble),
                }
            }
            Err(trouble) => {
                self.held = Some(held);
                self.fail(&trouble);
            }
        }
        self.shared.status.want_whole(self.store.wants_whole());
    }

    fn fail(&mut self, trouble: &Trouble) {
        let now = Instant::now();
        let is_first = self.failing_since.is_none();
        self.failing_since.get_or_insert(now);
        self.retry_at = Some(now + self.settings.retry);
        self.shared.status.note(|report| {
            report.error = Some(trouble.to_string());
            report.failures += 1;
            report.outages += u64::from(is_first);
        });
        if is_first {
            let save = self.store.files.save();
            warn!(save = %save.display(), %trouble, "cannot save; the server goes on, and tries again until it can");
        }
    }

    fn recover(&mut self, step: u64) {
        self.retry_at = None;
        let Some(since) = self.failing_since.take() else { return };
        self.shared.status.note(|report| report.error = None);
        info!(after = ?since.elapsed(), step, "the save has caught up");
    }

    /// Starts a copy when one is due, and looks at what became of the last.
    fn keep_copies(&mut self) {
        let is_done = self.copier.as_ref().is_some_and(Copier::is_done);
        if let Some(copier) = self.copier.take_if(|_| is_done) {
            self.copied(copier);
        }
        let is_due = self.copy_at.is_some_and(|at| at <= Instant::now());
        if !is_due || self.copier.is_some() {
            return;
        }
        self.copy_at = Instant::now().checked_add(self.settings.copy_every);
        if !self.store.is_sound() || self.failing_since.is_some() {
            // There is nothing to copy, or no disk to copy it to.
            self.copy_at = Some(self.soon());
            return;
        }
        // While it is copied, no commit opens it.
        if let Err(trouble) = self.store.ready() {
            self.copy_failed(&trouble.to_string());
            return;
        }
        match Copier::start(&self.store.files, self.store.copies() + 1, self.settings.copies) {
            Ok(copier) => self.copier = Some(copier),
            Err(error) => self.copy_failed(&error.to_string()),
        }
    }

    /// When a copy is tried that could not be kept now.
    fn soon(&self) -> Instant {
        Instant::now() + self.settings.retry.min(self.settings.copy_every)
    }

    fn copied(&mut self, copier: Copier) {
        match copier.join() {
            Ok(Some(generation)) => {
                self.store.count_copy(generation);
                self.shared.status.note(|report| {
                    report.copies += 1;
                    report.copied_at = Some(SystemTime::now());
                    report.copy_error = None;
                });
            }
            Ok(None) => {}
            Err(Trouble::Broken(reason)) => {
                self.copy_failed(&reason);
                self.store.condemn(&reason);
                self.shared.status.want_whole(true);
            }
            Err(trouble) => self.copy_failed(&trouble.to_string()),
        }
    }

    fn copy_failed(&self, reason: &str) {
        let is_first = self.shared.status.note(|report| report.copy_error.replace(reason.to_owned()).is_none());
        if is_first {
            warn!(reason, "cannot keep a copy of the save; it will be tried again");
        }
    }

    fn stop_copying(&mut self) {
        if let Some(copier) = self.copier.take() {
            copier.stop();
            self.copied(copier);
        }
    }

    fn close(mut self) -> Finished {
        self.stop_copying();
        let closed = self.store.close();
        let error = closed.err().map(|trouble| trouble.to_string());
        Finished { is_saved: true, step: self.shared.status.report().saved_step, error }
    }

    fn give_up(mut self) -> Finished {
        self.stop_copying();
        let report = self.shared.status.report();
        Finished { is_saved: false, step: report.saved_step, error: report.error }
    }
}

/// How soon it is looked whether a copy is done.
const COPIER_LOOK: Duration = Duration::from_millis(100);

/// How long nothing is waited for at a time.
const NEVER: Duration = Duration::from_secs(3_600);

/// Says so if the thread dies, as it would of a cut that cannot be told.
struct Bell(Arc<Status>);

impl Drop for Bell {
    fn drop(&mut self) {
        if std::thread::panicking() {
            error!("the thread that saves has died: nothing is saved any more");
            self.0.note(|report| {
                report.error = Some("the thread that saves has died".to_owned());
                report.failures += 1;
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::Opened;
    use super::super::fake::Fake;
    use super::*;

    fn thread(store: Store) -> Thread<Fake> {
        let settings = Settings { copies: 1, copy_every: Duration::from_secs(1), ..Settings::default() };
        let (slot, status) = (Mutex::new(Slot { cut: None, close: None }), Arc::new(Status::new(Report::default())));
        Thread::new(store, settings, Arc::new(Shared { slot, wake: Condvar::new(), status }))
    }

    fn save(thread: &mut Thread<Fake>, step: u64) {
        thread.held = Some(Waiting { cut: Fake { step, rows: 1, bytes: 8 }, since: Instant::now() });
        thread.save();
    }

    fn copy(thread: &mut Thread<Fake>) {
        thread.copy_at = Some(Instant::now());
        thread.keep_copies();
        assert!(thread.copier.is_some());
    }

    #[test]
    fn no_file_is_opened_anew_while_it_is_copied() {
        let data = tempfile::tempdir().unwrap();
        let Opened::New(vacant) = Store::open(data.path()).unwrap() else { panic!("there is a save") };
        let mut thread = thread(vacant.begin(1));
        save(&mut thread, 1);
        copy(&mut thread);
        save(&mut thread, 2);
        assert!(thread.copier.is_some(), "a commit into the file that is open disturbs no copy");
        fs::rename(thread.store.files.save(), data.path().join("away")).unwrap();
        save(&mut thread, 3);
        assert!(thread.copier.is_none(), "one that opens another waits for its end");
        assert!(
            thread.copy_at.is_some_and(|at| at <= Instant::now() + Duration::from_secs(1)),
            "and it is made up for"
        );
        assert!(thread.close().is_saved);
    }

    #[test]
    fn what_is_copied_at_the_start_is_open_to_be_written_by_then() {
        let data = tempfile::tempdir().unwrap();
        let Opened::New(vacant) = Store::open(data.path()).unwrap() else { panic!("there is a save") };
        let mut first = thread(vacant.begin(1));
        save(&mut first, 1);
        assert!(first.close().is_saved);
        let Opened::Whole(store) = Store::open(data.path()).unwrap() else { panic!("there is no save") };
        let mut again = thread(*store);
        assert!(again.store.will_open());
        copy(&mut again);
        assert!(!again.store.will_open());
        save(&mut again, 2);
        assert!(again.copier.is_some());
        let finished = again.close();
        assert_eq!((finished.is_saved, finished.error), (true, None));
    }
}
