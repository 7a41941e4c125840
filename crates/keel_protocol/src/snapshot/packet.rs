//! A packet: its head, and the blocks in it.

use super::bytes::{Reader, put_varint};
use crate::DecodeError;

/// What every packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The step that it tells of.
    pub step: u64,
    /// Its number on this connection, from 1.
    pub number: u64,
    /// How fast the world goes, in percent of the clock: under 100 when steps take too long.
    pub pace: u8,
}

/// What a block tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Kind {
    Group = 0,
    Own = 1,
    Gone = 2,
}

/// What a block begins with: of what it tells, and what a reader must have to understand it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockHead {
    /// The thing's key on this connection. No other ever has it.
    pub key: u32,
    /// The step in which the state came to be.
    pub version: u64,
    /// The version since which the block tells changes; `None` when it tells all.
    pub base: Option<u64>,
}

/// The most bytes of a block's head.
pub const MAX_BLOCK_HEAD: usize = 5 + 10 + 10;

/// A block of a packet. What follows its head is to be taken before the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block {
    /// Ships of a sector: [`Group::take`](super::Group::take).
    Group(BlockHead),
    /// One of the pilot's own ships: [`OwnShip::take`](super::OwnShip::take).
    Own(BlockHead),
    /// The thing with this key is out of sight, or gone.
    Gone(u32),
}

impl Head {
    /// Begins a packet.
    pub fn put(self, out: &mut Vec<u8>) {
        put_varint(out, self.step);
        put_varint(out, self.number);
        out.push(self.pace);
    }

    /// The head of a packet.
    ///
    /// # Errors
    /// When the bytes end within it or make no sense.
    pub fn take(bytes: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { step: bytes.varint()?, number: bytes.varint()?, pace: bytes.byte()? })
    }
}

impl BlockHead {
    /// Begins a block of a [`Group`](super::Group) in a packet of that step.
    pub fn put_group(self, step: u64, out: &mut Vec<u8>) {
        self.put(Kind::Group, step, out);
    }

    /// Begins a block of an [`OwnShip`](super::OwnShip) in a packet of that step.
    pub fn put_own(self, step: u64, out: &mut Vec<u8>) {
        self.put(Kind::Own, step, out);
    }

    fn put(self, kind: Kind, step: u64, out: &mut Vec<u8>) {
        put_key(self.key, kind, out);
        put_varint(out, step - self.version);
        put_varint(out, self.base.map_or(0, |base| self.version - base));
    }

    fn take(key: u32, step: u64, bytes: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let before = |step: u64, steps: u64| {
            step.checked_sub(steps).ok_or(DecodeError::Nonsense("a state from before the first step"))
        };
        let version = before(step, bytes.varint()?)?;
        let base = match bytes.varint()? {
            0 => None,
            steps => Some(before(version, steps)?),
        };
        Ok(Self { key, version, base })
    }
}

/// Appends a block that says that a thing is out of sight, or gone.
pub fn put_gone(key: u32, out: &mut Vec<u8>) {
    put_key(key, Kind::Gone, out);
}

fn put_key(key: u32, kind: Kind, out: &mut Vec<u8>) {
    put_varint(out, u64::from(key) << 2 | kind as u64);
}

impl Block {
    /// The next block of a packet of that step; `None` at its end.
    ///
    /// # Errors
    /// When the bytes end within its head or make no sense.
    pub fn take(bytes: &mut Reader<'_>, step: u64) -> Result<Option<Self>, DecodeError> {
        if bytes.is_empty() {
            return Ok(None);
        }
        let word = bytes.varint::<u64>()?;
        let key = u32::try_from(word >> 2).map_err(|_| DecodeError::Nonsense("a key too large"))?;
        let block = match word & 3 {
            kind if kind == Kind::Group as u64 => Self::Group(BlockHead::take(key, step, bytes)?),
            kind if kind == Kind::Own as u64 => Self::Own(BlockHead::take(key, step, bytes)?),
            kind if kind == Kind::Gone as u64 => Self::Gone(key),
            _ => return Err(DecodeError::Nonsense("a block that there is not")),
        };
        Ok(Some(block))
    }
}
