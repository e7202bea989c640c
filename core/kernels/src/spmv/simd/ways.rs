//! The fastest way to process each piece of a CSR matrix, determined once from its row lengths.

use super::level::{Level, Vectorised};
use crate::spmv::Pieces;
use crate::spmv::far::is_far;
use sparsescope_matrix::matrix::RowPtr;
use sparsescope_matrix::memory::zeroed;
use sparsescope_matrix::parallel::*;

/// How a piece is processed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Row by row, each in vectors of its own.
    Rows,
    /// All nonzeros in vectors, one after another, with sums cut where rows end: `ends` is the first word of
    /// the bits that mark row ends.
    Stream { ends: usize },
    /// The same for a piece with empty rows: bits from word `filled` on mark the non-empty ones.
    Gaps { ends: usize, filled: usize },
    /// A part of one row.
    Cut,
}

/// What the ways depend on, besides the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// The vector level.
    pub level: Level,
    /// Prefetch distance for x, in nonzeros; 0 for none.
    pub ahead: usize,
    /// Prefetch distance for values and columns, in nonzeros.
    pub streams: usize,
    /// Cost per vector of nonzeros in a stream.
    pub stream: u32,
    /// Cost per vector of a row.
    pub vector: u32,
    /// Cost per row, besides its vectors.
    pub row: u32,
    /// Cost if a row has a different number of vectors than the previous one.
    pub change: u32,
}

impl Tuning {
    /// Tunes for n columns, read in the order of `col`, at a level, where `near_bytes` of x fit in a core's
    /// private caches. Costs are in approximate cycles.
    pub fn new<T: Vectorised>(cols: usize, col: &[u32], level: Level, near_bytes: u64) -> Self {
        let level = level.for_columns(cols);
        let is_far =
            is_far::<T, _>(cols, near_bytes, col.len(), |from| col[from..].iter().copied());
        let ahead = if is_far { 64 } else { 0 };
        let [stream, vector, row, change] = match (level, T::BYTES) {
            (Level::Avx512, 8) => [13, 6, 8, 15],
            (Level::Avx512, _) => [20, 11, 10, 15],
            (Level::Avx2, 8) => [9, 4, 6, 12],
            (Level::Avx2, _) => [15, 8, 8, 12],
            // Without instructions that move values between lanes, the stream never pays off.
            _ => [u32::MAX, 2, 2, 2],
        };
        Self { level, ahead, streams: 256, stream, vector, row, change }
    }
}

/// The ways of all pieces, and the bits that they need.
#[derive(Clone, Debug)]
pub(super) struct Ways {
    /// One per piece.
    pub(super) of: Vec<Way>,
    /// One bit per nonzero of each streamed piece, its last word padded with zeros: set if the nonzero ends
    /// its row.
    pub(super) ends: Vec<u64>,
    /// One bit per row of each piece with gaps: set if the row has a nonzero.
    pub(super) filled: Vec<u64>,
}

/// Properties of a piece.
#[derive(Clone, Copy)]
struct Found {
    is_stream: bool,
    has_gaps: bool,
}

impl Ways {
    pub(super) fn new(row_ptr: &RowPtr, pieces: &Pieces, lanes: usize, tuning: &Tuning) -> Self {
        let points = pieces.points();
        let of_piece = |p: usize| look_at(row_ptr, (points[p], points[p + 1]), lanes, tuning);
        let found: Vec<Option<Found>> =
            (0..pieces.pieces()).into_par_iter().map(of_piece).collect();
        let (mut ends, mut filled) = (0, 0);
        let of: Vec<Way> = found
            .iter()
            .zip(points.windows(2))
            .map(|(found, w)| match found {
                None => Way::Cut,
                Some(Found { is_stream: false, .. }) => Way::Rows,
                Some(Found { has_gaps, .. }) => {
                    let first = (ends, filled);
                    ends += (w[1].entry - w[0].entry).div_ceil(64);
                    match has_gaps {
                        false => Way::Stream { ends: first.0 },
                        true => {
                            filled += (w[1].row - w[0].row).div_ceil(64);
                            Way::Gaps { ends: first.0, filled: first.1 }
                        }
                    }
                }
            })
            .collect();
        let mut ways = Self { of, ends: zeroed(0, ends), filled: zeroed(0, filled) };
        ways.mark(row_ptr, pieces);
        ways
    }

    /// Sets the bits.
    fn mark(&mut self, row_ptr: &RowPtr, pieces: &Pieces) {
        let (mut ends, mut filled) = (&mut self.ends[..], &mut self.filled[..]);
        let mut parts = Vec::new();
        for (&way, w) in self.of.iter().zip(pieces.points().windows(2)) {
            let words = |n: usize| n.div_ceil(64);
            let (is_stream, has_gaps) = match way {
                Way::Rows | Way::Cut => (false, false),
                Way::Stream { .. } => (true, false),
                Way::Gaps { .. } => (true, true),
            };
            if is_stream {
                let of_entries = ends.split_off_mut(..words(w[1].entry - w[0].entry));
                let rows = if has_gaps { words(w[1].row - w[0].row) } else { 0 };
                let of_rows = filled.split_off_mut(..rows);
                parts.push((
                    w[0],
                    w[1],
                    of_entries.unwrap_or_default(),
                    of_rows.unwrap_or_default(),
                ));
            }
        }
        parts.into_par_iter().for_each(|(from, to, ends, filled)| {
            for row in from.row..to.row {
                let (start, end) = (row_ptr.get(row), row_ptr.get(row + 1));
                if end > start {
                    let last = end - 1 - from.entry;
                    ends[last / 64] |= 1 << (last % 64);
                    if let Some(word) = filled.get_mut((row - from.row) / 64) {
                        *word |= 1 << ((row - from.row) % 64);
                    }
                }
            }
        });
    }
}

/// Returns the cheaper way for a piece of whole rows; `None` for a part of a row.
fn look_at(
    row_ptr: &RowPtr,
    (from, to): (crate::spmv::MergePoint, crate::spmv::MergePoint),
    lanes: usize,
    tuning: &Tuning,
) -> Option<Found> {
    if to.row == from.row || row_ptr.get(from.row) < from.entry {
        return None;
    }
    let (mut vectors, mut changes, mut has_gaps) = (0u64, 0u64, false);
    let (mut before, mut start) = (usize::MAX, from.entry);
    for row in from.row..to.row {
        let end = row_ptr.get(row + 1);
        let here = (end - start).div_ceil(lanes);
        vectors += here as u64;
        changes += u64::from(here != before);
        has_gaps |= here == 0;
        (before, start) = (here, end);
    }
    let Tuning { stream, vector, row, change, .. } = *tuning;
    let by_rows = vectors * u64::from(vector)
        + (to.row - from.row) as u64 * u64::from(row)
        + changes * u64::from(change);
    let as_stream = ((to.entry - from.entry) as u64).div_ceil(lanes as u64) * u64::from(stream);
    let is_stream = to.entry > from.entry && as_stream < by_rows;
    Some(Found { is_stream, has_gaps })
}
