//! Bytes that are no messages, and some that are.

use std::time::Instant;

use keel_client::Replica;
use keel_protocol::{Ack, MAX_ORDER, ToClient, ToServer, decode, decode_order, encode};

use crate::{Choices, orders};

/// Reads bytes as everything that crosses the wire, and some that nearly are messages.
///
/// # Panics
/// When something is read that does not come back as it was, or longer than it may be.
pub fn run(bytes: &[u8]) {
    read(bytes);
    let mut choices = Choices::new(bytes);
    let message = orders::message(&mut choices);
    let mut encoded = encode(&message);
    if encoded.len() <= MAX_ORDER {
        assert_eq!(decode_order::<ToServer>(&encoded).ok().as_ref(), Some(&message));
    }
    choices.spoil(&mut encoded);
    read(&encoded);
}

fn read(bytes: &[u8]) {
    if let Ok(message) = decode_order::<ToServer>(bytes) {
        assert!(bytes.len() <= MAX_ORDER);
        // A number has more than one spelling, so the bytes need not come back; the message must.
        assert_eq!(decode_order::<ToServer>(&encode(&message)).ok(), Some(message));
    }
    if let Ok(ack) = decode_order::<Ack>(bytes) {
        assert_eq!(decode_order::<Ack>(&encode(&ack)).ok(), Some(ack));
        assert!(ack.packets().count() <= 65);
    }
    // Not whether it comes back: it may hold a number that is none.
    let _ = decode::<ToClient>(bytes);
    let mut replica = Replica::default();
    replica.take(bytes, Instant::now());
    let _ = (replica.ack(), replica.contacts().count(), replica.own().count(), replica.now());
}
