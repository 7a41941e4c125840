//! What a client makes of packets that come late, in another order, or without what they build on.

use std::time::Instant;

use keel_client::{Contact, Replica};
use keel_protocol::snapshot::{Ack, BlockHead, Group, Head, put_gone};

/// A group of one ship in a sector.
fn group(col: i16, id: u32, hull: u8) -> Group {
    let mut group = Group::at(1, col, 0);
    group.seat(0, &Contact { id, hull, ..Contact::default() });
    group
}

fn packet(number: u64, step: u64, put: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut bytes = Vec::new();
    Head { step, number, pace: 100 }.put(&mut bytes);
    put(&mut bytes);
    bytes
}

/// All of a group, as it came to be in that step.
fn whole(number: u64, step: u64, key: u32, group: &Group) -> Vec<u8> {
    packet(number, step, |out| {
        BlockHead { key, version: step, base: None }.put_group(step, out);
        group.put(None, out);
    })
}

fn place(replica: &Replica, id: u32) -> Option<i16> {
    replica.contact(id).map(|contact| contact.col)
}

#[test]
fn a_ship_that_moved_is_where_the_newer_state_has_it_whatever_comes_later() {
    let mut replica = Replica::default();
    let packets = [
        whole(1, 10, 1, &group(0, 5, 255)),
        whole(3, 12, 2, &group(1, 5, 255)),
        // What was so before it moved.
        whole(2, 11, 1, &group(0, 5, 200)),
    ];
    for (bytes, col) in packets.iter().zip([0, 1, 1]) {
        replica.take(bytes, Instant::now());
        assert_eq!(place(&replica, 5), Some(col));
    }
    replica.take(&packet(4, 13, |out| put_gone(1, out)), Instant::now());
    assert_eq!(place(&replica, 5), Some(1), "where it was is out of sight");
    assert_eq!(replica.ack(), Some(Ack { newest: 4, before: 0b111 }));
}

#[test]
fn what_is_gone_does_not_come_back_with_a_late_packet() {
    let mut replica = Replica::default();
    replica.take(&packet(2, 11, |out| put_gone(1, out)), Instant::now());
    replica.take(&whole(1, 10, 1, &group(0, 5, 255)), Instant::now());
    assert_eq!(place(&replica, 5), None);
    assert_eq!(replica.ack(), Some(Ack { newest: 2, before: 1 }));
}

#[test]
fn a_packet_that_builds_on_what_never_came_is_not_acknowledged_and_the_rest_of_it_is_shown() {
    let (mut replica, (first, second)) = (Replica::default(), (group(0, 5, 255), group(0, 5, 100)));
    let bytes = packet(1, 10, |out| {
        BlockHead { key: 1, version: 10, base: Some(9) }.put_group(10, out);
        second.put(Some(&first), out);
        BlockHead { key: 2, version: 10, base: None }.put_group(10, out);
        group(1, 6, 255).put(None, out);
    });
    replica.take(&bytes, Instant::now());
    assert_eq!((replica.ack(), place(&replica, 5), place(&replica, 6)), (None, None, Some(1)));
    // Told in full, it is.
    replica.take(&whole(2, 11, 1, &second), Instant::now());
    assert_eq!(replica.contact(5).map(|contact| contact.hull), Some(100));
    assert_eq!(replica.ack(), Some(Ack { newest: 2, before: 0 }));
}

#[test]
fn a_doubled_packet_and_one_cut_off_change_nothing() {
    let mut replica = Replica::default();
    let bytes = whole(1, 10, 1, &group(0, 5, 255));
    replica.take(&bytes[..bytes.len() - 1], Instant::now());
    assert_eq!(replica.ack(), None);
    replica.take(&bytes, Instant::now());
    replica.take(&whole(2, 11, 1, &group(0, 5, 90)), Instant::now());
    replica.take(&bytes, Instant::now());
    assert_eq!(replica.contact(5).map(|contact| contact.hull), Some(90));
}
