//! Sequences of payloads after the handshake.

use std::time::{Duration, Instant};

use keel_client::Hello;
use keel_protocol::{CHANNEL_LOSSY, CHANNEL_ORDERED, PROTOCOL_VERSION, ToServer, encode};

use crate::arena::{Arena, Peer, config};
use crate::{Choices, orders};

/// The most payloads in a sequence.
pub const MOST: usize = 64;

/// Sequences from one step of the world to the next.
const PER_STEP: u64 = 8;

/// Names that rogues go by.
const NAMES: u64 = 24;

/// A server, a pilot who means well, and whoever comes next.
pub struct Range {
    arena: Arena,
    pilot: Peer,
    /// Sequences and payloads so far.
    pub sequences: u64,
    /// Payloads that were sent.
    pub payloads: u64,
    /// Messages with which the server answered.
    pub answers: u64,
    /// How long each step took, the pilot being shown it.
    pub steps: Vec<Duration>,
}

impl Default for Range {
    fn default() -> Self {
        let mut arena = Arena::new(&config());
        let pilot = arena.pilot(1, "ann");
        Self { arena, pilot, sequences: 0, payloads: 0, answers: 0, steps: Vec::new() }
    }
}

impl Range {
    /// One connects, says hello most of the time, and sends what the bytes say.
    ///
    /// # Panics
    /// When the server no longer lets anyone in, or the pilot who means well is put out.
    pub fn run(&mut self, bytes: &[u8]) {
        let mut choices = Choices::new(bytes);
        self.sequences += 1;
        let mut rogue = self.arena.peer(1000 + self.sequences);
        // The handshake, without waiting for the time to send again: request, challenge, response, welcome.
        for _ in 0..4 {
            self.arena.clock.advance(Duration::from_millis(1));
            rogue.turn();
            self.arena.poll();
        }
        rogue.turn();
        assert!(rogue.netcode.is_connected(), "a handshake of sequence {}", self.sequences);
        rogue.renet.set_connected();
        let mut course = Course { number: 0, message: 0, log: Vec::new(), is_polite: choices.once_in(2) };
        if !choices.once_in(8) {
            let name = format!("rogue{}", self.sequences % NAMES);
            let hello = ToServer::Hello(Hello { version: PROTOCOL_VERSION, name });
            rogue.payload(&course.ordered(CHANNEL_ORDERED, &[encode(&hello)]));
        }
        let count = choices.below(MOST) + 1;
        for _ in 0..count {
            let payload = course.next(&mut choices);
            rogue.payload(&payload);
            self.payloads += 1;
        }
        self.arena.poll();
        if self.sequences.is_multiple_of(PER_STEP) {
            self.step();
        }
        rogue.turn();
        self.answers += rogue.messages;
        rogue.leave();
        self.arena.poll();
    }

    /// Runs a step and looks whether all is well.
    ///
    /// # Panics
    /// When it is not.
    pub fn step(&mut self) {
        self.arena.clock.advance(Duration::from_millis(50));
        let (before, begun) = (self.arena.server.steps(), Instant::now());
        self.arena.poll();
        assert_eq!(self.arena.server.steps(), before + 1, "one step");
        self.steps.push(begun.elapsed());
        assert!(self.pilot.turn() && self.pilot.words.is_none(), "the pilot stays: {:?}", self.pilot.words);
        assert!(self.pilot.replica.own().all(|ship| ship.hull.is_finite() && ship.shield.held.is_finite()));
        self.arena.poll();
    }
}

/// What a rogue has sent.
struct Course {
    number: u64,
    message: u64,
    log: Vec<Vec<u8>>,
    /// Whether what carries the messages is as it should be, so that all of them are heard.
    is_polite: bool,
}

impl Course {
    fn next(&mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        if self.is_polite {
            let count = choices.below(4) + 1;
            let messages: Vec<_> = (0..count).map(|_| Self::content(choices)).collect();
            let is_fit = |message: &Vec<u8>| (1..=300).contains(&message.len());
            return self.ordered(CHANNEL_ORDERED, &messages.into_iter().filter(is_fit).collect::<Vec<_>>());
        }
        let mut payload = match choices.below(16) {
            0..=6 => self.messages(choices),
            7..=9 => self.lossy(choices),
            10 | 11 => self.slice(choices),
            12 | 13 => self.ack(choices),
            14 => {
                let count = choices.byte().into();
                choices.bytes(count)
            }
            _ => match self.log.len() {
                0 => Vec::new(),
                count => self.log[choices.below(count.min(256))].clone(),
            },
        };
        if choices.once_in(8) {
            choices.spoil(&mut payload);
        }
        payload.truncate(1300);
        if self.log.len() < MOST {
            self.log.push(payload.clone());
        }
        payload
    }

    /// The number of the next packet, or any.
    fn number(&mut self, choices: &mut Choices<'_>) -> u64 {
        match choices.below(12) {
            0 => choices.extreme(),
            1 => self.number.wrapping_sub(choices.extreme()),
            2 => self.number + u64::from(choices.byte()) * 300,
            _ => {
                self.number += 1;
                self.number
            }
        }
    }

    fn content(choices: &mut Choices<'_>) -> Vec<u8> {
        let mut content = match choices.below(8) {
            0 => encode(&orders::ack(choices)),
            1 => {
                let count = usize::from(choices.byte()) * 5;
                choices.bytes(count)
            }
            _ => encode(&orders::message(choices)),
        };
        if choices.once_in(6) {
            choices.spoil(&mut content);
        }
        content
    }

    fn ordered(&mut self, channel: u8, messages: &[Vec<u8>]) -> Vec<u8> {
        let mut payload = vec![0];
        put(&mut payload, self.number);
        self.number += 1;
        payload.push(channel);
        payload.extend((messages.len() as u16).to_be_bytes());
        for message in messages {
            put(&mut payload, self.message);
            self.message += 1;
            put(&mut payload, message.len() as u64);
            payload.extend(message);
        }
        payload
    }

    fn messages(&mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        let mut payload = vec![0];
        put(&mut payload, self.number(choices));
        payload.push(channel(choices, CHANNEL_ORDERED));
        let count = choices.below(4) as u16 + 1;
        let told = if choices.once_in(10) { choices.extreme() as u16 } else { count };
        payload.extend(told.to_be_bytes());
        for _ in 0..count {
            let id = match choices.below(12) {
                0 => choices.extreme(),
                1 => self.message + u64::from(choices.byte()) * 5,
                _ => {
                    self.message += 1;
                    self.message - 1
                }
            };
            put(&mut payload, id);
            put_message(&mut payload, choices);
        }
        payload
    }

    fn lossy(&mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        let mut payload = vec![1];
        put(&mut payload, self.number(choices));
        payload.push(channel(choices, CHANNEL_LOSSY));
        let count = choices.below(6) as u16;
        let told = if choices.once_in(10) { choices.extreme() as u16 } else { count };
        payload.extend(told.to_be_bytes());
        for _ in 0..count {
            put_message(&mut payload, choices);
        }
        payload
    }

    fn slice(&mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        let mut payload = vec![2 + choices.byte() % 2];
        put(&mut payload, self.number(choices));
        payload.push(channel(choices, CHANNEL_ORDERED));
        put(&mut payload, self.message);
        put(&mut payload, choices.extreme() % 4096);
        put(&mut payload, choices.extreme() % 4096);
        let length = choices.of(&[1usize, 10, 1199, 1200, 1201]);
        put(&mut payload, length as u64);
        let fill = choices.byte();
        payload.resize(payload.len() + length, fill);
        payload
    }

    fn ack(&mut self, choices: &mut Choices<'_>) -> Vec<u8> {
        let mut payload = vec![4];
        put(&mut payload, self.number(choices));
        let small = choices.once_in(2);
        let number = |choices: &mut Choices<'_>| if small { u64::from(choices.byte() % 4) } else { choices.extreme() };
        put(&mut payload, number(choices));
        put(&mut payload, number(choices));
        let count = choices.byte() % 80;
        let told = if choices.once_in(10) { choices.extreme() } else { count.into() };
        put(&mut payload, told);
        for _ in 0..count {
            put(&mut payload, number(choices));
            put(&mut payload, number(choices));
        }
        payload
    }
}

fn channel(choices: &mut Choices<'_>, usual: u8) -> u8 {
    if choices.once_in(12) { choices.byte() } else { usual }
}

fn put_message(payload: &mut Vec<u8>, choices: &mut Choices<'_>) {
    let content = Course::content(choices);
    let told = if choices.once_in(16) { choices.extreme() } else { content.len() as u64 };
    put(payload, told);
    payload.extend(content);
}

/// A number as renet writes it: its first two bits give its length.
pub(crate) fn put(payload: &mut Vec<u8>, number: u64) {
    match number {
        0..0x40 => payload.push(number as u8),
        0x40..0x4000 => payload.extend((number as u16 | 0x4000).to_be_bytes()),
        0x4000..0x4000_0000 => payload.extend((number as u32 | 0x8000_0000).to_be_bytes()),
        _ => payload.extend((number | 0xc000_0000_0000_0000).to_be_bytes()),
    }
}
