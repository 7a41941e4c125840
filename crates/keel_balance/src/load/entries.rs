//! One level of a RON value: the raw texts of what it holds.

use std::fmt;

use ron::value::RawValue;
use serde::de::{self, Deserialize, Deserializer};

/// What a struct, a map, a list or a tuple holds.
pub(super) enum Entries<'a> {
    Named(Vec<(String, &'a RawValue)>),
    Listed(Vec<&'a RawValue>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Level<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> de::Visitor<'de> for Level<'a> {
            type Value = Entries<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a struct, a map or a list")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries::Named(entries))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = seq.next_element()? {
                    entries.push(entry);
                }
                Ok(Entries::Listed(entries))
            }

            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(Entries::Named(Vec::new()))
            }
        }
        deserializer.deserialize_any(Level(std::marker::PhantomData))
    }
}
