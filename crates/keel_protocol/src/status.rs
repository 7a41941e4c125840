//! What anyone may ask a server without a connection: for lists of servers.
//!
//! A query is a datagram to the socket of the game that netcode takes for none of its own, and it is as long as the longest answer,
//! so that nobody can have a server send more to others than they send themselves.

use serde::{Deserialize, Serialize};

/// What queries and answers begin with. The low half of the first byte is no kind of packet that netcode has.
const QUERY: [u8; 8] = *b"\xffKEELq\x01\0";
const ANSWER: [u8; 8] = *b"\xffKEELa\x01\0";

/// Bytes of a query, and of an answer at most.
pub const QUERY_BYTES: usize = 256;

/// Bytes of a text in an answer at most.
pub const STATUS_TEXT: usize = 64;

/// What anyone may know of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Status {
    /// What its operator calls it: at most [`STATUS_TEXT`] bytes.
    pub name: String,
    /// Its version, such as `0.1.0`.
    pub version: String,
    /// The version of the protocol that it speaks.
    pub protocol: u16,
    /// Pilots who play.
    pub players: u16,
    /// Pilots who can play at once.
    pub max_players: u16,
    /// The speed of its world, in percent of the clock: 100 unless it is overloaded.
    pub pace: u8,
}

/// A query with a number that its answer carries.
#[must_use]
pub fn query(number: u64) -> [u8; QUERY_BYTES] {
    let mut datagram = [0; QUERY_BYTES];
    datagram[..8].copy_from_slice(&QUERY);
    datagram[8..16].copy_from_slice(&number.to_le_bytes());
    datagram
}

/// Whether a datagram is a query of any kind, and none of netcode's.
#[must_use]
pub fn is_query(datagram: &[u8]) -> bool {
    datagram.starts_with(&QUERY[..5])
}

/// The number of a query that is as long as it has to be.
#[must_use]
pub fn read_query(datagram: &[u8]) -> Option<u64> {
    let number = datagram.strip_prefix(&QUERY)?.first_chunk()?;
    (datagram.len() == QUERY_BYTES).then_some(u64::from_le_bytes(*number))
}

/// The answer to a query of that number.
#[must_use]
pub fn answer(number: u64, status: &Status) -> Vec<u8> {
    let mut datagram = ANSWER.to_vec();
    datagram.extend(number.to_le_bytes());
    datagram.extend(status.protocol.to_le_bytes());
    datagram.extend(status.players.to_le_bytes());
    datagram.extend(status.max_players.to_le_bytes());
    datagram.push(status.pace);
    for text in [&status.name, &status.version] {
        let text = &text[..text.floor_char_boundary(STATUS_TEXT)];
        datagram.push(text.len() as u8);
        datagram.extend(text.bytes());
    }
    datagram
}

/// What an answer to the query of that number says.
#[must_use]
pub fn read_answer(datagram: &[u8], number: u64) -> Option<Status> {
    let rest = datagram.strip_prefix(&ANSWER)?.strip_prefix(&number.to_le_bytes())?;
    let (numbers, mut rest) = rest.split_first_chunk::<7>()?;
    let short = |at: usize| u16::from_le_bytes([numbers[at], numbers[at + 1]]);
    let mut text = || {
        let (&length, more) = rest.split_first()?;
        let (text, more) = more.split_at_checked(length.into())?;
        rest = more;
        String::from_utf8(text.to_vec()).ok()
    };
    let (name, version) = (text()?, text()?);
    Some(Status { name, version, protocol: short(0), players: short(2), max_players: short(4), pace: numbers[6] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(name: &str) -> Status {
        Status {
            name: name.to_owned(),
            version: "0.1.0".to_owned(),
            protocol: 4,
            players: 3,
            max_players: 9,
            pace: 100,
        }
    }

    #[test]
    fn an_answer_is_read_as_it_was_written_and_never_longer_than_a_query() {
        for name in ["", "Keel", &"é".repeat(32), &"x".repeat(64)] {
            let datagram = answer(u64::MAX, &status(name));
            assert!(datagram.len() <= QUERY_BYTES);
            assert_eq!(read_answer(&datagram, u64::MAX), Some(status(name)));
            for end in 0..datagram.len() {
                assert_eq!(read_answer(&datagram[..end], u64::MAX), None);
            }
        }
        let long = read_answer(&answer(1, &status(&"é".repeat(400))), 1).unwrap();
        assert_eq!(long.name, "é".repeat(32));
    }

    #[test]
    fn a_query_that_is_too_short_is_none_that_is_answered() {
        let whole = query(7);
        assert_eq!(read_query(&whole), Some(7));
        for end in 0..QUERY_BYTES {
            assert_eq!(read_query(&whole[..end]), None);
        }
        assert!(is_query(&whole) && !is_query(&whole[1..]) && !is_query(&[0; 300]));
    }
}
