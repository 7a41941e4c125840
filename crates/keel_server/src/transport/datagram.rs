//! What a datagram must be before netcode sees it.
//!
//! Before it knows who sent it, netcode reads as many bytes of a sequence number as the first byte says, though there are
//! eight at most, and reckons with any number in them: from anyone at all, either would panic. And what it cannot read it
//! puts into the log, line by line. Here is the shape of all that a client sends; what has another is dropped in silence.

use keel_protocol::NETCODE_ID;

/// Kinds of datagrams that a client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Asks for a connection.
    Request,
    /// Answers the challenge.
    Response,
    /// Says that a client is there.
    KeepAlive,
    /// Hangs up.
    Goodbye,
    /// A payload.
    Payload,
}

const VERSION: &[u8; 13] = b"NETCODE 1.02\0";
const MAC: usize = 16;

/// A request: its kind, version, protocol, expiry, nonce and token.
const REQUEST: usize = 1 + VERSION.len() + 8 + 8 + 24 + 1024;

/// What a response has: a number and a challenge.
const RESPONSE: usize = 8 + 300;
const KEEP_ALIVE: usize = 8;

/// The longest payload that netcode sends.
const PAYLOAD: usize = renetcode::NETCODE_MAX_PAYLOAD_BYTES;

/// No connection sends so many datagrams that its numbers come near to what netcode cannot reckon with.
const MOST_SEQUENCE: u64 = 1 << 62;

/// What a datagram is, if it has the shape of one that a client sends.
pub(super) fn kind(datagram: &[u8]) -> Option<Kind> {
    let (&prefix, rest) = datagram.split_first()?;
    if prefix == 0 {
        let is_request = datagram.len() == REQUEST
            && rest.starts_with(VERSION)
            && rest[VERSION.len()..][..8] == NETCODE_ID.to_le_bytes();
        return is_request.then_some(Kind::Request);
    }
    let (bytes, sealed) = rest.split_at_checked(usize::from(prefix >> 4))?;
    if bytes.len() > 8
        || bytes.iter().rev().fold(0, |number: u64, &byte| number << 8 | u64::from(byte)) >= MOST_SEQUENCE
    {
        return None;
    }
    let length = sealed.len().checked_sub(MAC)?;
    match prefix & 0xf {
        3 if length == RESPONSE => Some(Kind::Response),
        4 if length == KEEP_ALIVE => Some(Kind::KeepAlive),
        5 if length <= PAYLOAD => Some(Kind::Payload),
        6 if length == 0 => Some(Kind::Goodbye),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use renetcode::{ClientAuthentication, NetcodeClient};

    use super::*;

    #[test]
    fn what_a_client_of_netcodes_sends_is_let_in() {
        let server_addr: SocketAddr = "127.0.0.1:7777".parse().unwrap();
        let authentication =
            ClientAuthentication::Unsecure { protocol_id: NETCODE_ID, client_id: 7, server_addr, user_data: None };
        let mut client = NetcodeClient::new(Duration::ZERO, authentication).unwrap();
        let (request, _) = client.update(Duration::from_millis(300)).unwrap();
        assert_eq!(kind(request), Some(Kind::Request));
        let mut other = request.to_vec();
        other[15] ^= 1;
        assert_eq!(kind(&other), None, "another protocol");
        assert_eq!(kind(&other[..other.len() - 1]), None);
        let (goodbye, _) = client.disconnect().map(|(to, datagram)| (datagram.to_vec(), to)).unwrap();
        assert_eq!(kind(&goodbye), Some(Kind::Goodbye));
    }

    #[test]
    fn what_netcode_panics_at_is_not() {
        let body = [0u8; 40];
        for prefix in 0..=u8::MAX {
            // Nine and more bytes of a number.
            let datagram = [&[prefix][..], &body].concat();
            if prefix >> 4 > 8 {
                assert_eq!(kind(&datagram), None, "{prefix:#x}");
            }
        }
        // A number that overflows.
        for (top, kind) in [(0xff, None), (0x40, None), (0x3f, Some(Kind::Payload))] {
            let datagram = [&[0x85][..], &[0xff; 7], &[top], &body].concat();
            assert_eq!(super::kind(&datagram), kind, "{top:#x}");
        }
        // Too short for what they are, and what servers send.
        for datagram in [&[][..], &[5], &[0x15; 10], &[0x85; 17], &[1; 60], &[0x12; 60], &[0x1f; 60], &[0; 60]] {
            assert_eq!(kind(datagram), None, "{datagram:?}");
        }
    }
}
