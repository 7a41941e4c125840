//! The one place that knows the encoding.
//!
//! Every decode has a limit on what it may allocate, checked before it does, and a message must end where its bytes do.

use bincode::config::{self, Configuration, Limit, LittleEndian, Varint};
use thiserror::Error;

/// The most that one message may take.
pub const MAX_MESSAGE: usize = 64 * 1024;

/// The most that one message of a client may take.
pub const MAX_ORDER: usize = 1024;

const ORDER: Configuration<LittleEndian, Varint, Limit<MAX_ORDER>> = config::standard().with_limit::<MAX_ORDER>();

const CONFIG: Configuration<LittleEndian, Varint, Limit<MAX_MESSAGE>> = config::standard().with_limit::<MAX_MESSAGE>();

/// Why bytes are no message.
#[derive(Debug, Error)]
pub enum DecodeError {
    /// They do not make sense, or promise more than a message may hold.
    #[error("not a message: {0}")]
    Malformed(#[from] bincode::error::DecodeError),
    /// A message ends before they do.
    #[error("{0} bytes after the end of a message")]
    Trailing(usize),
    /// They end within a snapshot.
    #[error("a snapshot that ends too early")]
    Cut,
    /// They make no snapshot.
    #[error("no snapshot: {0}")]
    Nonsense(&'static str),
}

/// A message's bytes.
///
/// # Panics
/// Never for the types of this crate: they hold nothing that cannot be encoded.
#[must_use]
pub fn encode<T: bincode::Encode>(message: &T) -> Vec<u8> {
    bincode::encode_to_vec(message, CONFIG).expect("the wire's types can all be encoded")
}

/// The message that the bytes are.
///
/// # Errors
/// When they are not one message, whole and by itself.
pub fn decode<T: bincode::Decode<()>>(bytes: &[u8]) -> Result<T, DecodeError> {
    whole(bytes, bincode::decode_from_slice(bytes, CONFIG)?)
}

/// The message of a client that the bytes are: no more than [`MAX_ORDER`] of them.
///
/// # Errors
/// When they are not one message, whole and by itself.
pub fn decode_order<T: bincode::Decode<()>>(bytes: &[u8]) -> Result<T, DecodeError> {
    if bytes.len() > MAX_ORDER {
        return Err(DecodeError::Trailing(bytes.len() - MAX_ORDER));
    }
    whole(bytes, bincode::decode_from_slice(bytes, ORDER)?)
}

fn whole<T>(bytes: &[u8], (message, read): (T, usize)) -> Result<T, DecodeError> {
    match bytes.len() - read {
        0 => Ok(message),
        trailing => Err(DecodeError::Trailing(trailing)),
    }
}
