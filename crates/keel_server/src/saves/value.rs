//! A row's data as JSON that people can read and change, and back to the same bytes.
//!
//! A row is one MessagePack value. What JSON has no words for is told by an object with one key that begins with `$`: floats
//! that are no numbers, floats of eight bytes that four could hold, bytes, and maps whose keys are not text. A number with
//! a fraction is a float of four bytes if that is exact, which every float of a save written out in full is.

use std::fmt::{self, Write};

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Any value that a row may have.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Nil,
    Bool(bool),
    Int(i64),
    Uint(u64),
    F32(f32),
    F64(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    /// In the order in which it was written.
    Map(Vec<(Value, Value)>),
}

impl Value {
    /// A row's data; `None` for what is no MessagePack, or would not come back as the same bytes.
    pub(super) fn of_row(data: &[u8]) -> Option<Self> {
        let mut reader = rmp_serde::Deserializer::from_read_ref(data);
        reader.set_max_depth(DEPTH);
        let value = Self::deserialize(&mut reader).ok()?;
        (value.to_row().ok()? == data).then_some(value)
    }

    /// The data of a row.
    pub(super) fn to_row(&self) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        rmp_serde::to_vec(self)
    }
}

/// Values within values, at most; JSON is read to a depth of 128, and some are told by two.
const DEPTH: usize = 40;

/// Entries that room is made for before they are seen.
const ROOM: usize = 1_024;

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let is_text = to.is_human_readable();
        match self {
            Self::Nil => to.serialize_unit(),
            Self::Bool(value) => to.serialize_bool(*value),
            Self::Int(value) => to.serialize_i64(*value),
            Self::Uint(value) => to.serialize_u64(*value),
            Self::F32(value) if is_text && value.is_finite() => to.serialize_f64((*value).into()),
            Self::F32(value) if is_text => special(to, "$f32", &format!("{:08x}", value.to_bits())),
            Self::F32(value) => to.serialize_f32(*value),
            Self::F64(value) if is_text && (!value.is_finite() || is_short(*value)) => {
                special(to, "$f64", &format!("{:016x}", value.to_bits()))
            }
            Self::F64(value) => to.serialize_f64(*value),
            Self::Text(value) => to.serialize_str(value),
            Self::Bytes(value) if is_text => special(to, "$bytes", &hex(value)),
            Self::Bytes(value) => to.serialize_bytes(value),
            Self::List(values) => {
                let mut list = to.serialize_seq(Some(values.len()))?;
                values.iter().try_for_each(|value| list.serialize_element(value))?;
                list.end()
            }
            Self::Map(entries) if is_text && !is_plain(entries) => {
                let pairs = entries.iter().map(|(key, value)| Self::List(vec![key.clone(), value.clone()]));
                special(to, "$map", &Self::List(pairs.collect()))
            }
            Self::Map(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                entries.iter().try_for_each(|(key, value)| map.serialize_entry(key, value))?;
                map.end()
            }
        }
    }
}

/// What JSON has no words for.
fn special<S: Serializer, T: Serialize + ?Sized>(to: S, name: &str, value: &T) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(1))?;
    map.serialize_entry(name, value)?;
    map.end()
}

/// Whether a map can be an object that is nothing else.
fn is_plain(entries: &[(Value, Value)]) -> bool {
    let is_special = |key: &Value| matches!(key, Value::Text(key) if key.starts_with('$'));
    entries.iter().all(|(key, _)| matches!(key, Value::Text(_))) && !matches!(entries, [(key, _)] if is_special(key))
}

/// Whether four bytes hold it.
fn is_short(value: f64) -> bool {
    f64::from(value as f32).to_bits() == value.to_bits()
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let is_text = from.is_human_readable();
        from.deserialize_any(Any { is_text })
    }
}

/// Takes whatever comes, from JSON or from a row.
struct Any {
    is_text: bool,
}

impl<'de> Visitor<'de> for Any {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(u64::try_from(value).map_or(Value::Int(value), Value::Uint))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Uint(value))
    }

    fn visit_f32<E>(self, value: f32) -> Result<Value, E> {
        Ok(Value::F32(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(if self.is_text && is_short(value) { Value::F32(value as f32) } else { Value::F64(value) })
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_bytes<E>(self, value: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(value.to_vec()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::with_capacity(list.size_hint().unwrap_or(0).min(ROOM));
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(Value::List(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::with_capacity(map.size_hint().unwrap_or(0).min(ROOM));
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        match entries.as_slice() {
            [(Value::Text(name), value)] if self.is_text && name.starts_with('$') => {
                of_special(name, value).ok_or_else(|| A::Error::custom(format!("{name} is not told like that")))
            }
            _ => Ok(Value::Map(entries)),
        }
    }
}

fn of_special(name: &str, value: &Value) -> Option<Value> {
    let pair = |value: &Value| match value {
        Value::List(pair) => match pair.as_slice() {
            [key, value] => Some((key.clone(), value.clone())),
            _ => None,
        },
        _ => None,
    };
    match (name, value) {
        ("$f32", Value::Text(bits)) => u32::from_str_radix(bits, 16).ok().map(|bits| Value::F32(f32::from_bits(bits))),
        ("$f64", Value::Text(bits)) => u64::from_str_radix(bits, 16).ok().map(|bits| Value::F64(f64::from_bits(bits))),
        ("$bytes", Value::Text(digits)) => of_hex(digits).map(Value::Bytes),
        ("$map", Value::List(pairs)) => pairs.iter().map(pair).collect::<Option<_>>().map(Value::Map),
        _ => None,
    }
}

/// Bytes as digits, two each.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Text takes whatever is written to it.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}

/// The bytes of digits, two each; `None` if they are none.
pub(super) fn of_hex(digits: &str) -> Option<Vec<u8>> {
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    if is_hex { (0..digits.len()).step_by(2).map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows as those who make them would, and as nobody should.
    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Nil),
            any::<bool>().prop_map(Value::Bool),
            (i64::MIN..0).prop_map(Value::Int),
            any::<u64>().prop_map(Value::Uint),
            any::<u32>().prop_map(|bits| Value::F32(f32::from_bits(bits))),
            any::<u64>().prop_map(|bits| Value::F64(f64::from_bits(bits))),
            any::<f32>().prop_map(|value| Value::F64(value.into())),
            "\\PC{0,8}|[$]f32|[$]map".prop_map(Value::Text),
            proptest::collection::vec(any::<u8>(), 0..8).prop_map(Value::Bytes),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            let key = prop_oneof![3 => "[$a-z]{0,4}".prop_map(Value::Text), 1 => inner.clone()];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::List),
                proptest::collection::vec((key, inner), 0..6).prop_map(Value::Map),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn every_row_comes_back_from_json_with_the_same_bytes(value in values()) {
            let row = value.to_row().unwrap();
            let read = Value::of_row(&row).expect("what was written is read again");
            let json = serde_json::to_string(&read).unwrap();
            let again: Value = serde_json::from_str(&json).unwrap();
            prop_assert_eq!(again.to_row().unwrap(), row, "{}", json);
        }

        #[test]
        fn bytes_that_are_no_row_are_told_from_rows(data in proptest::collection::vec(any::<u8>(), 0..64)) {
            if let Some(value) = Value::of_row(&data) {
                prop_assert_eq!(value.to_row().unwrap(), data);
            }
        }
    }

    #[test]
    fn floats_are_written_in_full() {
        let row =
            Value::List(vec![Value::F32(0.1), Value::F32(-0.0), Value::F64(0.1), Value::F64(1.0)]).to_row().unwrap();
        let json = serde_json::to_string(&Value::of_row(&row).unwrap()).unwrap();
        assert_eq!(json, r#"[0.10000000149011612,-0.0,0.1,{"$f64":"3ff0000000000000"}]"#);
    }

    #[test]
    fn what_is_nested_too_deep_or_claims_too_much_is_no_row() {
        assert!(Value::of_row(&[0x91; 200_000]).is_none());
        assert!(Value::of_row(&[0xdd, 0xff, 0xff, 0xff, 0xff]).is_none());
        assert!(Value::of_row(&[0xc6, 0xff, 0xff, 0xff, 0xff, 1]).is_none());
        assert!(Value::of_row(&[0xc1]).is_none() && Value::of_row(&[]).is_none());
    }
}
