//! Clients that are logged in and mean ill: each is put out with words, and nobody else notices.

use std::time::Duration;

use keel_client::{Command, Hello, Who};
use keel_protocol::{CHANNEL_LOSSY, ToServer, encode};
use keel_server::Config;
use keel_torture::acks::Choosy;
use keel_torture::arena::config;
use keel_torture::{Arena, Peer, orders};

const NONSENSE: &str = "Your client sends what no client of this server does.";

/// Turns until a peer is put out, as `act` has it go on; after how long, and with which words.
fn put_out(arena: &mut Arena, rogue: &mut Peer, pilots: &mut [Peer], mut act: impl FnMut(&mut Peer)) -> (f64, String) {
    let begun = arena.clock.now();
    while arena.clock.now() < begun + Duration::from_secs(30) {
        arena.turn();
        for pilot in &mut *pilots {
            assert!(pilot.turn() && pilot.words.is_none(), "another is put out: {:?}", pilot.words);
        }
        act(rogue);
        if !rogue.turn() {
            break;
        }
        if let Some(words) = rogue.words.clone() {
            return ((arena.clock.now() - begun).as_secs_f64(), words);
        }
    }
    panic!("not put out with words after {:?}: {:?}", arena.clock.now() - begun, rogue.renet.disconnect_reason())
}

#[test]
fn whatever_renet_trusts_a_client_with_is_refused_with_words() {
    let mut arena = Arena::new(&config());
    let mut pilots = [arena.pilot(1, "ann")];
    let slice = |kind: u8, index: u8, slices: u8, length: usize| {
        // [kind, number, channel, message, slice, slices, length (2), bytes]
        let length_bytes = ((length as u16) | 0x4000).to_be_bytes();
        [&[kind, 9, 0, 9, index, slices][..], &length_bytes, &vec![7; length]].concat()
    };
    let huge = [0xff; 8];
    let payloads: Vec<(&str, Vec<u8>)> = vec![
        ("a slice beyond the count", slice(2, 9, 2, 1200)),
        ("a lossy slice beyond the count", slice(3, 9, 2, 1200)),
        ("a slice that is begun", slice(2, 0, 63, 1200)),
        ("a slice of a million", [&[2, 9, 0, 9, 0][..], &[0x80, 0x0f, 0x42, 0x40], &[1, 7]].concat()),
        ("empty messages that wait", vec![0, 9, 0, 0, 2, 1, 0, 2, 0]),
        ("a message from far ahead", [&[0, 9, 0, 0, 1][..], &huge, &[1, 9]].concat()),
        ("a packet from far ahead", [&[0][..], &huge, &[0, 0, 1, 5, 1, 9]].concat()),
        ("a channel that is not there", vec![1, 9, 7, 0, 1, 1, 9]),
        ("a message on the wrong channel", vec![0, 9, CHANNEL_LOSSY, 0, 1, 5, 1, 9]),
        ("more messages than bytes", vec![1, 9, 1, 0xff, 0xff, 1, 9]),
        ("a message longer than its packet", [&[1, 9, 1, 0, 1][..], &huge, &[9]].concat()),
        ("an acknowledgement of everything", [&[4, 9][..], &huge, &huge, &[0]].concat()),
        ("ranges without end", [&[4, 9, 0, 0][..], &huge, &[0; 64]].concat()),
        ("a range before the first packet", vec![4, 9, 0, 9, 0]),
        ("no kind of packet", vec![9, 9, 9]),
        ("nothing", vec![]),
    ];
    for (n, (what, payload)) in (100..).zip(payloads) {
        let mut rogue = arena.pilot(n, "rob");
        let (after, words) = put_out(&mut arena, &mut rogue, &mut pilots, |rogue| rogue.payload(&payload));
        assert_eq!((words.as_str(), after < 0.5), (NONSENSE, true), "{what}: {after} s");
    }
}

#[test]
fn datagrams_at_which_netcode_panics_are_dropped_whoever_they_come_from() {
    let mut arena = Arena::new(&config());
    let mut ann = arena.pilot(1, "ann");
    let mut pending = arena.peer(2);
    pending.turn();
    arena.turn();
    let stranger = arena.address();
    for prefix in 1..=u8::MAX {
        for number in [0u8, 0x3f, 0x7f, 0xff] {
            let datagram = [&[prefix][..], &[number; 15], &[7; 324]].concat();
            for length in [18, 24, 33, 340] {
                ann.throw(&datagram[..length]);
                pending.throw(&datagram[..length]);
                arena.throw(stranger, &datagram[..length]);
            }
        }
        arena.turn();
        assert!(ann.turn() && ann.words.is_none());
    }
    // What others throw in a pilot's name is not the pilot's fault.
    let seq = ann.order(Command::Gather);
    for _ in 0..20 {
        ann.turn();
        arena.turn();
    }
    assert!(ann.answer(seq).is_some());
}

#[test]
fn who_leaves_a_gap_is_put_out_and_what_waited_is_given_back() {
    let mut arena = Arena::new(&config());
    let mut pilots = [arena.pilot(1, "ann")];
    let mut rogue = arena.pilot(2, "rob");
    let mut id = 5u64;
    let mut after = 0.0;
    let info = allocation_counter::measure(|| {
        let (took, words) = put_out(&mut arena, &mut rogue, &mut pilots, |rogue| {
            // Messages that wait for one that never comes, as many and as long as there may be.
            if id < 1000 {
                let message = [9u8; 1000];
                let number = 0x8000_0000 | (100 + id as u32);
                let head = [&[0][..], &number.to_be_bytes(), &[0, 0, 1]].concat();
                let place = 0x4000 | id as u16;
                rogue.payload(&[&head[..], &place.to_be_bytes(), &0x43e8u16.to_be_bytes(), &message].concat());
                id += 1;
            }
        });
        assert_eq!(words, "Your client begins what it does not end: a message is missing for too long.");
        after = took;
    });
    assert!((7.0..10.0).contains(&after), "{after} s");
    assert!(info.bytes_max < 8 << 20, "{} bytes at most", info.bytes_max);
    given_back(&mut arena, rogue, &mut pilots);
}

#[test]
fn who_never_acknowledges_is_put_out_and_what_waited_is_given_back() {
    let mut arena = Arena::new(&config());
    let mut pilots = [arena.pilot(1, "ann")];
    let mut rogue = arena.pilot(2, "rob");
    let mut outcome = None;
    let info = allocation_counter::measure(|| {
        let mut number = 500u32;
        outcome = Some(put_out(&mut arena, &mut rogue, &mut pilots, |rogue| {
            // It asks for all that it can get, says that it has what it is shown, and acknowledges nothing below.
            number += 1;
            if let Some(ack) = rogue.replica.ack() {
                let ack = encode(&ack);
                let head = [&[1][..], &(0x8000_0000 | number).to_be_bytes(), &[CHANNEL_LOSSY, 0, 1, ack.len() as u8]];
                rogue.payload(&[&head.concat()[..], &ack].concat());
            }
            rogue.is_by_hand = true;
        }));
    });
    let (after, words) = outcome.unwrap();
    assert_eq!(words, "Your client does not acknowledge what it is sent.");
    assert!((2.0..10.0).contains(&after), "{after} s");
    assert!(info.bytes_max < 8 << 20, "{} bytes at most", info.bytes_max);
    given_back(&mut arena, rogue, &mut pilots);
}

#[test]
fn who_asks_for_more_than_it_takes_is_told_so() {
    let mut arena = Arena::new(&config());
    let mut pilots = [arena.pilot(1, "ann")];
    let mut rogue = arena.pilot(2, "rob");
    // It acknowledges all but what must arrive, and asks for more of that as often as it may.
    rogue.choosy = Some(Choosy::default());
    let clock = arena.clock.clone();
    let mut due = clock.now();
    let (after, words) = put_out(&mut arena, &mut rogue, &mut pilots, |rogue| {
        while due < clock.now() {
            due += Duration::from_millis(100);
            rogue.say(&ToServer::Who(Who::Name("ann".to_owned())));
        }
    });
    assert_eq!(words, "Your client does not acknowledge what must arrive.");
    assert!((7.0..10.0).contains(&after), "{after} s");
    given_back(&mut arena, rogue, &mut pilots);
}

#[test]
fn nobody_whose_packets_come_backwards_with_holes_is_hung_up_on_without_a_word() {
    let mut arena = Arena::new(&config());
    let mut rogue = arena.pilot(1, "rob");
    // Ever further ahead, as many as are taken.
    for round in 1..=8u32 {
        for n in (0..100).rev() {
            let number = 0x8000_0000 | (round * 50_000 + 2 * n);
            rogue.payload(&[&[1][..], &number.to_be_bytes(), &[CHANNEL_LOSSY, 0, 0]].concat());
        }
        if round == 4 {
            arena.poll();
            arena.clock.advance(Duration::from_secs(1));
        }
    }
    for _ in 0..100 {
        arena.turn();
        assert!(rogue.turn() && rogue.words.is_none(), "put out: {:?}", rogue.words);
    }
}

/// What a peer had the server keep is given back once it is gone.
fn given_back(arena: &mut Arena, mut rogue: Peer, pilots: &mut [Peer]) {
    let freed = allocation_counter::measure(|| {
        rogue.leave();
        for _ in 0..400 {
            arena.turn();
            pilots.iter_mut().for_each(|pilot| assert!(pilot.turn()));
        }
        drop(rogue);
    });
    assert!(freed.bytes_current < 64 << 10, "{} bytes are kept", freed.bytes_current);
}

#[test]
fn one_who_floods_is_throttled_at_once_and_gone_soon() {
    let mut arena = Arena::new(&config());
    let mut pilots = [arena.pilot(1, "ann")];
    let mut rogue = arena.pilot(2, "rob");
    let mut number = 1000u32;
    let begun = arena.clock.now();
    let clock = arena.clock.clone();
    let mut due = begun;
    let (after, words) = put_out(&mut arena, &mut rogue, &mut pilots, |rogue| {
        while due < clock.now() {
            due += Duration::from_micros(20);
            rogue.payload(&[&[4][..], &(0x8000_0000 | number).to_be_bytes(), &[0, 0, 0]].concat());
            number += 1;
        }
    });
    assert_eq!(words, "Your client sends far too much.");
    assert!(after < 1.0, "{after} s");
    // It goes on for good, and nobody notices.
    let (step, at) = (pilots[0].replica.step(), arena.clock.now());
    while arena.clock.now() < at + Duration::from_secs(5) {
        for _ in 0..500 {
            rogue.throw(&[0x15; 40]);
        }
        arena.turn();
        assert!(pilots[0].turn());
    }
    assert!(pilots[0].replica.step() >= step + 97);
}

#[test]
fn every_kind_of_order_at_a_thousand_a_second_ends_with_words_and_others_do_not_notice() {
    // Of all kinds, one pilot each, ten at a time.
    for kinds in (0..orders::KINDS).collect::<Vec<_>>().chunks(10) {
        let mut arena = Arena::new(&Config { operator_ops: true, ..config() });
        let mut ann = arena.pilot(1, "ann");
        let mut rogues: Vec<_> = kinds
            .iter()
            .map(|&kind| (kind, arena.pilot(100 + kind as u64, &format!("rogue-{kind}")), 0usize))
            .collect();
        let begun = arena.clock.now();
        let mut due = begun;
        while rogues.iter().any(|(_, rogue, _)| rogue.words.is_none()) {
            arena.turn();
            assert!(ann.turn() && ann.words.is_none());
            let count = ((arena.clock.now() - due).as_micros() / 1000) as u32;
            due += Duration::from_millis(1) * count;
            for (kind, rogue, slowed) in &mut rogues {
                if rogue.words.is_none() {
                    for n in 0..count {
                        rogue.order(orders::order(*kind, n as u8, &mut || n));
                    }
                    rogue.turn();
                    let is_slow = |text: &str| text == "Too many orders at once. This one was dropped.";
                    *slowed += rogue.answers.drain(..).filter(|answer| is_slow(&answer.text)).count();
                }
            }
            assert!(arena.clock.now() < begun + Duration::from_secs(5), "of {kinds:?} not all are put out");
        }
        for (kind, rogue, slowed) in &rogues {
            assert_eq!(rogue.words.as_deref(), Some("You send too many orders."), "kind {kind}");
            assert!(*slowed > 0, "kind {kind} was not told");
        }
        // The world is whole, and another's order is done.
        let ship = ann.replica.active().unwrap().id;
        let seq = ann.order(Command::Hold { ship });
        for _ in 0..40 {
            ann.turn();
            arena.turn();
        }
        assert!(ann.answer(seq).is_some_and(|answer| answer.accepted));
    }
}

#[test]
fn every_order_at_its_extremes_is_answered_and_changes_nothing_of_anothers() {
    let mut arena = Arena::new(&Config { operator_ops: true, ..config() });
    let (mut ann, mut bob) = (arena.pilot(1, "ann"), arena.pilot(2, "bob"));
    let (own, bobs) = (ann.replica.active().unwrap().id, bob.replica.active().unwrap().id);
    for n in [0, 1, own, bobs, u32::MAX, u32::MAX - 1, 1 << 31, (1 << 31) - 1, 255, 256, 65_535, 65_536] {
        for order in orders::all(n) {
            let (is_bobs, words) = (names_ship(&order, bobs), format!("{order:?}"));
            let seq = ann.order(order);
            let begun = arena.clock.now();
            while ann.answer(seq).is_none() {
                ann.turn();
                arena.turn();
                bob.turn();
                assert!(arena.clock.now() < begun + Duration::from_secs(5), "no answer to {words}");
            }
            let answer = ann.answers.drain(..).find(|answer| answer.seq == seq).unwrap();
            assert!(!answer.text.starts_with("Too many"), "{words}");
            assert!(!(is_bobs && answer.accepted), "{words}: {}", answer.text);
            // As slowly as it takes to be heard.
            let pause = arena.clock.now() + Duration::from_millis(500);
            while arena.clock.now() < pause {
                arena.turn();
                ann.turn();
                bob.turn();
            }
        }
    }
    assert!(ann.words.is_none() && bob.words.is_none());
    assert!(ann.replica.own().all(|ship| ship.hull.is_finite() && ship.battery.held.is_finite()));
}

/// Whether an order is to a ship.
fn names_ship(order: &Command, id: u32) -> bool {
    match *order {
        Command::Move { ship, .. }
        | Command::Cancel { ship }
        | Command::Attack { ship, .. }
        | Command::Focus { ship, .. }
        | Command::Hold { ship }
        | Command::Travel { ship, .. }
        | Command::Rescue { ship }
        | Command::Dock { ship }
        | Command::Undock { ship }
        | Command::Activate { ship }
        | Command::Stance { ship, .. }
        | Command::Protect { ship, .. }
        | Command::Triggers { ship, .. }
        | Command::Follow { ship, .. }
        | Command::Build { ship, .. }
        | Command::Fit { ship, .. }
        | Command::Repair { ship, .. }
        | Command::Scrap { ship }
        | Command::Jump { ship, .. }
        | Command::Take { ship, .. }
        | Command::Harvest { ship } => ship == id,
        _ => false,
    }
}

#[test]
fn a_flood_of_handshakes_keeps_nobody_out_and_takes_no_memory() {
    let mut arena = Arena::new(&config());
    let mut ann = arena.pilot(1, "ann");
    let requests: Vec<_> = (0..64)
        .map(|id| {
            let mut peer = arena.peer(1000 + id);
            peer.netcode.update(Duration::from_millis(300)).unwrap().0.to_vec()
        })
        .collect();
    let (mut late, mut step) = (None, 0);
    let info = allocation_counter::measure(|| {
        for n in 0..12_000usize {
            let from = arena.address();
            arena.throw(from, &requests[n % requests.len()]);
            if n % 20 == 0 {
                arena.clock.advance(Duration::from_millis(10));
                arena.poll();
                assert!(ann.turn() && ann.words.is_none());
            }
            if n == 6_000 {
                step = ann.replica.step();
                late = Some(arena.connected(7));
            }
        }
    });
    assert!(late.is_some() && ann.replica.step() > step + 40);
    assert!(info.bytes_max < 8 << 20, "{} bytes", info.bytes_max);
    // Who gave up may begin again from the same port: what was half open is forgotten in time.
    let mut half = arena.peer(8);
    half.turn();
    arena.turn();
    let address = half.address;
    for _ in 0..1_300 {
        arena.turn();
        ann.turn();
    }
    drop(half);
    let mut again = arena.peer_at(9, address);
    for _ in 0..200 {
        again.turn();
        arena.turn();
    }
    assert!(again.netcode.is_connected());
}

#[test]
fn a_client_that_greets_with_no_name_is_told_why() {
    let mut arena = Arena::new(&config());
    let mut pilots = [arena.pilot(1, "Bill")];
    for (id, (name, told)) in (10..).zip([
        ("", "A name has 1 to 20 characters."),
        ("a\u{1b}[2J", "A name is made of letters, digits, - and _."),
        ("bob\u{202e}", "A name is made of letters, digits, - and _."),
        ("Zoe\u{308}", "A name is written with composed letters (NFC)."),
        ("pаul", "A name is written in one script."),
        ("BiIl", "Your name looks like another pilot's."),
    ]) {
        let mut rogue = arena.connected(id);
        rogue.say(&ToServer::Hello(Hello { name: name.to_owned(), ..Hello::new("") }));
        let (_, words) = put_out(&mut arena, &mut rogue, &mut pilots, |_| {});
        assert_eq!(words, told, "{name:?}");
    }
}
