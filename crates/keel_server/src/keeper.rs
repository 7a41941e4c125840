//! What keeps the world: a cut of it goes to the save every few steps, and a world is made of the save at the start.

mod rhythm;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bevy_log::tracing::enabled;
use bevy_log::{Level, debug, info};
use keel_sim::{Cut, Key, Kind, RestoreError, Row};
use thiserror::Error;

use crate::admission::{Admission, Bar};
use crate::saves::{self, Finished, MIGRATIONS, Opened, SaveError, Settings, Status, Store, Writer};
use crate::world::World;
use crate::{Config, StartError};
use rhythm::Rhythm;

/// How the world is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveConfig {
    /// The directory of the save.
    pub data: PathBuf,
    /// Steps from one cut to the next, or the time that they take at full speed if that passes sooner: what `kill -9` or a
    /// power cut may cost, with a step and the time that a commit takes.
    pub every: u64,
    /// How long after one copy of the save the next is kept.
    pub copy_every: Duration,
    /// How many copies are kept.
    pub copies: u32,
    /// How far the save may fall behind before nobody new is let in.
    pub most_behind: Duration,
}

/// Steps from one cut to the next, unless the configuration says otherwise: half a second.
pub const SAVE_EVERY: u64 = keel_rules::STEPS_PER_SECOND as u64 / 2;

impl SaveConfig {
    /// What suits most: a cut each half second, and three copies of the save, ten minutes from one to the next.
    #[must_use]
    pub fn of(data: PathBuf) -> Self {
        let Settings { copy_every, copies, .. } = Settings::default();
        Self { data, every: SAVE_EVERY, copy_every, copies, most_behind: Duration::from_secs(30) }
    }
}

/// How long a server that stops tries to get everything on disk.
const CLOSING: Duration = Duration::from_secs(5);

/// Why a save makes no world.
#[derive(Debug, Error)]
pub enum LoadError {
    /// It cannot be had.
    #[error(transparent)]
    Save(#[from] SaveError),
    /// A row of it cannot be read.
    #[error("row {kind} {id} of the save: {reason}")]
    Row {
        /// What it is about.
        kind: String,
        /// Whose it is.
        id: u64,
        /// Why.
        reason: String,
    },
    /// Its rows make no world.
    #[error(transparent)]
    World(#[from] RestoreError),
}

/// Rows as the save keeps them: each a MessagePack map with the names of what is in it.
pub(crate) struct Kept(Cut);

impl saves::Cut for Kept {
    fn step(&self) -> u64 {
        self.0.step
    }

    fn is_whole(&self) -> bool {
        self.0.is_whole
    }

    fn merge(&mut self, newer: Self) {
        self.0.merge(newer.0);
    }

    fn rows(&self, put: &mut dyn FnMut(&str, u64, Option<&[u8]>)) {
        let mut bytes = Vec::new();
        for (key, row) in &self.0.rows {
            let Some(row) = row else {
                put(key.kind.word(), key.id, None);
                continue;
            };
            bytes.clear();
            // Into memory, of what has a form for everything. A save must not go on without a row: the thread that saves
            // dies of it, which is told, and lets nobody new in.
            rmp_serde::encode::write_named(&mut bytes, row)
                .unwrap_or_else(|error| unreachable!("row {} {} has no form: {error}", key.kind.word(), key.id));
            put(key.kind.word(), key.id, Some(&bytes));
        }
    }
}

/// Reads a row as the save keeps it.
///
/// # Errors
/// When there is no such kind, or it says something else.
pub fn read_row(kind: &str, id: u64, data: &[u8]) -> Result<(Key, Row), LoadError> {
    let failed = |reason: String| LoadError::Row { kind: kind.to_owned(), id, reason };
    let known = Kind::named(kind).ok_or_else(|| failed("there is no such kind".to_owned()))?;
    let mut reader = rmp_serde::Deserializer::from_read_ref(data);
    let row = Row::read(known, &mut reader).map_err(|error| failed(error.to_string()))?;
    Ok((Key { kind: known, id }, row))
}

/// Someone who waits until the world is on disk.
struct Waiting {
    /// The step after which it was handed over for them, and how often saving had failed by then; `None` before that.
    handed: Option<(u64, u64)>,
    tell: Box<dyn FnOnce(Result<u64, String>)>,
}

/// Keeps the world as it goes on.
pub(crate) struct Keeper {
    writer: Writer<Kept>,
    status: Arc<Status>,
    rhythm: Rhythm,
    most_behind: Duration,
    admission: Arc<Admission>,
    is_behind: bool,
    waiting: Vec<Waiting>,
}

impl Keeper {
    /// Makes a new world the one that a save has, if there is one yet, and keeps it from the time that it is by the
    /// server's clock.
    pub(crate) fn open(
        config: &Config,
        save: &SaveConfig,
        admission: &Arc<Admission>,
        world: &mut World,
        now: Duration,
    ) -> Result<Self, StartError> {
        let mut load = |store: Store| -> Result<Store, StartError> {
            let mut rows = BTreeMap::new();
            store.each(|kind, id, data| {
                let (key, row) = read_row(kind, id, data)?;
                rows.insert(key, row);
                Ok::<_, LoadError>(())
            })?;
            world.restore(rows).map_err(LoadError::from)?;
            let hash = format_args!("{:016x}", world.hash());
            info!(step = world.now(), %hash, data = %save.data.display(), "goes on with the world of the save");
            world.resume();
            Ok(store)
        };
        let store = match Store::open(&save.data).map_err(LoadError::from)? {
            Opened::New(vacant) => vacant.begin(config.seed),
            Opened::Whole(store) => load(*store)?,
            Opened::Old(old) => load(old.migrate(MIGRATIONS).map_err(LoadError::from)?.0)?,
        };
        let settings = Settings { copy_every: save.copy_every, copies: save.copies, ..Settings::default() };
        let writer = Writer::start(store, settings).map_err(StartError::Thread)?;
        let (status, admission) = (writer.status(), Arc::clone(admission));
        let (rhythm, most_behind) = (Rhythm::new(save.every, world.now(), now), save.most_behind);
        Ok(Self { writer, status, rhythm, most_behind, admission, is_behind: false, waiting: Vec::new() })
    }

    /// How the save is.
    pub(crate) fn status(&self) -> Arc<Status> {
        Arc::clone(&self.status)
    }

    /// Tells the step after which the world is on disk, once that is the next one or later; or why it cannot be saved.
    pub(crate) fn when_saved(&mut self, tell: impl FnOnce(Result<u64, String>) + 'static) {
        self.waiting.push(Waiting { handed: None, tell: Box::new(tell) });
    }

    /// A step has run, by the time that it is: hands over what has changed, if it is time for that or someone waits for it.
    pub(crate) fn keep(&mut self, world: &mut World, now: Duration) {
        self.answer();
        let is_waited_for = self.waiting.iter().any(|waiting| waiting.handed.is_none());
        if is_waited_for {
            let handed = Some((world.now(), self.status.report().failures));
            self.waiting.iter_mut().for_each(|waiting| waiting.handed = waiting.handed.or(handed));
        }
        if is_waited_for || self.rhythm.is_due(world.now(), now) {
            self.cut(world, now);
        }
    }

    /// Tells those who wait whether what was handed over for them is on disk, as soon as that is known.
    fn answer(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        let report = self.status.report();
        let becomes = |(step, failures)| match report.saved_step.filter(|&saved| saved >= step) {
            Some(saved) => Some(Ok(saved)),
            None if report.failures > failures => Some(Err(report.error.clone().unwrap_or_default())),
            None => None,
        };
        for waiting in std::mem::take(&mut self.waiting) {
            match waiting.handed.and_then(becomes) {
                Some(saved) => (waiting.tell)(saved),
                None => self.waiting.push(waiting),
            }
        }
    }

    /// Hands over what has changed, now.
    fn cut(&mut self, world: &mut World, now: Duration) {
        if enabled!(Level::DEBUG) {
            debug!(step = world.now(), hash = %format_args!("{:016x}", world.hash()), "a cut");
        }
        let (behind, must) = (self.status.lag(), self.status.wants_whole());
        self.writer.submit(Kept(world.cut(self.rhythm.cut(world.now(), now, behind, must))));
        let is_behind = self.status.is_behind(self.most_behind);
        if is_behind != self.is_behind {
            self.is_behind = is_behind;
            if is_behind {
                self.admission.close(Bar::Unsaved, "This server cannot save what happens, so it lets nobody new in.");
            } else {
                self.admission.open(Bar::Unsaved);
            }
        }
    }

    /// Gets the world as it is on disk, and stops.
    pub(crate) fn finish(mut self, world: &mut World, now: Duration) -> Finished {
        self.cut(world, now);
        let finished = self.writer.finish(CLOSING);
        for Waiting { tell, .. } in self.waiting {
            let unsaved = || finished.error.clone().unwrap_or_else(|| "there was not enough time".to_owned());
            tell(finished.step.filter(|_| finished.is_saved).ok_or_else(unsaved));
        }
        finished
    }
}
