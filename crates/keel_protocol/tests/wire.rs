//! Bytes from outside: refused or understood, never a panic, never more memory than a message may take.

use keel_protocol::{
    Command, DecodeError, Hello, MAX_NAME, MAX_ORDER, NameError, Part, Slot, ToClient, ToServer, check_name, decode,
    decode_order, encode,
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
fn nothing_that_a_client_says_holds_a_number_that_may_be_none() {
    // What is equal to itself whatever it is holds no float, so no NaN and no infinity.
    const fn holds_no_float<T: Eq>() {}
    holds_no_float::<ToServer>();
    holds_no_float::<Command>();
    holds_no_float::<keel_protocol::Ack>();
}

#[test]
fn a_client_says_nothing_long_and_no_length_is_believed() {
    for length in [0, 1, 250, 251, 900, MAX_ORDER, MAX_ORDER + 1, 1 << 16, 1 << 24] {
        let message = ToServer::Hello(Hello { version: 1, name: "x".repeat(length) });
        let bytes = encode_any(&message, length);
        assert_eq!(decode_order::<ToServer>(&bytes).is_ok(), bytes.len() <= MAX_ORDER, "{length}");
    }
    // A name that says it is longer than all memory: [hello, version, length (0xfd and 8 bytes)].
    for length in [-1i64, i64::MIN, i64::MAX, 1 << 20, 1025] {
        let bytes = [&[0, 1, 0xfd][..], &length.to_le_bytes(), &[b'x'; 30]].concat();
        assert!(decode_order::<ToServer>(&bytes).is_err(), "{length}");
        assert!(decode::<ToClient>(&[&[6, 0xfd][..], &length.to_le_bytes()].concat()).is_err(), "{length}");
    }
}

/// A message's bytes, also where no message may be so long.
fn encode_any(message: &ToServer, length: usize) -> Vec<u8> {
    if length < MAX_ORDER {
        return encode(message);
    }
    let mut bytes = vec![0, 1, 0xfc];
    bytes.extend((length as u32).to_le_bytes());
    bytes.resize(bytes.len() + length, b'x');
    bytes
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
