//! Raw datagrams, of strangers, of those whose handshake has begun, and of those who are connected.

use std::time::Duration;

use keel_protocol::NETCODE_ID;

use crate::Choices;
use crate::arena::{Arena, Peer, config};

/// The most datagrams in a volley.
pub const MOST: usize = 256;

/// A server, a pilot who means well, and several in whose names anyone throws what they like.
pub struct Range {
    arena: Arena,
    pilot: Peer,
    pending: Peer,
    requests: Vec<Vec<u8>>,
    volleys: u64,
    /// Datagrams that were thrown.
    pub datagrams: u64,
}

impl Default for Range {
    fn default() -> Self {
        let mut arena = Arena::new(&config());
        let pilot = arena.pilot(1, "ann");
        let mut requests = Vec::new();
        for id in 0..8 {
            let mut peer = arena.peer(100 + id);
            arena.clock.advance(Duration::from_millis(300));
            requests.extend(peer.netcode.update(Duration::from_millis(300)).map(|(datagram, _)| datagram.to_vec()));
        }
        let pending = pending(&mut arena, 2);
        Self { arena, pilot, pending, requests, volleys: 0, datagrams: 0 }
    }
}

/// Someone who has been sent a challenge and does not answer it.
fn pending(arena: &mut Arena, id: u64) -> Peer {
    let mut peer = arena.peer(id);
    peer.turn();
    arena.turn();
    peer
}

impl Range {
    /// Throws what the bytes say.
    ///
    /// # Panics
    /// When the pilot who means well is put out.
    pub fn run(&mut self, bytes: &[u8]) {
        let mut choices = Choices::new(bytes);
        self.volleys += 1;
        if self.volleys.is_multiple_of(64) {
            self.pending = pending(&mut self.arena, 1000 + self.volleys);
        }
        while !choices.are_over() {
            let datagram = self.datagram(&mut choices);
            match choices.below(4) {
                0 => self.pilot.throw(&datagram),
                1 => self.pending.throw(&datagram),
                _ => {
                    let from = self.arena.address();
                    self.arena.throw(from, &datagram);
                }
            }
            self.datagrams += 1;
        }
        self.arena.clock.advance(Duration::from_millis(10));
        self.arena.poll();
        assert!(self.pilot.turn() && self.pilot.words.is_none(), "the pilot stays: {:?}", self.pilot.words);
    }

    fn datagram(&mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        let mut datagram = match choices.below(8) {
            0 | 1 => choices.of(&self.requests),
            // A kind, as many bytes of a number as it says or not, and a body of about the right length.
            2..=5 => {
                let (kind, bytes) = (choices.below(8) as u8, choices.below(16));
                let mut datagram = vec![kind | (bytes as u8) << 4];
                let number = choices.extreme().to_le_bytes();
                datagram.extend(number.iter().cycle().take(bytes));
                let length = choices.of(&[0usize, 8, 308, 1300, 1078, 15, 16, 17]) + choices.of(&[16, 0, 15, 17]);
                let fill = choices.byte();
                datagram.resize(datagram.len() + length, fill);
                datagram
            }
            6 => {
                let payload = choices.bytes(16);
                self.pilot.sealed(&[&[9][..], &payload].concat()).unwrap_or_default().split_off(1)
            }
            _ => {
                let length = usize::from(choices.byte()) * 6;
                let fill = choices.bytes(8);
                fill.into_iter().cycle().take(length).collect()
            }
        };
        if choices.once_in(3) {
            choices.spoil(&mut datagram);
        }
        if choices.once_in(64) && datagram.len() > 22 {
            datagram[14..22].copy_from_slice(&NETCODE_ID.to_le_bytes());
        }
        datagram
    }
}
