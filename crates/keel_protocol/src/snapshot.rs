//! What the lossy channel carries: the state that a pilot may see, in packets that are each whole by themselves.
//!
//! What is seen comes in *blocks*. A block has a key of its own on each connection and tells of one thing: a [`Group`] of up to
//! 32 ships of one sector, as anyone in view may know them, or one of the pilot's own ships in full. Each state of a block
//! has a *version*, the step in which it came to be. A packet carries blocks whole, or as what has changed since a version
//! that the client has acknowledged; a lost packet leaves its blocks as they were until the next one.
//!
//! The layout of every byte is in `PROTOCOL.md`.

mod bytes;
mod contact;
mod group;
mod own;
mod packet;

pub use bytes::{Reader, put_varint};
pub use contact::{Contact, Flags};
pub use group::{Group, SEATS};
pub use own::{Leg, MAX_COURSE, Mind, OwnShip, Pool, rounded};
pub use packet::{Block, BlockHead, Head, MAX_BLOCK_HEAD, put_gone};

use bincode::{Decode, Encode};

/// The most bytes of a snapshot: under every usual path's datagram, with room for the transport's own.
pub const MAX_SNAPSHOT: usize = 1150;

/// From a client, on the lossy channel: which packets it has, all of whose blocks it could read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Ack {
    /// The greatest number among them.
    pub newest: u64,
    /// The 64 before it: bit `n` for number `newest - 1 - n`.
    pub before: u64,
}

impl Ack {
    /// The numbers of the packets that it tells of, newest first.
    pub fn packets(self) -> impl Iterator<Item = u64> {
        let earlier = (0..64u64).filter(move |bit| self.before >> bit & 1 == 1);
        std::iter::once(self.newest).chain(earlier.filter_map(move |bit| self.newest.checked_sub(1 + bit)))
    }
}
