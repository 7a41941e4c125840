//! One server on a data directory: a lock that the system holds for a process and lets go of when it dies.
//!
//! Who only reads shares it, and writes nothing: no server comes up under a reader's hands, and a server that has it is left
//! alone.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::SaveError;
use crate::data::make_data_directory;

/// The lock on a data directory, held until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

/// How long those who read are waited for.
const PATIENCE: Duration = Duration::from_secs(3);

/// How often it is tried meanwhile.
const TRY: Duration = Duration::from_millis(20);

impl Lock {
    /// Takes the lock of a data directory, which is made if there is none.
    ///
    /// # Errors
    /// [`SaveError::Locked`] while another server has it, [`SaveError::Read`] when someone reads the save and goes on for some
    /// seconds, [`SaveError::Io`] where the system refuses the file.
    pub fn take(directory: &Path) -> Result<Self, SaveError> {
        make_data_directory(directory).map_err(|source| SaveError::io(directory, source))?;
        Self::take_if_there(directory)
    }

    /// Takes the lock of a data directory that is there.
    ///
    /// # Errors
    /// As [`Lock::take`], and [`SaveError::Io`] if there is no such directory.
    pub fn take_if_there(directory: &Path) -> Result<Self, SaveError> {
        Self::take_within(directory, PATIENCE)
    }

    fn take_within(directory: &Path, patience: Duration) -> Result<Self, SaveError> {
        let path = directory.join("lock");
        let refused = |source| SaveError::io(&path, source);
        let open = || OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = open().map_err(refused)?;
        let end = Instant::now() + patience;
        while !tried(file.try_lock()).map_err(refused)? {
            if !tried(file.try_lock_shared()).map_err(refused)? {
                return Err(SaveError::Locked { directory: directory.to_owned(), pid: pid(&mut file) });
            }
            file.unlock().map_err(refused)?;
            if Instant::now() >= end {
                return Err(SaveError::Read(directory.to_owned()));
            }
            std::thread::sleep(TRY);
        }
        // The number is for people to read: that it cannot be written, as on a full disk, keeps nobody from playing.
        let _ = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).and_then(|_| {
            let line = format!("{}\n", std::process::id());
            file.write_all(line.as_bytes())
        });
        Ok(Self { _file: file })
    }

    /// Shares the lock with others who read, and makes and writes nothing; `None` where no server has ever been, and so
    /// there is none.
    ///
    /// # Errors
    /// As [`Lock::take_if_there`], but for those who read.
    pub(super) fn share(directory: &Path) -> Result<Option<Self>, SaveError> {
        let path = directory.join("lock");
        let refused = |source| SaveError::io(&path, source);
        let mut file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file.map_err(refused)?,
        };
        if tried(file.try_lock_shared()).map_err(refused)? {
            return Ok(Some(Self { _file: file }));
        }
        Err(SaveError::Locked { directory: directory.to_owned(), pid: pid(&mut file) })
    }
}

/// Whether a lock was got.
fn tried(tried: Result<(), TryLockError>) -> std::io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(source)) => Err(source),
    }
}

/// The process that wrote its number into the lock.
fn pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_locked_once_and_free_again_when_the_lock_goes() {
        let directory = tempfile::tempdir().unwrap();
        let data = directory.path().join("data");
        let lock = Lock::take(&data).unwrap();
        let refused = Lock::take(&data).unwrap_err();
        assert!(
            matches!(&refused, SaveError::Locked { pid: Some(pid), .. } if *pid == std::process::id()),
            "{refused:?}"
        );
        assert!(refused.to_string().contains(&std::process::id().to_string()), "{refused}");
        drop(lock);
        Lock::take(&data).unwrap();
    }

    #[test]
    fn readers_share_it_with_each_other_and_a_server_waits_for_them_for_a_while() {
        let directory = tempfile::tempdir().unwrap();
        assert!(Lock::share(directory.path()).unwrap().is_none(), "nobody has been there");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "and a reader leaves no trace");
        drop(Lock::take(directory.path()).unwrap());
        let (one, other) = (Lock::share(directory.path()).unwrap(), Lock::share(directory.path()).unwrap());
        assert!(one.is_some() && other.is_some());
        let begun = Instant::now();
        let refused = Lock::take_within(directory.path(), Duration::from_millis(50)).unwrap_err();
        assert!(matches!(refused, SaveError::Read(_)) && begun.elapsed() >= Duration::from_millis(50), "{refused:?}");
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(60));
                drop((one, other));
            });
            let lock = Lock::take(directory.path()).unwrap();
            let refused = Lock::share(directory.path()).unwrap_err();
            assert!(matches!(refused, SaveError::Locked { pid: Some(pid), .. } if pid == std::process::id()));
            drop(lock);
        });
    }

    #[test]
    fn what_a_killed_server_left_in_the_lock_keeps_nobody_out() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("lock"), "4000000000\nand more than a number").unwrap();
        let _lock = Lock::take(directory.path()).unwrap();
        let text = std::fs::read_to_string(directory.path().join("lock")).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
    }
}
