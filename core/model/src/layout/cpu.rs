//! What CPU threads read: the parts of each worker, step by step, and the cache lines that they
//! touch.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use sparsescope_matrix::parallel::*;

use super::array::{Array, ArrayInfo, arrays};
use super::launch::{LayoutError, check_format};
use super::slots::Place;
use crate::kernel::{KernelDescriptor, Mapping, Share, row_at, row_length, slot};
use sparsescope_matrix::matrix::{AnyFormat, Coo, Scalar};

/// Bytes per CPU cache line.
pub const CACHE_LINE: u64 = 64;

/// One step of a worker: multiplying a slot by an element of x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuStep {
    /// The row that the product is added to.
    pub row: usize,
    /// Where the column is read.
    pub col: Place,
    /// Where the value is read.
    pub val: Place,
    /// Where x is read.
    pub x: Place,
}

/// The memory traffic of one share of the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareTraffic {
    /// The share and its worker.
    pub share: Share,
    /// Number of steps, padding included if the kernel multiplies it.
    pub steps: u64,
    /// Distinct cache lines of each array touched, in the order of [`Array::ALL`].
    pub lines: Vec<(Array, u64)>,
}

impl ShareTraffic {
    /// Cache lines over all arrays.
    pub fn total_lines(&self) -> u64 {
        self.lines.iter().map(|(_, lines)| lines).sum()
    }

    /// Bytes of those lines.
    pub fn bytes(&self) -> u64 {
        self.total_lines() * CACHE_LINE
    }
}

/// A CPU kernel on a matrix: which worker handles what.
#[derive(Clone, Debug)]
pub struct CpuTraffic<T = f64> {
    kernel: &'static KernelDescriptor,
    a: AnyFormat<T>,
    arrays: Vec<ArrayInfo>,
    shares: Vec<ShareTraffic>,
}

impl<T: Scalar> CpuTraffic<T> {
    /// Walks the shares of `workers` workers, in row order. Fails without workers, for kernels that
    /// do not run on a CPU, for BSR, DIA and compact formats, and for a matrix that is not in the
    /// kernel's format.
    pub fn of(
        kernel: &'static KernelDescriptor,
        a: &AnyFormat<T>,
        workers: usize,
    ) -> Result<Self, LayoutError> {
        Self::through(kernel, a, workers, &AtomicBool::new(false))
    }

    /// Like [`of`](Self::of), but returns nothing once `cancel` is set.
    pub fn unless(
        kernel: &'static KernelDescriptor,
        a: &AnyFormat<T>,
        workers: usize,
        cancel: &AtomicBool,
    ) -> Result<Option<Self>, LayoutError> {
        let traffic = Self::through(kernel, a, workers, cancel)?;
        Ok((!cancel.load(Ordering::Relaxed)).then_some(traffic))
    }

    /// Once `cancel` is set, the remaining rows are skipped.
    fn through(
        kernel: &'static KernelDescriptor,
        a: &AnyFormat<T>,
        workers: usize,
        cancel: &AtomicBool,
    ) -> Result<Self, LayoutError> {
        if workers == 0 {
            return Err(LayoutError::Workers);
        }
        let unknown = LayoutError::Mapping { kernel: kernel.id, what: "CPU threads" };
        match (kernel.mapping, a) {
            (
                Mapping::Grid(_)
                | Mapping::Subgroups
                | Mapping::WorkgroupSpans
                | Mapping::Library
                | Mapping::Chosen,
                _,
            ) => return Err(unknown),
            (_, AnyFormat::Bsr(_)) => return Err(LayoutError::Format { format: "BSR" }),
            (_, AnyFormat::Dia(_)) => return Err(LayoutError::Format { format: "DIA" }),
            (_, AnyFormat::CsrCompact(_)) => {
                return Err(LayoutError::Format { format: "compact CSR" });
            }
            (_, AnyFormat::HllCompact(_)) => {
                return Err(LayoutError::Format { format: "compact HLL" });
            }
            _ if kernel.model.is_none() => return Err(unknown),
            _ => check_format(kernel, a)?,
        }
        let (a, arrays) = (a.clone(), arrays(a));
        let shares = kernel.mapping.shares(&a, workers);
        let walk = Walk { kernel, a: &a, shares: &shares, cancel };
        let gone_through = (0..shares.len())
            .into_par_iter()
            .map_init(
                || Lines::new(&arrays),
                |lines, k| {
                    let mut steps = 0;
                    walk.share(k, &mut |touch| match touch {
                        Touch::Element(place) => lines.touch(place),
                        Touch::Step(step) => {
                            steps += 1;
                            lines.touch(step.col);
                            lines.touch(step.val);
                            lines.touch(step.x);
                        }
                    });
                    ShareTraffic { share: shares[k].clone(), steps, lines: lines.take() }
                },
            )
            .collect();
        Ok(Self { kernel, a, arrays, shares: gone_through })
    }

    /// The arrays of the format, x and y.
    pub fn arrays(&self) -> &[ArrayInfo] {
        &self.arrays
    }

    /// The shares in row order.
    pub fn shares(&self) -> &[ShareTraffic] {
        &self.shares
    }

    /// The steps of share `share` in `range`, numbered from 0; empty if there is no such share.
    pub fn steps(&self, share: usize, range: Range<u64>) -> Vec<CpuStep> {
        let (mut seen, mut steps) = (0, Vec::new());
        self.walk(share, |touch| {
            if let Touch::Step(step) = touch {
                if range.contains(&seen) {
                    steps.push(step);
                }
                seen += 1;
            }
        });
        steps
    }

    /// Whether each share has its own worker; otherwise the next free worker takes it.
    pub fn is_divided_by_worker(&self) -> bool {
        self.shares.iter().all(|s| s.share.worker.is_some())
    }

    /// Every place that share `share` has touched after `steps` steps, in order and with
    /// repetitions. Includes row pointers and y, up to what is read just before the next step.
    pub fn places(&self, share: usize, steps: u64) -> Vec<Place> {
        let (mut seen, mut places) = (0, Vec::new());
        self.walk(share, |touch| {
            seen += u64::from(matches!(touch, Touch::Step(_)));
            match touch {
                _ if seen > steps => {}
                Touch::Element(place) => places.push(place),
                Touch::Step(step) => places.extend([step.col, step.val, step.x]),
            }
        });
        places
    }

    /// Walks one share again; does nothing if there is no such share.
    fn walk(&self, share: usize, mut tell: impl FnMut(Touch)) {
        let shares: Vec<Share> = self.shares.iter().map(|s| s.share.clone()).collect();
        if share < shares.len() {
            let cancel = &AtomicBool::new(false);
            let walk = Walk { kernel: self.kernel, a: &self.a, shares: &shares, cancel };
            walk.share(share, &mut tell);
        }
    }

    /// Largest number of steps of a share, divided by the mean: 1 is balanced. Absent without
    /// steps.
    pub fn imbalance(&self) -> Option<f64> {
        let all: u64 = self.shares.iter().map(|s| s.steps).sum();
        let most = self.shares.iter().map(|s| s.steps).max()?;
        (all > 0).then(|| most as f64 * self.shares.len() as f64 / all as f64)
    }
}

/// What a worker touches.
enum Touch {
    /// An element outside the loop: row pointers, hack offsets, y.
    Element(Place),
    /// A step of the loop.
    Step(CpuStep),
}

/// The shares of SpMV.
struct Walk<'a, T> {
    kernel: &'a KernelDescriptor,
    a: &'a AnyFormat<T>,
    shares: &'a [Share],
    /// Once set, the remaining rows are skipped.
    cancel: &'a AtomicBool,
}

impl<T: Scalar> Walk<'_, T> {
    /// Reports all that a share touches to `tell`, in order.
    fn share(&self, k: usize, tell: &mut impl FnMut(Touch)) {
        let Share { rows, entries, .. } = self.shares[k].clone();
        match (self.a, entries) {
            (AnyFormat::Coo(coo), _) => {
                self.coordinates(coo, rows, [Array::Row, Array::Col, Array::Val], tell);
            }
            (AnyFormat::Csr(_), Some(entries)) => self.merged(k, rows, entries, tell),
            (AnyFormat::Hyb(hyb), _) => {
                self.rows(rows.clone(), tell);
                let arrays = [Array::TailRow, Array::TailCol, Array::TailVal];
                self.coordinates(hyb.tail(), rows, arrays, tell);
            }
            _ => self.rows(rows, tell),
        }
    }

    /// The slots of whole rows, by position.
    fn rows(&self, positions: Range<usize>, tell: &mut impl FnMut(Touch)) {
        for position in positions {
            if self.cancelled() {
                return;
            }
            let row = row_at(self.a, position);
            let (mut slots, mut arrays) = (0..0, [Array::Col, Array::Val]);
            match self.a {
                AnyFormat::Csr(_) => {
                    element(Array::RowPtr, position, tell);
                    element(Array::RowPtr, position + 1, tell);
                }
                AnyFormat::Hll(a) => {
                    if a.row_order().row_of().is_some() {
                        element(Array::RowOf, position, tell);
                    }
                    match position.checked_sub(a.row_order().in_blocks()) {
                        None => {
                            element(Array::Offsets, a.shape().hack_of(position), tell);
                            match self.kernel.needs.finite_x {
                                true => element(Array::MaxNzr, a.shape().hack_of(position), tell),
                                false => element(Array::RowLen, position, tell),
                            }
                        }
                        Some(k) => {
                            element(Array::TailRowPtr, k, tell);
                            element(Array::TailRowPtr, k + 1, tell);
                            slots = a.tail().row_range(k);
                            arrays = [Array::TailCol, Array::TailVal];
                        }
                    }
                }
                _ => {}
            }
            if arrays[0] == Array::Col {
                slots = 0..row_length(self.a, position, self.kernel.needs.finite_x);
            }
            // The slots of a row are equally spaced; those of the tail are contiguous.
            let at = |j: usize| match arrays[0] {
                Array::Col => slot(self.a, position, j),
                _ => j as u64,
            };
            let first = if slots.is_empty() { 0 } else { at(slots.start) };
            let apart = if slots.len() > 1 { at(slots.start + 1) - first } else { 0 };
            let columns = self.columns(arrays[0]);
            for k in 0..slots.len() as u64 {
                let index = first + k * apart;
                tell(Touch::Step(step(row, index, arrays, columns[index as usize])));
            }
            element(Array::Y, row, tell);
        }
    }

    /// A piece of the merge path: the ends of the rows that it finishes, its nonzeros, and y of
    /// these rows and of the row that it carries over.
    fn merged(
        &self,
        k: usize,
        rows: Range<usize>,
        entries: Range<usize>,
        tell: &mut impl FnMut(Touch),
    ) {
        let AnyFormat::Csr(a) = self.a else { return };
        // The next piece starts in the first row that this one does not finish.
        let unfinished = self.shares.get(k + 1).map_or(a.rows(), |next| next.rows.start);
        let mut entry = entries.start;
        for row in rows {
            if self.cancelled() {
                return;
            }
            let end = match row < unfinished {
                true => {
                    element(Array::RowPtr, row + 1, tell);
                    a.row_range(row).end
                }
                false => entries.end,
            };
            for k in entry..end {
                tell(Touch::Step(step(row, k as u64, [Array::Col, Array::Val], a.col()[k])));
            }
            entry = end;
            element(Array::Y, row, tell);
        }
    }

    /// The column indices in an array.
    fn columns(&self, array: Array) -> &[u32] {
        match (self.a, array) {
            (AnyFormat::Csr(a), _) => a.col(),
            (AnyFormat::Ell(a), _) => a.col(),
            (AnyFormat::Hyb(a), _) => a.ell().col(),
            (AnyFormat::Hll(a), Array::TailCol) => a.tail().col(),
            (AnyFormat::Hll(a), _) => a.col(),
            (
                AnyFormat::Coo(_)
                | AnyFormat::Bsr(_)
                | AnyFormat::Dia(_)
                | AnyFormat::CsrCompact(_)
                | AnyFormat::HllCompact(_),
                _,
            ) => &[],
        }
    }

    /// The nonzeros of some rows in coordinate format, each added to y.
    fn coordinates(
        &self,
        coo: &Coo<T>,
        rows: Range<usize>,
        [row, col, val]: [Array; 3],
        tell: &mut impl FnMut(Touch),
    ) {
        let first = |row: usize| coo.row().partition_point(|&r| (r as usize) < row);
        for k in first(rows.start)..first(rows.end) {
            if self.cancelled() {
                return;
            }
            element(row, k, tell);
            let of = coo.row()[k] as usize;
            tell(Touch::Step(step(of, k as u64, [col, val], coo.col()[k])));
            element(Array::Y, of, tell);
        }
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

fn element(array: Array, index: usize, tell: &mut impl FnMut(Touch)) {
    tell(Touch::Element(Place { array, index: index as u64 }));
}

fn step(row: usize, index: u64, [col, val]: [Array; 2], column: u32) -> CpuStep {
    let at = |array| Place { array, index };
    let x = Place { array: Array::X, index: column.into() };
    CpuStep { row, col: at(col), val: at(val), x }
}

/// The cache lines touched in each array, one bit each.
struct Lines {
    of: Vec<Option<ArrayLines>>,
}

struct ArrayLines {
    element_bytes: u64,
    bits: Vec<u64>,
    /// Indices of the words of `bits` that are not 0.
    used: Vec<u32>,
    /// The word touched last: most arrays are read in order.
    last: u64,
}

impl Lines {
    fn new(arrays: &[ArrayInfo]) -> Self {
        let of = |array: Array| {
            let info = arrays.iter().find(|info| info.array == array)?;
            let words = info.bytes().div_ceil(CACHE_LINE * u64::from(u64::BITS)) as usize;
            let element_bytes = info.element_bytes.into();
            Some(ArrayLines {
                element_bytes,
                bits: vec![0; words],
                used: Vec::new(),
                last: u64::MAX,
            })
        };
        Self { of: Array::ALL.map(of).into() }
    }

    #[inline]
    fn touch(&mut self, place: Place) {
        let Some(Some(lines)) = self.of.get_mut(place.array.index()) else { return };
        let line = place.index * lines.element_bytes / CACHE_LINE;
        if line == lines.last {
            return;
        }
        lines.last = line;
        let word = (line / u64::from(u64::BITS)) as usize;
        if lines.bits[word] == 0 {
            lines.used.push(word as u32);
        }
        lines.bits[word] |= 1 << (line % u64::from(u64::BITS));
    }

    /// Number of lines of each array touched since the last call.
    fn take(&mut self) -> Vec<(Array, u64)> {
        let mut all = Vec::new();
        for (array, lines) in Array::ALL.into_iter().zip(&mut self.of) {
            let Some(lines) = lines else { continue };
            lines.last = u64::MAX;
            let mut touched = 0;
            for word in lines.used.drain(..) {
                touched += u64::from(std::mem::take(&mut lines.bits[word as usize]).count_ones());
            }
            if touched > 0 {
                all.push((array, touched));
            }
        }
        all
    }
}
