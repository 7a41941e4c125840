//! Ships as others see them.

use bincode::{Decode, Encode};

/// What is so of a ship, a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Flags(pub u8);

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Encode, Decode)]
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
    /// Hull in parts of 255 of a full one, rounded up: too high by less than one, and 0 only when nothing is left.
    pub hull: u8,
    /// Shield, likewise; 0 also with none fitted.
    pub shield: u8,
    /// What else anyone sees of it.
    pub flags: Flags,
    /// The ship that it locks or has locked; 0 for none, and for one that is cloaked.
    pub target: u32,
}
