//! Rows by name, in an order that means something.

use serde::{Deserialize, Deserializer, de};

/// Rows in the order in which they stand in the file, each under its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T>(Vec<(String, T)>);

impl<T> Table<T> {
    /// The rows with their names, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, row)| (name.as_str(), row))
    }

    /// The place of the row of that name.
    #[must_use]
    pub fn position(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(row, _)| row == name)
    }

    /// The row at a place.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<(&str, &T)> {
        self.0.get(index).map(|(name, row)| (name.as_str(), row))
    }

    /// How many rows there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Rows<T>(std::marker::PhantomData<T>);
        impl<'de, T: Deserialize<'de>> de::Visitor<'de> for Rows<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("rows by name")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut rows = Vec::new();
                while let Some(row) = map.next_entry()? {
                    rows.push(row);
                }
                Ok(Table(rows))
            }
        }
        deserializer.deserialize_map(Rows(std::marker::PhantomData))
    }
}
