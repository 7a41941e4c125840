//! One sector's place.

use serde::{Deserialize, Serialize};
use std::fmt;

use hexx::{EdgeDirection, HexOrientation, OffsetHexMode};

/// A sector's place in odd-r offset coordinates: odd rows stand half a sector to the right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Hex {
    /// From the map's centre, growing to the right.
    pub col: i32,
    /// From the map's centre, growing downwards.
    pub row: i32,
}

/// One of a sector's six sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// To the right.
    East,
    /// Down and to the right.
    SouthEast,
    /// Down and to the left.
    SouthWest,
    /// To the left.
    West,
    /// Up and to the left.
    NorthWest,
    /// Up and to the right.
    NorthEast,
}

impl Direction {
    /// All six, clockwise from the right. Paths prefer earlier ones, so this order is part of the rules.
    pub const ALL: [Self; 6] =
        [Self::East, Self::SouthEast, Self::SouthWest, Self::West, Self::NorthWest, Self::NorthEast];

    const fn edge(self) -> EdgeDirection {
        match self {
            Self::East => EdgeDirection::POINTY_RIGHT,
            Self::SouthEast => EdgeDirection::POINTY_BOTTOM_RIGHT,
            Self::SouthWest => EdgeDirection::POINTY_BOTTOM_LEFT,
            Self::West => EdgeDirection::POINTY_LEFT,
            Self::NorthWest => EdgeDirection::POINTY_TOP_LEFT,
            Self::NorthEast => EdgeDirection::POINTY_TOP_RIGHT,
        }
    }
}

impl Hex {
    /// The map's centre.
    pub const CENTRE: Self = Self { col: 0, row: 0 };

    /// The farthest from the centre, in columns and rows, that arithmetic is defined for. Every map is far smaller.
    pub const LIMIT: i32 = 1 << 24;

    /// The sector at that column and row.
    #[must_use]
    pub const fn new(col: i32, row: i32) -> Self {
        Self { col, row }
    }

    /// Whether the coordinates are ones that the arithmetic is defined for. What comes from outside is asked this first.
    #[must_use]
    pub const fn is_sane(self) -> bool {
        -Self::LIMIT <= self.col && self.col <= Self::LIMIT && -Self::LIMIT <= self.row && self.row <= Self::LIMIT
    }

    /// The sector on one side.
    #[must_use]
    pub fn neighbour(self, direction: Direction) -> Self {
        Self::from_axial(self.axial().neighbor(direction.edge()))
    }

    /// The six sectors around, in the order of [`Direction::ALL`].
    pub fn neighbours(self) -> impl Iterator<Item = Self> {
        Direction::ALL.into_iter().map(move |direction| self.neighbour(direction))
    }

    /// Hops between two sectors on open ground.
    #[must_use]
    pub fn distance(self, other: Self) -> u32 {
        self.axial().unsigned_distance_to(other.axial())
    }

    /// Every sector within that many hops, in the order of rows and columns.
    #[must_use]
    pub fn within(self, radius: u32) -> Vec<Self> {
        let mut hexes: Vec<_> = self.axial().range(radius).map(Self::from_axial).collect();
        hexes.sort_unstable_by_key(|hex| (hex.row, hex.col));
        hexes
    }

    fn axial(self) -> hexx::Hex {
        hexx::Hex::from_offset_coordinates([self.col, self.row], OffsetHexMode::Odd, HexOrientation::Pointy)
    }

    fn from_axial(hex: hexx::Hex) -> Self {
        let [col, row] = hex.to_offset_coordinates(OffsetHexMode::Odd, HexOrientation::Pointy);
        Self { col, row }
    }
}

impl fmt::Display for Hex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.col, self.row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_9_odd_rows_stand_to_the_right() {
        let around = |hex: Hex| hex.neighbours().map(|hex| (hex.col, hex.row)).collect::<Vec<_>>();
        assert_eq!(around(Hex::new(0, 0)), [(1, 0), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1)]);
        assert_eq!(around(Hex::new(0, 1)), [(1, 1), (1, 2), (0, 2), (-1, 1), (0, 0), (1, 0)]);
        assert_eq!(around(Hex::new(0, -1)), [(1, -1), (1, 0), (0, 0), (-1, -1), (0, -2), (1, -2)]);
    }

    #[test]
    fn coordinates_keep_their_value_through_the_arithmetic() {
        for limit in [0, 1, 2, 3, 1000, Hex::LIMIT] {
            for (col, row) in [(limit, limit), (-limit, limit), (limit, -limit), (-limit, -limit), (limit, 1 - limit)] {
                assert_eq!(Hex::from_axial(Hex::new(col, row).axial()), Hex::new(col, row));
            }
        }
        assert!(Hex::new(Hex::LIMIT, -Hex::LIMIT).is_sane());
        for wild in [i32::MIN, i32::MAX, Hex::LIMIT + 1, -Hex::LIMIT - 1] {
            assert!(!Hex::new(wild, 0).is_sane() && !Hex::new(0, wild).is_sane());
        }
    }
}
