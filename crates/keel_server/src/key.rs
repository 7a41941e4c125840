//! The private key by which a server seals the tokens that pilots connect with.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Bytes of a key.
const BYTES: usize = 32;

/// The key. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct ConnectKey([u8; BYTES]);

impl fmt::Debug for ConnectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConnectKey")
    }
}

/// Why there is no key.
#[derive(Debug, Error)]
pub enum KeyError {
    /// The file cannot be read, or not be made.
    #[error("cannot have the key {path}", path = path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Others than its owner may read or change it.
    #[error("the key {path} is open to others (mode {mode:o}): chmod 600 it, or remove it and a new one is made", path = path.display())]
    Open {
        /// Which.
        path: PathBuf,
        /// What it allows whom.
        mode: u32,
    },
    /// It is not what a key is.
    #[error("the key {path} has {found} bytes and not {BYTES}: remove it and a new one is made", path = path.display())]
    Length {
        /// Which.
        path: PathBuf,
        /// What it has; of a long one, more than a key has.
        found: usize,
    },
}

impl ConnectKey {
    /// Reads the key of a file, which is made if there is none.
    ///
    /// # Errors
    /// When it can be neither read nor made, when others may read it, or when it is no key.
    pub fn open(path: &Path) -> Result<Self, KeyError> {
        let failed = |source| KeyError::File { path: path.to_owned(), source };
        let file = match File::open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(path).map_err(failed)?;
                File::open(path)
            }
            file => file,
        };
        let file = file.map_err(failed)?;
        let mode = file.metadata().map_err(failed)?.mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(KeyError::Open { path: path.to_owned(), mode });
        }
        let mut bytes = Vec::new();
        file.take(BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        let key =
            bytes.as_slice().try_into().map_err(|_| KeyError::Length { path: path.to_owned(), found: bytes.len() })?;
        Ok(Self(key))
    }

    pub(crate) const fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

/// Makes a key. It comes under its name only when it is whole and on the disk, and never over another.
fn make(path: &Path) -> io::Result<()> {
    let mut key = [0; BYTES];
    getrandom::fill(&mut key).map_err(io::Error::other)?;
    // Of a name that nobody else has, and that one who was interrupted has not left behind.
    let mut name = [0; 8];
    getrandom::fill(&mut name).map_err(io::Error::other)?;
    let half = path.with_extension(format!("{:016x}.new", u64::from_ne_bytes(name)));
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&half)?;
    let made = file.write_all(&key).and_then(|()| file.sync_all()).and_then(|()| fs::hard_link(&half, path));
    fs::remove_file(&half)?;
    match made {
        // Another was quicker: its key is as good.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made.and_then(|()| {
            File::open(path.parent().filter(|at| !at.as_os_str().is_empty()).unwrap_or(Path::new(".")))?.sync_all()
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("connect.key");
        let key = ConnectKey::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(ConnectKey::open(&path).unwrap(), key, "and is the same at the next start");
        assert_ne!(ConnectKey::open(&folder.path().join("other.key")).unwrap(), key);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
        assert_eq!(format!("{key:?}"), "ConnectKey");
    }

    #[test]
    fn two_that_start_at_once_have_one_key() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("connect.key");
        let keys: Vec<_> = std::thread::scope(|scope| {
            let starts: Vec<_> = (0..8).map(|_| scope.spawn(|| ConnectKey::open(&path).unwrap())).collect();
            starts.into_iter().map(|start| start.join().unwrap()).collect()
        });
        assert!(keys.iter().all(|key| *key == ConnectKey::open(&path).unwrap()));
    }

    #[test]
    fn a_key_that_others_may_read_or_that_is_none_is_refused_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("connect.key");
        ConnectKey::open(&path).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o666] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let said = ConnectKey::open(&path).unwrap_err().to_string();
            assert!(said.contains(&format!("is open to others (mode {mode:o})")), "{said}");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for length in [0, 31, 33, 1 << 20] {
            fs::write(&path, vec![7; length]).unwrap();
            let said = ConnectKey::open(&path).unwrap_err().to_string();
            assert!(said.contains(&format!("has {} bytes and not 32", length.min(33))), "{said}");
            assert_eq!(fs::metadata(&path).unwrap().len(), length as u64);
        }
        let nowhere = folder.path().join("no/such/connect.key");
        assert!(ConnectKey::open(&nowhere).unwrap_err().to_string().starts_with("cannot have the key "));
    }
}
