//! Points by their levels in tiles of 64, the corners of 64 tiles in a tile of their own, and so on up to a
//! single tile.

use rayon::prelude::*;

use super::candidates::Candidates;
use super::lanes::{LANES, Lanes, Row};
use super::pivots::is_nowhere_smaller;
use crate::skyline::Cancelled;

/// Maximum number of layers, for 2³² points.
const HEIGHT: usize = 6;

/// Points in an order in which neighbours are similar.
pub(super) struct Tree {
    dimensions: usize,
    /// Candidates in lane order.
    pub(super) members: Vec<u32>,
    /// The points first, with D rows per tile; in each further layer a lane holds the largest levels of a
    /// tile of the layer before. Unused lanes hold 0, which is less than any level.
    layers: Vec<Vec<Row>>,
    /// The largest coordinates of each tile of points.
    corners: Vec<f64>,
}

/// If levels let more points of a tile pass than this, its corner is checked first.
const FEW: u32 = 2;

impl Tree {
    /// Builds the tree of candidates in this order; there is at least one. `None` when cancelled.
    pub(super) fn new(
        candidates: &Candidates<'_>,
        members: Vec<u32>,
        cancelled: &Cancelled<'_>,
    ) -> Option<Self> {
        let dimensions = candidates.dimensions();
        let mut points = rows(members.len(), dimensions);
        let tiles = points.par_chunks_exact_mut(dimensions).zip(members.par_chunks(LANES));
        let filled = tiles.map(|(tile, members)| {
            for (lane, &member) in members.iter().enumerate() {
                for (row, &level) in tile.iter_mut().zip(candidates.levels(member)) {
                    row.0[lane] = level;
                }
            }
            (!cancelled()).then_some(())
        });
        filled.collect::<Option<()>>()?;
        let mut layers = vec![points];
        while let Some(below) = layers.last().filter(|below| below.len() > dimensions) {
            let mut corners = rows(below.len() / dimensions, dimensions);
            for (at, tile) in below.chunks_exact(dimensions).enumerate() {
                let corner = &mut corners[at / LANES * dimensions..][..dimensions];
                for (corner, row) in corner.iter_mut().zip(tile) {
                    corner.0[at % LANES] = row.0.iter().fold(0, |most, &level| most.max(level));
                }
            }
            layers.push(corners);
        }
        let mut corners = vec![f64::NEG_INFINITY; members.len().div_ceil(LANES) * dimensions];
        let tiles = corners.par_chunks_exact_mut(dimensions).zip(members.par_chunks(LANES));
        let filled = tiles.map(|(corner, members)| {
            for &member in members {
                for (most, &value) in corner.iter_mut().zip(candidates.point(member)) {
                    *most = value.max(*most);
                }
            }
            (!cancelled()).then_some(())
        });
        filled.collect::<Option<()>>()?;
        Some(Self { dimensions, members, layers, corners })
    }

    /// Calls `is_enough` with the places of points that may be nowhere smaller than q, which has these
    /// levels, until it returns true: all such points are among them, and those whose levels do not exclude
    /// it. Adds the number of points visited to `seen`.
    ///
    /// # Safety
    /// The CPU supports the vectors L.
    #[inline(always)]
    pub(super) unsafe fn search<L: Lanes>(
        &self,
        levels: &[u8],
        q: &[f64],
        seen: &mut u64,
        mut is_enough: impl FnMut(usize) -> bool,
    ) -> bool {
        let (mut tiles, mut masks) = ([0; HEIGHT], [0; HEIGHT]);
        let top = self.layers.len() - 1;
        let mut layer = top;
        let mut tile = 0;
        loop {
            let rows = &self.layers[layer][tile * self.dimensions..][..self.dimensions];
            // SAFETY: the caller's promise.
            masks[layer] = unsafe { L::at_least(rows, levels) };
            tiles[layer] = tile;
            if layer == 0 {
                *seen += (self.members.len() - tile * LANES).min(LANES) as u64;
                // Where levels discriminate poorly, nearly all of a tile may pass.
                if masks[0].count_ones() > FEW {
                    let corner = &self.corners[tile * self.dimensions..][..self.dimensions];
                    if !is_nowhere_smaller(corner, q) {
                        masks[0] = 0;
                    }
                }
                while masks[0] != 0 {
                    let lane = masks[0].trailing_zeros() as usize;
                    masks[0] &= masks[0] - 1;
                    if is_enough(tile * LANES + lane) {
                        return true;
                    }
                }
            }
            while masks[layer] == 0 {
                if layer == top {
                    return false;
                }
                layer += 1;
            }
            tile = tiles[layer] * LANES + masks[layer].trailing_zeros() as usize;
            masks[layer] &= masks[layer] - 1;
            layer -= 1;
        }
    }
}

/// Rows of zeros for this many lanes.
fn rows(lanes: usize, dimensions: usize) -> Vec<Row> {
    vec![Row([0; LANES]); lanes.div_ceil(LANES) * dimensions]
}
