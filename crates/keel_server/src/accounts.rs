//! Accounts: which names there are, what proves them, and who is banned.
//!
//! They lie in an SQLite file of their own, which `keel account` and a running server may use at once: what one writes the
//! other's next login goes by. Nothing else of a pilot is here; what they own is the world's.

mod password;

pub use password::{Hashed, PasswordError, check_password};

use std::fs::OpenOptions;
use std::io;
use std::net::IpAddr;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use keel_names::looks;
use keel_protocol::{NameError, check_name};
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior, params};
use thiserror::Error;

use crate::clock::utc;
use crate::roster::folded;

/// The file's place in the data directory.
pub const FILE: &str = "accounts.sqlite";

/// The layout of the file. A file of a later one is left alone.
const VERSION: u32 = 2;

/// Networks from which an account is known to have logged in.
pub(crate) const MOST_SEEN: usize = 4;

/// Bytes of the reason for a ban.
const MOST_WHY: usize = 200;

/// How long one who writes waits for another who does.
const PATIENCE: Duration = Duration::from_secs(5);

const LAYOUT: &str = "
CREATE TABLE account (
    -- The name in lower case: `Ann` and `ann` are one.
    key TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    -- Argon2id, as a PHC string.
    password TEXT NOT NULL,
    -- Seconds since 1970. A ban without an end has the largest number there is.
    created INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    banned_until INTEGER NOT NULL DEFAULT 0,
    banned_why TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
";

/// What version 2 has besides.
const LAYOUT_2: &str = "
CREATE TABLE seen (
    key TEXT NOT NULL,
    -- The network from which the account has logged in, and when, in seconds since 1970.
    network TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (key, network)
) STRICT, WITHOUT ROWID;
";

/// The accounts of a file.
#[derive(Debug)]
pub struct Accounts {
    connection: Connection,
    path: PathBuf,
}

/// An account, without what proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The name, as it was given.
    pub name: String,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// When its password was last set, in seconds since 1970.
    pub changed: u64,
    /// Whether and why it may not log in now.
    pub ban: Option<Ban>,
}

/// Why an account may not log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ban {
    /// When it ends, in seconds since 1970; `None` for never.
    pub until: Option<u64>,
    /// For the pilot to read; may be empty.
    pub why: String,
}

impl Ban {
    /// A ban from now on, for a time or for good.
    #[must_use]
    pub fn lasting(span: Option<Duration>, why: String) -> Self {
        Self { until: span.map(|span| utc().saturating_add(span.as_secs())), why }
    }
}

/// What went wrong with accounts.
#[derive(Debug, Error)]
pub enum AccountError {
    /// That cannot be a name.
    #[error("{0}")]
    Name(#[from] NameError),
    /// That is not taken as a password.
    #[error("{0}")]
    Password(#[from] PasswordError),
    /// That is not taken as a reason.
    #[error("a reason has at most {MOST_WHY} bytes in one line")]
    Why,
    /// There is one of that name.
    #[error("there is an account {0} already")]
    Taken(String),
    /// There is one whose name looks the same.
    #[error("the name looks like that of the account {0}")]
    Alike(String),
    /// There is none of that name.
    #[error("there is no account {0}")]
    Unknown(String),
    /// A later version of the server has written the file.
    #[error("the accounts {path} are of version {found}, and this server knows {VERSION}: update it", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Others than its owner may read or change the file.
    #[error("the accounts {path} are open to others (mode {mode:o}): chmod 600 them", path = path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What it allows whom.
        mode: u32,
    },
    /// The file is something else.
    #[error("{path} is no file of accounts", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("cannot use the accounts {path}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Accounts {
    /// Opens the accounts of a data directory, which are made if there are none.
    ///
    /// # Errors
    /// When the file can be neither read nor made, when others may read it, or when it is not of this version.
    pub fn open(data: &Path) -> Result<Self, AccountError> {
        let path = data.join(FILE);
        let failed =
            |source: Box<dyn std::error::Error + Send + Sync>| AccountError::File { path: path.clone(), source };
        // SQLite makes files that others may read, and the files beside one as that one is.
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error.into())),
            _ => {}
        }
        let mode = std::fs::metadata(&path).map_err(|error| failed(error.into()))?.mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(AccountError::Open { path, mode });
        }
        let connection = Connection::open(&path).map_err(|error| failed(error.into()))?;
        let mut accounts = Self { connection, path };
        accounts.prepare()?;
        Ok(accounts)
    }

    /// Lays the file out if it is empty, and adds to one of an older version what that has not.
    fn prepare(&mut self) -> Result<(), AccountError> {
        let path = self.path.clone();
        let found = (|| {
            self.connection.busy_timeout(PATIENCE)?;
            let layout = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let version: u32 = layout.pragma_query_value(None, "user_version", |row| row.get(0))?;
            let tables: u32 = layout.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
            if (version == 0 && tables == 0) || version == 1 {
                if version == 0 {
                    layout.execute_batch(LAYOUT)?;
                }
                layout.execute_batch(LAYOUT_2)?;
                layout.pragma_update(None, "user_version", VERSION)?;
                layout.commit()?;
                return Ok(VERSION);
            }
            Ok(version)
        })();
        match found.map_err(|error| self.failed(error))? {
            VERSION => Ok(()),
            0 => Err(AccountError::Foreign { path }),
            found => Err(AccountError::Newer { path, found }),
        }
    }

    fn failed(&self, error: rusqlite::Error) -> AccountError {
        let path = self.path.clone();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => AccountError::Foreign { path },
            _ => AccountError::File { path, source: error.into() },
        }
    }

    /// Makes an account.
    ///
    /// # Errors
    /// When it cannot be called that, or one is, or one's name looks the same: only one of the two could ever play.
    pub fn add(&self, name: &str, password: &Hashed) -> Result<(), AccountError> {
        check_name(name)?;
        let failed = |error| self.failed(error);
        let adding = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate).map_err(failed)?;
        let (key, looks_of) = (folded(name), looks(name));
        for other in self.list()? {
            if folded(&other.name) == key {
                return Err(AccountError::Taken(name.to_owned()));
            }
            if looks(&other.name).iter().any(|look| looks_of.contains(look)) {
                return Err(AccountError::Alike(other.name));
            }
        }
        let add = "INSERT INTO account (key, name, password, created, changed) VALUES (?1, ?2, ?3, ?4, ?4)";
        adding.execute(add, params![key, name, password.as_str(), utc() as i64]).map_err(failed)?;
        adding.commit().map_err(failed)
    }

    /// Remembers that an account has logged in from a network. Of those of an account the last few are kept.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn saw(&self, name: &str, network: IpAddr) -> Result<(), AccountError> {
        let failed = |error| self.failed(error);
        let (key, at) = (folded(name), utc() as i64);
        let adding = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate).map_err(failed)?;
        adding
            .execute(
                "INSERT OR REPLACE INTO seen (key, network, at) VALUES (?1, ?2, ?3)",
                params![key, network.to_string(), at],
            )
            .map_err(failed)?;
        let old = "DELETE FROM seen WHERE key = ?1 AND network NOT IN
            (SELECT network FROM seen WHERE key = ?1 ORDER BY network = ?2 DESC, at DESC LIMIT ?3)";
        adding.execute(old, params![key, network.to_string(), MOST_SEEN as i64]).map_err(failed)?;
        adding.commit().map_err(failed)
    }

    /// The networks from which accounts have logged in, by the accounts' names in lower case, the last one last.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn seen(&self) -> Result<Vec<(String, IpAddr)>, AccountError> {
        let seen = self.connection.prepare("SELECT key, network FROM seen ORDER BY at").and_then(|mut query| {
            let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?));
            query.query_map([], row)?.collect::<Result<Vec<_>, _>>()
        });
        let seen = seen.map_err(|error| self.failed(error))?;
        Ok(seen.into_iter().filter_map(|(key, network)| Some((key, network.parse().ok()?))).collect())
    }

    /// Gives an account another password.
    ///
    /// # Errors
    /// When there is no such account.
    pub fn set_password(&self, name: &str, password: &Hashed) -> Result<(), AccountError> {
        let set = "UPDATE account SET password = ?2, changed = ?3 WHERE key = ?1";
        self.change(name, set, params![folded(name), password.as_str(), utc() as i64])
    }

    /// Lets an account log in no more: until a time in seconds since 1970, or for good.
    ///
    /// # Errors
    /// When there is no such account, or the reason is more than a line.
    pub fn ban(&self, name: &str, ban: &Ban) -> Result<(), AccountError> {
        if ban.why.len() > MOST_WHY || ban.why.chars().any(char::is_control) {
            return Err(AccountError::Why);
        }
        let until = ban.until.map_or(i64::MAX, |until| i64::try_from(until).unwrap_or(i64::MAX));
        let set = "UPDATE account SET banned_until = ?2, banned_why = ?3 WHERE key = ?1";
        self.change(name, set, params![folded(name), until, ban.why])
    }

    /// Lets an account log in again.
    ///
    /// # Errors
    /// When there is no such account.
    pub fn unban(&self, name: &str) -> Result<(), AccountError> {
        let set = "UPDATE account SET banned_until = 0, banned_why = '' WHERE key = ?1";
        self.change(name, set, params![folded(name)])
    }

    fn change(&self, name: &str, sql: &str, values: impl rusqlite::Params) -> Result<(), AccountError> {
        match self.connection.execute(sql, values).map_err(|error| self.failed(error))? {
            0 => Err(AccountError::Unknown(name.to_owned())),
            _ => Ok(()),
        }
    }

    /// An account by its name, whatever its case, with what proves it.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn get(&self, name: &str) -> Result<Option<(Account, Hashed)>, AccountError> {
        let sql = "SELECT name, created, changed, banned_until, banned_why, password FROM account WHERE key = ?1";
        let found = self.connection.prepare(sql).and_then(|mut query| {
            query.query_row([folded(name)], |row| Ok((account(row, utc())?, Hashed::stored(row.get(5)?)))).optional()
        });
        found.map_err(|error| self.failed(error))
    }

    /// All accounts, by name.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn list(&self) -> Result<Vec<Account>, AccountError> {
        let now = utc();
        let sql = "SELECT name, created, changed, banned_until, banned_why FROM account ORDER BY key";
        let listed = self
            .connection
            .prepare(sql)
            .and_then(|mut query| query.query_map([], |row| account(row, now))?.collect::<Result<_, _>>());
        listed.map_err(|error| self.failed(error))
    }

    /// How many accounts there are.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn count(&self) -> Result<u64, AccountError> {
        let count: Result<i64, _> = self.connection.query_row("SELECT count(*) FROM account", [], |row| row.get(0));
        count.map(|count| count as u64).map_err(|error| self.failed(error))
    }
}

/// An account of a row, at a time in seconds since 1970: a ban that has ended is none.
fn account(row: &rusqlite::Row<'_>, now: u64) -> rusqlite::Result<Account> {
    let seconds = |index| row.get::<_, i64>(index).map(|seconds| u64::try_from(seconds).unwrap_or(0));
    let (until, why) = (seconds(3)?, row.get(4)?);
    let ban = (until > now).then_some(Ban { until: (until != i64::MAX as u64).then_some(until), why });
    Ok(Account { name: row.get(0)?, created: seconds(1)?, changed: seconds(2)?, ban })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn hashed(password: &str) -> Hashed {
        Hashed::of(password).unwrap()
    }

    #[test]
    fn an_account_is_made_found_in_any_case_changed_and_banned_for_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let accounts = Accounts::open(folder.path()).unwrap();
        let (first, second) = (hashed("correct horse"), hashed("battery staple"));
        accounts.add("Ann", &first).unwrap();
        assert!(matches!(accounts.add("ANN", &second), Err(AccountError::Taken(_))));
        assert!(matches!(accounts.add("no spaces", &second), Err(AccountError::Name(_))));
        let (account, proof) = accounts.get("aNN").unwrap().unwrap();
        assert!(account.name == "Ann" && proof.is_of("correct horse") && !proof.is_of("battery staple"));
        accounts.set_password("ann", &second).unwrap();
        assert!(accounts.get("ann").unwrap().unwrap().1.is_of("battery staple"));

        // What is done over one connection the other sees at once, as a server sees what `keel account` does.
        let other = Accounts::open(folder.path()).unwrap();
        let ban = |until| Ban { until, why: "Rude.".to_owned() };
        for (until, holds) in [(None, true), (Some(utc() + 100), true), (Some(utc()), false), (Some(0), false)] {
            other.ban("ann", &ban(until)).unwrap();
            let found = accounts.get("ann").unwrap().unwrap().0.ban;
            assert_eq!(found, holds.then(|| ban(until)), "{until:?}");
        }
        other.ban("ann", &ban(Some(u64::MAX))).unwrap();
        assert_eq!(accounts.get("ann").unwrap().unwrap().0.ban, Some(ban(None)));
        for why in ["x".repeat(201), "two\nlines".to_owned(), "\u{1b}[2J".to_owned()] {
            assert!(matches!(other.ban("ann", &Ban { until: None, why }), Err(AccountError::Why)));
        }
        other.unban("ann").unwrap();
        assert_eq!(accounts.list().unwrap()[0].ban, None);
        for unknown in [accounts.ban("bob", &ban(None)), accounts.unban("bob"), accounts.set_password("bob", &first)] {
            assert!(matches!(unknown, Err(AccountError::Unknown(_))));
        }
        assert_eq!(accounts.count().unwrap(), 1);
        assert!(accounts.get("bob").unwrap().is_none());
    }

    #[test]
    fn no_two_accounts_have_names_that_look_alike() {
        let folder = tempfile::tempdir().unwrap();
        let accounts = Accounts::open(folder.path()).unwrap();
        let proof = hashed("correct horse");
        accounts.add("Bill", &proof).unwrap();
        for alike in ["BiIl", "Bi1l", "BilI"] {
            let error = accounts.add(alike, &proof).unwrap_err();
            assert_eq!(error.to_string(), "the name looks like that of the account Bill", "{alike}");
        }
        accounts.add("Will", &proof).unwrap();
        assert_eq!(accounts.count().unwrap(), 2);
    }

    #[test]
    fn the_last_few_networks_of_an_account_are_remembered_also_in_a_file_of_the_version_before() {
        let folder = tempfile::tempdir().unwrap();
        // One of version 1 has all but the networks.
        let old = Accounts::open(folder.path()).unwrap();
        old.add("Ann", &hashed("correct horse")).unwrap();
        let old = old.connection;
        old.execute_batch("DROP TABLE seen").unwrap();
        old.pragma_update(None, "user_version", 1).unwrap();
        let accounts = Accounts::open(folder.path()).unwrap();
        assert_eq!(accounts.list().unwrap()[0].name, "Ann");
        assert_eq!(accounts.seen().unwrap(), []);
        for n in [1, 2, 3, 4, 5, 1] {
            accounts.saw("Ann", IpAddr::from([192, 0, 2, n])).unwrap();
        }
        accounts.saw("bob", "2001:db8::".parse().unwrap()).unwrap();
        let again = Accounts::open(folder.path()).unwrap().seen().unwrap();
        let seen = |name: &str, network: &str| again.contains(&(name.to_owned(), network.parse().unwrap()));
        assert_eq!(again.len(), MOST_SEEN + 1);
        assert!(seen("ann", "192.0.2.1") && seen("bob", "2001:db8::"), "the last ones are kept");
    }

    #[test]
    fn the_file_is_its_owners_and_no_password_stands_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let accounts = Accounts::open(folder.path()).unwrap();
        accounts.add("ann", &hashed("correct horse")).unwrap();
        let path = folder.path().join(FILE);
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        let bytes = std::fs::read(&path).unwrap();
        let holds = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        assert!(holds("$argon2id$v=19$m=19456,t=2,p=1$") && !holds("correct horse"));
    }

    fn allow(path: &Path, mode: u32) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn accounts_that_others_may_read_are_refused_untouched() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        Accounts::open(folder.path()).unwrap().add("ann", &hashed("correct horse")).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o666] {
            allow(&path, mode);
            let said = Accounts::open(folder.path()).unwrap_err().to_string();
            assert!(said.contains(&format!("are open to others (mode {mode:o}): chmod 600 them")), "{said}");
        }
        allow(&path, 0o600);
        assert_eq!(Accounts::open(folder.path()).unwrap().count().unwrap(), 1);
    }

    #[test]
    fn a_file_of_another_kind_or_a_later_version_is_refused_untouched() {
        for (make, says) in [
            ("PRAGMA user_version = 3; CREATE TABLE account (key TEXT)", "are of version 3, and this server knows 2"),
            ("CREATE TABLE other (key TEXT)", "is no file of accounts"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(FILE);
            Connection::open(&path).unwrap().execute_batch(make).unwrap();
            allow(&path, 0o600);
            let before = std::fs::read(&path).unwrap();
            let said = Accounts::open(folder.path()).unwrap_err().to_string();
            assert!(said.contains(says), "{said}");
            assert_eq!(std::fs::read(&path).unwrap(), before);
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "not a database, however long it may be".repeat(100)).unwrap();
        allow(&folder.path().join(FILE), 0o600);
        assert!(matches!(Accounts::open(folder.path()), Err(AccountError::Foreign { .. })));
        assert!(matches!(Accounts::open(&folder.path().join("nowhere")), Err(AccountError::File { .. })));
    }
}
