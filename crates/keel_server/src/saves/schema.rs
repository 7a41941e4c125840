//! What is in a save: its two tables, what one row of each says, and the sums that hold them together.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, params};
use twox_hash::XxHash3_64;

use super::SAVE_VERSION;

/// What marks a file of SQLite's as a save of this game: "KEEL".
pub const APPLICATION_ID: i32 = i32::from_be_bytes(*b"KEEL");

/// The most bytes that a row may have.
pub const MAX_ROW: usize = 4 << 20;

/// The tables, by name, as SQLite keeps their text. A save has these and nothing else: no trigger, no view.
pub(super) const TABLES: [(&str, &str); 2] = [
    (
        "meta",
        "CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL, seed INTEGER NOT NULL, \
         step INTEGER NOT NULL, generation INTEGER NOT NULL, written INTEGER NOT NULL, game TEXT NOT NULL, \
         clean INTEGER NOT NULL, rows INTEGER NOT NULL, total INTEGER NOT NULL, sum INTEGER NOT NULL) STRICT",
    ),
    (
        "rows",
        "CREATE TABLE rows (kind TEXT NOT NULL, id INTEGER NOT NULL, data BLOB NOT NULL, sum INTEGER NOT NULL, \
         PRIMARY KEY (kind, id)) STRICT, WITHOUT ROWID",
    ),
];

/// What a save says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The save's version.
    pub version: u32,
    /// What the world's chances follow from.
    pub seed: u64,
    /// The step at whose end the world looked like this.
    pub step: u64,
    /// Copies that have been kept so far; a kept copy has its own number here.
    pub generation: u64,
    /// When it was written, to the second, by the clock of the wall.
    pub written_at: SystemTime,
    /// The version of the game that wrote it.
    pub game: String,
    /// Whether the server that wrote it had time to stop.
    pub is_clean: bool,
    /// Rows there are.
    pub rows: u64,
    /// The checksums of all rows, added up.
    pub total: u64,
}

impl Meta {
    /// That of a world before anything of it was written.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            version: SAVE_VERSION,
            seed,
            step: 0,
            generation: 0,
            written_at: UNIX_EPOCH,
            game: GAME.to_owned(),
            is_clean: false,
            rows: 0,
            total: 0,
        }
    }

    /// Notes that it is written now, by this build, at a step.
    pub(super) fn stamp(&mut self, step: u64) {
        self.step = step;
        self.written_at = UNIX_EPOCH + Duration::from_secs(seconds(SystemTime::now()));
        GAME.clone_into(&mut self.game);
        self.is_clean = false;
    }

    /// When it was written, as people write it, in UTC.
    #[must_use]
    pub fn written(&self) -> jiff::Timestamp {
        jiff::Timestamp::try_from(self.written_at).unwrap_or_default()
    }

    /// Counts a row in.
    pub(super) fn add(&mut self, sum: u64) {
        self.rows += 1;
        self.total = self.total.wrapping_add(sum);
    }

    /// Counts a row out.
    pub(super) fn remove(&mut self, sum: u64) {
        self.rows = self.rows.wrapping_sub(1);
        self.total = self.total.wrapping_sub(sum);
    }

    fn sum(&self) -> u64 {
        let numbers = [
            self.version.into(),
            self.seed,
            self.step,
            self.generation,
            seconds(self.written_at),
            self.is_clean.into(),
            self.rows,
            self.total,
        ];
        let mut bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.extend_from_slice(self.game.as_bytes());
        XxHash3_64::oneshot(&bytes)
    }

    /// Reads it; `None` if it is not one row whose checksum is right.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Option<Self>> {
        let mut statement = connection.prepare(
            "SELECT version, seed, step, generation, written, game, clean, rows, total, sum FROM meta LIMIT 2",
        )?;
        let mut rows = statement.query([])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let number = |column: usize| row.get::<_, i64>(column).map(i64::cast_unsigned);
        let version = number(0)?;
        let meta = Self {
            version: version as u32,
            seed: number(1)?,
            step: number(2)?,
            generation: number(3)?,
            written_at: UNIX_EPOCH + Duration::from_secs(number(4)?.min(LATEST)),
            game: row.get(5)?,
            is_clean: number(6)? != 0,
            rows: number(7)?,
            total: number(8)?,
        };
        let is_right = number(9)? == meta.sum() && version <= u32::MAX.into();
        Ok((rows.next()?.is_none() && is_right).then_some(meta))
    }

    /// Writes it, in place of what was there.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut statement = connection.prepare_cached(
            "INSERT OR REPLACE INTO meta (one, version, seed, step, generation, written, game, clean, rows, total, sum) \
             VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )?;
        statement.execute(params![
            self.version,
            self.seed.cast_signed(),
            self.step.cast_signed(),
            self.generation.cast_signed(),
            seconds(self.written_at).cast_signed(),
            self.game,
            self.is_clean,
            self.rows.cast_signed(),
            self.total.cast_signed(),
            self.sum().cast_signed(),
        ])?;
        Ok(())
    }
}

/// The version of the game that this is.
pub(super) const GAME: &str = env!("CARGO_PKG_VERSION");

/// The last second that a save's clock can show: the year 9999.
const LATEST: u64 = 253_402_300_799;

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs().min(LATEST))
}

/// The checksum of a row, over all that makes it that row.
pub(super) fn row_sum(kind: &str, id: u64, data: &[u8]) -> u64 {
    // Each part is summed with the last one's sum as its seed, so that no bytes can pass from one into the other.
    let named = XxHash3_64::oneshot_with_seed(id, kind.as_bytes());
    XxHash3_64::oneshot_with_seed(named, data)
}

/// Makes the tables of a save of this version in an empty file, and the row that says what it is.
///
/// # Errors
/// Whatever SQLite says.
pub fn start_schema(connection: &Connection, meta: &Meta) -> rusqlite::Result<()> {
    for (_, table) in TABLES {
        connection.execute_batch(table)?;
    }
    meta.write(connection)?;
    mark(connection, meta.version)
}

/// Writes into the file's head what it is.
pub(super) fn mark(connection: &Connection, version: u32) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", version)
}

/// Puts a row in, in place of one that has its kind and number.
///
/// # Errors
/// Whatever SQLite says.
pub fn put_row(connection: &Connection, kind: &str, id: u64, data: &[u8]) -> rusqlite::Result<()> {
    put_summed(connection, kind, id, data, row_sum(kind, id, data))
}

/// Puts a row in whose sum is known.
pub(super) fn put_summed(connection: &Connection, kind: &str, id: u64, data: &[u8], sum: u64) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO rows (kind, id, data, sum) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (kind, id) DO UPDATE SET data = excluded.data, sum = excluded.sum",
    )?;
    statement.execute(params![kind, id.cast_signed(), data, sum.cast_signed()]).map(|_| ())
}

/// Puts a row in that was not there; whether it was not.
pub(super) fn put_new(connection: &Connection, kind: &str, id: u64, data: &[u8], sum: u64) -> rusqlite::Result<bool> {
    let mut statement = connection
        .prepare_cached("INSERT INTO rows (kind, id, data, sum) VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO NOTHING")?;
    statement.execute(params![kind, id.cast_signed(), data, sum.cast_signed()]).map(|count| count == 1)
}

/// Opens a save to write it.
///
/// The settings are why at most the last cut is lost and the file never breaks. A commit is in the log, and the log on the
/// disk, before it counts (`synchronous = FULL`: with `NORMAL` a log is handed to the system at each commit but only put on
/// disk with the next checkpoint, which may be many seconds of play). The file itself is written from the log only, once
/// the log is on disk, and by us alone ([`checkpoint`]), which empties the log at once: so a log always continues the file
/// that it lies beside, and a part of it at the start is a whole, older world.
pub(super) fn open_to_write(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    guard(&connection)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "fullfsync", true)?;
    connection.pragma_update(None, "checkpoint_fullfsync", true)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.pragma_update(None, "cache_size", -8_192)?;
    // A log that could not be written out is worth more than the room it takes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// How long a commit waits for someone who looks at the save with a tool of their own.
const BUSY: Duration = Duration::from_millis(200);

/// What holds for whatever opens a save: a file that someone made or that broke cannot make SQLite do more than read it.
pub(super) fn guard(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, MAX_ROW as i32 + 1_024)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    // Memory that maps a file ends the process where the disk fails; and what is temporary needs no disk that is full.
    connection.pragma_update(None, "mmap_size", 0)?;
    connection.pragma_update(None, "temp_store", "MEMORY")
}

/// Writes the log into the file and empties it; whether that went all the way, which it does not while someone reads.
pub(super) fn checkpoint(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let done = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    connection.busy_timeout(BUSY)?;
    Ok(done? == 0)
}
