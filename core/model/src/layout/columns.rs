//! The steps and the memory traffic of Y = A·X, where X and Y have several columns and are stored by rows: `spmm.cu`,
//! `spmm_bsr.cu` and `spmm_hll.cu`, load by load.

use std::sync::Arc;

use super::array::Array;
use super::asking::{Asking, ask};
use super::request::{Counts, Direction, Request};
use super::step::{Sink, Step, StepKind};
use super::traffic::ArrayTraffic;
use crate::kernel::{
    Access, KernelDescriptor, LANES, PATH_STEPS, PathShares, columns_of_row_split,
    columns_per_thread,
};
use sparsescope_kernels::spmv::MergePath;
use sparsescope_matrix::matrix::{AnyFormat, Bsr, Csr, Hll, Order, Scalar, SlotLayout};

/// The kernel whose steps [`columns_steps`] returns.
pub const COLUMNS_KERNEL: &str = "cuda/spmm/row-split";

const WARP: usize = LANES as usize;

/// Threads per block of `cuda/spmm/merge`; the traffic of the others does not depend on it.
const BLOCK: u32 = 128;

/// What the lanes of a warp have, idle ones nothing.
type Warp<L> = [Option<L>; WARP];

/// What each warp of `cuda/spmm/row-split` does with k columns, step by step, in its plain way: adjacent lanes take
/// adjacent columns of X, row after row, so that lanes with the same row request the same nonzero, one after the other,
/// even if the kernel loads several at once. Its other ways, which depend on the matrix, load fewer nonzeros or share
/// them otherwise.
///
/// k is at least 1; panics otherwise.
pub fn columns_steps(a: &Arc<Csr>, k: usize) -> Vec<Vec<Step>> {
    let format = AnyFormat::Csr(Arc::clone(a));
    let together = columns_of_row_split(k, f64::BYTES);
    let mut columns = Columns::new(&format, (k, together), Vec::<Step>::new());
    let warps = warps(a.rows(), columns.packs);
    let steps = warps.map(|warp| {
        columns.rows(a, &warp);
        std::mem::take(&mut columns.sink)
    });
    steps.collect()
}

/// The traffic of the steps of all warps, array by array in the order of [`Array::ALL`].
pub fn steps_traffic(warps: &[Vec<Step>]) -> Vec<ArrayTraffic> {
    let mut found = Found::default();
    for request in warps.iter().flatten().flat_map(|step| &step.requests) {
        found.request(request);
    }
    found.0
}

/// The traffic of one of our CUDA kernels of Y = A·X with k columns, array by array in the order of [`Array::ALL`];
/// `None` for other kernels and for a matrix in a format that the kernel does not read. Loops are counted as written.
/// `cuda/spmm/merge` has blocks of 128 threads; the first rows of its pieces count as [`Array::Plan`], and the sums of
/// rows that are cut between blocks as [`Array::CarrySum`].
///
/// k is at least 1; panics otherwise.
pub fn columns_traffic(
    kernel: &KernelDescriptor,
    a: &AnyFormat,
    k: usize,
) -> Option<Vec<ArrayTraffic>> {
    let mut columns = Columns::new(a, (k, columns_per_thread(k, f64::BYTES)), Found::default());
    match (kernel.id, a) {
        (COLUMNS_KERNEL, AnyFormat::Csr(a)) => return Some(steps_traffic(&columns_steps(a, k))),
        ("cuda/spmm/merge", AnyFormat::Csr(a)) => columns.pieces(a),
        ("cuda/spmm/bsr", AnyFormat::Bsr(a)) => columns.block_rows(a),
        ("cuda/spmm/hll", AnyFormat::Hll(a))
            if a.shape().order() == Order::ColumnMajor && a.row_order().tail() == 0 =>
        {
            columns.hacks(a);
        }
        _ => return None,
    }
    Some(columns.sink.0)
}

/// The traffic found so far, in the order of [`Array::ALL`].
#[derive(Default)]
struct Found(Vec<ArrayTraffic>);

impl Sink for Found {
    fn step(&mut self, _: StepKind) {}

    fn lane(&mut self, _: usize, _: Access) {}

    fn request(&mut self, request: &Request) {
        let Self(all) = self;
        let array = request.array;
        let at = all.binary_search_by_key(&array, |of| of.array).unwrap_or_else(|at| {
            let (loads, stores) = (Counts::default(), Counts::default());
            all.insert(at, ArrayTraffic { array, loads, stores });
            at
        });
        let of = &mut all[at];
        match request.direction {
            Direction::Load => of.loads += request.counts(),
            Direction::Store => of.stores += request.counts(),
        }
    }
}

/// The row and the pack of each lane, warp by warp, if a thread takes a pack of a row.
fn warps(rows: usize, packs: usize) -> impl Iterator<Item = Warp<(usize, usize)>> {
    let threads = rows * packs;
    (0..threads).step_by(WARP).map(move |first| {
        std::array::from_fn(|lane| {
            let thread = first + lane;
            (thread < threads).then_some((thread / packs, thread % packs))
        })
    })
}

/// Slots that a lane multiplies by a pack of each of their rows of X, one after the other.
#[derive(Clone, Copy)]
struct Run {
    /// The row that the products are added to.
    row: usize,
    first: usize,
    stride: usize,
    length: usize,
    pack: usize,
}

impl Run {
    fn slot(&self, step: usize) -> Option<usize> {
        (step < self.length).then(|| self.first + step * self.stride)
    }
}

/// Reports what warps do for a product, in which a thread takes `together` columns, a pack, of one of `packs`.
struct Columns<'a, S> {
    ask: Asking<'a, f64>,
    together: u32,
    packs: usize,
    sink: S,
}

impl<'a, S: Sink> Columns<'a, S> {
    /// For k columns of X, of which a thread takes `together`.
    fn new(a: &'a AnyFormat, (k, together): (usize, usize), sink: S) -> Self {
        assert!(k > 0, "X has at least one column");
        Self { ask: Asking(a), together: together as u32, packs: k / together, sink }
    }

    /// Lanes load elements; of X, Y and carried sums, packs.
    fn load(&mut self, array: Array, index: impl Fn(usize) -> Option<usize>) {
        self.request(self.ask.load(array), index);
    }

    fn store(&mut self, array: Array, index: impl Fn(usize) -> Option<usize>) {
        self.request(self.ask.store(array), index);
    }

    fn request(&mut self, request: Request, index: impl Fn(usize) -> Option<usize>) {
        let request = match request.array {
            Array::X | Array::Y | Array::CarrySum => request.of(self.together),
            _ => request,
        };
        ask(request, |lane| index(lane).map(|index| index as u64), &mut self.sink);
    }

    /// The products of nonzeros, whose columns are `col`, and their rows of X.
    fn products(&mut self, col: &[u32], runs: &Warp<Run>) {
        let packs = self.packs;
        let longest = runs.iter().flatten().map(|run| run.length).max().unwrap_or(0);
        for step in 0..longest {
            self.sink.step(StepKind::Loop(step as u64));
            let slot = |lane: usize| runs[lane]?.slot(step);
            for (lane, run) in runs.iter().enumerate() {
                let Some((run, slot)) = run.and_then(|run| Some((run, run.slot(step)?))) else {
                    continue;
                };
                let (step, slot) = (step as u64, slot as u64);
                self.sink.lane(lane, Access { step, row: run.row, slot, in_tail: false });
            }
            self.load(Array::Col, slot);
            self.load(Array::Val, slot);
            let of_x = |lane: usize| {
                let run = runs[lane]?;
                Some(col[run.slot(step)?] as usize * packs + run.pack)
            };
            self.load(Array::X, of_x);
        }
    }

    /// What a warp of `spmm_row_split` does.
    fn rows(&mut self, a: &Csr, warp: &Warp<(usize, usize)>) {
        let packs = self.packs;
        self.sink.step(StepKind::Start);
        for next in 0..2 {
            self.load(Array::RowPtr, |lane| warp[lane].map(|(row, _)| row + next));
        }
        let runs = warp.map(|of| {
            let (row, pack) = of?;
            let slots = a.row_range(row);
            Some(Run { row, first: slots.start, stride: 1, length: slots.len(), pack })
        });
        self.products(a.col(), &runs);
        self.sink.step(StepKind::End);
        self.store(Array::Y, |lane| warp[lane].map(|(row, pack)| row * packs + pack));
    }

    /// `spmm_hll`, whose rows are at positions.
    fn hacks(&mut self, a: &Hll) {
        let (packs, shape) = (self.packs, a.shape());
        let row_at = |at: usize| a.row_order().row_at(at);
        for warp in warps(a.rows(), packs) {
            self.load(Array::Offsets, |lane| warp[lane].map(|(at, _)| shape.hack_of(at)));
            self.load(Array::RowLen, |lane| warp[lane].map(|(at, _)| at));
            let runs = warp.map(|of| {
                let (at, pack) = of?;
                let (first, length) = (shape.slot(at, 0) as usize, a.row_len()[at] as usize);
                Some(Run { row: row_at(at), first, stride: shape.hack_size(), length, pack })
            });
            self.products(a.col(), &runs);
            if a.row_order().row_of().is_some() {
                self.load(Array::RowOf, |lane| warp[lane].map(|(at, _)| at));
            }
            self.store(Array::Y, |lane| warp[lane].map(|(at, pack)| row_at(at) * packs + pack));
        }
    }

    /// `spmm_bsr`
    fn block_rows(&mut self, a: &Bsr) {
        let (packs, edge) = (self.packs, a.block());
        // Values of a row of a block that are loaded at once.
        let at_once = if edge.is_multiple_of(2) { 2 } else { 1 };
        for warp in warps(a.rows().div_ceil(edge), packs) {
            for next in 0..2 {
                self.load(Array::RowPtr, |lane| warp[lane].map(|(row, _)| row + next));
            }
            let of_row = |row: usize| a.row_ptr().range(row);
            let longest = warp.iter().flatten().map(|&(row, _)| of_row(row).len()).max();
            for step in 0..longest.unwrap_or(0) {
                let block = |lane: usize| of_row(warp[lane]?.0).nth(step);
                self.load(Array::Col, block);
                for j in (0..edge).step_by(at_once) {
                    for column in j..j + at_once {
                        // The last block may extend past the last column.
                        let of_x = |lane: usize| {
                            let at = a.col()[block(lane)?] as usize * edge + column;
                            (at < a.cols()).then_some(at * packs + warp[lane]?.1)
                        };
                        self.load(Array::X, of_x);
                    }
                    for i in 0..edge {
                        let val = self.ask.load(Array::Val).of(at_once as u32);
                        let at = |lane| Some(((block(lane)? * edge + i) * edge + j) / at_once);
                        self.request(val, at);
                    }
                }
            }
            for i in 0..edge {
                let of_y = |lane: usize| {
                    let (row, pack) = warp[lane]?;
                    let row = row * edge + i;
                    (row < a.rows()).then_some(row * packs + pack)
                };
                self.store(Array::Y, of_y);
            }
        }
    }

    /// `spmm_merge`, then `spmm_merge_carry`.
    fn pieces(&mut self, a: &Csr) {
        let packs = self.packs;
        let shares = PathShares::new(packs, BLOCK);
        let path = MergePath::in_steps(a.row_ptr(), PATH_STEPS);
        let pieces: Vec<Piece> = path
            .iter()
            .map(|(from, to)| Piece {
                rows: from.row..to.row,
                slots: from.entry..to.entry,
                is_cut: from.row < to.row && a.row_ptr().get(from.row) < from.entry,
                goes_on: to.row < a.rows(),
            })
            .collect();
        let blocks = pieces.len().div_ceil(shares.at_once);
        for block in 0..blocks {
            for slice in 0..shares.slices {
                for first in (0..BLOCK as usize).step_by(WARP) {
                    // The piece of each lane, its number in the block, and the pack.
                    let warp: Warp<(usize, usize)> = std::array::from_fn(|lane| {
                        let (own, lane) =
                            ((first + lane) / shares.width, (first + lane) % shares.width);
                        let (piece, pack) =
                            (block * shares.at_once + own, slice * shares.width + lane);
                        let works = own < shares.at_once && piece < pieces.len() && pack < packs;
                        works.then_some((piece, pack))
                    });
                    self.piece(a, &pieces, &warp, shares.at_once);
                }
            }
        }
        if blocks > 1 {
            self.carries(a, &pieces, &shares);
        }
    }

    /// What a warp does with its pieces.
    fn piece(&mut self, a: &Csr, pieces: &[Piece], warp: &Warp<(usize, usize)>, at_once: usize) {
        let packs = self.packs;
        let of = |lane: usize| warp[lane].map(|(piece, pack)| (&pieces[piece], pack));
        for next in 0..2 {
            self.load(Array::Plan, |lane| warp[lane].map(|(piece, _)| piece + next));
        }
        let begun = |lane: usize| of(lane).filter(|(piece, _)| !piece.rows.is_empty());
        self.load(Array::RowPtr, |lane| begun(lane).map(|(piece, _)| piece.rows.start));
        let most = warp.iter().flatten().map(|&(piece, _)| pieces[piece].rows.len()).max();
        // The slots of the piece in one of its rows, and in the row that continues after it.
        let run = |piece: &Piece, pack: usize, row: usize| {
            let slots = a.row_range(row);
            let first = slots.start.max(piece.slots.start);
            let length = slots.end.min(piece.slots.end).saturating_sub(first);
            Run { row, first, stride: 1, length, pack }
        };
        for number in 0..most.unwrap_or(0) {
            let row = |lane: usize| of(lane).and_then(|(piece, _)| piece.rows.clone().nth(number));
            self.load(Array::RowPtr, |lane| row(lane).map(|row| row + 1));
            let runs = std::array::from_fn(|lane| {
                let (piece, pack) = of(lane)?;
                Some(run(piece, pack, row(lane)?))
            });
            self.products(a.col(), &runs);
            let stored = |lane: usize| {
                let (piece, pack) = of(lane)?;
                (number > 0 || !piece.is_cut).then_some(row(lane)? * packs + pack)
            };
            self.store(Array::Y, stored);
        }
        let unfinished = std::array::from_fn(|lane| {
            let (piece, pack) = of(lane).filter(|(piece, _)| piece.goes_on)?;
            Some(run(piece, pack, piece.rows.end))
        });
        self.products(a.col(), &unfinished);
        let cut = |lane: usize| of(lane).filter(|(piece, _)| piece.is_cut);
        self.load(Array::RowPtr, |lane| cut(lane).map(|(piece, _)| piece.rows.start));
        self.store(Array::Y, |lane| cut(lane).map(|(piece, pack)| piece.rows.start * packs + pack));
        let last = |lane: usize| {
            let (number, pack) = warp[lane]?;
            let is_last = (number + 1).is_multiple_of(at_once) && pieces[number].goes_on;
            is_last.then_some((number, pack))
        };
        self.load(Array::RowPtr, |lane| last(lane).map(|(number, _)| pieces[number].rows.end));
        self.store(Array::CarrySum, |lane| {
            last(lane).map(|(number, pack)| number / at_once * packs + pack)
        });
    }

    /// Adds the carries of rows to what the blocks that they end in have of them.
    fn carries(&mut self, a: &Csr, pieces: &[Piece], shares: &PathShares) {
        let (packs, at_once) = (self.packs, shares.at_once);
        // The first row of a piece, or the number of rows after the last one.
        let first_row = |piece: usize| pieces.get(piece).map_or(a.rows(), |of| of.rows.start);
        let began = |row: usize| (a.row_ptr().get(row) + row) / PATH_STEPS / at_once;
        for warp in warps(pieces.len().div_ceil(at_once), packs) {
            let row = |lane: usize| warp[lane].map(|(block, _)| first_row(block * at_once));
            self.load(Array::Plan, |lane| warp[lane].map(|(block, _)| block * at_once));
            self.load(Array::RowPtr, row);
            // Those whose row began in an earlier block.
            let later = |lane: usize| {
                warp[lane].filter(|&(block, _)| began(first_row(block * at_once)) < block)
            };
            let end = |block: usize| (block * at_once + at_once).min(pieces.len());
            self.load(Array::Plan, |lane| later(lane).map(|(block, _)| end(block)));
            let added = |lane: usize| {
                later(lane).filter(|&(block, _)| first_row(end(block)) > first_row(block * at_once))
            };
            let carried = |lane: usize| {
                let (block, pack) = added(lane)?;
                Some((began(row(lane)?)..block, pack))
            };
            let most = (0..WARP).filter_map(carried).map(|(blocks, _)| blocks.len()).max();
            for step in 0..most.unwrap_or(0) {
                let carry = |lane: usize| {
                    let (mut blocks, pack) = carried(lane)?;
                    Some(blocks.nth(step)? * packs + pack)
                };
                self.load(Array::CarrySum, carry);
            }
            let of_y = |lane: usize| Some(row(lane)? * packs + added(lane)?.1);
            self.load(Array::Y, of_y);
            self.store(Array::Y, of_y);
        }
    }
}

/// A piece of the merge path.
struct Piece {
    /// The rows that end in it.
    rows: std::ops::Range<usize>,
    slots: std::ops::Range<usize>,
    /// Whether the first of these rows began in an earlier piece.
    is_cut: bool,
    /// Whether a row continues after it, or begins there.
    goes_on: bool,
}
