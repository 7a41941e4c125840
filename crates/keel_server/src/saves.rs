//! Saves: the world on disk, in an embedded SQLite file that a thread of its own writes.
//!
//! The store knows nothing of the world. A row is a kind, a number and bytes that others make and read; what a step's
//! end looks like comes as a [`Cut`], and each cut is one transaction, so both sides of every transfer get to disk at one
//! commit point or not at all. [`Store::open`] finds out what a data directory holds, falls back on a kept copy where the
//! save is broken, and never changes a file that it cannot read; [`Writer`] writes cuts, keeps copies and says through
//! [`Status`] how far behind it is.
//!
//! Each row has a checksum, and the one row of `meta` the sum of them all, so that a row that is missing, doubled or left
//! from an older cut is found as surely as a flipped bit.

mod backup;
mod check;
mod dump;
#[cfg(test)]
mod fake;
mod files;
mod keep;
mod lock;
mod migrate;
mod place;
mod schema;
mod status;
mod store;
mod value;
mod version_1;
mod writer;

pub use backup::{Restored, backup, restore};
pub use check::{Contents, Fault, Inspection, Kept, inspect};
pub use dump::{DumpError, Imported, MAX_KIND, MAX_LINE, export, import};
pub use files::Files;
pub use lock::Lock;
pub use migrate::{Migrated, Migration, Old, Steps};
pub use schema::{APPLICATION_ID, MAX_ROW, Meta, put_row, start_schema};
pub use status::{Report, Status};
pub use store::{Opened, Store, Vacant};
pub use writer::{Cut, Finished, Settings, Writer};

use std::path::{Path, PathBuf};

use thiserror::Error;

/// The version of saves that this build writes and reads. Older ones are migrated, newer ones refused.
pub const SAVE_VERSION: u32 = 2;

/// Every step from an older version to this one.
pub const MIGRATIONS: &Steps = &[version_1::STEP];

/// Why a save cannot be had. None of these has changed the save.
#[derive(Debug, Error)]
pub enum SaveError {
    /// Another process has the data directory.
    #[error("{} is in use by another server{}", directory.display(), of_process(*pid))]
    Locked {
        /// The data directory.
        directory: PathBuf,
        /// The process that has it, where it could be read.
        pid: Option<u32>,
    },
    /// Others read the save in the data directory, and do not come to an end.
    #[error("{} is being read by someone else, such as keel save export: nothing can have it until that is done", .0.display())]
    Read(PathBuf),
    /// A later version of the game wrote it.
    #[error("{} is a save of version {found}, and this build knows up to {known}: it was left as it is", path.display())]
    Newer {
        /// The save.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that this build knows.
        known: u32,
    },
    /// It is broken, and so is every kept copy.
    #[error("{} is broken ({reason}){}", path.display(), of_kept(kept))]
    Broken {
        /// The save.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
        /// What is wrong with each kept copy, the newest first.
        kept: Vec<(PathBuf, String)>,
    },
    /// It is of an older version from which no way leads to this one, or the way failed.
    #[error("cannot bring {} from version {from} to version {SAVE_VERSION}: {reason}", path.display())]
    Migration {
        /// The save.
        path: PathBuf,
        /// Its version.
        from: u32,
        /// Why not.
        reason: String,
    },
    /// There is no save where there should be one.
    #[error("there is no save at {}", .0.display())]
    Missing(PathBuf),
    /// There is something where nothing should be.
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    /// The system refused a file.
    #[error("cannot use {}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// SQLite refused a file for a reason that is none of the file's content.
    #[error("cannot use {}", path.display())]
    Sqlite {
        /// Which.
        path: PathBuf,
        /// What it said.
        source: rusqlite::Error,
    },
}

impl SaveError {
    /// A file that the system refused.
    pub(crate) fn io(path: &Path, source: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }

    /// A file that SQLite refused.
    pub(crate) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        Self::Sqlite { path: path.to_owned(), source }
    }
}

fn of_process(pid: Option<u32>) -> String {
    pid.map_or_else(String::new, |pid| format!(" (process {pid})"))
}

fn of_kept(kept: &[(PathBuf, String)]) -> String {
    if kept.is_empty() {
        return ", and no copy of it was kept".to_owned();
    }
    let each: Vec<String> = kept.iter().map(|(path, reason)| format!("{} ({reason})", path.display())).collect();
    format!(", and no kept copy is whole: {}", each.join(", "))
}
