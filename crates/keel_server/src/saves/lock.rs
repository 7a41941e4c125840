//! One server on a data directory: a lock that the system holds for a process and lets go of when it dies.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::SaveError;

/// The lock on a data directory, held until it is dropped or the process ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Takes the lock of a data directory, which is made if there is none.
    ///
    /// # Errors
    /// [`SaveError::Locked`] while another has it, [`SaveError::Io`] where the system refuses the file.
    pub fn take(directory: &Path) -> Result<Self, SaveError> {
        std::fs::create_dir_all(directory).map_err(|source| SaveError::io(directory, source))?;
        Self::take_if_there(directory)
    }

    /// Takes the lock of a data directory that is there.
    ///
    /// # Errors
    /// As [`Lock::take`], and [`SaveError::Io`] if there is no such directory.
    pub fn take_if_there(directory: &Path) -> Result<Self, SaveError> {
        let path = directory.join("lock");
        let refused = |source| SaveError::io(&path, source);
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(refused)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(SaveError::Locked { directory: directory.to_owned(), pid: pid(&mut file) });
            }
            Err(TryLockError::Error(source)) => return Err(refused(source)),
        }
        // The number is for people to read: that it cannot be written, as on a full disk, keeps nobody from playing.
        let _ = file.set_len(0).and_then(|()| file.seek(SeekFrom::Start(0))).and_then(|_| {
            let line = format!("{}\n", std::process::id());
            file.write_all(line.as_bytes())
        });
        Ok(Self { _file: file })
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
    fn what_a_killed_server_left_in_the_lock_keeps_nobody_out() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("lock"), "4000000000\nand more than a number").unwrap();
        let _lock = Lock::take(directory.path()).unwrap();
        let text = std::fs::read_to_string(directory.path().join("lock")).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
    }
}
