//! Pilots who go and come back: whom a server lets in again, and what the next session of a pilot is told.

use keel_client::{Command, Hello};
use keel_protocol::ToServer;
use keel_server::Bar;
use keel_torture::arena::config;
use keel_torture::{Arena, Peer};

/// Turns so often.
fn turns(arena: &mut Arena, peers: &mut [&mut Peer], count: usize) {
    for _ in 0..count {
        arena.turn();
        for peer in &mut *peers {
            peer.turn();
        }
    }
}

/// What becomes of one who greets under a name: the words of the refusal, if it is one.
fn greets(arena: &mut Arena, id: u64, name: &str) -> (Peer, Option<String>) {
    let mut peer = arena.connected(id);
    peer.say(&ToServer::Hello(Hello::new(name)));
    for _ in 0..400 {
        turns(arena, &mut [&mut peer], 1);
        if peer.words.is_some() || peer.replica.own().next().is_some() {
            break;
        }
    }
    let words = peer.words.clone();
    (peer, words)
}

#[test]
fn whose_client_crashes_while_nobody_is_let_in_gets_back_to_a_ship_that_plays_or_is_in_space() {
    const CLOSED: &str = "The disk is full.";
    let mut arena = Arena::new(&config());
    let (mut ann, mut bob) = (arena.pilot(1, "Ann"), arena.pilot(2, "bob"));
    let ship = ann.replica.active().unwrap().id;
    arena.server.handle().admission.close(Bar::Unsaved, CLOSED);
    // Nobody has said goodbye: the old session stands.
    let (mut again, words) = greets(&mut arena, 3, "ANN");
    assert_eq!((words, again.replica.active().map(|own| own.id)), (None, Some(ship)));
    turns(&mut arena, &mut [&mut ann], 100);
    assert_eq!(ann.words.as_deref(), Some("You have connected from elsewhere."));

    // Away from the Haven, where whoever leaves stays in space.
    let seq = again.order(Command::Move { ship, col: 2, row: 0 });
    while again.replica.active().unwrap().col == 0 {
        turns(&mut arena, &mut [&mut again], 1);
        assert!(again.answer(seq).is_none_or(|answer| answer.accepted));
    }
    again.leave();
    turns(&mut arena, &mut [&mut bob], 400);
    let (_, words) = greets(&mut arena, 4, "ann");
    assert_eq!(words, None);

    // In a Haven they are safe without a client, and so they are not in.
    bob.leave();
    turns(&mut arena, &mut [], 400);
    for (id, name) in [(5, "bob"), (6, "eve")] {
        assert_eq!(greets(&mut arena, id, name).1.as_deref(), Some(CLOSED), "{name}");
    }
    arena.server.handle().admission.open(Bar::Unsaved);
    assert_eq!(greets(&mut arena, 7, "bob").1, None);
}

#[test]
fn what_a_session_has_ordered_is_not_answered_to_the_next_one_of_its_pilot() {
    let mut arena = Arena::new(&config());
    let mut old = arena.pilot(1, "ann");
    let mut new = arena.connected(2);
    arena.step();
    // All of it between two steps.
    let seq = old.order(Command::Gather);
    old.turn();
    arena.poll();
    old.leave();
    arena.poll();
    new.say(&ToServer::Hello(Hello::new("ann")));
    new.turn();
    arena.poll();
    turns(&mut arena, &mut [&mut new], 100);
    assert!(new.replica.active().is_some());
    assert!(new.answer(seq).is_none(), "{:?}", new.answers);
}
