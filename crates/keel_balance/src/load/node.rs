//! A value of the text as a serde deserializer that does not stop at a fault.

use std::fmt::Display;

use ron::value::RawValue;
use serde::Deserialize;
use serde::de::value::StrDeserializer;
use serde::de::{self, Deserializer, IntoDeserializer, Visitor};

use super::Record;
use super::entries::Entries;
use crate::units;

/// A visitor gave up. Only a type that checks itself could do that; the schema has none.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Stop(String);

impl de::Error for Stop {
    fn custom<T: Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

#[derive(Clone, Copy)]
enum Content<'a> {
    /// A value of the text.
    Text(&'a RawValue),
    /// A field that is not there: a fault unless it turns out to be optional. The offset is its struct's.
    Missing(usize),
    /// In place of something faulty, which has been recorded.
    StandIn,
}

pub(crate) struct Node<'a, 'r> {
    content: Content<'a>,
    path: String,
    record: &'r Record<'a>,
}

impl<'a, 'r> Node<'a, 'r> {
    pub(super) fn root(raw: &'a RawValue, record: &'r Record<'a>) -> Self {
        Self::text(raw, String::new(), record)
    }

    fn text(raw: &'a RawValue, path: String, record: &'r Record<'a>) -> Self {
        let raw = raw.trim();
        record.seen(&path, record.offset(raw.get_ron()));
        Self { content: Content::Text(raw), path, record }
    }

    fn stand_in(&self) -> Self {
        Self { content: Content::StandIn, path: self.path.clone(), record: self.record }
    }

    fn child_path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// The text, or `None` after recording why there is none.
    fn expect(&self, expected: &str) -> Option<&'a RawValue> {
        match self.content {
            Content::Text(raw) => Some(raw),
            Content::Missing(offset) => {
                self.record.fault(offset, &self.path, format!("is missing; expected {expected}"));
                None
            }
            Content::StandIn => None,
        }
    }

    fn wrong(&self, raw: &RawValue, expected: &str) {
        let text = raw.get_ron();
        let found = text.split('\n').next().unwrap_or(text);
        let found: String = found.chars().take(40).collect();
        let problem = format!("expected {expected}, found {found}{}", if found.len() < text.len() { "…" } else { "" });
        self.record.fault(self.record.offset(text), &self.path, problem);
    }

    /// Reads a leaf with `ron`, or records that something else stands there.
    fn leaf<T: Deserialize<'a>>(&self, expected: &str, accept: impl FnOnce(&T) -> bool) -> Option<T> {
        let raw = self.expect(expected)?;
        let text = raw.get_ron();
        self.record.leaf(&self.path, self.record.offset(text), text.len());
        match ron::from_str::<T>(text) {
            Ok(value) if accept(&value) => Some(value),
            _ => {
                self.wrong(raw, expected);
                None
            }
        }
    }

    fn whole(&self, most: u64) -> u64 {
        self.leaf(&format!("a whole number from 0 to {most}"), |number: &u64| *number <= most).unwrap_or(0)
    }

    /// The fields of a struct or the rows of a map, each name once; `None` after recording that it is neither.
    fn named(&self, expected: &str) -> Option<Vec<(String, &'a RawValue)>> {
        let raw = self.expect(expected)?;
        let Ok(Entries::Named(entries)) = ron::from_str(raw.get_ron()) else {
            self.wrong(raw, expected);
            return None;
        };
        let mut kept: Vec<(String, &'a RawValue)> = Vec::with_capacity(entries.len());
        let mut from = self.record.offset(raw.get_ron());
        for (name, value) in entries {
            let value_at = self.record.offset(value.trim().get_ron());
            if kept.iter().any(|(earlier, _)| *earlier == name) {
                let key_at = self.record.text[from..value_at].rfind(&name).map_or(value_at, |at| from + at);
                self.record.fault(key_at, &self.child_path(&name), "stands here a second time");
            } else {
                kept.push((name, value));
            }
            from = value_at;
        }
        Some(kept)
    }

    fn listed(&self, expected: &str) -> Option<Vec<&'a RawValue>> {
        let raw = self.expect(expected)?;
        let Ok(Entries::Listed(entries)) = ron::from_str(raw.get_ron()) else {
            self.wrong(raw, expected);
            return None;
        };
        Some(entries)
    }

    fn element(&self, index: usize, raw: &'a RawValue) -> Self {
        Self::text(raw, format!("{}[{index}]", self.path), self.record)
    }
}

impl<'de> IntoDeserializer<'de, Stop> for Node<'de, '_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

macro_rules! leaves {
    ($($method:ident, $visit:ident, $read:expr;)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
            visitor.$visit($read(&self))
        })*
    };
}

impl<'de> Deserializer<'de> for Node<'de, '_> {
    type Error = Stop;

    leaves! {
        deserialize_bool, visit_bool, |node: &Self| node.leaf("true or false", |_: &bool| true).unwrap_or_default();
        deserialize_u8, visit_u64, |node: &Self| node.whole(u8::MAX.into());
        deserialize_u16, visit_u64, |node: &Self| node.whole(u16::MAX.into());
        deserialize_u32, visit_u64, |node: &Self| node.whole(u32::MAX.into());
        deserialize_u64, visit_u64, |node: &Self| node.whole(u64::MAX);
        deserialize_f32, visit_f64, |node: &Self| node.leaf("a number", |number: &f64| number.is_finite()).unwrap_or(1.0);
        deserialize_f64, visit_f64, |node: &Self| node.leaf("a number", |number: &f64| number.is_finite()).unwrap_or(1.0);
        deserialize_string, visit_string, |node: &Self| node.leaf("a text in quotes", |_: &String| true).unwrap_or_default();
        deserialize_str, visit_string, |node: &Self| node.leaf("a text in quotes", |_: &String| true).unwrap_or_default();
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Stop> {
        let Some(range) = units::range(name) else { return visitor.visit_newtype_struct(self) };
        let inside = |number: &f64| (range.least..=range.most).contains(number);
        let number = self.leaf(range.words, inside).unwrap_or(range.least);
        visitor.visit_newtype_struct(de::value::F64Deserializer::<Stop>::new(number))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        match self.content {
            Content::Text(raw) if raw.get_ron() != "None" => visitor.visit_some(self),
            _ => visitor.visit_none(),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let expected = format!("({})", fields.iter().map(|field| format!("{field}: …")).collect::<Vec<_>>().join(", "));
        let entries = self.named(&expected);
        for (name, value) in entries.iter().flatten().filter(|(name, _)| !fields.contains(&name.as_str())) {
            let problem = format!("is not known here; expected one of {}", fields.join(", "));
            self.record.fault(self.record.offset(value.trim().get_ron()), &self.child_path(name), problem);
        }
        let nodes: Vec<_> = fields
            .iter()
            .map(|&field| {
                let path = self.child_path(field);
                let node = match (&entries, self.content) {
                    (Some(entries), Content::Text(raw)) => match entries.iter().find(|(name, _)| name == field) {
                        Some((_, value)) => Node::text(value, path, self.record),
                        None => {
                            let content = Content::Missing(self.record.offset(raw.get_ron()));
                            Node { content, path, record: self.record }
                        }
                    },
                    _ => self.stand_in(),
                };
                (field, node)
            })
            .collect();
        visitor.visit_map(de::value::MapDeserializer::new(nodes.into_iter()))
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let entries = self.named("rows by name: { \"Name\": (…), … }").unwrap_or_default();
        let nodes = entries.into_iter().map(|(name, value)| {
            let path = self.child_path(&name);
            (name, Node::text(value, path, self.record))
        });
        visitor.visit_map(de::value::MapDeserializer::new(nodes))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        let entries = self.listed("a list: [ … ]").unwrap_or_default();
        let nodes = entries.into_iter().enumerate().map(|(index, raw)| self.element(index, raw));
        visitor.visit_seq(de::value::SeqDeserializer::new(nodes))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Stop> {
        let expected = format!("a list of {length}");
        let entries = self.listed(&expected).unwrap_or_default();
        if let (Content::Text(raw), false) = (self.content, entries.is_empty() || entries.len() == length) {
            let problem = format!("expected {expected}, found {}", entries.len());
            self.record.fault(self.record.offset(raw.get_ron()), &self.path, problem);
        }
        let nodes = (0..length).map(|index| match entries.get(index) {
            Some(raw) => self.element(index, raw),
            None => self.stand_in(),
        });
        visitor.visit_seq(de::value::SeqDeserializer::new(nodes))
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Stop> {
        let expected = format!("one of {}", variants.join(", "));
        let known = self.expect(&expected).and_then(|raw| {
            self.record.leaf(&self.path, self.record.offset(raw.get_ron()), raw.get_ron().len());
            let known = variants.iter().find(|&&variant| variant == raw.get_ron());
            if known.is_none() {
                self.wrong(raw, &expected);
            }
            known
        });
        let variant: StrDeserializer<'_, Stop> = known.unwrap_or(&variants[0]).into_deserializer();
        visitor.visit_enum(variant)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Stop> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 char bytes byte_buf unit unit_struct tuple_struct identifier ignored_any
    }
}
