//! A save as text, one row a line, and back.

use std::io::{BufRead, Read, Write};
use std::path::{Path, PathBuf};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::check::{Reader, contents, each_row, look};
use super::files::{Files, remove};
use super::place::{go_on, take_over};
use super::schema::{MAX_ROW, Meta, put_new, row_sum, start_schema};
use super::store::{create, finish};
use super::value::{Value, hex, of_hex};
use super::{Fault, Lock, SAVE_VERSION, SaveError};

/// The most bytes that a line may have, so that no row that is told one byte by two digits is too long.
pub const MAX_LINE: usize = 4 * MAX_ROW;

/// The most bytes that the name of a kind may have.
pub const MAX_KIND: usize = 64;

/// The most rows and bytes of rows that are taken from a text.
const MAX_ROWS: u64 = 10_000_000;
const MAX_BYTES: u64 = 8 << 30;

/// Why a save was not told as text or made of one.
#[derive(Debug, Error)]
pub enum DumpError {
    /// A line is not one of a save, or not one of this save.
    #[error("line {line}: {reason}")]
    Line {
        /// Which, from 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// The text could not be read or written.
    #[error("cannot read or write the text")]
    Text(#[from] std::io::Error),
    /// The save.
    #[error(transparent)]
    Save(#[from] SaveError),
}

/// The first line: what the save says of itself.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    keel_save: u32,
    seed: u64,
    step: u64,
    generation: u64,
    written_at: String,
    game: String,
    clean: bool,
    rows: u64,
}

/// Every other line: a row, whose data is a value or, where it is none, bytes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    kind: std::borrow::Cow<'a, str>,
    id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    raw: Option<String>,
}

/// Writes a save as text, also while a server has it. The save is checked first. How many rows it has.
///
/// # Errors
/// When there is no whole save of this version, or the text cannot be written.
pub fn export(directory: &Path, mut to: impl Write) -> Result<u64, DumpError> {
    let files = Files::of(directory);
    let reader = Reader::open(&files)?;
    let (save, meta) = whole(&files, reader)?;
    let head = Head {
        keel_save: meta.version,
        seed: meta.seed,
        step: meta.step,
        generation: meta.generation,
        written_at: meta.written().to_string(),
        game: meta.game,
        clean: meta.is_clean,
        rows: meta.rows,
    };
    writeln!(to, "{}", serde_json::to_string(&head).map_err(std::io::Error::from)?)?;
    each_row(&save.connection, |kind, id, data| {
        let line = |data, raw| serde_json::to_string(&Line { kind: kind.into(), id, data, raw });
        let readable = Value::of_row(data).filter(|value| *value != Value::Nil).map(|value| line(Some(value), None));
        let text = match readable {
            Some(Ok(text)) if text.len() < MAX_LINE => text,
            _ => line(None, Some(hex(data))).map_err(std::io::Error::from)?,
        };
        writeln!(to, "{text}").map_err(Outcome::Text)
    })
    .map_err(|outcome| match outcome {
        Outcome::Text(error) => DumpError::Text(error),
        Outcome::Fault(fault) => fault.of(&files.save()).into(),
    })?;
    to.flush()?;
    Ok(meta.rows)
}

/// Why not all rows were gone through.
enum Outcome {
    Text(std::io::Error),
    Fault(Fault),
}

impl From<Fault> for Outcome {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl From<std::io::Error> for Outcome {
    fn from(error: std::io::Error) -> Self {
        Self::Text(error)
    }
}

/// A save that was found whole, and what keeps it so.
pub(super) struct Whole {
    pub(super) connection: Connection,
    _lock: Option<Lock>,
}

pub(super) fn whole(files: &Files, reader: Reader) -> Result<(Whole, Meta), SaveError> {
    let refused = |fault: Fault| fault.of(&files.save());
    let connection = reader.save.map_err(refused)?;
    let found = contents(&connection).map_err(refused)?;
    let (version, path) = (found.version, files.save());
    let meta = found.meta.filter(|_| version == SAVE_VERSION).ok_or(SaveError::Migration {
        path,
        from: version,
        reason: "it has not been migrated".to_owned(),
    })?;
    Ok((Whole { connection, _lock: reader.lock }, meta))
}

/// What was made of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Rows.
    pub rows: u64,
    /// Where the save is that was there before.
    pub before: Option<PathBuf>,
}

/// Makes a save of a text, all of it or nothing, in a data directory that has none, or in the place of the one it has.
///
/// # Errors
/// When there is a save and it is not to be replaced, a server has it, or the text is not that of a whole save.
pub fn import(directory: &Path, from: impl BufRead, is_forced: bool) -> Result<Imported, DumpError> {
    let (files, _lock) = (Files::of(directory), Lock::take(directory)?);
    let new = files.unfinished();
    go_on(&files)?;
    if files.is_taken() && !is_forced {
        return Err(SaveError::Exists(files.save()).into());
    }
    let make = || {
        let rows = fill(&new, from)?;
        look(&new).map_err(|fault| fault.of(&new))?;
        Ok::<_, DumpError>(rows)
    };
    let rows = make().inspect_err(|_| {
        // The error is what counts.
        let _ = remove(&new);
    })?;
    Ok(Imported { rows, before: take_over(&files, &new)? })
}

/// Fills a new file with the rows of a text; how many.
fn fill(path: &Path, from: impl BufRead) -> Result<u64, DumpError> {
    let sqlite = |source| SaveError::sqlite(path, source);
    let connection = create(path)?;
    let transaction = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate).map_err(sqlite)?;
    let mut lines = Lines { from, number: 0, text: Vec::new() };
    let Some(mut meta) = lines.next()?.map(head).transpose().map_err(|reason| lines.refuse(reason))? else {
        return Err(DumpError::Line { line: 1, reason: "the text is empty".to_owned() });
    };
    let promised = std::mem::take(&mut meta.rows);
    start_schema(&transaction, &meta).map_err(sqlite)?;
    let mut bytes = 0;
    while let Some(text) = lines.next()? {
        let row = row(text).map_err(|reason| lines.refuse(reason))?;
        let (kind, id, data) = row;
        let sum = row_sum(&kind, id, &data);
        bytes += data.len() as u64;
        meta.add(sum);
        if meta.rows > promised.min(MAX_ROWS) || bytes > MAX_BYTES {
            return Err(lines.refuse(format!("that is more than the {promised} rows it should be, or too much")));
        }
        if !put_new(&transaction, &kind, id, &data, sum).map_err(sqlite)? {
            return Err(lines.refuse(format!("{kind} {id} has been there before")));
        }
    }
    if meta.rows != promised {
        return Err(lines.refuse(format!("the text ends after {} of {promised} rows", meta.rows)));
    }
    meta.write(&transaction).and_then(|()| transaction.commit()).and_then(|()| finish(connection)).map_err(sqlite)?;
    Ok(promised)
}

/// The lines of a text, none longer than a line may be.
struct Lines<R> {
    from: R,
    number: u64,
    text: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<Option<&[u8]>, DumpError> {
        self.number += 1;
        self.text.clear();
        let read = self.from.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut self.text)?;
        if self.text.len() > MAX_LINE {
            return Err(self.refuse(format!("it is longer than {MAX_LINE} bytes")));
        }
        Ok((read > 0).then(|| self.text.trim_ascii()))
    }

    fn refuse(&self, reason: String) -> DumpError {
        DumpError::Line { line: self.number, reason }
    }
}

/// What a save says of itself, from its line.
fn head(text: &[u8]) -> Result<Meta, String> {
    let head: Head = serde_json::from_slice(text).map_err(|error| fault(&error))?;
    if head.keel_save != SAVE_VERSION {
        return Err(format!("it is a save of version {}, and this build takes version {SAVE_VERSION}", head.keel_save));
    }
    let written_at: jiff::Timestamp = head.written_at.parse().map_err(|error| format!("written_at: {error}"))?;
    Ok(Meta {
        version: SAVE_VERSION,
        seed: head.seed,
        step: head.step,
        generation: head.generation,
        written_at: written_at.into(),
        game: head.game,
        is_clean: head.clean,
        rows: head.rows,
        total: 0,
    })
}

/// A row, from its line.
fn row(text: &[u8]) -> Result<(String, u64, Vec<u8>), String> {
    let line: Line<'_> = serde_json::from_slice(text).map_err(|error| fault(&error))?;
    let data = match (line.data, line.raw) {
        (Some(value), None) => value.to_row().map_err(|error| error.to_string())?,
        (None, Some(digits)) => of_hex(&digits).ok_or("raw is not bytes of two digits each")?,
        _ => return Err("it has to have either data or raw".to_owned()),
    };
    let is_name =
        |kind: &str| !kind.is_empty() && kind.len() <= MAX_KIND && kind.bytes().all(|byte| byte.is_ascii_graphic());
    if !is_name(&line.kind) {
        return Err(format!("a kind is a word of at most {MAX_KIND} letters"));
    }
    if data.len() > MAX_ROW {
        return Err(format!("it has {} bytes, more than a row may have", data.len()));
    }
    Ok((line.kind.into_owned(), line.id, data))
}

/// What is wrong, without the line that the reader thinks it is in: it has only ever seen one.
fn fault(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = format!(" at line {} column {}", error.line(), error.column());
    format!("{}, at column {}", text.strip_suffix(&end).unwrap_or(&text), error.column())
}
