//! What anyone may know of a server, for lists of servers.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, AtomicU16, Ordering};
use std::time::Duration;

use keel_protocol::PROTOCOL_VERSION;
use keel_protocol::status::{self, Status};

use crate::networks::network;

/// What anyone may know of a server, as of its last step.
#[derive(Debug)]
pub struct Board {
    name: String,
    max_players: u16,
    players: AtomicU16,
    pace: AtomicU8,
}

impl Board {
    pub(crate) fn new(name: &str, max_players: u16) -> Self {
        Self { name: name.to_owned(), max_players, players: AtomicU16::new(0), pace: AtomicU8::new(100) }
    }

    pub(crate) fn set(&self, players: usize, pace: u8) {
        self.players.store(players.try_into().unwrap_or(u16::MAX), Ordering::Relaxed);
        self.pace.store(pace, Ordering::Relaxed);
    }

    /// Whether as many play as can.
    pub(crate) fn is_full(&self) -> bool {
        self.players.load(Ordering::Relaxed) >= self.max_players
    }

    /// What one is told for whom there is no room.
    pub(crate) fn full(&self) -> String {
        format!("This server is full: it has its {} pilots.", self.max_players)
    }

    /// What stands there now.
    #[must_use]
    pub fn read(&self) -> Status {
        Status {
            name: self.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: PROTOCOL_VERSION,
            players: self.players.load(Ordering::Relaxed),
            max_players: self.max_players,
            pace: self.pace.load(Ordering::Relaxed),
        }
    }
}

/// Answers in a second to one address, or one IPv6 network of 64 bits, and to all.
const MOST_EACH: u8 = 5;
const MOST_ALL: u32 = 200;

/// Addresses are counted in so many places. Those that share one share its answers.
const PLACES: usize = 1024;

/// Answers queries that come by the socket of the game. It keeps nothing of those who ask but how many there were in this second,
/// in as much memory whoever asks.
pub(crate) struct Inquiry {
    second: u64,
    all: u32,
    each: Box<[u8; PLACES]>,
    /// Which address counts where: unknown to those who ask.
    keys: RandomState,
}

/// What becomes of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// It is none.
    None,
    /// It is one, and is left without an answer.
    Dropped,
    Answer(Vec<u8>),
}

impl Inquiry {
    pub(crate) fn new() -> Self {
        Self { second: 0, all: 0, each: Box::new([0; PLACES]), keys: Default::default() }
    }

    /// What becomes of a datagram that came `now` after the start.
    pub(crate) fn hear(&mut self, datagram: &[u8], from: IpAddr, now: Duration, board: &Board) -> Reply {
        if !status::is_query(datagram) {
            return Reply::None;
        }
        let Some(query) = status::read_query(datagram) else { return Reply::Dropped };
        if self.second != now.as_secs() {
            (self.second, self.all) = (now.as_secs(), 0);
            self.each.fill(0);
        }
        let place = &mut self.each[self.keys.hash_one(network(from)) as usize % PLACES];
        if *place >= MOST_EACH || self.all >= MOST_ALL {
            return Reply::Dropped;
        }
        *place += 1;
        self.all += 1;
        Reply::Answer(status::answer(query, &board.read()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board() -> Board {
        let board = Board::new("Deep end", 64);
        board.set(7, 83);
        board
    }

    #[test]
    fn a_query_is_answered_with_no_more_bytes_than_it_has() {
        let query = status::query(99);
        let Reply::Answer(answer) = Inquiry::new().hear(&query, "10.0.0.1".parse().unwrap(), Duration::ZERO, &board())
        else {
            panic!("no answer")
        };
        assert!(answer.len() <= query.len());
        assert_eq!(status::read_answer(&answer, 99), Some(board().read()));
        assert_eq!(status::read_answer(&answer, 98), None, "the answer to another query");
    }

    #[test]
    fn nobody_is_answered_more_often_than_five_times_a_second_nor_all_more_than_two_hundred_times() {
        let (mut inquiry, query, board) = (Inquiry::new(), status::query(1), board());
        let mut ask = |from: &str, at_ms: u64| {
            let reply = inquiry.hear(&query, from.parse().unwrap(), Duration::from_millis(at_ms), &board);
            usize::from(matches!(reply, Reply::Answer(_)))
        };
        assert_eq!((0..100).map(|_| ask("10.0.0.1", 0)).sum::<usize>(), 5);
        assert_eq!((0..100).map(|at| ask("2001:db8::1", at) + ask("2001:db8::2", at)).sum::<usize>(), 5);
        assert_eq!((0..100).map(|_| ask("10.0.0.1", 1000)).sum::<usize>(), 5, "a second later");
        let all = (0..50_000u32).map(|n| ask(&format!("10.{}.{}.1", 1 + n / 200, n % 200), 2000)).sum::<usize>();
        assert_eq!(all, 200);
    }
}
