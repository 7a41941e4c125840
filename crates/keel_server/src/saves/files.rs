//! What the files of a save are called, and how they get their names.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
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

    /// Whether there is a save, or what is left of one.
    pub(super) fn has_save(&self) -> bool {
        exists(&self.save()) || exists(&beside(&self.save(), "-wal"))
    }

    /// Whether there is anything of a world that another would replace.
    pub(super) fn is_taken(&self) -> bool {
        self.has_save() || !self.kept_numbers().is_empty()
    }

    /// What a save is called until it is whole and takes its place.
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
    /// What is beside it goes last: a save without its log may pass for a whole one that is older, and a log without its save
    /// passes for nothing.
    pub(super) fn put_aside(&self, label: &str) -> Result<PathBuf, SaveError> {
        let utc = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
        let (from, to) = (self.save(), self.free(&format!("{label}-{utc}")));
        rename_if_there(&from, &to)?;
        sync_directory(&self.directory)?;
        for end in ["-wal", "-journal"] {
            rename_if_there(&beside(&from, end), &beside(&to, end))?;
        }
        remove_if_there(&beside(&from, "-shm"))?;
        sync_directory(&self.directory)?;
        Ok(to)
    }
}

/// Puts a whole file in the place of another: it is on disk before it has the name.
pub(super) fn install(from: &Path, to: &Path) -> Result<(), SaveError> {
    sync(from)?;
    fs::rename(from, to).map_err(|source| SaveError::io(to, source))?;
    sync_directory(to.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new(".")))
}

/// Makes a file that is not there and that only its owner may read.
///
/// # Errors
/// [`SaveError::Exists`] when there is one, [`SaveError::Io`] when the system refuses it.
pub(super) fn make_file(path: &Path) -> Result<File, SaveError> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(|source| match source.kind() {
        ErrorKind::AlreadyExists => SaveError::Exists(path.to_owned()),
        _ => SaveError::io(path, source),
    })
}

/// Copies a file into one that is not there and that only its owner may read.
pub(super) fn copy_file(from: &Path, to: &Path) -> Result<(), SaveError> {
    let mut new = make_file(to)?;
    let copied = File::open(from).and_then(|mut from| io::copy(&mut from, &mut new));
    copied.map(|_| ()).map_err(|source| SaveError::io(to, source))
}

/// Puts what was written into a file on disk.
pub(super) fn sync(path: &Path) -> Result<(), SaveError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(|source| SaveError::io(path, source))
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
