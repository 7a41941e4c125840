//! Copies that are kept of the save: `world.1.sqlite`, the newest, and some older ones.
//!
//! A copy is made by a thread of its own through a connection of its own, which sees one commit however many follow, so no
//! cut waits for it. It is read and checked as a save is when it is opened, and on disk, before it gets its name: what is
//! broken is never kept in the place of what is whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, SystemTime};

use bevy_log::info;
use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};

use super::SaveError;
use super::check::{Fault, contents, look, open_shared};
use super::files::{Files, exists, install, remove, sync_directory};
use super::schema::{Meta, guard};
use super::store::{Trouble, create, finish};

/// How long a server that starts waits with its first copy.
///
/// A save that was closed in order is copied at once, and so is one of which there is no copy. After a crash the copies
/// that there are go on as if there had been none: a server that keeps crashing does not push out, within a minute, all
/// that is older than its trouble.
pub(super) fn first_copy(files: &Files, meta: &Meta, every: Duration) -> Duration {
    match kept_at(files) {
        Some(at) if !meta.is_clean => {
            every.saturating_sub(SystemTime::now().duration_since(at).unwrap_or(Duration::ZERO))
        }
        _ => Duration::ZERO,
    }
}

/// When the newest copy was kept.
pub(super) fn kept_at(files: &Files) -> Option<SystemTime> {
    std::fs::metadata(files.kept(1)).and_then(|file| file.modified()).ok()
}

/// A copy that is being made.
#[derive(Debug)]
pub(super) struct Copier {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Option<u64>, Trouble>>,
}

impl Copier {
    /// Starts to copy the save, as the copy of that number of which so many are kept.
    pub(super) fn start(files: &Files, generation: u64, most: u32) -> std::io::Result<Self> {
        let (files, stop) = (files.clone(), Arc::new(AtomicBool::new(false)));
        let asked = Arc::clone(&stop);
        let thread = Builder::new().name("saves-copy".to_owned()).spawn(move || {
            let copied = keep(&files, generation, most, &asked).map_err(|trouble| blame(&files, trouble));
            // What is not whole is of no use to anyone, and the next start clears it away as well.
            let _ = remove(&files.unfinished_copy());
            copied
        })?;
        Ok(Self { stop, thread })
    }

    pub(super) fn is_done(&self) -> bool {
        self.thread.is_finished()
    }

    /// Asks it to leave off.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The number of the copy; `None` if the last one is as new, or it was stopped.
    pub(super) fn join(self) -> Result<Option<u64>, Trouble> {
        self.thread.join().unwrap_or_else(|_| Err(Trouble::Refused("the thread that copies has died".to_owned())))
    }
}

/// Tells what is wrong with the save from what is wrong with its copy: only what the save itself is found to be counts
/// against it.
fn blame(files: &Files, trouble: Trouble) -> Trouble {
    let Trouble::Broken(of_copy) = trouble else { return trouble };
    match open_shared(&files.save()).and_then(|save| contents(&save)) {
        Err(Fault::Broken(reason)) => Trouble::Broken(reason),
        _ => Trouble::Refused(format!("the copy is broken: {of_copy}")),
    }
}

fn keep(files: &Files, generation: u64, most: u32, stop: &AtomicBool) -> Result<Option<u64>, Trouble> {
    let path = files.unfinished_copy();
    remove(&path)?;
    let from = open_shared(&files.save())?;
    let Some(mut meta) = Meta::read(&from)? else {
        return Err(Trouble::Broken("what it says of itself does not have its sum".to_owned()));
    };
    if let Ok((_, last)) = look(&files.kept(1))
        && last.meta.is_some_and(|last| is_same(&last, &meta))
    {
        return Ok(None);
    }
    let mut to = create(&path)?;
    if !copy(&from, &mut to, stop)? {
        return Ok(None);
    }
    drop(from);
    meta.generation = generation;
    meta.write(&to)?;
    finish(to)?;
    look(&path)?;
    shift(files, most)?;
    install(&path, &files.kept(1))?;
    info!(copy = %files.kept(1).display(), step = meta.step, rows = meta.rows, "kept a copy of the save");
    Ok(Some(generation))
}

/// Whether there is nothing in one that is not in the other.
fn is_same(copy: &Meta, save: &Meta) -> bool {
    (copy.seed, copy.step, copy.rows, copy.total) == (save.seed, save.step, save.rows, save.total)
}

/// Copies what one connection sees into the file of another; whether it came to the end.
pub(super) fn copy(from: &Connection, to: &mut Connection, stop: &AtomicBool) -> Result<bool, Trouble> {
    let backup = Backup::new(from, to)?;
    loop {
        match backup.step(PAGES)? {
            StepResult::Done => break,
            _ if stop.load(Ordering::Relaxed) => return Ok(false),
            StepResult::More => {}
            _ => return Err(Trouble::Refused("the save is locked".to_owned())),
        }
    }
    drop(backup);
    // The pages brought settings of their own with them, but not those of the connection.
    guard(to)?;
    Ok(true)
}

/// Pages that are copied before it is looked whether to stop: a megabyte.
const PAGES: i32 = 256;

/// Makes room for a new first copy.
pub(super) fn shift(files: &Files, most: u32) -> Result<(), SaveError> {
    for number in files.kept_numbers().into_iter().rev() {
        let path = files.kept(number);
        if number >= most {
            remove(&path)?;
        } else if exists(&path) {
            let to = files.kept(number + 1);
            std::fs::rename(&path, &to).map_err(|source| SaveError::io(&to, source))?;
        }
    }
    sync_directory(files.directory())
}

#[cfg(test)]
mod tests {
    use super::super::Opened;
    use super::super::fake::Fake;
    use super::super::store::Store;
    use super::*;

    #[test]
    fn a_copy_that_is_broken_is_no_word_against_the_save() {
        let data = tempfile::tempdir().unwrap();
        let Opened::New(vacant) = Store::open(data.path()).unwrap() else { panic!("there is a save") };
        let mut store = vacant.begin(1);
        store.save(&Fake { step: 1, rows: 0, bytes: 0 }).unwrap();
        store.close().unwrap();
        let blamed = || blame(&store.files, Trouble::Broken("a page of it".to_owned()));
        assert!(matches!(blamed(), Trouble::Refused(reason) if reason == "the copy is broken: a page of it"));
        let connection = Connection::open(store.files.save()).unwrap();
        connection.execute_batch("UPDATE meta SET step = 2").unwrap();
        connection.close().unwrap();
        assert!(matches!(blamed(), Trouble::Broken(reason) if reason.contains("does not have its sum")));
    }
}
