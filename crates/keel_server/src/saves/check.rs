//! Looking at a save without touching it: nothing is written, made or removed, neither the file nor anything beside it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};
use thiserror::Error;

use super::files::{Files, beside, length};
use super::schema::{self, APPLICATION_ID, Meta, TABLES, row_sum};
use super::{Lock, SAVE_VERSION, SaveError};

/// What a save holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Its version.
    pub version: u32,
    /// What it says of itself. An older version may have had no such row.
    pub meta: Option<Meta>,
    /// Rows and bytes of data of each kind. Of an older version with tables of its own nothing is known.
    pub kinds: BTreeMap<String, (u64, u64)>,
}

/// Why a file is not a save that can be read.
#[derive(Debug, Error)]
pub enum Fault {
    /// There is none.
    #[error("it is not there")]
    Missing,
    /// A later version of the game wrote it.
    #[error("it is of version {0}, and this build knows up to {SAVE_VERSION}")]
    Newer(u32),
    /// What it holds is not what was written.
    #[error("{0}")]
    Broken(String),
    /// The system refused it.
    #[error("{0}")]
    Io(std::io::Error),
    /// SQLite refused it for a reason that is none of its content.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        if is_broken(&error) { Self::Broken(error.to_string()) } else { Self::Sqlite(error) }
    }
}

impl Fault {
    /// The same as the reason why the save of that name cannot be had.
    #[must_use]
    pub fn of(self, path: &Path) -> SaveError {
        let path = path.to_owned();
        match self {
            Self::Missing => SaveError::Missing(path),
            Self::Newer(found) => SaveError::Newer { path, found, known: SAVE_VERSION },
            Self::Broken(reason) => SaveError::Broken { path, reason, kept: Vec::new() },
            Self::Io(source) => SaveError::Io { path, source },
            Self::Sqlite(source) => SaveError::Sqlite { path, source },
        }
    }
}

/// What is in a data directory.
#[derive(Debug)]
pub struct Inspection {
    /// The process that has the directory, if one has.
    pub holder: Option<Option<u32>>,
    /// The save.
    pub save: Result<Contents, Fault>,
    /// Bytes of the save, with its log.
    pub bytes: u64,
    /// The copies that were kept, the newest first.
    pub kept: Vec<Kept>,
}

/// A kept copy.
#[derive(Debug)]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// What it holds.
    pub save: Result<Contents, Fault>,
    /// Its bytes.
    pub bytes: u64,
}

/// Looks at a data directory, also while a server has it, and reads every row of the save and of all kept copies.
///
/// # Errors
/// When it cannot be locked. What is wrong with a save stands in what is returned.
pub fn inspect(directory: &Path) -> Result<Inspection, SaveError> {
    let files = Files::of(directory);
    let reader = Reader::open(&files)?;
    let holder = reader.holder;
    let save = reader.save.and_then(|connection| contents(&connection));
    let kept = files.kept_numbers().into_iter().map(|number| files.kept(number));
    let kept = kept.map(|path| Kept { save: look(&path).map(|(_, contents)| contents), bytes: length(&path), path });
    let bytes = length(&files.save()) + length(&beside(&files.save(), "-wal"));
    Ok(Inspection { holder, save, bytes, kept: kept.collect() })
}

/// A save that is open to be read by a process that need not be its server.
pub(super) struct Reader {
    /// The process that has the directory, if one has.
    pub(super) holder: Option<Option<u32>>,
    /// The save, not looked at yet.
    pub(super) save: Result<Connection, Fault>,
    /// No server comes up under the reader's hands.
    pub(super) lock: Option<Lock>,
}

impl Reader {
    pub(super) fn open(files: &Files) -> Result<Self, SaveError> {
        match Lock::share(files.directory()) {
            Ok(lock) => Ok(Self { holder: None, save: open_to_look(&files.save()), lock }),
            Err(SaveError::Locked { pid, .. }) => {
                Ok(Self { holder: Some(pid), save: open_checked(&files.save()), lock: None })
            }
            // Who may not lock may still look.
            Err(SaveError::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => {
                Ok(Self { holder: None, save: open_checked(&files.save()), lock: None })
            }
            Err(error) => Err(error),
        }
    }
}

fn open_checked(path: &Path) -> Result<Connection, Fault> {
    check_head(path)?;
    open_shared(path)
}

/// Opens a file that nobody else has, and reads all of it.
pub(super) fn look(path: &Path) -> Result<(Connection, Contents), Fault> {
    let connection = open_to_look(path)?;
    let contents = contents(&connection)?;
    Ok((connection, contents))
}

/// Opens a file that nobody else has.
///
/// Where there is no log, the file is all there is, and `immutable` keeps SQLite from making one. Where there is one, it
/// has to be read, but neither written into the file nor removed, and no index of it left behind: so the index is in our
/// memory (an exclusive connection has it there), there are no locks, which a file that may only be read would not give,
/// and closing does not write the log out.
fn open_to_look(path: &Path) -> Result<Connection, Fault> {
    check_head(path)?;
    let has_log = length(&beside(path, "-wal")) > 0;
    let connection = open_by_uri(path, if has_log { ALONE } else { "immutable=1" })?;
    if has_log {
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    }
    Ok(connection)
}

/// Without locks, which is right for a file that nobody else has.
const ALONE: &str = if cfg!(windows) { "vfs=win32-none" } else { "vfs=unix-none" };

/// Opens a file that a server writes at the same time.
///
/// The server itself may call this: it opens the file by SQLite alone, since closing it by any other way would make the
/// system let go of all locks that the process has on it.
pub(super) fn open_shared(path: &Path) -> Result<Connection, Fault> {
    let connection = open_by_uri(path, "")?;
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    // What is read now is one commit's, whatever the server writes meanwhile.
    connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")?;
    Ok(connection)
}

fn open_by_uri(path: &Path, options: &str) -> Result<Connection, Fault> {
    let path = std::path::absolute(path).map_err(Fault::Io)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri(&path, options), flags)?;
    schema::guard(&connection)?;
    Ok(connection)
}

/// A path as SQLite takes it with options.
fn uri(path: &Path, options: &str) -> String {
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b':' => uri.push(char::from(*byte)),
            _ => uri.push_str(&format!("%{byte:02x}")),
        }
    }
    uri + "?" + options
}

/// What has to be so before SQLite is let near a file: it clears away the log of a file that it takes for empty.
pub(super) fn check_head(path: &Path) -> Result<(), Fault> {
    let mut head = [0; 100];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    match read {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(Fault::Missing),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            return Err(Fault::Broken("it has no head".to_owned()));
        }
        Err(error) => return Err(Fault::Io(error)),
    }
    // Either of a way to write that SQLite may come to know would make it a file that can only be read.
    let is_sqlite = head.starts_with(b"SQLite format 3\0") && head[18..20].iter().all(|way| matches!(way, 1 | 2));
    if is_sqlite { Ok(()) } else { Err(Fault::Broken("it is not a file of SQLite's".to_owned())) }
}

/// Reads all of a save and checks everything that can be checked.
pub(super) fn contents(connection: &Connection) -> Result<Contents, Fault> {
    let number = |pragma| connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
    let version = number("user_version")? as u32;
    // A version that nobody knows may have any tables; but where the row that is in all of ours says otherwise, and its
    // own sum is right, the file's head is what broke.
    let has_tables = has_tables(connection)?;
    let meta = if has_tables { Meta::read(connection)? } else { None };
    if let Some(meta) = &meta
        && meta.version != version
    {
        return broken(format!("it says that it is of version {version} and of version {}", meta.version));
    }
    if number("application_id")? != i64::from(APPLICATION_ID) {
        return broken("it is a file of SQLite's, but not a save".to_owned());
    }
    if version > SAVE_VERSION {
        return Err(Fault::Newer(version));
    }
    if version == 0 {
        return broken("it has no version".to_owned());
    }
    let said: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
    if said != "ok" {
        return broken(said);
    }
    match (has_tables, meta) {
        (true, Some(meta)) => {
            let kinds = count(connection, &meta)?;
            Ok(Contents { version, meta: Some(meta), kinds })
        }
        (true, None) => broken("what it says of itself does not have its sum".to_owned()),
        (false, _) if version == SAVE_VERSION => broken("its tables are not those of a save".to_owned()),
        (false, _) => Ok(Contents { version, meta: None, kinds: BTreeMap::new() }),
    }
}

/// Whether the tables are those of this version, to the letter.
fn has_tables(connection: &Connection) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name LIMIT 3")?;
    let mut found = statement.query([])?;
    for table in TABLES {
        let is_same = |row: &Row<'_>| {
            Ok::<_, rusqlite::Error>(
                row.get::<_, String>(0)? == table.0 && row.get::<_, Option<String>>(1)?.as_deref() == Some(table.1),
            )
        };
        match found.next()? {
            Some(row) if is_same(row)? => {}
            _ => return Ok(false),
        }
    }
    Ok(found.next()?.is_none())
}

/// Counts the rows of each kind, and holds every one against its sum and all of them against what the save says.
fn count(connection: &Connection, meta: &Meta) -> Result<BTreeMap<String, (u64, u64)>, Fault> {
    let mut kinds = BTreeMap::<String, (u64, u64)>::new();
    let (mut rows, mut total) = (0, 0_u64);
    each_row(connection, |kind, id, data| {
        let sum = row_sum(kind, id, data);
        total = total.wrapping_add(sum);
        rows += 1;
        let counted = match kinds.get_mut(kind) {
            Some(counted) => counted,
            None => kinds.entry(kind.to_owned()).or_default(),
        };
        counted.0 += 1;
        counted.1 += data.len() as u64;
        Ok::<(), Fault>(())
    })?;
    if (rows, total) != (meta.rows, meta.total) {
        return broken(format!("of {} rows it has {rows}, or some are not of the same step", meta.rows));
    }
    Ok(kinds)
}

/// Goes through all rows in the order of kind and number, and checks each one's sum.
pub(super) fn each_row<E: From<Fault>>(
    connection: &Connection,
    mut row: impl FnMut(&str, u64, &[u8]) -> Result<(), E>,
) -> Result<(), E> {
    let fault = |error: rusqlite::Error| E::from(Fault::from(error));
    let mut statement = connection.prepare("SELECT kind, id, data, sum FROM rows ORDER BY kind, id").map_err(fault)?;
    let mut rows = statement.query([]).map_err(fault)?;
    let mut last: Option<(String, i64)> = None;
    while let Some(next) = rows.next().map_err(fault)? {
        let parts = || -> Result<(&str, i64, &[u8], i64), Fault> {
            let kind = next.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            let data = next.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
            Ok((kind, next.get(1)?, data, next.get(3)?))
        };
        let (kind, id, data, sum) = parts()?;
        if row_sum(kind, id.cast_unsigned(), data) != sum.cast_unsigned() {
            return Err(Fault::Broken(format!("{kind} {} does not have its sum", id.cast_unsigned())).into());
        }
        // What stands in the wrong place is there for who goes through all rows, and not for who asks for one.
        match &mut last {
            Some((before, at)) if (before.as_str(), *at) >= (kind, id) => {
                return Err(Fault::Broken(format!("{kind} {} is out of its place", id.cast_unsigned())).into());
            }
            Some((before, at)) => {
                kind.clone_into(before);
                *at = id;
            }
            None => last = Some((kind.to_owned(), id)),
        }
        row(kind, id.cast_unsigned(), data)?;
    }
    Ok(())
}

fn broken<T>(reason: String) -> Result<T, Fault> {
    Err(Fault::Broken(reason))
}

/// Whether what SQLite says is about what a file holds, rather than about whether it can be had.
pub(super) fn is_broken(error: &rusqlite::Error) -> bool {
    use rusqlite::Error;
    match error {
        Error::SqliteFailure(failure, _) => match failure.code {
            // A part of a file that is not there, rather than a disk that fails.
            ErrorCode::SystemIoFailure => failure.extended_code == rusqlite::ffi::SQLITE_IOERR_SHORT_READ,
            ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::Unknown
            | ErrorCode::TooBig
            | ErrorCode::TypeMismatch => true,
            _ => false,
        },
        // Columns that are not what they were written as.
        Error::FromSqlConversionFailure(..)
        | Error::IntegralValueOutOfRange(..)
        | Error::Utf8Error(..)
        | Error::InvalidColumnType(..)
        | Error::InvalidColumnName(_)
        | Error::InvalidColumnIndex(_)
        | Error::QueryReturnedNoRows
        | Error::SqlInputError { .. } => true,
        _ => false,
    }
}
