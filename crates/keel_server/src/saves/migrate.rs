//! Bringing saves of older versions forward.
//!
//! Every step runs on a copy, all of them in one transaction, and what comes out is checked as any save is before it takes
//! the old one's place. So whatever fails, and whenever, the old save is as it was, and doing it again does the same.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use bevy_log::info;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::check::{Contents, Fault, contents, look};
use super::files::{Files, beside, exists, install, remove};
use super::keep::copy;
use super::schema::{Meta, checkpoint, mark, open_to_write, row_sum};
use super::store::{Opened, Store, Trouble, create, finish};
use super::{Lock, SAVE_VERSION, SaveError};

/// One step from a version to the next.
#[derive(Clone, Copy, Debug)]
pub struct Migration {
    /// The version that it starts from; the next is one higher.
    pub from: u32,
    /// Makes one of the other: the rows, and the tables too if they change. Sums need not be right afterwards, nor what the
    /// save says of its version and its number of rows: that is put right once all steps are done. What was made before
    /// versions had the tables of [`start_schema`](super::start_schema) is given them by its step.
    pub run: fn(&Transaction<'_>) -> Result<(), Box<dyn Error + Send + Sync>>,
}

/// Steps, in any order.
pub type Steps = [Migration];

/// What was made of an older save, or would be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migrated {
    /// What it held.
    pub before: Contents,
    /// What it holds now.
    pub after: Contents,
    /// Where the older one is kept; none of a rehearsal.
    pub backup: Option<PathBuf>,
}

/// A save of an older version, locked and whole.
#[derive(Debug)]
pub struct Old {
    files: Files,
    lock: Lock,
    contents: Contents,
    /// Whether it is a kept copy that took the place of one that was broken.
    fell_back: bool,
}

impl Old {
    pub(super) fn new(files: Files, lock: Lock, contents: Contents, fell_back: bool) -> Self {
        Self { files, lock, contents, fell_back }
    }

    /// Looks for a save of an older version and changes nothing, whatever there is; `None` if it is of this version.
    ///
    /// # Errors
    /// Why there is no save that could be migrated.
    pub fn find(directory: &Path) -> Result<Option<Self>, SaveError> {
        let (files, lock) = (Files::of(directory), Lock::take_if_there(directory)?);
        let (_, contents) = look(&files.save()).map_err(|fault| fault.of(&files.save()))?;
        Ok((contents.version != SAVE_VERSION).then(|| Self::new(files, lock, contents, false)))
    }

    /// Its version.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.contents.version
    }

    /// Does all of it in memory, and says what would come out.
    ///
    /// # Errors
    /// Why it would fail.
    pub fn rehearse(&self, steps: &Steps) -> Result<Migrated, SaveError> {
        let rehearse = || {
            let mut copied = Connection::open_in_memory()?;
            self.copy_to(&mut copied)?;
            run(&copied, self.contents.version, steps)
        };
        let after = rehearse().map_err(|failure| self.failed(failure))?;
        Ok(Migrated { before: self.contents.clone(), after, backup: None })
    }

    /// Makes a save of this version of it, and keeps the old one as `world.v1.sqlite`, or whatever its version is.
    ///
    /// # Errors
    /// Why not. The save is as it was then.
    pub fn migrate(self, steps: &Steps) -> Result<(Store, Migrated), SaveError> {
        let backup = self.back_up()?;
        let new = self.files.unfinished();
        let make = || {
            remove(&new)?;
            let mut copied = create(&new)?;
            self.copy_to(&mut copied)?;
            let after = run(&copied, self.contents.version, steps)?;
            finish(copied)?;
            Ok(after)
        };
        let after = make().map_err(|failure| {
            // The failure is what counts; the next start clears away what is left.
            let _ = remove(&new);
            self.failed(failure)
        })?;
        self.put_log_away()?;
        install(&new, &self.files.save())?;
        let (from, save) = (self.contents.version, self.files.save());
        info!(save = %save.display(), from, to = SAVE_VERSION, backup = %backup.display(), "the save was migrated");
        let migrated = Migrated { before: self.contents, after, backup: Some(backup) };
        match Store::open_locked(self.files, self.lock)? {
            Opened::Whole(mut store) => {
                store.fell_back = self.fell_back;
                Ok((*store, migrated))
            }
            _ => Err(SaveError::Migration { path: save, from, reason: "it did not last".to_owned() }),
        }
    }

    /// Keeps a copy of it, unless there is one already.
    fn back_up(&self) -> Result<PathBuf, SaveError> {
        let (new, label) = (self.files.unfinished_copy(), format!("v{}", self.contents.version));
        let make = || {
            remove(&new)?;
            let mut copied = create(&new)?;
            self.copy_to(&mut copied)?;
            copied.close().map_err(|(_, error)| error)?;
            look(&new).map_err(Failure::from)
        };
        make().map_err(|failure| self.failed(failure))?;
        let read = |path: &Path| std::fs::read(path).map_err(|source| SaveError::io(path, source));
        let there = self.files.labelled(&label);
        if exists(&there) && read(&there)? == read(&new)? {
            remove(&new)?;
            return Ok(there);
        }
        let to = self.files.free(&label);
        install(&new, &to)?;
        Ok(to)
    }

    fn copy_to(&self, to: &mut Connection) -> Result<(), Failure> {
        let (from, _) = look(&self.files.save())?;
        copy(&from, to, &AtomicBool::new(false))?;
        Ok(())
    }

    /// Writes the old save's log into it, so that none is left for what takes its place. It says what it said before.
    fn put_log_away(&self) -> Result<(), SaveError> {
        let save = self.files.save();
        let fold = || {
            let connection = open_to_write(&save)?;
            checkpoint(&connection)
        };
        if exists(&beside(&save, "-wal")) {
            fold().map_err(|source| SaveError::sqlite(&save, source))?;
            for end in ["-wal", "-shm"] {
                remove(&beside(&save, end))?;
            }
        }
        Ok(())
    }

    fn failed(&self, failure: Failure) -> SaveError {
        let (path, from) = (self.files.save(), self.contents.version);
        match failure {
            Failure::Save(error) => error,
            Failure::Other(reason) => SaveError::Migration { path, from, reason },
        }
    }
}

/// Runs all steps that lead from a version to this one, in one transaction, and checks what comes out.
fn run(connection: &Connection, from: u32, steps: &Steps) -> Result<Contents, Failure> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    for version in from..SAVE_VERSION {
        let step = steps.iter().find(|step| step.from == version);
        let step = step.ok_or_else(|| Failure::Other(format!("no way leads on from version {version}")))?;
        (step.run)(&transaction).map_err(|error| Failure::Other(format!("from version {version}: {error}")))?;
    }
    seal(&transaction, SAVE_VERSION)?;
    let after = contents(&transaction)?;
    transaction.commit()?;
    Ok(after)
}

/// Makes all sums right, and what the save says of its version and its rows.
pub(super) fn seal(transaction: &Connection, version: u32) -> Result<(), Failure> {
    let Some(mut meta) = Meta::read(transaction)? else {
        return Err(Failure::Other("what the save says of itself is gone".to_owned()));
    };
    (meta.version, meta.rows, meta.total) = (version, 0, 0);
    let mut wrong = Vec::new();
    let mut statement = transaction.prepare("SELECT kind, id, data, sum FROM rows")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, id) = (row.get::<_, String>(0)?, row.get::<_, i64>(1)?);
        let sum = row_sum(&kind, id.cast_unsigned(), row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?);
        meta.add(sum);
        if row.get::<_, i64>(3)?.cast_unsigned() != sum {
            wrong.push((kind, id, sum.cast_signed()));
        }
    }
    drop(rows);
    let mut put_right = transaction.prepare("UPDATE rows SET sum = ?3 WHERE kind = ?1 AND id = ?2")?;
    for row in wrong {
        put_right.execute(row)?;
    }
    meta.write(transaction)?;
    mark(transaction, version)?;
    Ok(())
}

/// Why a save stays as old as it is.
#[derive(Debug)]
pub(super) enum Failure {
    Save(SaveError),
    Other(String),
}

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        Self::Save(error)
    }
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Other(error.to_string())
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Other(fault.to_string())
    }
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        Self::Other(trouble.to_string())
    }
}
