//! The settings file: RON, a field for each setting that is not as it would be without.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;

use anyhow::bail;
use clap::Command;
use ron::Value;
use ron::value::RawValue;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::layers::check;

/// A setting as the file has it.
pub(super) struct Entry {
    pub(super) id: String,
    /// Its values; a list has several.
    pub(super) texts: Vec<OsString>,
    pub(super) line: usize,
}

/// Reads the settings of a file, each of which is checked by `command`.
///
/// # Errors
/// With file, line and column of the first fault.
pub(super) fn read(path: &Path, text: &str, command: &Command) -> anyhow::Result<Vec<Entry>> {
    let at = |line: usize, column: usize| format!("{}:{line}:{column}", path.display());
    let fields = fields(text).map_err(|error| {
        let (start, code) = (error.span.start, error.code);
        anyhow::anyhow!("{}: {code}", at(start.line, start.col))
    })?;
    let mut entries: Vec<Entry> = Vec::new();
    for Field { name, value } in fields {
        let (line, column) = place(text, name);
        let Some(arg) = command.get_arguments().find(|arg| arg.get_id() == name) else {
            let hint = nearest(name, command).map(|near| format!("; {near} is one")).unwrap_or_default();
            bail!("{}: there is no setting {name}{hint}", at(line, column));
        };
        if entries.iter().any(|entry| entry.id == name) {
            bail!("{}: {name} stands here twice", at(line, column));
        }
        let value = value.get_ron().trim();
        let (line, column) = place(text, value);
        let texts = texts(value).map_err(|reason| anyhow::anyhow!("{}: {name}: {reason}", at(line, column)))?;
        let Some(texts) = texts else { continue };
        check(arg, &texts).map_err(|reason| anyhow::anyhow!("{}: {name}: {reason}", at(line, column)))?;
        entries.push(Entry { id: name.to_owned(), texts, line });
    }
    Ok(entries)
}

/// A field, as pieces of the file's text.
struct Field<'de> {
    name: &'de str,
    value: &'de RawValue,
}

fn fields(text: &str) -> Result<Vec<Field<'_>>, ron::error::SpannedError> {
    let mut deserializer = ron::Deserializer::from_str(text)?;
    let at_end = |error, deserializer: &ron::Deserializer<'_>| deserializer.span_error(error);
    // Which fields there are is for the caller to say.
    let fields = deserializer.deserialize_struct("", &[], Fields).map_err(|error| at_end(error, &deserializer))?;
    deserializer.end().map_err(|error| at_end(error, &deserializer))?;
    Ok(fields)
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = Vec<Field<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("settings, such as (layer: 3)")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = Vec::new();
        while let Some((Name(name), value)) = map.next_entry()? {
            fields.push(Field { name, value });
        }
        Ok(fields)
    }
}

/// A field's name, where it stands in the text.
struct Name<'de>(&'de str);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrowed;
        impl<'de> Visitor<'de> for Borrowed {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a setting")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(name))
            }
        }
        deserializer.deserialize_identifier(Borrowed)
    }
}

/// Line and column of a piece of a text, from 1.
fn place(text: &str, piece: &str) -> (usize, usize) {
    let offset = (piece.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let before = text.get(..offset).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
}

/// A value as flags would give it; `None` for one that is left to the layers below.
fn texts(value: &str) -> Result<Option<Vec<OsString>>, String> {
    let is_word = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    if is_word && !matches!(value, "true" | "false" | "None") {
        return Ok(Some(vec![value.into()]));
    }
    match ron::from_str::<Value>(value).map_err(|error| error.code.to_string())? {
        Value::Option(None) => Ok(None),
        Value::Option(Some(value)) => Ok(Some(vec![scalar(&value)?])),
        Value::Seq(values) => Ok(Some(values.iter().map(scalar).collect::<Result<_, _>>()?)),
        value => Ok(Some(vec![scalar(&value)?])),
    }
}

fn scalar(value: &Value) -> Result<OsString, String> {
    match value {
        Value::Bool(value) => Ok(value.to_string().into()),
        Value::String(text) => Ok(text.into()),
        Value::Number(_) => ron::to_string(value).map(Into::into).map_err(|error| error.to_string()),
        _ => Err("a setting is a number, a text, true, false or a list of those".to_owned()),
    }
}

/// The setting that a name was perhaps meant for: one with the same letters, or that begins alike.
fn nearest<'a>(name: &str, command: &'a Command) -> Option<&'a str> {
    let sorted = |name: &str| {
        let mut letters: Vec<char> = name.chars().filter(|letter| letter.is_alphanumeric()).collect();
        letters.sort_unstable();
        letters
    };
    let mut ids = command.get_arguments().map(|arg| arg.get_id().as_str());
    ids.find(|id| sorted(id) == sorted(name) || (name.len() > 2 && (id.starts_with(name) || name.starts_with(id))))
}
