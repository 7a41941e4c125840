//! What the lossy channel carries: the state that a pilot may see.
//!
//! Each snapshot stands by itself and fits a datagram. One step's view goes out in as many as it takes: each tells of all
//! ships of a range of ids that the pilot has or sees, so an id of the range that is not in it is gone. A lost one leaves
//! its range as it was until the next step's.

use bincode::{Decode, Encode};

use crate::command::Stance;

/// The most bytes of a snapshot: under every usual path's datagram, with room for the transport's own.
pub const MAX_SNAPSHOT: usize = 1150;

/// The most sectors of a course that a snapshot tells.
pub const MAX_COURSE: usize = 8;

/// A part of what a pilot sees after a step.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct Snapshot {
    /// The step. Snapshots of an earlier one than the newest are to be dropped.
    pub step: u64,
    /// The least id that this part tells of.
    pub from: u32,
    /// The greatest id that this part tells of.
    pub to: u32,
    /// The pilot's own ships with an id in that range, in their order.
    pub own: Vec<OwnShip>,
    /// Every other visible ship with an id in that range, in their order.
    pub contacts: Vec<Contact>,
}

/// What is so of a ship, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Flags(pub u16);

impl Flags {
    /// It just arrived and cannot be locked.
    pub const ARRIVING: Self = Self(1);
    /// A Jam silences it.
    pub const JAMMED: Self = Self(1 << 1);
    /// A Brace raises its resists.
    pub const BRACED: Self = Self(1 << 2);
    /// A Clamp is on it.
    pub const CLAMPED: Self = Self(1 << 3);
    /// It is hidden from all but those who had it locked.
    pub const CLOAKED: Self = Self(1 << 4);
    /// It is in transit.
    pub const IN_TRANSIT: Self = Self(1 << 5);
    /// It is docked: of one's own ships alone.
    pub const DOCKED: Self = Self(1 << 6);
    /// Its pilot flies it: of one's own ships alone.
    pub const ACTIVE: Self = Self(1 << 7);

    /// Whether all of `flags` are so.
    #[must_use]
    pub const fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These, with `flags` if they are so.
    #[must_use]
    pub const fn with(self, flags: Self, are_so: bool) -> Self {
        if are_so { Self(self.0 | flags.0) } else { self }
    }
}

/// Another's ship: what anyone in view may know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Contact {
    /// The ship.
    pub id: u32,
    /// The pilot whose it is; 0 for an NPC.
    pub pilot: u32,
    /// The charter whose structure it is; 0 for a ship.
    pub charter: u32,
    /// Index of the class.
    pub class: u8,
    /// Index of the faction.
    pub faction: u8,
    /// The map: 1 to 6 are the layers, 11 to 16 the Rifts.
    pub map: u8,
    /// Column of the sector.
    pub col: i16,
    /// Row of the sector.
    pub row: i16,
    /// Hull, 255 when full. 0 only when nothing is left.
    pub hull: u8,
    /// Shield, likewise; 0 also with none fitted.
    pub shield: u8,
    /// What else anyone sees of it.
    pub flags: Flags,
}

/// One of the pilot's own ships, in full. Moments are microseconds of world time; one that has passed may be 0.
#[derive(Clone, Debug, PartialEq, Encode, Decode)]
pub struct OwnShip {
    /// The ship.
    pub id: u32,
    /// Index of the class.
    pub class: u8,
    /// Index of the faction.
    pub faction: u8,
    /// The map: 1 to 6 are the layers, 11 to 16 the Rifts.
    pub map: u8,
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
    /// What is so of it.
    pub flags: Flags,
    /// When its arrival flag ends.
    pub arrival: u64,
    /// When its Brace may be used again.
    pub brace_ready: u64,
    /// When its Jam may be used again.
    pub jam_ready: u64,
    /// When its cloak may be used again.
    pub cloak_ready: u64,
    /// When the Jam that silences it ends.
    pub jammed_until: u64,
    /// Until when no Clamp catches it.
    pub immune_until: u64,
    /// When a transit may begin again after one was cancelled.
    pub jump_ready: u64,
    /// When its harvest is done; 0 when it does not harvest.
    pub harvest: u64,
    /// The ship that its Clamp is on; 0 for none.
    pub clamping: u32,
    /// What it does by itself when its pilot does not fly it.
    pub mind: Mind,
}

/// What an escort does by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Mind {
    /// How it stands.
    pub stance: Stance,
    /// The ship that it protects; 0 for the active one.
    pub protectee: u32,
    /// It Braces under so many percent of its hull.
    pub brace_percent: u8,
    /// Whether it Jams a locked target that Braces or Clamps.
    pub jam: bool,
    /// Whether it goes where the active ship goes.
    pub follows: bool,
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
    /// It is in transit to another layer, or to the centre. It neither locks nor fires.
    Transit {
        /// When it is there.
        ends: u64,
    },
}

/// From a client, on the lossy channel: the newest step of which it has a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Ack {
    /// The step.
    pub step: u64,
}
