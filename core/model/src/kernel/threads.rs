//! Which slots each thread of a GPU grid reads, and in which step.

use std::ops::Range;

use super::cut::{BlockLanes, Cut, tile_entries};
use super::descriptor::KernelDescriptor;
use super::grid::{GridMapping, LANES, span_entries};
use super::rows::{row_at, row_length, slot};
use sparsescope_matrix::matrix::{AnyFormat, Coo, Scalar};

/// One slot read by a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Step of the thread's loop, from 0; the lanes of a warp read in lockstep.
    pub step: u64,
    /// The row that the product is added to; past the last row in blocks that extend beyond it.
    pub row: usize,
    /// Index into `col` and `val`, or into `val` for blocks and diagonals; into the tail if
    /// `in_tail`.
    pub slot: u64,
    /// In the tail of HYB, which a second launch processes, or in the tail of HLL.
    pub in_tail: bool,
}

/// The launches of SpMV on a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Rows, hacks of rows, tiles or block rows.
    Rows,
    /// Spans of coordinates: COO's, or those of HYB's tail.
    Spans,
}

/// Slots that one thread reads for one row, or for one span of nonzeros: every `stride`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedSlots {
    /// The row, as a position if rows are sorted; absent for tiles and for spans, whose nonzeros
    /// hold their rows.
    pub row: Option<usize>,
    /// Number of loop steps.
    pub steps: u64,
    /// Number, in the row or in the arrays, of the slot read in step 0, and of the first slot past
    /// the row or span.
    first: u64,
    end: u64,
    stride: u64,
    in_tail: bool,
}

impl StridedSlots {
    fn new(row: Option<usize>, first: u64, end: u64, stride: u64, in_tail: bool) -> Self {
        let slots = end.saturating_sub(first);
        // Divisions by constants: this runs for every lane of every warp.
        let steps = match stride {
            1 => slots,
            LANES => slots.div_ceil(LANES),
            _ => slots.div_ceil(stride),
        };
        Self { row, steps, first, end, stride, in_tail }
    }

    /// The slots of lane `lane` in a row or span that a warp shares, given those of lane 0.
    #[inline]
    pub fn of_lane(&self, lane: u64) -> Self {
        Self::new(self.row, self.first + lane, self.end, self.stride, self.in_tail)
    }

    /// Number of the slot read in step 0.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The slot read in step `step < steps`. Panics if `a` is not the matrix of this run.
    #[inline]
    pub fn access<T: Scalar>(&self, a: &AnyFormat<T>, step: u64) -> Access {
        let number = self.first + step * self.stride;
        let (row, slot) = match (self.row, a) {
            (Some(position), AnyFormat::Hll(a)) if self.in_tail => {
                let begin = a.tail().row_range(position - a.row_order().in_blocks()).start;
                (a.row_order().row_at(position), begin as u64 + number)
            }
            (Some(position), _) => (row_at(a, position), slot(a, position, number as usize)),
            (None, AnyFormat::Csr(a)) => (a.row_ptr().segment_at(number as usize), number),
            (None, AnyFormat::Hyb(a)) => (a.tail().row()[number as usize] as usize, number),
            (None, AnyFormat::Coo(a)) => (a.row()[number as usize] as usize, number),
            (None, _) => (0, number),
        };
        Access { step, row, slot, in_tail: self.in_tail }
    }
}

/// The slots of one thread: its rows one after another, or its span.
#[derive(Clone, Debug)]
pub struct ThreadSlots<'a, T = f64> {
    a: &'a AnyFormat<T>,
    rows: Range<usize>,
    padding: bool,
    first: u64,
    stride: u64,
    span: Option<StridedSlots>,
}

impl<T> ThreadSlots<'_, T> {
    /// No work.
    fn none(a: &AnyFormat<T>) -> ThreadSlots<'_, T> {
        ThreadSlots { a, rows: 0..0, padding: false, first: 0, stride: 1, span: None }
    }
}

impl<T: Scalar> Iterator for ThreadSlots<'_, T> {
    type Item = StridedSlots;

    #[inline]
    fn next(&mut self) -> Option<StridedSlots> {
        let Some(row) = self.rows.next() else { return self.span.take() };
        let length = row_length(self.a, row, self.padding) as u64;
        Some(StridedSlots::new(Some(row), self.first, length, self.stride, false))
    }
}

impl KernelDescriptor {
    /// The slots of `a` that grid thread `thread` reads, in order; empty for a thread without work.
    pub fn accesses<T: Scalar>(&self, a: &AnyFormat<T>, cut: &Cut, thread: u64) -> Vec<Access> {
        let mut all = Vec::new();
        for pass in [Pass::Rows, Pass::Spans] {
            let accesses = self
                .thread_slots(a, cut, pass, thread)
                .flat_map(|run| (0..run.steps).map(move |step| run.access(a, step)));
            all.extend(accesses.zip(0..).map(|(access, step)| Access { step, ..access }));
        }
        all
    }

    /// Like [`accesses`](Self::accesses) without a list, for thread `thread` of one pass's grid.
    /// `cut` belongs to this kernel and `a`.
    pub fn thread_slots<'a, T: Scalar>(
        &self,
        a: &'a AnyFormat<T>,
        cut: &Cut,
        pass: Pass,
        thread: u64,
    ) -> ThreadSlots<'a, T> {
        let none = ThreadSlots::none(a);
        let (warp, lane) = (thread / LANES, thread % LANES);
        let rows = |rows: Range<u64>, first: u64, stride: u64| {
            let end = rows.end.min(a.rows() as u64);
            let rows = rows.start.min(end) as usize..end as usize;
            ThreadSlots { a, rows, padding: self.needs.finite_x, first, stride, span: None }
        };
        let run = |span: Option<StridedSlots>| ThreadSlots { span, ..ThreadSlots::none(a) };
        match (cut.mapping, pass, a) {
            (GridMapping::ThreadPerRow, Pass::Rows, AnyFormat::Dia(dia)) => {
                let row = usize::try_from(thread).ok().filter(|&row| row < dia.rows());
                run(row.map(|row| {
                    let crossing = dia.crossing(row);
                    let (first, end) = (crossing.start as u64, crossing.end as u64);
                    StridedSlots::new(Some(row), first, end, 1, false)
                }))
            }
            (GridMapping::ThreadPerRow | GridMapping::WarpPerHack, Pass::Rows, _) => {
                rows(one(thread), 0, 1)
            }
            (GridMapping::WarpPerRow, Pass::Rows, _) => rows(one(warp), lane, LANES),
            (GridMapping::ThreadPerHack, Pass::Rows, AnyFormat::Hll(hll)) => {
                match usize::try_from(thread).ok().filter(|&h| h < hll.shape().hacks()) {
                    Some(hack) => {
                        let in_hack = hll.shape().hack_rows(hack);
                        rows(in_hack.start as u64..in_hack.end as u64, 0, 1)
                    }
                    None => none,
                }
            }
            (GridMapping::WarpPerSpan, Pass::Rows, AnyFormat::Hyb(_)) => rows(one(thread), 0, 1),
            (GridMapping::WarpPerSpan, Pass::Spans, AnyFormat::Coo(coo)) => {
                run(span(coo, warp, lane, false))
            }
            (GridMapping::WarpPerSpan, Pass::Spans, AnyFormat::Hyb(hyb)) => {
                run(span(hyb.tail(), warp, lane, true))
            }
            (GridMapping::BlockPerTile, Pass::Rows, AnyFormat::Csr(_)) => {
                let entries = cut.tiles().and_then(|tiles| tile_entries(tiles, thread));
                run(entries.map(|(entries, threads)| {
                    StridedSlots::new(None, entries.start, entries.end, threads, false)
                }))
            }
            (GridMapping::LanesPerRow, Pass::Rows, AnyFormat::Csr(_)) => {
                rows(one(thread / cut.lanes()), thread % cut.lanes(), cut.lanes())
            }
            (GridMapping::LanesPerRow, Pass::Rows, AnyFormat::Hll(_)) => {
                run(shared(a, cut, thread))
            }
            (GridMapping::WarpPerBlockRow, Pass::Rows, AnyFormat::Bsr(bsr)) => {
                let lanes = BlockLanes::new(bsr.block());
                let edge = bsr.block() as u64;
                let first = lanes.of(lane).filter(|_| warp < (bsr.rows() as u64).div_ceil(edge));
                run(first.map(|(row, share)| {
                    let row = (warp * edge + row) as usize;
                    let end = row_length(a, row, true) as u64;
                    StridedSlots::new(Some(row), share, end, lanes.at_once(), false)
                }))
            }
            _ => none,
        }
    }
}

/// A thread's slots of a row in hacks, or of the spilled row that its block works on.
fn shared<T: Scalar>(a: &AnyFormat<T>, cut: &Cut, thread: u64) -> Option<StridedSlots> {
    let AnyFormat::Hll(hll) = a else { return None };
    let in_hacks = hll.row_order().in_blocks();
    match cut.apart_of(thread) {
        Ok((number, first)) => {
            let (position, length) =
                (in_hacks + number as usize, hll.tail().row_len(number as usize));
            let stride = cut.block().into();
            Some(StridedSlots::new(Some(position), first, length as u64, stride, true))
        }
        Err(thread) => {
            let (position, share) = cut.shared_row(thread);
            let position = usize::try_from(position).ok().filter(|&p| p < in_hacks)?;
            let length = row_length(a, position, false) as u64;
            Some(StridedSlots::new(Some(position), share, length, cut.lanes(), false))
        }
    }
}

/// The range that holds only `index`.
fn one(index: u64) -> Range<u64> {
    index..index.saturating_add(1)
}

/// The slots of its span that lane `lane` of warp `warp` reads.
fn span<T: Scalar>(coo: &Coo<T>, warp: u64, lane: u64, in_tail: bool) -> Option<StridedSlots> {
    let entries = span_entries(coo, warp);
    let run = StridedSlots::new(None, entries.start + lane, entries.end, LANES, in_tail);
    (run.steps > 0).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::kernels;
    use crate::kernel::parameters::SPILL;
    use crate::kernel::{Allowed, COO_SPAN, Format, FormatParams, Mapping, Reads, Work};
    use sparsescope_kernels::spmv::{Unscaled, csr};
    use sparsescope_matrix::matrix::{Csr, SlotLayout};
    use sparsescope_matrix::memory::MemoryLimit;
    use sparsescope_matrix::vector::integer_vector;
    use sparsescope_record::Operation;
    use std::sync::Arc;

    fn on_grid() -> impl Iterator<Item = &'static KernelDescriptor> {
        kernels(Operation::Spmv).iter().filter(|k| matches!(k.mapping, Mapping::Grid(_)))
    }

    /// 97 × 61 with a dense row, empty first and last rows, and 1 000 nonzeros or more, so that
    /// COO has several spans.
    fn matrix() -> Csr {
        let rows = (1..96usize).flat_map(|i| {
            (0..1 + i * i % 37).map(move |j| (i, (i * 7 + j * 5) % 61, 1.0 + j as f64))
        });
        let dense = (0..61).map(|j| (40, j, 2.0));
        Csr::from_triplets(97, 61, &rows.chain(dense).collect::<Vec<_>>()).unwrap()
    }

    /// Value and column of a slot; `None` past the last column.
    fn slot_of(a: &AnyFormat, access: Access) -> Option<(f64, u32)> {
        let slot = access.slot as usize;
        let of = |col: &[u32], val: &[f64]| Some((val[slot], col[slot]));
        match a {
            AnyFormat::Csr(a) => of(a.col(), a.val()),
            AnyFormat::Coo(a) => of(a.col(), a.val()),
            AnyFormat::Ell(a) => of(a.col(), a.val()),
            AnyFormat::Hll(a) if access.in_tail => of(a.tail().col(), a.tail().val()),
            AnyFormat::Hll(a) => of(a.col(), a.val()),
            AnyFormat::Hyb(a) if access.in_tail => of(a.tail().col(), a.tail().val()),
            AnyFormat::Hyb(a) => of(a.ell().col(), a.ell().val()),
            AnyFormat::Bsr(a) => {
                let edge = a.block();
                let column = a.col()[slot / (edge * edge)] as usize * edge + slot % edge;
                (column < a.cols()).then(|| (a.val()[slot], column as u32))
            }
            AnyFormat::Dia(a) => a.slot_entry(access.row, slot / a.rows()).map(|(c, v)| (v, c)),
            AnyFormat::HllCompact(a) => {
                let number = (slot - a.shape().slot(access.row, 0) as usize) / 32;
                a.row_slots(access.row).nth(number).map(|(c, v)| (v, c))
            }
            AnyFormat::CsrCompact(_) => panic!("no kernel on a grid reads it"),
        }
    }

    /// The matrix as the kernel reads it, and its slots.
    fn format_of(kernel: &KernelDescriptor, a: &Arc<Csr>, sorted: bool) -> (AnyFormat, u64) {
        let (sigma, spill) = if sorted { (16, Some(20)) } else { (1, None) };
        let min_fill = Some(0);
        let params =
            FormatParams { hyb_width: Some(3), sigma, spill, min_fill, ..Default::default() };
        let hack_size = if kernel.reads == Reads::Matrix(Format::HllCompact) { 32 } else { 8 };
        let spec = kernel.format().unwrap().with(&FormatParams { hack_size, ..params });
        let format = spec.build(a, MemoryLimit::unlimited()).unwrap();
        let slots = match &format {
            AnyFormat::Dia(dia) => (0..a.rows()).map(|i| dia.crossing(i).len() as u64).sum(),
            _ if kernel.needs.finite_x => spec.size(a).unwrap().slots,
            _ => a.nnz() as u64,
        };
        (format, slots)
    }

    #[test]
    fn the_threads_of_a_grid_read_every_entry_once_and_their_sums_are_the_product() {
        let a = Arc::new(matrix());
        assert!(a.nnz() as u64 > 2 * COO_SPAN, "several spans");
        let x = integer_vector(61, 7);
        let mut y = vec![0.0; a.rows()];
        csr::serial(&a, Unscaled, &x, &mut y);
        for (kernel, block) in on_grid().flat_map(|k| [32, 96, 160].map(|block| (k, block))) {
            let takes_sorted = kernel.allowed(SPILL.id()) == Some(Allowed::Any);
            for sorted in [false, true].into_iter().filter(|sorted| !sorted || takes_sorted) {
                let (format, expected) = format_of(kernel, &a, sorted);
                let cut = Cut::new(kernel, &format, block).unwrap();
                assert!(cut.block() == block || !kernel.takes.block);
                let blocks = match &format {
                    AnyFormat::Coo(coo) => GridMapping::WarpPerSpan
                        .blocks(Work::Entries(coo.nnz() as u64), cut.block()),
                    _ => cut.blocks(),
                };
                let threads = blocks * u64::from(cut.block());
                let all: Vec<Access> =
                    (0..threads).flat_map(|t| kernel.accesses(&format, &cut, t)).collect();
                // The last block row may extend past the last row.
                let mut sums = vec![0.0; 97 + 7];
                let mut places: Vec<(bool, u64)> = Vec::new();
                for &access in &all {
                    if let Some((value, column)) = slot_of(&format, access) {
                        sums[access.row] += value * x[column as usize];
                    }
                    places.push((access.in_tail, access.slot));
                }
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), all.len(), "{}: a slot is read twice", kernel.id);
                assert_eq!(all.len() as u64, expected, "{}", kernel.id);
                assert_eq!(sums[..97], y, "{} with blocks of {block}", kernel.id);
                let beyond = kernel.accesses(&format, &cut, threads + (1 << 40));
                assert_eq!(beyond, [], "{}", kernel.id);
            }
        }
    }

    #[test]
    fn neighbouring_lanes_read_neighbouring_slots_where_the_mapping_coalesces() {
        let a = Arc::new(matrix());
        let apart = |id: &str| {
            let kernel = crate::kernel::kernel(id).unwrap();
            let spec = kernel.format().unwrap().with(&FormatParams::default());
            let format = spec.build(&a, MemoryLimit::unlimited()).unwrap();
            let cut = Cut::new(kernel, &format, 32).unwrap();
            // Rows 32 and 33 start a warp.
            let first = |thread| kernel.accesses(&format, &cut, thread)[0].slot;
            match kernel.mapping {
                Mapping::Grid(GridMapping::WarpPerRow) => first(40 * 32 + 1) - first(40 * 32),
                _ => first(33) - first(32),
            }
        };
        assert_eq!(apart("cuda/csr/warp-shuffle"), 1);
        assert_eq!(apart("cuda/ell/column-major"), 1);
        assert_eq!(apart("cuda/csr/adaptive"), 1);
        assert_eq!(apart("cuda/csr/lanes"), 1);
        assert_eq!(apart("cuda/ell/thread-per-row"), 61);
        assert!(apart("cuda/csr/thread-per-row") > 1);
    }

    #[test]
    fn grids_are_those_of_the_papers_also_beyond_32_bits() {
        let rows = Work::Rows(1000);
        assert_eq!(GridMapping::ThreadPerRow.blocks(rows, 96), 11);
        assert_eq!(GridMapping::ThreadPerHack.blocks(rows, 96), 11);
        assert_eq!(GridMapping::WarpPerRow.blocks(rows, 96), 334);
        assert_eq!(GridMapping::WarpPerSpan.blocks(Work::Entries(1025), 64), 2);
        let many = Work::Rows(1 << 31);
        assert_eq!(GridMapping::WarpPerRow.blocks(many, 32), 1 << 31);
    }
}
