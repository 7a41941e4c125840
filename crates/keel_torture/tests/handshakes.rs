//! Handshakes by hand, as a client of another make could have them.

use std::net::SocketAddr;
use std::time::Duration;

use chacha20poly1305::{AeadInPlace, ChaCha20Poly1305, Key, KeyInit, Nonce, Tag};
use keel_protocol::NETCODE_ID;
use keel_server::Config;
use keel_torture::Arena;
use keel_torture::arena::config;
use renetcode::ConnectToken;

const VERSION: &[u8] = b"NETCODE 1.02\0";
const MAC: usize = 16;

/// The kind of a client's answer to a challenge.
const RESPONSE: u8 = 3;

/// A token of a client that makes its own.
fn token(client: u64, now: Duration, server: SocketAddr) -> ConnectToken {
    ConnectToken::generate(now, NETCODE_ID, 30, client, -1, vec![server], None, &[0; 32]).unwrap()
}

/// Asks for a connection by a token.
fn request(token: &ConnectToken) -> Vec<u8> {
    let head = [&[0][..], VERSION, &NETCODE_ID.to_le_bytes(), &token.expire_timestamp.to_le_bytes(), &token.xnonce];
    [&head.concat()[..], &token.private_data].concat()
}

fn nonce(number: u64) -> Nonce {
    let mut nonce = [0; 12];
    nonce[4..].copy_from_slice(&number.to_le_bytes());
    nonce.into()
}

fn about(prefix: u8) -> Vec<u8> {
    [VERSION, &NETCODE_ID.to_le_bytes(), &[prefix]].concat()
}

/// What is in a sealed datagram.
fn opened(datagram: &[u8], key: &[u8; 32]) -> Option<Vec<u8>> {
    let (&prefix, rest) = datagram.split_first()?;
    let (bytes, sealed) = rest.split_at_checked(usize::from(prefix >> 4))?;
    let number = bytes.iter().rev().fold(0, |number: u64, &byte| number << 8 | u64::from(byte));
    let (content, tag) = sealed.split_at_checked(sealed.len().checked_sub(MAC)?)?;
    let mut content = content.to_vec();
    let cipher = ChaCha20Poly1305::new(Key::from_slice(key));
    let tag = Tag::from_slice(tag);
    cipher.decrypt_in_place_detached(&nonce(number), &about(prefix), &mut content, tag).ok()?;
    Some(content)
}

/// A sealed datagram, the first of its client.
fn sealed(kind: u8, content: &[u8], key: &[u8; 32]) -> Vec<u8> {
    let mut content = content.to_vec();
    let cipher = ChaCha20Poly1305::new(Key::from_slice(key));
    let tag = cipher.encrypt_in_place_detached(&nonce(0), &about(kind), &mut content).unwrap();
    [&[kind][..], &content, &tag].concat()
}

#[test]
fn two_connections_of_one_number_are_none_and_hold_no_place() {
    // With what is spare, 33 places.
    let mut arena = Arena::new(&Config { max_clients: 1, ..config() });
    let server = arena.server.address();
    for n in 0..40 {
        // Two tokens from one address: to netcode the handshake is of the first one's number, and the challenge of the second's.
        let (twice, other) = (100 + 2 * n, 101 + 2 * n);
        let (first, second) = (token(twice, arena.clock.now(), server), token(other, arena.clock.now(), server));
        let from = arena.address();
        arena.listen(from);
        arena.throw(from, &request(&first));
        arena.throw(from, &request(&second));
        arena.turn();
        let challenges: Vec<_> = std::iter::from_fn(|| arena.heard(from)).collect();
        let challenge = challenges.iter().find_map(|datagram| opened(datagram, &second.server_to_client_key)).unwrap();
        // Meanwhile the number connects as it should.
        let mut good = arena.connected(twice);
        arena.throw(from, &sealed(RESPONSE, &challenge, &first.client_to_server_key));
        for _ in 0..20 {
            arena.turn();
            good.turn();
        }
        assert!(good.netcode.is_disconnected(), "{n}: neither of the two is of any use");
    }
    assert!(arena.connected(7).netcode.is_connected());
}
