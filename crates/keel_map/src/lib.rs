//! Hex maps: pointy-top sectors on odd-r offset coordinates, their neighbours, distances and shortest paths (rule 9), and
//! the generator that lays all twelve of them out (rule 11).
//!
//! `hexx` does the hex arithmetic; what crosses its edge is whole numbers, so its vector types stay in here.

mod generate;
mod hex;
mod layout;
mod plan;
mod random;

pub use generate::{Kept, generate};
pub use hex::{Direction, Hex};
pub use layout::{Layout, Shape, Terrain};
pub use plan::{MapKey, MapKind, NoMap, Patches, Plan};
