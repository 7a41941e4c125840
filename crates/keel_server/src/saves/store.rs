//! The save that a server has: found and read when it starts, written cut by cut from then on.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::time::{Duration, Instant};

use bevy_log::warn;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension, Transaction, TransactionBehavior};
use thiserror::Error;

use super::check::{Contents, Fault, check_head, each_row, is_broken, look};
use super::files::{Files, Identity, beside, exists, length, make_file, remove};
use super::migrate::Old;
use super::place::{fall_back, go_on, replace};
use super::schema::{self, MAX_ROW, Meta, checkpoint, open_to_write, put_summed, row_sum, start_schema};
use super::{Cut, Lock, SAVE_VERSION, SaveError};
use crate::causes::with_causes;

/// What a data directory turned out to hold.
#[derive(Debug)]
pub enum Opened {
    /// Nothing yet.
    New(Vacant),
    /// A save of this version, whole.
    Whole(Box<Store>),
    /// A save of an older version, whole, to be migrated.
    Old(Old),
}

/// A data directory without a save, locked.
#[derive(Debug)]
pub struct Vacant {
    files: Files,
    lock: Lock,
}

impl Vacant {
    /// A save of a new world. There is no file of it before the first cut, which has to be a whole one.
    #[must_use]
    pub fn begin(self, seed: u64) -> Store {
        Store::new(self.files, self.lock, Meta::new(seed))
    }
}

/// A save, locked, of this version and whole when it was opened.
#[derive(Debug)]
pub struct Store {
    pub(super) files: Files,
    _lock: Lock,
    /// What the save says of itself, as it was last seen on disk.
    meta: Meta,
    /// What it may say instead, after a commit of which SQLite could not tell whether it got to disk.
    attempted: Option<Meta>,
    /// To be read before it is written for the first time.
    reader: Option<Connection>,
    /// To be written; `None` before the first time, and after whatever went wrong.
    live: Option<Live>,
    /// Why the file is to be replaced by a whole cut.
    condemned: Option<String>,
    /// Copies kept so far.
    copies: u64,
    /// Whether it was broken when it was opened, and a kept copy took its place.
    pub(super) fell_back: bool,
}

#[derive(Debug)]
struct Live {
    connection: Connection,
    identity: Identity,
}

/// What a commit did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    /// Rows written or removed.
    pub(super) changed: u64,
    /// How long it took.
    pub(super) took: Duration,
}

/// Why a cut is not on disk.
#[derive(Debug, Error)]
pub(super) enum Trouble {
    /// The file is not there.
    #[error("the save is gone from its place")]
    Gone,
    /// The file is not the one that was written last.
    #[error("the save was written by someone else, or is another one: it is left alone")]
    Foreign,
    /// The file is broken.
    #[error("the save is broken: {0}")]
    Broken(String),
    /// The system or SQLite refused it.
    #[error("{0}")]
    Refused(String),
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        if is_broken(&error) { Self::Broken(error.to_string()) } else { Self::Refused(error.to_string()) }
    }
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Missing => Self::Gone,
            Fault::Broken(reason) => Self::Broken(reason),
            fault => Self::Refused(fault.to_string()),
        }
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

impl From<SaveError> for Trouble {
    fn from(error: SaveError) -> Self {
        Self::Refused(with_causes(&error))
    }
}

impl Store {
    /// Locks a data directory, which is made if there is none, and finds out what it holds. Every row is read and checked.
    ///
    /// A broken save is put aside and the newest whole copy takes its place, with a warning in the log. Nothing is changed
    /// when there is no whole copy, when the save is of a later version, or when it is whole.
    ///
    /// # Errors
    /// Why there is no save to play on.
    pub fn open(directory: &Path) -> Result<Opened, SaveError> {
        Self::open_locked(Files::of(directory), Lock::take(directory)?)
    }

    /// The same, once the directory is locked.
    pub(super) fn open_locked(files: Files, lock: Lock) -> Result<Opened, SaveError> {
        go_on(&files)?;
        let mut fell_back = false;
        let (reader, contents) = match look(&files.save()) {
            Ok(found) => found,
            Err(Fault::Missing) if !files.is_taken() => return Ok(Opened::New(Vacant { files, lock })),
            Err(fault @ (Fault::Missing | Fault::Broken(_))) => {
                fall_back(&files, &fault.to_string())?;
                fell_back = true;
                look(&files.save()).map_err(|fault| fault.of(&files.save()))?
            }
            Err(fault) => return Err(fault.of(&files.save())),
        };
        match contents {
            Contents { version: SAVE_VERSION, meta: Some(meta), .. } => {
                let mut store = Self::new(files, lock, meta);
                (store.reader, store.fell_back) = (Some(reader), fell_back);
                Ok(Opened::Whole(Box::new(store)))
            }
            contents => Ok(Opened::Old(Old::new(files, lock, contents, fell_back))),
        }
    }

    fn new(files: Files, lock: Lock, meta: Meta) -> Self {
        let copies = meta.generation;
        Self {
            files,
            _lock: lock,
            meta,
            attempted: None,
            reader: None,
            live: None,
            condemned: None,
            copies,
            fell_back: false,
        }
    }

    /// What the save says of itself.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Goes through all rows, in the order of kind and number. A new world has none.
    ///
    /// # Errors
    /// What `row` says; and [`SaveError::Broken`] or [`SaveError::Sqlite`] where a row can no longer be read.
    pub fn each<E: From<SaveError>>(&self, row: impl FnMut(&str, u64, &[u8]) -> Result<(), E>) -> Result<(), E> {
        /// What either side says.
        enum Either<E> {
            Theirs(E),
            Ours(Fault),
        }
        impl<E> From<Fault> for Either<E> {
            fn from(fault: Fault) -> Self {
                Self::Ours(fault)
            }
        }
        let Some(reader) = &self.reader else { return Ok(()) };
        let mut row = row;
        each_row(reader, |kind, id, data| row(kind, id, data).map_err(Either::Theirs)).map_err(|error| match error {
            Either::Theirs(error) => error,
            Either::Ours(fault) => fault.of(&self.files.save()).into(),
        })
    }

    /// Whether the next cut has to be a whole one.
    pub(super) fn wants_whole(&self) -> bool {
        self.condemned.is_some() || !exists(&self.files.save())
    }

    /// Puts a whole cut in the place of the file when the next one comes, whatever becomes of the file until then.
    pub(super) fn condemn(&mut self, reason: &str) {
        if self.condemned.is_none() {
            warn!(save = %self.files.save().display(), reason, "the save is broken; a new one will take its place");
            self.condemned = Some(reason.to_owned());
        }
    }

    /// Whether there is a file that was not found wanting, to be copied.
    pub(super) fn is_sound(&self) -> bool {
        self.condemned.is_none() && exists(&self.files.save())
    }

    /// Counts a copy that was kept; the file says so from the next commit on.
    pub(super) fn count_copy(&mut self, generation: u64) {
        self.copies = generation;
    }

    /// Copies kept so far.
    pub(super) fn copies(&self) -> u64 {
        self.copies
    }

    /// Bytes of the file, with its log.
    pub(super) fn bytes(&self) -> u64 {
        length(&self.files.save()) + length(&beside(&self.files.save(), "-wal"))
    }

    /// Writes a cut, in one transaction, so that it is on disk.
    pub(super) fn save<C: Cut>(&mut self, cut: &C) -> Result<Saved, Trouble> {
        let begun = Instant::now();
        let is_new = cut.is_whole() && self.wants_whole();
        let saved = if is_new { self.replace(cut) } else { self.commit(cut) };
        saved.map(|changed| Saved { changed, took: begun.elapsed() }).inspect_err(|trouble| self.drop_out(trouble))
    }

    /// Whatever it was, a file that is opened anew is a file whose state is known.
    fn drop_out(&mut self, trouble: &Trouble) {
        self.live = None;
        if let Trouble::Broken(reason) = trouble {
            self.condemn(reason);
        }
    }

    /// Writes the log into the file if it has grown long, or in any case.
    pub(super) fn tidy(&mut self, in_any_case: bool) -> Result<(), Trouble> {
        let is_due = in_any_case || length(&beside(&self.files.save(), "-wal")) > LOG_MOST;
        let Some(live) = self.live.as_ref().filter(|_| is_due) else { return Ok(()) };
        let done = checkpoint(&live.connection).map(|_| ()).map_err(Trouble::from);
        done.inspect_err(|trouble| self.drop_out(trouble))
    }

    /// Notes in the file that the server stops in order, and closes it.
    pub(super) fn close(&mut self) -> Result<(), Trouble> {
        // What was never opened is as clean or not as it was found.
        if self.live.is_some() {
            self.ready()?;
        }
        let Some(live) = &self.live else { return Ok(()) };
        let meta = Meta { is_clean: true, generation: self.copies, ..self.meta.clone() };
        meta.write(&live.connection)?;
        self.meta = meta;
        // Someone who still reads keeps the log from being emptied, which is no loss: it is on disk.
        if checkpoint(&live.connection)? {
            live.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        }
        self.live = None;
        Ok(())
    }

    /// Whether the next cut closes or opens a file: no other thread of the process may have it open then, whose locks on it
    /// would go with that.
    pub(super) fn will_open(&self) -> bool {
        let is_same = |live: &Live| Identity::of(&self.files.save()).is_ok_and(|identity| identity == live.identity);
        self.wants_whole() || !self.live.as_ref().is_some_and(is_same)
    }

    /// Sees to it that the file that is written is the one that has the name, and the one that was written last.
    pub(super) fn ready(&mut self) -> Result<(), Trouble> {
        let path = self.files.save();
        let identity = match Identity::of(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(Trouble::Gone),
            identity => identity?,
        };
        if self.live.as_ref().is_some_and(|live| live.identity == identity) {
            return Ok(());
        }
        (self.live, self.reader) = (None, None);
        check_head(&path)?;
        let connection = open_to_write(&path)?;
        match Meta::read(&connection)? {
            Some(meta) if meta == self.meta || self.attempted.as_ref() == Some(&meta) => self.meta = meta,
            Some(_) => return Err(Trouble::Foreign),
            None => return Err(Trouble::Broken("what it says of itself does not have its sum".to_owned())),
        }
        self.attempted = None;
        self.live = Some(Live { connection, identity });
        Ok(())
    }

    /// Writes a cut into the file.
    fn commit<C: Cut>(&mut self, cut: &C) -> Result<u64, Trouble> {
        self.ready()?;
        let Some(live) = &self.live else { return Err(Trouble::Gone) };
        let transaction = Transaction::new_unchecked(&live.connection, TransactionBehavior::Immediate)?;
        if Meta::read(&transaction)?.as_ref() != Some(&self.meta) {
            return Err(Trouble::Foreign);
        }
        let before = Meta { generation: self.copies, ..self.meta.clone() };
        let (meta, changed) = write(&transaction, before, cut)?;
        // If it fails now, it may be on disk all the same: that depends on how far it came.
        self.attempted = Some(meta.clone());
        transaction.commit()?;
        (self.meta, self.attempted) = (meta, None);
        Ok(changed)
    }

    /// Writes a whole cut into a new file, which takes the place of whatever is there.
    fn replace<C: Cut>(&mut self, cut: &C) -> Result<u64, Trouble> {
        let path = self.files.unfinished();
        // Said better than SQLite would.
        std::fs::metadata(self.files.directory())?;
        remove(&path)?;
        let connection = create(&path)?;
        let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)?;
        let empty = Meta { rows: 0, total: 0, generation: self.copies, ..self.meta.clone() };
        start_schema(&transaction, &empty)?;
        let (meta, changed) = write(&transaction, empty, cut)?;
        transaction.commit()?;
        finish(connection)?;
        (self.live, self.reader) = (None, None);
        if let Some(aside) = replace(&self.files, &path, "broken")? {
            warn!(aside = %aside.display(), "what was in the place of the save is put aside");
        }
        (self.meta, self.attempted, self.condemned) = (meta, None, None);
        self.ready()?;
        Ok(changed)
    }
}

/// Makes an empty file to be filled and put in its place when it is whole: until then it may break. There must be none.
pub(super) fn create(path: &Path) -> Result<Connection, SaveError> {
    make_file(path)?;
    let open = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        schema::guard(&connection)?;
        connection.pragma_update(None, "journal_mode", "MEMORY")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        Ok(connection)
    };
    open().map_err(|source| SaveError::sqlite(path, source))
}

/// Closes a file that was filled, as one with a log, so that nothing need be changed when it is opened.
pub(super) fn finish(connection: Connection) -> rusqlite::Result<()> {
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.close().map_err(|(_, error)| error)
}

/// A log longer than this is written into the file, in bytes: some commits' worth, read again in no time after a crash.
const LOG_MOST: u64 = 16 << 20;

/// Writes what a cut changes, and what the save then says of itself.
fn write<C: Cut>(transaction: &Connection, mut meta: Meta, cut: &C) -> Result<(Meta, u64), Trouble> {
    meta.stamp(cut.step());
    let mut seen = cut.is_whole().then(BTreeSet::new);
    let (mut changed, mut refused) = (0, None);
    cut.rows(&mut |kind, id, data| {
        if refused.is_some() {
            return;
        }
        match put(transaction, &mut meta, kind, id, data) {
            Ok(is_change) => changed += u64::from(is_change),
            Err(trouble) => refused = Some(trouble),
        }
        if let (Some(seen), Some(_)) = (&mut seen, data) {
            seen.insert((kind.to_owned(), id));
        }
    });
    if let Some(trouble) = refused {
        return Err(trouble);
    }
    if let Some(seen) = seen {
        for (kind, id) in rows_but(transaction, &seen)? {
            changed += u64::from(put(transaction, &mut meta, &kind, id, None)?);
        }
    }
    meta.write(transaction)?;
    Ok((meta, changed))
}

/// Writes or removes a row, unless it is as it should be already; whether it was not.
fn put(on: &Connection, meta: &mut Meta, kind: &str, id: u64, data: Option<&[u8]>) -> Result<bool, Trouble> {
    // Before SQLite sees it, which takes what is far too long for a broken file.
    if let Some(length) = data.map(<[u8]>::len).filter(|length| *length > MAX_ROW) {
        return Err(Trouble::Refused(format!("{kind} {id} has {length} bytes, more than a row may have")));
    }
    let before: Option<(i64, bool)> = on
        .prepare_cached("SELECT sum, data IS ?3 FROM rows WHERE kind = ?1 AND id = ?2")?
        .query_row((kind, id.cast_signed(), data), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    if before.map_or(data.is_none(), |(_, is_same)| is_same) {
        return Ok(false);
    }
    if let Some((sum, _)) = before {
        meta.remove(sum.cast_unsigned());
    }
    if let Some(data) = data {
        let sum = row_sum(kind, id, data);
        meta.add(sum);
        put_summed(on, kind, id, data, sum)?;
    } else {
        let mut statement = on.prepare_cached("DELETE FROM rows WHERE kind = ?1 AND id = ?2")?;
        statement.execute((kind, id.cast_signed()))?;
    }
    Ok(true)
}

/// The rows that are none of these.
fn rows_but(on: &Connection, seen: &BTreeSet<(String, u64)>) -> rusqlite::Result<Vec<(String, u64)>> {
    let mut statement = on.prepare("SELECT kind, id FROM rows")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?.cast_unsigned())))?;
    rows.filter(|row| row.as_ref().map_or(true, |row| !seen.contains(row))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    /// A hundred rows of so many bytes each.
    fn of(step: u64, bytes: usize) -> Fake {
        Fake { step, rows: 100, bytes }
    }

    #[test]
    fn a_commit_for_which_there_is_no_room_changes_nothing_and_the_next_that_fits_is_whole() {
        let data = tempfile::tempdir().unwrap();
        let Opened::New(vacant) = Store::open(data.path()).unwrap() else { panic!("there is a save") };
        let mut store = vacant.begin(1);
        store.save(&of(1, 100)).unwrap();
        let before = store.meta.clone();
        for _ in 0..3 {
            store.ready().unwrap();
            let live = store.live.as_ref().unwrap();
            live.connection.pragma_update(None, "max_page_count", 8).unwrap();
            let trouble = store.save(&of(2, 1_000)).unwrap_err();
            assert!(matches!(&trouble, Trouble::Refused(reason) if reason.contains("full")), "{trouble}");
            assert_eq!((&store.meta, store.wants_whole()), (&before, false));
        }
        store.save(&of(3, 1_000)).unwrap();
        store.close().unwrap();
        assert_eq!(look(&store.files.save()).unwrap().1.meta.unwrap().step, 3);
    }

    #[test]
    fn a_row_too_big_to_be_read_again_is_refused_and_breaks_nothing() {
        let data = tempfile::tempdir().unwrap();
        let Opened::New(vacant) = Store::open(data.path()).unwrap() else { panic!("there is a save") };
        let mut store = vacant.begin(1);
        store.save(&of(1, 100)).unwrap();
        for length in [MAX_ROW + 1, 2 * MAX_ROW] {
            let trouble = store.save(&of(2, length)).unwrap_err();
            assert!(matches!(trouble, Trouble::Refused(_)), "{trouble:?}");
            assert!(!store.wants_whole());
        }
        store.save(&of(3, 200)).unwrap();
    }

    #[test]
    fn a_commit_of_which_nobody_knows_whether_it_is_on_disk_is_taken_as_it_is_found() {
        for is_on_disk in [false, true] {
            let data = tempfile::tempdir().unwrap();
            let Opened::New(vacant) = Store::open(data.path()).unwrap() else { panic!("there is a save") };
            let mut store = vacant.begin(1);
            store.save(&of(1, 100)).unwrap();
            let before = store.meta.clone();
            store.save(&of(2, 100)).unwrap();
            let after = store.meta.clone();
            // As if SQLite had said that it failed.
            (store.live, store.meta, store.attempted) = (None, before.clone(), Some(after));
            if !is_on_disk {
                store.ready().unwrap();
                let live = store.live.take().unwrap();
                before.write(&live.connection).unwrap();
                store.meta = before;
            }
            store.save(&of(3, 100)).unwrap();
            assert_eq!(store.meta.step, 3);
        }
    }
}
