//! Symmetric patterns of networks. The random numbers of its lower node decide an edge, so that
//! both of its rows agree.

use super::assemble::{GenerateError, Rule};
use super::random::RowRandom;

/// Roads: nodes on a lattice, most of its edges, a few diagonals; nonzeros are 1. Nodes are
/// numbered tile by tile, so that neighbours are mostly close in memory. Mean degree about 2.8;
/// longest row at most 8, or one crossing in the middle of the numbering that has more. Like
/// roadNet-PA, usroads or europe_osm.
pub(super) struct Road {
    m: usize,
    seed: u64,
    tiles_across: usize,
    /// Neighbours that the crossing m / 2 always has, nearest first.
    crossing: Vec<usize>,
}

/// Side of a tile.
const TILE: usize = 16;

/// Steps to the later neighbours, and the probability of an edge to each.
const ROADS: [(isize, isize, f64); 4] = [(1, 0, 0.66), (0, 1, 0.66), (1, 1, 0.05), (-1, 1, 0.03)];

impl Road {
    /// `busiest` roads meet at the crossing; 0 leaves their number to chance.
    pub(super) fn new(m: usize, busiest: usize, seed: u64) -> Self {
        let tiles = m.div_ceil(TILE * TILE);
        let tiles_across = (1..).find(|side| side * side >= tiles).unwrap_or(1);
        let mut road = Self { m, seed, tiles_across, crossing: Vec::new() };
        let mut row = Vec::new();
        road.row(m / 2, &mut row);
        let met: Vec<usize> = row.iter().map(|&(j, _)| j as usize).collect();
        let (x, y) = road.point(m / 2);
        let mut around: Vec<(isize, usize)> = (-2..=2)
            .flat_map(|dy| (-2..=2).map(move |dx| (dx, dy)))
            .filter_map(|(dx, dy)| Some((dx * dx + dy * dy, road.node(x + dx, y + dy)?)))
            .filter(|(_, j)| *j != m / 2 && !met.contains(j))
            .collect();
        around.sort_unstable();
        let missing = busiest.saturating_sub(met.len());
        road.crossing = around.into_iter().take(missing).map(|(_, j)| j).collect();
        road
    }

    /// Lattice point of a node.
    fn point(&self, i: usize) -> (isize, isize) {
        let (tile, inside) = (i / (TILE * TILE), i % (TILE * TILE));
        let x = tile % self.tiles_across * TILE + inside % TILE;
        let y = tile / self.tiles_across * TILE + inside / TILE;
        (x as isize, y as isize)
    }

    /// Node of a lattice point, if there is one.
    fn node(&self, x: isize, y: isize) -> Option<usize> {
        let (x, y) = (usize::try_from(x).ok()?, usize::try_from(y).ok()?);
        if x >= self.tiles_across * TILE {
            return None;
        }
        let tile = y / TILE * self.tiles_across + x / TILE;
        let node = tile * TILE * TILE + y % TILE * TILE + x % TILE;
        (node < self.m).then_some(node)
    }
}

impl Rule for Road {
    fn rows(&self) -> usize {
        self.m
    }
    fn most_entries(&self) -> u128 {
        2 * ROADS.len() as u128 * self.m as u128 + 2 * self.crossing.len() as u128
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let (x, y) = self.point(i);
        // Each point decides the roads that leave it in the directions of ROADS.
        let mut own = RowRandom::new(self.seed, i);
        for (k, (dx, dy, probability)) in ROADS.into_iter().enumerate() {
            if own.chance(probability)
                && let Some(j) = self.node(x + dx, y + dy)
            {
                row.push((j as u32, 1.0));
            }
            if let Some(j) = self.node(x - dx, y - dy) {
                let mut other = RowRandom::new(self.seed, j);
                for _ in 0..k {
                    other.bits();
                }
                if other.chance(probability) {
                    row.push((j as u32, 1.0));
                }
            }
        }
        if i == self.m / 2 {
            row.extend(self.crossing.iter().map(|&j| (j as u32, 1.0)));
        } else if self.crossing.contains(&i) {
            row.push(((self.m / 2) as u32, 1.0));
        }
    }
}

/// A circuit: conductances between nearby nodes, and one node (a supply rail) that is connected to
/// the fraction `dense` of all columns and rows. Symmetric, diagonally dominant. Like dc1 or
/// ASIC_680k.
pub(super) struct Circuit {
    m: usize,
    dense: usize,
    seed: u64,
    /// Probability of an edge at each of the distances.
    probability: f64,
}

/// Distances between the numbers of connected nodes.
const DISTANCES: [usize; 8] = [1, 2, 3, 7, 16, 61, 250, 1000];

impl Circuit {
    /// Fails when `nnz` is not attainable with short rows and the dense one.
    pub(super) fn new(
        m: usize,
        nnz: usize,
        dense: usize,
        seed: u64,
    ) -> Result<Self, GenerateError> {
        let fixed = m + 2 * dense.saturating_sub(1);
        let places: usize = DISTANCES.iter().map(|d| m.saturating_sub(*d)).sum();
        let most = fixed + 2 * places;
        if dense > m || nnz < fixed || nnz > most {
            return Err(GenerateError::Parameters(format!(
                "a circuit with m={m} and dense={dense} needs nnz from {fixed} to {most} and dense of at most m, found nnz={nnz}"
            )));
        }
        let probability = (nnz - fixed) as f64 / 2.0 / places.max(1) as f64;
        Ok(Self { m, dense, seed, probability })
    }

    /// The node of the dense row.
    fn rail(&self) -> usize {
        self.m / 2
    }

    /// Whether the rail has a nonzero in column `i`: its columns are evenly spaced and include its
    /// own.
    fn touches_rail(&self, i: usize) -> bool {
        let i = (i + self.m - self.rail()) % self.m;
        let share = |k: usize| (k as u128 * self.dense as u128).div_ceil(self.m as u128);
        share(i + 1) > share(i)
    }

    /// Conductance between two nodes, if they are connected.
    fn edge(&self, low: usize, k: usize) -> Option<f64> {
        let mut random = RowRandom::new(self.seed, low);
        let mut edge = None;
        for _ in 0..=k {
            let present = random.chance(self.probability);
            edge = present.then_some(random.scale(4.0));
            if !present {
                random.bits();
            }
        }
        edge
    }
}

impl Rule for Circuit {
    fn rows(&self) -> usize {
        self.m
    }
    fn most_entries(&self) -> u128 {
        (1 + 2 * DISTANCES.len()) as u128 * self.m as u128 + 2 * self.dense as u128
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let rail = self.rail();
        if i == rail {
            let others = (0..self.m).filter(|&j| j != rail && self.touches_rail(j));
            row.extend(others.map(|j| (j as u32, -1.0)));
        } else {
            for (k, distance) in DISTANCES.into_iter().enumerate() {
                let later = Some(i + distance).filter(|&j| j < self.m);
                for (low, j) in
                    [(Some(i), later), (i.checked_sub(distance), i.checked_sub(distance))]
                {
                    if let (Some(low), Some(j)) = (low, j)
                        && j != rail
                        && let Some(g) = self.edge(low, k)
                    {
                        row.push((j as u32, -g));
                    }
                }
            }
            if self.touches_rail(i) {
                row.push((rail as u32, -1.0));
            }
        }
        let connected: f64 = row.iter().map(|(_, g)| -g).sum();
        row.push((i as u32, connected + 1e-3));
    }
}
