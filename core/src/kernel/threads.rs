//! Which slots each thread of a GPU's grid reads, in which step.

use std::ops::Range;

use super::descriptor::KernelDescriptor;
use super::grid::{GridMapping, LANES, span_entries};
use super::mapping::Mapping;
use super::rows::{row_length, slot};
use crate::matrix::{AnyFormat, Coo, Scalar};

/// One slot read by a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Step of the thread's loop, from 0: the lanes of a warp read in step.
    pub step: u64,
    /// The row whose sum it enters.
    pub row: usize,
    /// Index into the arrays `col` and `val`; of HYB's tail when `in_tail`.
    pub slot: u64,
    /// It lies in the tail of HYB, which a second launch goes through.
    pub in_tail: bool,
}

/// The launches that a product on a grid is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// Rows, or hacks of rows.
    Rows,
    /// Spans of entries in coordinates: COO's, or those of HYB's tail.
    Spans,
}

/// Slots that one thread goes through for one row, or for one span of entries: every `stride`-th.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StridedSlots {
    /// The row; absent for a span, whose entries name theirs.
    pub row: Option<usize>,
    /// Steps of the loop.
    pub steps: u64,
    /// Number in the row, or in the arrays, of the slot read in step 0, and of the first beyond
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

    /// What lane `lane` does of a row or span that a warp shares, when this is what lane 0 does.
    #[inline]
    pub fn of_lane(&self, lane: u64) -> Self {
        Self::new(self.row, self.first + lane, self.end, self.stride, self.in_tail)
    }

    /// What is read in step `step < steps`. Panics when `a` is not the matrix that the run is of.
    #[inline]
    pub fn access<T: Scalar>(&self, a: &AnyFormat<T>, step: u64) -> Access {
        let number = self.first + step * self.stride;
        let (row, slot) = match (self.row, a) {
            (Some(row), _) => (row, slot(a, row, number as usize)),
            (None, AnyFormat::Hyb(a)) => (a.tail().row()[number as usize] as usize, number),
            (None, AnyFormat::Coo(a)) => (a.row()[number as usize] as usize, number),
            (None, _) => (0, number),
        };
        Access { step, row, slot, in_tail: self.in_tail }
    }
}

/// The slots of one thread: those of its rows one after another, or those of its span.
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
    /// What thread `thread` of the grid reads of `a`, in its order; nothing for a thread without
    /// work, for kernels that do not run on a grid, and for HLL whose rows are in another order or
    /// kept apart, which no kernel on a grid takes.
    pub fn accesses<T: Scalar>(&self, a: &AnyFormat<T>, thread: u64) -> Vec<Access> {
        let mut all = Vec::new();
        for pass in [Pass::Rows, Pass::Spans] {
            let accesses = self
                .thread_slots(a, pass, thread)
                .flat_map(|run| (0..run.steps).map(move |step| run.access(a, step)));
            all.extend(accesses.zip(0..).map(|(access, step)| Access { step, ..access }));
        }
        all
    }

    /// The same without a list of them: of thread `thread` of one pass's grid.
    pub fn thread_slots<'a, T: Scalar>(
        &self,
        a: &'a AnyFormat<T>,
        pass: Pass,
        thread: u64,
    ) -> ThreadSlots<'a, T> {
        let none = ThreadSlots::none(a);
        let Mapping::Grid(mapping) = self.mapping else { return none };
        if matches!(a, AnyFormat::Hll(a) if !a.is_plain()) {
            return none;
        }
        let (warp, lane) = (thread / LANES, thread % LANES);
        let rows = |rows: Range<u64>, first: u64, stride: u64| {
            let end = rows.end.min(a.rows() as u64);
            let rows = rows.start.min(end) as usize..end as usize;
            ThreadSlots { a, rows, padding: self.needs.finite_x, first, stride, span: None }
        };
        match (mapping, pass, a) {
            (GridMapping::ThreadPerRow, Pass::Rows, _) => rows(one(thread), 0, 1),
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
                ThreadSlots { span: span(coo, warp, lane, false), ..none }
            }
            (GridMapping::WarpPerSpan, Pass::Spans, AnyFormat::Hyb(hyb)) => {
                ThreadSlots { span: span(hyb.tail(), warp, lane, true), ..none }
            }
            _ => none,
        }
    }
}

/// The range of one.
fn one(index: u64) -> Range<u64> {
    index..index.saturating_add(1)
}

/// What lane `lane` of warp `warp` reads of its span.
fn span<T: Scalar>(coo: &Coo<T>, warp: u64, lane: u64, in_tail: bool) -> Option<StridedSlots> {
    let entries = span_entries(coo, warp);
    let run = StridedSlots::new(None, entries.start + lane, entries.end, LANES, in_tail);
    (run.steps > 0).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::SpmvProblem;
    use crate::kernel::{COO_SPAN, Work};
    use crate::kernel::{FormatParams, kernels};
    use crate::matrix::Csr;
    use crate::measure::integer_vector;
    use crate::memory::MemoryLimit;
    use crate::record::Operation;
    use std::sync::Arc;

    fn on_grid() -> impl Iterator<Item = (&'static KernelDescriptor, GridMapping)> {
        kernels(Operation::Spmv).iter().filter_map(|k| match k.mapping {
            Mapping::Grid(mapping) => Some((k, mapping)),
            _ => None,
        })
    }

    /// 97 × 61 with a dense row, empty first and last rows and 1 000 entries and more, so that
    /// COO has several spans.
    fn matrix() -> Csr {
        let rows = (1..96usize).flat_map(|i| {
            (0..1 + i * i % 37).map(move |j| (i, (i * 7 + j * 5) % 61, 1.0 + j as f64))
        });
        let dense = (0..61).map(|j| (40, j, 2.0));
        Csr::from_triplets(97, 61, &rows.chain(dense).collect::<Vec<_>>()).unwrap()
    }

    /// Value and column of a slot.
    fn slot_of(a: &AnyFormat, access: Access) -> (f64, u32) {
        let slot = access.slot as usize;
        match a {
            AnyFormat::Csr(a) => (a.val()[slot], a.col()[slot]),
            AnyFormat::Coo(a) => (a.val()[slot], a.col()[slot]),
            AnyFormat::Ell(a) => (a.val()[slot], a.col()[slot]),
            AnyFormat::Hll(a) => (a.val()[slot], a.col()[slot]),
            AnyFormat::Hyb(a) if access.in_tail => (a.tail().val()[slot], a.tail().col()[slot]),
            AnyFormat::Hyb(a) => (a.ell().val()[slot], a.ell().col()[slot]),
            AnyFormat::Bsr(_)
            | AnyFormat::Dia(_)
            | AnyFormat::CsrCompact(_)
            | AnyFormat::HllCompact(_) => panic!("no kernel on a grid reads these"),
        }
    }

    #[test]
    fn the_threads_of_a_grid_read_every_entry_once_and_their_sums_are_the_product() {
        let a = Arc::new(matrix());
        assert!(a.nnz() as u64 > 2 * COO_SPAN, "several spans");
        let x = integer_vector(61, 7);
        let problem = SpmvProblem::new(Arc::clone(&a), x.clone());
        let y = problem.double().reference().y().to_vec();
        let params = FormatParams { hack_size: 8, hyb_width: Some(3), ..FormatParams::default() };
        for (kernel, mapping) in on_grid() {
            for block in [32, 96, 160] {
                let spec = kernel.format().unwrap().with(&params);
                let format =
                    problem.double().format(spec, MemoryLimit::unlimited()).unwrap().matrix;
                let rows = mapping.blocks(Work::Rows(97), block);
                let blocks = match &format {
                    AnyFormat::Coo(coo) => mapping.blocks(Work::Entries(coo.nnz() as u64), block),
                    _ => rows,
                };
                let threads = blocks * u64::from(block);
                let all: Vec<Access> =
                    (0..threads).flat_map(|thread| kernel.accesses(&format, thread)).collect();
                let mut sums = vec![0.0; 97];
                let mut places: Vec<(bool, u64)> = Vec::new();
                for &access in &all {
                    let (value, column) = slot_of(&format, access);
                    sums[access.row] += value * x[column as usize];
                    places.push((access.in_tail, access.slot));
                }
                places.sort_unstable();
                places.dedup();
                assert_eq!(places.len(), all.len(), "{}: a slot is read twice", kernel.id);
                let expected = match kernel.needs.finite_x {
                    true => spec.size(&a).unwrap().slots,
                    false => a.nnz() as u64,
                };
                assert_eq!(all.len() as u64, expected, "{}", kernel.id);
                assert_eq!(sums, y, "{} with blocks of {block}", kernel.id);
                let beyond = kernel.accesses(&format, threads + (1 << 40));
                assert_eq!(beyond, [], "{}", kernel.id);
            }
        }
    }

    #[test]
    fn neighbouring_lanes_read_neighbouring_slots_where_the_mapping_coalesces() {
        let problem = SpmvProblem::new(Arc::new(matrix()), vec![1.0; 61]);
        let apart = |id: &str| {
            let kernel = crate::kernel::kernel(id).unwrap();
            let spec = kernel.format().unwrap().with(&FormatParams::default());
            let format = problem.double().format(spec, MemoryLimit::unlimited()).unwrap().matrix;
            // Rows 32 and 33 begin a warp.
            let first = |thread| kernel.accesses(&format, thread)[0].slot;
            match kernel.mapping {
                Mapping::Grid(GridMapping::WarpPerRow) => first(40 * 32 + 1) - first(40 * 32),
                _ => first(33) - first(32),
            }
        };
        assert_eq!(apart("cuda/csr/warp-shuffle"), 1);
        assert_eq!(apart("cuda/ell/column-major"), 1);
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
