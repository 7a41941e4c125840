//! Hex maps: pointy-top sectors on odd-r offset coordinates, their neighbours, distances and shortest paths (rule 9).
//!
//! `hexx` does the hex arithmetic; what crosses its edge is whole numbers, so its vector types stay in here.

mod hex;
mod layout;

pub use hex::{Direction, Hex};
pub use layout::Layout;
