//! The generator: a layout as a pure function of a plan, a seed and the sectors to keep (rule 11).
//!
//! Every map grows outwards from what connects it: the centre, the sectors that are kept, and the bones of its shape. So
//! every open sector can be reached from the centre, whatever the seed, and there are exactly as many as were drawn.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::hex::Hex;
use crate::layout::{Layout, Shape, Terrain};
use crate::plan::{MapKind, Patches, Plan};
use crate::random::Random;

/// A sector that a new layout has to have just as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its place.
    pub hex: Hex,
    /// What is in it.
    pub terrain: Terrain,
}

/// What a hazard adds to the price of a place: it is opened only where nothing else is left.
const LAST: u32 = 100_000;

/// The layout of a map. Kept sectors outside of its box are not of the map and are passed over.
#[must_use]
pub fn generate(plan: &Plan, seed: u64, keep: &[Kept]) -> Layout {
    let kind = match plan.key.kind {
        MapKind::Layer => 0,
        MapKind::Rift => 8,
    };
    let mut random = Random::new(seed.wrapping_mul(16).wrapping_add(kind + u64::from(plan.key.tier)));
    let shape = Shape::ALL[random.below(4) as usize];
    let wanted = random.between(plan.least.into(), plan.most.max(plan.least).into()) as usize;
    let mut field = Field::new(plan, &mut random);
    let centre = field.grid.index(Hex::CENTRE);
    for kept in keep {
        if let Some(index) = field.grid.index(kept.hex) {
            field.connect(index, &mut random);
            field.cells[index].kept = Some(kept.terrain);
        }
    }
    let bones = bones(shape, field.grid.side, &mut random);
    for &bone in &bones {
        if let Some(index) = field.grid.index(bone) {
            field.connect(index, &mut random);
        }
    }
    field.grow(wanted, &field.prices(shape, &bones, &mut random));
    if let Some(centre) = centre {
        field.scatter(plan.belts, centre, &mut random, |richness| Terrain::Belt { richness });
        field.scatter(plan.clouds, centre, &mut random, |richness| Terrain::Cloud { richness });
    }
    field.layout(shape)
}

/// The hidden box, as indices in the order of rows and columns.
#[derive(Clone, Copy)]
struct Grid {
    side: i32,
}

impl Grid {
    fn index(self, hex: Hex) -> Option<usize> {
        let half = self.side / 2;
        let (col, row) = (hex.col.checked_add(half)?, hex.row.checked_add(half)?);
        let inside = (0..self.side).contains(&col) && (0..self.side).contains(&row);
        inside.then_some((row * self.side + col) as usize)
    }

    fn hex(self, index: usize) -> Hex {
        let (index, half) = (index as i32, self.side / 2);
        Hex::new(index % self.side - half, index / self.side - half)
    }

    fn neighbours(self, index: usize) -> impl Iterator<Item = usize> {
        self.hex(index).neighbours().filter_map(move |hex| self.index(hex))
    }
}

#[derive(Clone, Copy, Default)]
struct Cell {
    open: bool,
    hazard: bool,
    terrain: Option<Terrain>,
    kept: Option<Terrain>,
}

struct Field {
    grid: Grid,
    cells: Vec<Cell>,
    open: usize,
}

impl Field {
    /// A closed box with its hazards, and the centre open.
    fn new(plan: &Plan, random: &mut Random) -> Self {
        let grid = Grid { side: plan.side.into() };
        let hazard = |random: &mut Random| Cell { hazard: random.below(100) < plan.hazards.into(), ..Cell::default() };
        let cells = (0..grid.side * grid.side).map(|_| hazard(random)).collect();
        let mut field = Self { grid, cells, open: 0 };
        if let Some(centre) = grid.index(Hex::CENTRE) {
            field.open(centre);
        }
        field
    }

    fn open(&mut self, index: usize) {
        let cell = &mut self.cells[index];
        cell.hazard = false;
        if !std::mem::replace(&mut cell.open, true) {
            self.open += 1;
        }
    }

    /// Opens a way from a place towards the centre, as far as what is open already.
    fn connect(&mut self, from: usize, random: &mut Random) {
        let mut here = from;
        while !self.cells[here].open {
            self.open(here);
            let left = self.grid.hex(here).distance(Hex::CENTRE);
            let nearer = self.grid.neighbours(here).filter(|&next| self.grid.hex(next).distance(Hex::CENTRE) < left);
            // Round a hazard where there is a way round.
            let price = |next: &usize, random: &mut Random| (self.cells[*next].hazard, random.below(1000));
            let Some(next) = nearer.map(|next| (price(&next, random), next)).min().map(|(_, next)| next) else { break };
            here = next;
        }
    }

    /// What each place costs, by the shape: the cheapest at the edge of what is open is opened next.
    fn prices(&self, shape: Shape, bones: &[Hex], random: &mut Random) -> Vec<u32> {
        let ways = (shape == Shape::Channels).then(|| self.distances());
        let spacing = (self.grid.side as u32 / 5).max(2);
        let price = |index: usize, random: &mut Random| {
            let hex = self.grid.hex(index);
            let out = hex.distance(Hex::CENTRE);
            let price = match shape {
                Shape::Sprawl => out * 8 + random.below(70),
                Shape::Channels => ways.as_ref().map_or(0, |ways| ways[index]) * 60 + random.below(70),
                Shape::Archipelago => {
                    let island = bones.iter().map(|bone| bone.distance(hex)).min().unwrap_or(out);
                    island * 60 + random.below(60)
                }
                Shape::Rings => {
                    let off = out.abs_diff(1) % spacing;
                    // Three sectors wide; what is over goes outside, so that the gaps between the rings stay.
                    let gap = if off.min(spacing - off) > 1 { GAP.saturating_sub(out * 10) } else { 0 };
                    gap + random.below(20)
                }
            };
            if self.cells[index].hazard { price + LAST } else { price }
        };
        (0..self.cells.len()).map(|index| price(index, random)).collect()
    }

    /// Hops from each place to what is open, across whatever lies between.
    fn distances(&self) -> Vec<u32> {
        let mut hops = vec![u32::MAX; self.cells.len()];
        let mut queue: VecDeque<usize> = (0..self.cells.len()).filter(|&index| self.cells[index].open).collect();
        queue.iter().for_each(|&index| hops[index] = 0);
        while let Some(here) = queue.pop_front() {
            for next in self.grid.neighbours(here) {
                if hops[next] == u32::MAX {
                    hops[next] = hops[here] + 1;
                    queue.push_back(next);
                }
            }
        }
        hops
    }

    /// Opens places until there are so many, the cheapest first of those beside open ones.
    fn grow(&mut self, wanted: usize, prices: &[u32]) {
        let mut waits = vec![false; self.cells.len()];
        let mut edge = BinaryHeap::new();
        let mut look = |field: &Self, index: usize, edge: &mut BinaryHeap<_>| {
            for next in field.grid.neighbours(index) {
                if !field.cells[next].open && !std::mem::replace(&mut waits[next], true) {
                    edge.push(Reverse((prices[next], next)));
                }
            }
        };
        (0..self.cells.len()).filter(|&index| self.cells[index].open).for_each(|index| look(self, index, &mut edge));
        while self.open < wanted
            && let Some(Reverse((_, next))) = edge.pop()
        {
            self.open(next);
            look(self, next, &mut edge);
        }
    }

    /// Puts patches of something into open sectors that have nothing, the centre excepted.
    fn scatter(&mut self, patches: Patches, centre: usize, random: &mut Random, what: impl Fn(u16) -> Terrain) {
        let is_free = |field: &Self, index: usize| {
            let cell = &field.cells[index];
            cell.open && cell.terrain.is_none() && cell.kept.is_none() && index != centre
        };
        for _ in 0..patches.count {
            let free: Vec<usize> = (0..self.cells.len()).filter(|&index| is_free(self, index)).collect();
            if free.is_empty() {
                return;
            }
            let size = random.between(1, patches.size.max(1).into());
            let mut patch = VecDeque::from([free[random.below(free.len() as u32) as usize]]);
            let mut placed = 0;
            while placed < size
                && let Some(here) = patch.pop_front()
            {
                if !is_free(self, here) {
                    continue;
                }
                let most = u32::from(patches.richness.max(1));
                self.cells[here].terrain = Some(what(random.between(most.div_ceil(2), most) as u16));
                placed += 1;
                patch.extend(self.grid.neighbours(here).filter(|&next| is_free(self, next)));
            }
        }
    }

    fn layout(&self, shape: Shape) -> Layout {
        let places = || (0..self.cells.len()).map(|index| (self.grid.hex(index), &self.cells[index]));
        let open = places().filter(|(_, cell)| cell.open);
        let sectors = open.map(|(hex, cell)| (hex, cell.kept.or(cell.terrain).unwrap_or_default()));
        // A hazard that borders on nothing is nobody's.
        let borders =
            |hex: Hex| hex.neighbours().filter_map(|hex| self.grid.index(hex)).any(|next| self.cells[next].open);
        let hazards = places().filter(|(hex, cell)| cell.hazard && borders(*hex)).map(|(hex, _)| hex);
        Layout::new(sectors.collect(), hazards.collect(), Some(shape))
    }
}

/// What a place between two rings costs beside those of the rings.
const GAP: u32 = 1000;

/// What holds a map of a shape together besides its centre: the ends of its channels, its islands, the ends of the spokes
/// between its rings.
fn bones(shape: Shape, side: i32, random: &mut Random) -> Vec<Hex> {
    let (count, reach, apart) = match shape {
        Shape::Sprawl => (0, side, 0),
        Shape::Channels => (14, side / 2, side / 7),
        Shape::Archipelago => (7, side / 2 - 2, side / 3 - 1),
        Shape::Rings => (6, side / 2, side / 4),
    };
    let mut bones = vec![Hex::CENTRE];
    for _ in 0..count {
        for _ in 0..TRIES {
            let span = 2 * reach as u32;
            let bone = Hex::new(random.below(span) as i32 - reach, random.below(span) as i32 - reach);
            if bones.iter().all(|other| other.distance(bone) >= apart as u32) {
                bones.push(bone);
                break;
            }
        }
    }
    bones
}

/// How often a place for a bone is looked for that is far enough from the others.
const TRIES: usize = 40;
