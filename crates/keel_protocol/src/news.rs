//! What a pilot's client is told of the maps and of what the pilot owns, besides ships and modules.

use bincode::{Decode, Encode};

/// What is to come, and what is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Journal {
    /// The server's clock of the wall when it sent this, in seconds since 1970, UTC.
    pub utc: u64,
    /// The next storm of every map, soonest first.
    pub storms: Vec<Storm>,
    /// Incursions that are announced or on.
    pub incursions: Vec<Incursion>,
}

/// A storm that is to come.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Storm {
    /// The map: 1 to 6 are the layers, 11 to 16 the Rifts.
    pub map: u8,
    /// When it lands, in seconds since 1970, UTC.
    pub lands: u64,
    /// What it is called, with the article.
    pub name: String,
    /// Whether it builds already.
    pub is_building: bool,
}

/// An incursion.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Incursion {
    /// The map.
    pub map: u8,
    /// Its sectors, the middle one first.
    pub sectors: Vec<(i16, i16)>,
    /// Index of the faction that comes.
    pub faction: u8,
    /// When its first wave comes, in microseconds of world time.
    pub begins: u64,
    /// When it is too late to clear it, likewise.
    pub ends: u64,
    /// Waves that have come.
    pub wave: u8,
    /// Waves in all.
    pub waves: u8,
}

/// What a pilot owns besides ships and modules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Goods {
    /// Salt, in hundredths.
    pub salt: u64,
    /// Notches.
    pub notches: u64,
    /// Ore.
    pub ore: u64,
    /// Gas.
    pub gas: u64,
    /// Wreck material.
    pub material: u64,
    /// Remnants.
    pub remnants: u64,
    /// Blueprints of which the pilot has copies, and how many.
    pub copies: Vec<(String, u32)>,
    /// Blueprints of which the pilot has the original.
    pub originals: Vec<String>,
}

/// What is new on a pilot's chart of a map.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Chart {
    /// The map.
    pub map: u8,
    /// Whether the chart begins anew: what was on it is not so any more.
    pub anew: bool,
    /// Sectors that are new on it, and what is in each.
    pub sectors: Vec<((i16, i16), Ground)>,
}

/// What is in a sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub enum Ground {
    /// Nothing.
    Open,
    /// A belt, and how rich it is.
    Belt(u16),
    /// A gas cloud, and how rich it is.
    Cloud(u16),
}

/// A wreck in view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Wreck {
    /// The number by which it is taken.
    pub id: u32,
    /// The map.
    pub map: u8,
    /// The sector.
    pub place: (i16, i16),
    /// Index of the class that it was of.
    pub class: u8,
    /// Index of the faction.
    pub faction: u8,
}
