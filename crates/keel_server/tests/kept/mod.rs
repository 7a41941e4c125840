//! A world of rows that mean nothing, whose every state is known.

#![allow(dead_code, reason = "each test file uses its own part of it")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use keel_server::saves::{self, Cut, Meta, Opened, SaveError, Settings, Status, Store, Writer};

/// Waiting for the writer at most.
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// All rows that there are.
pub(crate) type Rows = BTreeMap<(String, u64), Vec<u8>>;

/// A step's end, or what has changed since another's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Change {
    pub(crate) step: u64,
    pub(crate) is_whole: bool,
    pub(crate) rows: BTreeMap<(String, u64), Option<Vec<u8>>>,
}

impl Cut for Change {
    fn step(&self) -> u64 {
        self.step
    }

    fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn merge(&mut self, newer: Self) {
        if newer.is_whole {
            *self = newer;
            return;
        }
        self.step = newer.step;
        self.rows.extend(newer.rows);
    }

    fn rows(&self, put: &mut dyn FnMut(&str, u64, Option<&[u8]>)) {
        for ((kind, id), data) in &self.rows {
            put(kind, *id, data.as_deref());
        }
    }
}

/// Rows that change by a rule: what they are at any step can be told.
pub(crate) fn rows_at(step: u64, count: u64) -> Rows {
    let kinds = ["pilot", "ship"];
    // In each step a tenth of the rows is new, and one is gone.
    let row = |id: u64| {
        let changed = step.saturating_sub((step + id) % 10);
        let data = format!("{id} as of {changed}, ").repeat(1 + (id % 50) as usize);
        ((kinds[(id % 2) as usize].to_owned(), id), data.into_bytes())
    };
    (0..count).filter(|id| *id != step % count).map(row).collect()
}

/// All of it.
pub(crate) fn whole(step: u64, count: u64) -> Change {
    let rows = rows_at(step, count).into_iter().map(|(key, data)| (key, Some(data))).collect();
    Change { step, is_whole: true, rows }
}

/// What changed in a step.
pub(crate) fn change(step: u64, count: u64) -> Change {
    let (before, now) = (rows_at(step - 1, count), rows_at(step, count));
    let gone = before.keys().filter(|key| !now.contains_key(*key)).map(|key| (key.clone(), None));
    let new = now.iter().filter(|(key, data)| before.get(*key) != Some(data));
    let rows = gone.chain(new.map(|(key, data)| (key.clone(), Some(data.clone())))).collect();
    Change { step, is_whole: false, rows }
}

/// Tries again soon, and keeps no copies by itself.
pub(crate) const SOON: Settings = Settings { retry: Duration::from_millis(20), copy_every: Duration::MAX, copies: 0 };

pub(crate) fn begin(directory: &Path, settings: Settings) -> Writer<Change> {
    let Opened::New(vacant) = Store::open(directory).unwrap() else { panic!("there is a save") };
    Writer::start(vacant.begin(7), settings).unwrap()
}

pub(crate) fn open(directory: &Path) -> Result<Box<Store>, SaveError> {
    match Store::open(directory)? {
        Opened::Whole(store) => Ok(store),
        other => panic!("there should be a save: {other:?}"),
    }
}

pub(crate) fn rows_of(store: &Store) -> Rows {
    let mut rows = Rows::new();
    store
        .each(|kind, id, data| {
            assert!(rows.insert((kind.to_owned(), id), data.to_vec()).is_none(), "{kind} {id} is there twice");
            Ok::<_, SaveError>(())
        })
        .unwrap();
    rows
}

/// What a data directory holds, which has to be the state of some step as a whole.
pub(crate) fn found(directory: &Path, count: u64) -> Result<Meta, SaveError> {
    let store = open(directory)?;
    let meta = store.meta().clone();
    assert!(rows_of(&store) == rows_at(meta.step, count), "the rows are not those of step {}", meta.step);
    Ok(meta)
}

/// Waits for the writer, which has a thread of its own.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + LONG;
    while !is_so() {
        assert!(Instant::now() < end, "never {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

pub(crate) fn saved(status: &Status, step: u64) {
    until("saved", || status.report().saved_step >= Some(step) && status.lag().is_zero());
}

/// Makes a save of that many steps.
pub(crate) fn make(directory: &Path, steps: u64, count: u64) {
    let writer = begin(directory, SOON);
    let status = writer.status();
    writer.submit(whole(1, count));
    for step in 2..=steps {
        saved(&status, step - 1);
        writer.submit(change(step, count));
    }
    assert!(writer.finish(LONG).is_saved);
}

/// The bytes of all files of a directory, by name.
pub(crate) fn all_files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(directory).unwrap().map(Result::unwrap);
    let names = entries.map(|entry| entry.file_name().into_string().unwrap());
    names.map(|name| (name.clone(), std::fs::read(directory.join(name)).unwrap())).collect()
}

/// The same but for the lock, which whoever has the directory writes.
pub(crate) fn files(directory: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = all_files(directory);
    files.remove("lock");
    files
}

/// Makes a directory of files.
pub(crate) fn lay_out(directory: &Path, files: &BTreeMap<String, Vec<u8>>) {
    if directory.exists() {
        std::fs::remove_dir_all(directory).unwrap();
    }
    std::fs::create_dir_all(directory).unwrap();
    for (name, bytes) in files {
        std::fs::write(directory.join(name), bytes).unwrap();
    }
}

/// A save with copies, the newest of step 20, and the save of step 25.
pub(crate) fn with_copies(data: &Path, count: u64) {
    let every = Settings { copies: 3, copy_every: Duration::from_millis(1), ..SOON };
    let writer = begin(data, every);
    let status = writer.status();
    writer.submit(whole(1, count));
    for step in 2..=20 {
        saved(&status, step - 1);
        writer.submit(change(step, count));
    }
    saved(&status, 20);
    until("copied", || {
        saves::inspect(data)
            .unwrap()
            .kept
            .first()
            .is_some_and(|copy| copy.save.as_ref().is_ok_and(|copy| copy.meta.as_ref().unwrap().step == 20))
    });
    assert!(writer.finish(LONG).is_saved);
    let writer = Writer::start(*open(data).unwrap(), SOON).unwrap();
    for step in 21..=25 {
        writer.submit(change(step, count));
    }
    assert!(writer.finish(LONG).is_saved);
}

/// What a directory's files are after a kill between the two renames by which one save takes the place of another: the old
/// one is put aside, its log perhaps not yet, and the new one has the name that it was made by.
pub(crate) fn between_renames(data: &Path, new: &[u8], is_log_left: bool) {
    let mut all = files(data);
    let save = all.remove("world.sqlite").unwrap();
    all.insert("world.broken-20260101T000000Z.sqlite".to_owned(), save);
    if is_log_left {
        all.insert("world.sqlite-wal".to_owned(), b"of the old one".to_vec());
    }
    all.insert("world.new.sqlite".to_owned(), new.to_vec());
    lay_out(data, &all);
}

/// A save of version 1, which has another table instead of what a save says of itself now.
pub(crate) fn old(data: &Path) {
    make(data, 3, 40);
    let connection = rusqlite::Connection::open(data.join("world.sqlite")).unwrap();
    connection.execute_batch("DROP TABLE meta; CREATE TABLE world (seed INTEGER); INSERT INTO world VALUES (7); PRAGMA user_version = 1;").unwrap();
}

/// The lines of a save told as text.
pub(crate) fn export(data: &Path) -> Vec<String> {
    let mut text = Vec::new();
    saves::export(data, &mut text).unwrap();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}
