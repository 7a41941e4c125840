//! Bytes from outside: refused or understood, never a panic, never more memory than a message may take.

use keel_protocol::{
    Command, DecodeError, Hello, MAX_NAME, NameError, Part, Slot, ToClient, ToServer, check_name, decode, encode,
};
use proptest::prelude::*;

#[test]
fn a_message_survives_the_wire() {
    let op = ToServer::Op { seq: 7, command: Command::Move { ship: 1, col: -3, row: i32::MAX } };
    assert_eq!(decode::<ToServer>(&encode(&op)).unwrap(), op);
    let fit = Command::Fit { ship: 2, slot: Slot::System(4), part: Part::Yard { kind: 200, faction: 9 } };
    let op = ToServer::Op { seq: 8, command: fit };
    assert_eq!(decode::<ToServer>(&encode(&op)).unwrap(), op);
}

#[test]
fn the_greeting_keeps_its_shape_in_every_version() {
    // Kind 0, the version, the name's length, the name: a server of any version reads this much.
    assert_eq!(encode(&ToServer::Hello(Hello { version: 1, name: "ann".into() })), [0, 1, 3, b'a', b'n', b'n']);
    assert_eq!(encode(&ToClient::Refused { reason: "no".into() }), [0, 2, b'n', b'o']);
}

#[test]
fn trailing_bytes_are_refused() {
    let mut bytes = encode(&ToServer::Hello(Hello::new("ann")));
    bytes.push(0);
    assert!(matches!(decode::<ToServer>(&bytes), Err(DecodeError::Trailing(1))));
}

#[test]
fn lengths_beyond_the_limit_are_refused_before_anything_is_allocated() {
    for length in [0xfbu8, 0xfc, 0xfd] {
        // Hello, version 1, and a name of 2^16, 2^32 or 2^64 less a few bytes.
        let mut bytes = vec![0, 1, length];
        bytes.extend([0xff; 8]);
        assert!(decode::<ToServer>(&bytes).is_err());
    }
}

#[test]
fn names_are_short_and_plain() {
    assert_eq!(check_name("Ann_2-b"), Ok(()));
    assert_eq!(check_name(""), Err(NameError::Length));
    assert_eq!(check_name(&"a".repeat(MAX_NAME)), Ok(()));
    assert_eq!(check_name(&"a".repeat(MAX_NAME + 1)), Err(NameError::Length));
    assert_eq!(check_name("\u{430}nn"), Err(NameError::Scripts));
    for name in ["a b", "a\n", "\u{202e}ann", "\u{1b}[2J", "a\0"] {
        assert_eq!(check_name(name), Err(NameError::Characters), "{name:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_refused_or_understood(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(message) = decode::<ToServer>(&bytes) {
            // Varints have more than one spelling, so the bytes need not come back; the message must.
            prop_assert_eq!(decode::<ToServer>(&encode(&message)).unwrap(), message);
        }
        let _ = decode::<ToClient>(&bytes);
    }
}
