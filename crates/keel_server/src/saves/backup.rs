//! A save as one file elsewhere, and back.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use rusqlite::Connection;

use super::check::{Contents, Reader, look};
use super::dump::whole;
use super::files::{Files, beside, exists, install, remove};
use super::keep::copy;
use super::place::{go_on, take_over};
use super::store::{create, finish};
use super::{Lock, Meta, SaveError};

/// Copies a save into a file, also while a server has it. The save and the copy are checked. What the copy says of itself.
///
/// # Errors
/// When there is no whole save of this version, when there is such a file already, or it cannot be written.
pub fn backup(directory: &Path, to: &Path) -> Result<Meta, SaveError> {
    let is_free = || if exists(to) { Err(SaveError::Exists(to.to_owned())) } else { Ok(()) };
    is_free()?;
    let files = Files::of(directory);
    let (save, meta) = whole(&files, Reader::open(&files)?)?;
    // Of a name that no other has; where there is such a file all the same, it is not ours to remove.
    let new = beside(to, &format!(".{}.new", std::process::id()));
    let made = create(&new)?;
    fill(&save.connection, made, &new).and_then(|_| is_free()).and_then(|()| install(&new, to)).inspect_err(|_| {
        // The error is what counts.
        let _ = remove(&new);
    })?;
    Ok(meta)
}

/// What was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// What it holds.
    pub contents: Contents,
    /// Where the save is that was there before.
    pub before: Option<PathBuf>,
}

/// Makes the save of a data directory that of a file, such as [`backup`] makes, all of it or nothing. One of an older version
/// stays as old as it is: it is brought forward as any is, when a server starts.
///
/// # Errors
/// When the file is not a whole save, there is a save and it is not to be replaced, or a server has that.
pub fn restore(directory: &Path, from: &Path, is_forced: bool) -> Result<Restored, SaveError> {
    let read = || look(from).map_err(|fault| fault.of(from));
    // Before a directory is made for nothing.
    read()?;
    let (files, _lock) = (Files::of(directory), Lock::take(directory)?);
    go_on(&files)?;
    if files.is_taken() && !is_forced {
        return Err(SaveError::Exists(files.save()));
    }
    let new = files.unfinished();
    let make = || {
        let (reader, _) = read()?;
        fill(&reader, create(&new)?, &new)
    };
    let contents = make().inspect_err(|_| {
        // The error is what counts.
        let _ = remove(&new);
    })?;
    Ok(Restored { contents, before: take_over(&files, &new)? })
}

/// Fills a new file with what a connection sees, and checks it.
fn fill(from: &Connection, mut to: Connection, path: &Path) -> Result<Contents, SaveError> {
    copy(from, &mut to, &AtomicBool::new(false))
        .map_err(|trouble| SaveError::io(path, std::io::Error::other(trouble.to_string())))?;
    finish(to).map_err(|source| SaveError::sqlite(path, source))?;
    look(path).map(|(_, contents)| contents).map_err(|fault| fault.of(path))
}
