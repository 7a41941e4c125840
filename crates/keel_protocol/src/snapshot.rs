//! What the lossy channel carries: the state that a pilot may see.
//!
//! Each snapshot stands by itself and fits a datagram. One step's view goes out in as many as it takes: each tells of all
//! visible ships in a range of ids, so an id of the range that is not in it is gone from view. A lost one leaves its
//! range as it was until the next step's.

use bincode::{Decode, Encode};

/// The most bytes of a snapshot: under every usual path's datagram, with room for the transport's own.
pub const MAX_SNAPSHOT: usize = 1150;

/// The most sectors of a course that a snapshot tells.
pub const MAX_COURSE: usize = 8;

/// A part of what a pilot sees after a step.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Snapshot {
    /// The step. Snapshots of an earlier one than the newest are to be dropped.
    pub step: u64,
    /// The pilot's own ships, all of them; `None` in the parts that do not carry them.
    pub own: Option<Vec<OwnShip>>,
    /// The least id that this part tells of.
    pub from: u32,
    /// The greatest id that this part tells of.
    pub to: u32,
    /// Every other visible ship with an id in that range, in their order.
    pub contacts: Vec<Contact>,
}

/// Another's ship: what anyone in view may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Contact {
    /// The ship.
    pub id: u32,
    /// The pilot whose it is; 0 for an NPC.
    pub pilot: u32,
    /// Index of the class.
    pub class: u8,
    /// Index of the faction.
    pub faction: u8,
    /// Column of the sector.
    pub col: i16,
    /// Row of the sector.
    pub row: i16,
    /// Hull, 255 when full. 0 only when nothing is left.
    pub hull: u8,
    /// Shield, likewise; 0 also with none fitted.
    pub shield: u8,
    /// Whether it just arrived and cannot be locked.
    pub arriving: bool,
}

/// One of the pilot's own ships, in full. Moments are microseconds of world time.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct OwnShip {
    /// The ship.
    pub id: u32,
    /// Index of the class.
    pub class: u8,
    /// Index of the faction.
    pub faction: u8,
    /// Column of the sector.
    pub col: i16,
    /// Row of the sector.
    pub row: i16,
    /// What the hull holds.
    pub hull: f32,
    /// What the shield holds.
    pub shield: f32,
    /// What the battery holds.
    pub battery: f32,
    /// The ship that it locks or has locked; 0 for none.
    pub target: u32,
    /// When the lock holds.
    pub locked_at: u64,
    /// Microseconds that this lock takes from its start.
    pub lock_takes: u32,
    /// When the gun may fire again.
    pub ready_at: u64,
    /// What it does of its course now.
    pub leg: Leg,
    /// The next sectors of its course, at most [`MAX_COURSE`].
    pub course: Vec<(i16, i16)>,
    /// When its arrival flag ends; past when it has none.
    pub arrival: u64,
}

/// What a ship does of its course.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub enum Leg {
    /// Nothing.
    #[default]
    Still,
    /// It waits before a hop, which can still be cancelled.
    Window {
        /// When the hop begins.
        ends: u64,
    },
    /// It hops.
    Hop {
        /// When it is in the next sector.
        ends: u64,
    },
}

/// From a client, on the lossy channel: the newest step of which it has a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Ack {
    /// The step.
    pub step: u64,
}
