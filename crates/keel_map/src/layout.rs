//! The open sectors of a map.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use thiserror::Error;

use crate::hex::Hex;

/// The pattern that a map has settled into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// One ragged mass.
    Sprawl,
    /// Narrow ways out from the centre.
    Channels,
    /// Islands with bridges between them.
    Archipelago,
    /// Rings around the centre, with spokes.
    Rings,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 4] = [Self::Sprawl, Self::Channels, Self::Archipelago, Self::Rings];
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sprawl => "a sprawl",
            Self::Channels => "channels",
            Self::Archipelago => "an archipelago",
            Self::Rings => "rings",
        })
    }
}

/// What there is in an open sector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Terrain {
    /// Nothing.
    #[default]
    Open,
    /// A belt.
    Belt {
        /// How much there is, from 1.
        richness: u16,
    },
    /// A gas cloud.
    Cloud {
        /// How much there is, from 1.
        richness: u16,
    },
}

/// Which sectors a map has. Their order (by row, then column) is their number and never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Sectors", try_from = "Sectors")]
pub struct Layout {
    hexes: Vec<Hex>,
    terrain: Vec<Terrain>,
    hazards: Vec<Hex>,
    shape: Option<Shape>,
    /// The sectors of each row, as the row's place in `hexes`: lookups need no hashing.
    rows: Vec<std::ops::Range<usize>>,
    first_row: i32,
}

/// A layout as it is written down.
#[derive(Serialize, Deserialize)]
struct Sectors {
    sectors: Vec<(Hex, Terrain)>,
    hazards: Vec<Hex>,
    shape: Option<Shape>,
}

impl From<Layout> for Sectors {
    fn from(layout: Layout) -> Self {
        Self { sectors: layout.sectors().collect(), hazards: layout.hazards, shape: layout.shape }
    }
}

/// Sectors that are no map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NoLayout {
    /// There is no centre, where ships arrive.
    #[error("a map without a centre")]
    NoCentre,
    /// One stands twice, or before one that it comes after.
    #[error("a map whose sectors are not in their order")]
    Disordered,
    /// One lies farther out than any map reaches.
    #[error("a map with a sector farther out than {MOST_OUT} hexes")]
    FarOut,
}

/// How far out a sector may be written down to lie. Far more than any map's, so that sums of coordinates hold.
const MOST_OUT: i32 = 1000;

impl TryFrom<Sectors> for Layout {
    type Error = NoLayout;

    fn try_from(written: Sectors) -> Result<Self, NoLayout> {
        let hexes = || written.sectors.iter().map(|(hex, _)| *hex);
        let is_near = |hex: Hex| hex.row.abs() <= MOST_OUT && hex.col.abs() <= MOST_OUT;
        if !hexes().chain(written.hazards.iter().copied()).all(is_near) {
            return Err(NoLayout::FarOut);
        }
        if !hexes().is_sorted_by(|one, two| (one.row, one.col) < (two.row, two.col)) {
            return Err(NoLayout::Disordered);
        }
        if !hexes().any(|hex| hex == Hex::CENTRE) {
            return Err(NoLayout::NoCentre);
        }
        Ok(Self::new(written.sectors, written.hazards, written.shape))
    }
}

impl Layout {
    /// A plain hexagon of sectors around the centre, so many hops to its rim.
    #[must_use]
    pub fn open(radius: u8) -> Self {
        let hexes = Hex::CENTRE.within(radius.into());
        Self::new(hexes.into_iter().map(|hex| (hex, Terrain::Open)).collect(), Vec::new(), None)
    }

    /// A layout of those sectors, which are in their order.
    pub(crate) fn new(sectors: Vec<(Hex, Terrain)>, hazards: Vec<Hex>, shape: Option<Shape>) -> Self {
        let (hexes, terrain): (Vec<Hex>, Vec<Terrain>) = sectors.into_iter().unzip();
        let first_row = hexes.first().map_or(0, |hex| hex.row);
        let mut rows: Vec<std::ops::Range<usize>> = Vec::new();
        for (index, hex) in hexes.iter().enumerate() {
            let row = (hex.row - first_row) as usize;
            rows.resize(row + 1, index..index);
            rows[row].end = index + 1;
        }
        Self { hexes, terrain, hazards, shape, rows, first_row }
    }

    /// The sectors in their order, each with what is in it.
    pub fn sectors(&self) -> impl ExactSizeIterator<Item = (Hex, Terrain)> {
        self.hexes.iter().copied().zip(self.terrain.iter().copied())
    }

    /// What is in a sector; `None` when the map has no such sector.
    #[must_use]
    pub fn terrain(&self, hex: Hex) -> Option<Terrain> {
        self.index(hex).map(|index| self.terrain[index])
    }

    /// Places beside open sectors that no ship enters, by row, then column.
    #[must_use]
    pub fn hazards(&self) -> &[Hex] {
        &self.hazards
    }

    /// The pattern of a map that was generated.
    #[must_use]
    pub const fn shape(&self) -> Option<Shape> {
        self.shape
    }

    /// The sectors in their order.
    #[must_use]
    pub fn hexes(&self) -> &[Hex] {
        &self.hexes
    }

    /// The sector nearest to a place: itself where it is one, of two equally near ones the first.
    #[must_use]
    pub fn nearest(&self, hex: Hex) -> Hex {
        if self.contains(hex) {
            return hex;
        }
        self.hexes.iter().copied().min_by_key(|open| open.distance(hex)).unwrap_or(Hex::CENTRE)
    }

    /// A sector's number; `None` when the map has no such sector.
    #[must_use]
    pub fn index(&self, hex: Hex) -> Option<usize> {
        let row = usize::try_from(hex.row.checked_sub(self.first_row)?).ok()?;
        let range = self.rows.get(row)?.clone();
        let place = self.hexes[range.clone()].binary_search_by_key(&hex.col, |hex| hex.col).ok()?;
        Some(range.start + place)
    }

    /// Whether the map has that sector.
    #[must_use]
    pub fn contains(&self, hex: Hex) -> bool {
        self.index(hex).is_some()
    }

    /// A shortest way from one sector to another: every sector after the first, the last included. `None` when there is
    /// no way, or either is not of this map; empty when both are the same.
    #[must_use]
    pub fn path(&self, from: Hex, to: Hex) -> Option<Vec<Hex>> {
        let (start, goal) = (self.index(from)?, self.index(to)?);
        // Searched from the goal, so that following the steps back gives the path in order.
        let mut towards = vec![usize::MAX; self.hexes.len()];
        towards[goal] = goal;
        let mut queue = VecDeque::from([goal]);
        while let Some(here) = queue.pop_front() {
            if here == start {
                break;
            }
            for next in self.hexes[here].neighbours().filter_map(|hex| self.index(hex)) {
                if towards[next] == usize::MAX {
                    towards[next] = here;
                    queue.push_back(next);
                }
            }
        }
        if towards[start] == usize::MAX {
            return None;
        }
        let mut path = Vec::new();
        let mut here = start;
        while here != goal {
            here = towards[here];
            path.push(self.hexes[here]);
        }
        Some(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_map_of_radius_8_has_217_sectors() {
        let map = Layout::open(8);
        assert_eq!(map.hexes().len(), 217);
        for (index, hex) in map.hexes().iter().enumerate() {
            assert_eq!(map.index(*hex), Some(index));
            assert!(hex.distance(Hex::CENTRE) <= 8);
        }
        for beyond in [Hex::new(9, 0), Hex::new(0, 9), Hex::new(i32::MIN, i32::MIN), Hex::new(i32::MAX, 0)] {
            assert_eq!(map.index(beyond), None);
        }
    }

    #[test]
    fn rule_9_distance_is_what_breadth_first_search_finds_for_all_pairs() {
        // Every column and row from -8 to 8, of both parities and signs, in a map wide enough for straight ways.
        let square: Vec<Hex> = (-8..=8).flat_map(|row| (-8..=8).map(move |col| Hex::new(col, row))).collect();
        let wide = Layout::open(24);
        for &from in &square {
            let mut distance = vec![u32::MAX; wide.hexes().len()];
            distance[wide.index(from).unwrap()] = 0;
            let mut queue = VecDeque::from([from]);
            while let Some(here) = queue.pop_front() {
                let hops = distance[wide.index(here).unwrap()];
                for next in here.neighbours() {
                    if let Some(index) = wide.index(next).filter(|&index| distance[index] == u32::MAX) {
                        distance[index] = hops + 1;
                        queue.push_back(next);
                    }
                }
            }
            for &to in &square {
                assert_eq!(from.distance(to), distance[wide.index(to).unwrap()], "{from} to {to}");
            }
        }
    }

    #[test]
    fn rule_9_a_path_is_a_chain_of_neighbours_as_long_as_the_distance() {
        let map = Layout::open(4);
        for &from in map.hexes() {
            for &to in map.hexes() {
                let path = map.path(from, to).unwrap();
                assert_eq!(path.len() as u32, from.distance(to));
                let mut here = from;
                for hop in path {
                    assert_eq!(here.distance(hop), 1);
                    here = hop;
                }
                assert_eq!(here, to);
            }
        }
    }

    #[test]
    fn there_is_no_path_to_what_is_not_there() {
        let map = Layout::open(2);
        assert_eq!(map.path(Hex::CENTRE, Hex::new(3, 0)), None);
        let apart = [Hex::new(0, 0), Hex::new(2, 0)].map(|hex| (hex, Terrain::Open));
        let split = Layout::new(apart.to_vec(), Vec::new(), None);
        assert_eq!(split.path(Hex::new(0, 0), Hex::new(2, 0)), None);
    }
}
