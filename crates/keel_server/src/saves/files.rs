//! What the files of a save are called, and how one takes another's place without a moment in which there is none.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::SaveError;

/// The files of a data directory that belong to the save.
#[derive(Clone, Debug)]
pub struct Files {
    directory: PathBuf,
}

impl Files {
    /// Those of a data directory, whether they are there or not.
    #[must_use]
    pub fn of(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// The data directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The save itself.
    #[must_use]
    pub fn save(&self) -> PathBuf {
        self.directory.join("world.sqlite")
    }

    /// A kept copy: 1 is the newest.
    #[must_use]
    pub fn kept(&self, number: u32) -> PathBuf {
        self.directory.join(format!("world.{number}.sqlite"))
    }

    /// The numbers of the kept copies that are there, the newest first.
    #[must_use]
    pub fn kept_numbers(&self) -> Vec<u32> {
        let Ok(entries) = fs::read_dir(&self.directory) else { return Vec::new() };
        let number = |name: &str| name.strip_prefix("world.")?.strip_suffix(".sqlite")?.parse().ok();
        let mut numbers: Vec<u32> =
            entries.flatten().filter_map(|entry| entry.file_name().to_str().and_then(number)).collect();
        numbers.sort_unstable();
        numbers
    }

    /// What a save is called while it is not whole yet. Whatever is left there is of no use to anyone.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.directory.join("world.new.sqlite")
    }

    /// What a copy is called that is not whole yet.
    pub(super) fn unfinished_copy(&self) -> PathBuf {
        self.directory.join("world.copy.sqlite")
    }

    /// The name of a file that is never overwritten, such as `world.v1.sqlite`.
    pub(super) fn labelled(&self, label: &str) -> PathBuf {
        self.directory.join(format!("world.{label}.sqlite"))
    }

    /// The same, or one with a number if that is taken.
    pub(super) fn free(&self, label: &str) -> PathBuf {
        let numbered = (2_u64..).map(|number| self.labelled(&format!("{label}-{number}")));
        let mut all = std::iter::once(self.labelled(label)).chain(numbered);
        all.find(|path| !exists(path) && !exists(&beside(path, "-wal"))).unwrap_or_else(|| self.labelled(label))
    }

    /// Takes the save out of the way, with what SQLite keeps beside it, and says where it is now.
    ///
    /// What is beside it goes first: were it left behind, SQLite would take it for a part of whatever comes next.
    pub(super) fn put_aside(&self, label: &str) -> Result<PathBuf, SaveError> {
        let utc = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let (from, to) = (self.save(), self.free(&format!("{label}-{utc}")));
        for end in ["-wal", "-journal"] {
            rename_if_there(&beside(&from, end), &beside(&to, end))?;
        }
        remove_if_there(&beside(&from, "-shm"))?;
        rename_if_there(&from, &to)?;
        sync_directory(&self.directory)?;
        Ok(to)
    }

    /// Puts a whole file in the place of another: it is on disk before it has the name.
    pub(super) fn install(&self, from: &Path, to: &Path) -> Result<(), SaveError> {
        File::open(from).and_then(|file| file.sync_all()).map_err(|source| SaveError::io(from, source))?;
        fs::rename(from, to).map_err(|source| SaveError::io(to, source))?;
        sync_directory(&self.directory)
    }
}

/// What SQLite keeps beside a file of its own.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

/// The name of a file that SQLite keeps beside another: `-wal`, `-shm` or `-journal`.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    name.into()
}

/// Whether there is anything of that name, even a link that leads nowhere.
pub(super) fn exists(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The length of a file; 0 where there is none.
pub(super) fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Removes a file of SQLite's with what is beside it, if they are there.
pub(super) fn remove(path: &Path) -> Result<(), SaveError> {
    let all = BESIDE.iter().map(|end| beside(path, end)).chain([path.to_owned()]);
    all.into_iter().try_for_each(|path| remove_if_there(&path))
}

fn remove_if_there(path: &Path) -> Result<(), SaveError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(SaveError::io(path, source)),
        _ => Ok(()),
    }
}

/// Makes names that were given or taken in a directory last.
pub(super) fn sync_directory(directory: &Path) -> Result<(), SaveError> {
    // Where a directory cannot be opened as a file, its names last by themselves.
    if cfg!(unix) {
        let sync = |directory: &Path| File::open(directory)?.sync_all();
        sync(directory).map_err(|source| SaveError::io(directory, source))?;
    }
    Ok(())
}

fn rename_if_there(from: &Path, to: &Path) -> Result<(), SaveError> {
    match fs::rename(from, to) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(SaveError::io(from, source)),
        _ => Ok(()),
    }
}

/// What tells a file from another that has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity(u64, u64);

impl Identity {
    /// That of the file which has a name now.
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).map(|meta| Self(meta.dev(), meta.ino()))
    }

    /// Elsewhere a file that is open cannot be taken away.
    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        fs::metadata(path).map(|_| Self(0, 0))
    }
}
