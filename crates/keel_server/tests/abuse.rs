//! What strangers and broken clients send: the server goes on, and nobody else notices.

mod served;

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use keel_client::{ClientError, Command, Event, Hello};
use keel_protocol::{CHANNEL_LOSSY, CHANNEL_ORDERED, ToClient, decode};

use served::{Rogue, Running, pilot, steps_in_a_second};

const NONSENSE: &str = "Your client sends what no client of this server does.";

#[test]
fn datagrams_of_strangers_are_no_matter() {
    let server = Running::start();
    let mut ann = pilot(server.address, "ann");
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let mut noise = 0x9e37_79b9_7f4a_7c15u64;
    for length in (0..1400).cycle().take(20_000) {
        let mut datagram = vec![0u8; length];
        for byte in &mut datagram {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (noise >> 56) as u8;
        }
        let _ = socket.send_to(&datagram, server.address);
    }
    assert!(steps_in_a_second(&mut ann) >= 17);
    server.end();
}

#[test]
fn a_client_that_sends_slices_is_put_out_and_the_server_stands() {
    let server = Running::start();
    let mut ann = pilot(server.address, "ann");
    // [kind, sequence, channel, message, slice index, slices, length, byte]: an index beyond the count.
    for kind in [2, 3] {
        let mut rogue = Rogue::connect(server.address, 70 + u64::from(kind));
        rogue.payload(&[kind, 0, 0, 0, 9, 2, 1, 0]);
        assert_eq!(rogue.last_words().as_deref(), Some(NONSENSE));
    }
    assert!(steps_in_a_second(&mut ann) >= 17);
    // Messages of no bytes that would wait for one that never comes.
    let mut rogue = Rogue::connect(server.address, 79);
    rogue.payload(&[0, 0, 0, 0, 2, 1, 0, 2, 0]);
    assert_eq!(rogue.last_words().as_deref(), Some(NONSENSE));
    // Nonsense that renet refuses by itself.
    let mut rogue = Rogue::connect(server.address, 80);
    for payload in [&[0u8, 0, 0, 0xff, 0xff, 0][..], &[4, 0, 0xff, 0xff], &[9], &[1, 0, 7, 0, 1, 0, 0]] {
        rogue.payload(payload);
        rogue.turn();
    }
    assert_eq!(rogue.last_words().as_deref(), Some(NONSENSE));
    assert!(steps_in_a_second(&mut ann) >= 17);
    server.end();
}

#[test]
fn a_client_whose_messages_make_no_sense_is_told_and_put_out() {
    let server = Running::start();
    let mut rogue = Rogue::connect(server.address, 7);
    for byte in 0..20u8 {
        rogue.renet.send_message(CHANNEL_LOSSY, vec![0xff - byte; 40]);
    }
    assert_eq!(rogue.last_words().as_deref(), Some("Your client sends what this server cannot read."));
    let mut silent = Rogue::connect(server.address, 8);
    assert_eq!(silent.last_words().as_deref(), Some(""), "one that never greets is put out");
    server.end();
}

#[test]
fn one_who_floods_orders_is_slowed_then_put_out_and_nobody_else_notices() {
    let server = Running::start();
    let (mut ann, mut spammer) = (pilot(server.address, "ann"), pilot(server.address, "bob"));
    let ship = spammer.replica().active().unwrap().id;
    let (start, mut slowed, mut out) = (Instant::now(), 0, None);
    let before = ann.replica().step();
    while out.is_none() && start.elapsed() < Duration::from_secs(20) {
        for _ in 0..20 {
            let _ = spammer.send(Command::Hold { ship });
        }
        match spammer.poll() {
            Ok(events) => {
                let is_slowed = |event: &&Event| matches!(event, Event::Answer(answer) if answer.text.starts_with("Too many orders at once."));
                slowed += events.iter().filter(is_slowed).count();
            }
            Err(error) => out = Some(error),
        }
        ann.poll().unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(slowed > 50, "{slowed}");
    assert!(matches!(&out, Some(ClientError::Refused(reason)) if reason == "You send too many orders."), "{out:?}");
    let expected = (start.elapsed().as_secs_f64() * 20.0) as u64;
    assert!(ann.replica().step() - before + 4 >= expected * 9 / 10);
    // Who is put out is out of the world as well.
    let seq = ann.send(Command::AskDuel(spammer.replica().welcome().unwrap().pilot)).unwrap();
    let start = Instant::now();
    let answer = loop {
        let events = ann.poll().unwrap();
        let answer = events.into_iter().find_map(|event| match event {
            Event::Answer(answer) if answer.seq == seq => Some(answer.text),
            _ => None,
        });
        if let Some(answer) = answer {
            break answer;
        }
        assert!(start.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(answer, "That pilot is not here.");
    server.end();
}

#[test]
fn a_client_that_comes_back_under_its_number_at_once_is_a_new_one() {
    let server = Running::start();
    for round in 0..3 {
        let mut rogue = Rogue::connect(server.address, 55);
        rogue
            .renet
            .send_message(CHANNEL_ORDERED, keel_protocol::encode(&keel_protocol::ToServer::Hello(Hello::new("rob"))));
        let start = Instant::now();
        let mut words = None;
        while words.is_none() {
            assert!(rogue.turn(), "round {round}: put out");
            words = rogue.renet.receive_message(CHANNEL_ORDERED);
            assert!(start.elapsed() < Duration::from_secs(5));
            std::thread::sleep(Duration::from_millis(2));
        }
        let welcomed = matches!(decode::<ToClient>(&words.unwrap()), Ok(ToClient::Welcome(_)));
        assert!(welcomed, "round {round}");
        rogue.netcode.disconnect().map(|(to, packet)| rogue.socket.send_to(packet, to)).ok();
    }
    server.end();
}

#[test]
fn a_client_that_vanishes_and_comes_back_finds_its_ship_as_it_was() {
    let server = Running::start();
    let mut ann = pilot(server.address, "ann");
    let ship = ann.replica().active().unwrap().id;
    ann.send(Command::Move { ship, col: 2, row: 0 }).unwrap();
    let start = Instant::now();
    while ann.replica().active().unwrap().col == 0 {
        ann.poll().unwrap();
        assert!(start.elapsed() < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(5));
    }
    // No goodbye: the process is gone.
    std::mem::forget(ann);
    let again = pilot(server.address, "ann");
    let back = again.replica().active().unwrap();
    assert_eq!(back.id, ship);
    assert!(back.col >= 1);
    server.end();
}
