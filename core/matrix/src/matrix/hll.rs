//! Hacked ELLPACK (HLL): rows in hacks of `hack_size`, each hack an ELLPACK block as wide as its
//! longest row. Rows may be sorted by length within windows, and long ones kept apart in CSR.

use crate::parallel::*;

use super::csr::{check_dimensions, check_len};
use super::ellpack::{check_padded_rows, copy_row, pad_row, unpad};
use super::{Csr, FormatError, Order, RowOrder, RowPtr, Scalar, SlotLayout};
use crate::memory::{MemoryLimit, zeroed};

/// Hack sizes that are accepted: powers of two from 4 to 256.
pub const HACK_SIZES: [usize; 7] = [4, 8, 16, 32, 64, 128, 256];

/// The paper's hack size.
pub const DEFAULT_HACK_SIZE: usize = 32;

/// Rows of the sorting window where a sorted layout is shown by default.
pub const DEFAULT_SIGMA: usize = 1024;

/// How HLL lays out a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HllLayout {
    /// Rows per hack: one of [`HACK_SIZES`].
    pub hack_size: usize,
    /// Order of the slots in a hack.
    pub order: Order,
    /// Rows of a window within which rows are sorted by length, longest first; 0 or 1 for no
    /// sorting.
    pub sigma: usize,
    /// Rows longer than this are kept apart in CSR.
    pub spill: Option<usize>,
}

impl HllLayout {
    /// Rows in their original order, none kept apart.
    pub fn plain(hack_size: usize, order: Order) -> Self {
        Self { hack_size, order, sigma: 1, spill: None }
    }
}

/// Widths and offsets of the hacks, and the slot arithmetic of both orders.
///
/// Row-major in the hack (the Tor Vergata paper): slot `offsets[h] + r·max_nzr[h] + j`; the last
/// hack stores existing rows only. Column-major in the hack (spGPU, PSBLAS): slot
/// `offsets[h] + j·hack_size + r`; every hack stores `hack_size` rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HllShape {
    rows: usize,
    hack_size: usize,
    order: Order,
    max_nzr: Vec<u32>,
    offsets: Vec<u64>,
}

impl HllShape {
    /// The shape for rows of the given lengths. `hack_size` is one of [`HACK_SIZES`].
    pub fn new(
        row_len: impl ExactSizeIterator<Item = u32>,
        hack_size: usize,
        order: Order,
    ) -> Result<Self, FormatError> {
        if !HACK_SIZES.contains(&hack_size) {
            return Err(FormatError::Invariant(format!(
                "expected a hack size that is a power of two from 4 to 256, found {hack_size}"
            )));
        }
        let rows = row_len.len();
        let mut max_nzr = vec![0u32; rows.div_ceil(hack_size)];
        // Shift instead of dividing: hack sizes are powers of two, and a division per row would
        // dominate.
        let shift = hack_size.trailing_zeros();
        for (i, len) in row_len.enumerate() {
            let widest = &mut max_nzr[i >> shift];
            *widest = len.max(*widest);
        }
        let mut offsets = Vec::with_capacity(max_nzr.len() + 1);
        let mut end = 0u64;
        offsets.push(0);
        for (h, &width) in max_nzr.iter().enumerate() {
            let stored_rows = match order {
                Order::RowMajor => hack_size.min(rows - h * hack_size),
                Order::ColumnMajor => hack_size,
            };
            end += stored_rows as u64 * u64::from(width);
            offsets.push(end);
        }
        Ok(Self { rows, hack_size, order, max_nzr, offsets })
    }

    /// Number of rows m.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Rows per hack.
    pub fn hack_size(&self) -> usize {
        self.hack_size
    }

    /// Number of hacks, ⌈m / hack_size⌉.
    pub fn hacks(&self) -> usize {
        self.max_nzr.len()
    }

    /// Order of the slots within a hack.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Width of each hack.
    pub fn max_nzr(&self) -> &[u32] {
        &self.max_nzr
    }

    /// First slot of each hack, followed by the number of slots.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Rows of hack `h`.
    pub fn hack_rows(&self, h: usize) -> std::ops::Range<usize> {
        let first = h * self.hack_size;
        first..self.rows.min(first + self.hack_size)
    }

    /// The hack that `row` lies in.
    #[inline]
    pub fn hack_of(&self, row: usize) -> usize {
        row / self.hack_size
    }

    /// Bytes of `offsets` and `max_nzr`.
    pub fn bytes(&self) -> u64 {
        8 * self.offsets.len() as u64 + 4 * self.max_nzr.len() as u64
    }
}

impl SlotLayout for HllShape {
    fn slots(&self) -> u64 {
        self.offsets.last().copied().unwrap_or(0)
    }

    #[inline]
    fn row_slots(&self, row: usize) -> usize {
        self.max_nzr[self.hack_of(row)] as usize
    }

    #[inline]
    fn slot(&self, row: usize, j: usize) -> u64 {
        let (h, r) = (self.hack_of(row), (row % self.hack_size) as u64);
        let in_hack = match self.order {
            Order::RowMajor => r * u64::from(self.max_nzr[h]) + j as u64,
            Order::ColumnMajor => j as u64 * self.hack_size as u64 + r,
        };
        self.offsets[h] + in_hack
    }
}

/// An m × n matrix in HLL. Padding has value 0 and the row's last column (0 in an empty row and in
/// the rows that column-major order stores beyond the last).
///
/// Rows lie in hacks in the order of [`row_order`](Self::row_order): the shape, `row_len`, `col`
/// and `val` are indexed by position. The rows after the last position in hacks are those of
/// [`tail`](Self::tail), in the same order.
#[derive(Clone, Debug, PartialEq)]
pub struct Hll<T = f64> {
    shape: HllShape,
    row_order: RowOrder,
    cols: usize,
    tail: Csr<T>,
    row_len: Vec<u32>,
    col: Vec<u32>,
    val: Vec<T>,
}

impl<T: Scalar> Hll<T> {
    /// Takes the arrays after checking lengths, column ranges (padding too), ascending columns in
    /// each row and zero padding. The widths of the hacks follow from `row_len`.
    pub fn try_new(
        hack_size: usize,
        order: Order,
        cols: usize,
        row_len: Vec<u32>,
        col: Vec<u32>,
        val: Vec<T>,
    ) -> Result<Self, FormatError> {
        let row_order = RowOrder::identity(row_len.len());
        let tail = Csr::from_triplets(0, cols, &[])?;
        Self::try_new_arranged((hack_size, order), row_order, row_len, col, val, tail)
    }

    /// Like [`try_new`](Self::try_new) for rows in any order: `row_len` by position in the hacks,
    /// and the rows kept apart in `tail`, which has the matrix's columns.
    pub fn try_new_arranged(
        (hack_size, order): (usize, Order),
        row_order: RowOrder,
        row_len: Vec<u32>,
        col: Vec<u32>,
        val: Vec<T>,
        tail: Csr<T>,
    ) -> Result<Self, FormatError> {
        let cols = tail.cols();
        check_dimensions(row_order.rows(), cols)?;
        check_len("row_len", row_len.len(), row_order.in_blocks())?;
        check_len("tail rows", tail.rows(), row_order.tail())?;
        let shape = HllShape::new(row_len.iter().copied(), hack_size, order)?;
        if col.len() as u64 != shape.slots() {
            let (expected, found) = (shape.slots(), col.len() as u64);
            return Err(FormatError::Length { array: "col", expected, found });
        }
        check_len("val", val.len(), col.len())?;
        check_padded_rows(&shape, cols, &row_len, &col, &val)?;
        Ok(Self { shape, row_order, cols, tail, row_len, col, val })
    }

    /// The row order and the shape of `a`, without allocating its slots.
    pub fn plan(a: &Csr<T>, layout: HllLayout) -> Result<(RowOrder, HllShape), FormatError> {
        Self::plan_of(a.row_ptr(), layout)
    }

    /// Like [`plan`](Self::plan), for a CSR matrix whose row offsets are given.
    pub fn plan_of(
        row_ptr: &RowPtr,
        layout: HllLayout,
    ) -> Result<(RowOrder, HllShape), FormatError> {
        let rows = row_ptr.len() - 1;
        if layout.sigma <= 1 && layout.spill.is_none() {
            let in_order = (0..rows).map(|i| row_ptr.range(i).len() as u32);
            let shape = HllShape::new(in_order, layout.hack_size, layout.order)?;
            return Ok((RowOrder::identity(rows), shape));
        }
        let lengths: Vec<u32> =
            (0..rows).into_par_iter().map(|i| row_ptr.range(i).len() as u32).collect();
        let order = RowOrder::sorted(&lengths, layout.sigma, layout.spill);
        let in_hacks = (0..order.in_blocks()).map(|p| lengths[order.row_at(p)]);
        let shape = HllShape::new(in_hacks, layout.hack_size, layout.order)?;
        Ok((order, shape))
    }

    /// Number of nonzeros in the rows kept apart.
    fn tail_nnz(a: &Csr<T>, order: &RowOrder) -> usize {
        (order.in_blocks()..order.rows()).map(|p| a.row_len(order.row_at(p))).sum()
    }

    /// Slots and nonzeros kept apart that `a` takes under a plan.
    pub fn slots_of(a: &Csr<T>, order: &RowOrder, shape: &HllShape) -> u64 {
        shape.slots() + Self::tail_nnz(a, order) as u64
    }

    /// Bytes of all arrays except `row_len` that `a` takes under a plan.
    fn bytes_read(a: &Csr<T>, order: &RowOrder, shape: &HllShape) -> u128 {
        let tail = Self::tail_nnz(a, order);
        let tail_ptr = 4 * (order.tail() as u128 + 1);
        u128::from(Self::slots_of(a, order, shape)) * (4 + T::BYTES as u128)
            + u128::from(shape.bytes())
            + u128::from(order.bytes())
            + if tail > 0 { tail_ptr } else { 0 }
    }

    /// Bytes of all arrays that `a` takes under a plan.
    pub fn bytes_needed(a: &Csr<T>, order: &RowOrder, shape: &HllShape) -> u128 {
        Self::bytes_read(a, order, shape) + 4 * shape.rows() as u128
    }

    /// Minimum bytes that one SpMV moves under a plan.
    pub fn minimal_bytes_of(a: &Csr<T>, order: &RowOrder, shape: &HllShape) -> u128 {
        Self::bytes_read(a, order, shape) + T::BYTES as u128 * (a.rows() as u128 + a.cols() as u128)
    }

    /// Pads each row to the longest of its hack. Fails, before allocating, when that needs more
    /// than `limit` or the hack size is not allowed.
    pub fn from_csr(
        a: &Csr<T>,
        hack_size: usize,
        order: Order,
        limit: MemoryLimit,
    ) -> Result<Self, FormatError> {
        Self::arranged(a, HllLayout::plain(hack_size, order), limit)
    }

    /// Sorts rows, keeps long ones apart and pads the others to the longest of their hack. Fails,
    /// before allocating, when that needs more than `limit` or the hack size is not allowed.
    pub fn arranged(
        a: &Csr<T>,
        layout: HllLayout,
        limit: MemoryLimit,
    ) -> Result<Self, FormatError> {
        let (row_order, shape) = Self::plan(a, layout)?;
        let hack_size = layout.hack_size;
        let what = format!("HLL of {} x {} with hack size {hack_size}", a.rows(), a.cols());
        limit.check(what, Self::bytes_needed(a, &row_order, &shape))?;
        let slots = shape.slots() as usize;
        let (mut col, mut val) = (zeroed(0u32, slots), zeroed(T::ZERO, slots));
        let hacks = hack_slices(&shape, &mut col, &mut val);
        hacks.into_par_iter().enumerate().with_min_len(16).for_each(|(h, (col, val))| {
            let (rows, width) = (shape.hack_rows(h), shape.max_nzr[h] as usize);
            for (r, p) in rows.enumerate() {
                let row = a.row(row_order.row_at(p));
                match shape.order {
                    Order::RowMajor => {
                        let slots = r * width..(r + 1) * width;
                        pad_row(row, &mut col[slots.clone()], &mut val[slots]);
                    }
                    Order::ColumnMajor => pad_column(row, (r, hack_size), col, val),
                }
            }
        });
        let positions = 0..row_order.in_blocks();
        let length = |p: usize| a.row_len(row_order.row_at(p)) as u32;
        let row_len = positions.into_par_iter().map(length).collect();
        let tail = Self::gather(a, (row_order.in_blocks()..a.rows()).map(|p| row_order.row_at(p)));
        Ok(Self { shape, row_order, cols: a.cols(), tail, row_len, col, val })
    }

    /// Some rows of `a`, in the given order.
    pub(super) fn gather(a: &Csr<T>, rows: impl ExactSizeIterator<Item = usize> + Clone) -> Csr<T> {
        let row_ptr = RowPtr::from_lengths(rows.clone().map(|i| a.row_len(i)));
        let rows: Vec<usize> = rows.collect();
        Csr::filled(rows.len(), a.cols(), row_ptr, |k, col, val| {
            let (c, v) = a.row(rows[k]);
            col.copy_from_slice(c);
            val.copy_from_slice(v);
        })
        .expect("rows of a matrix are rows of a matrix") // invariant
    }

    /// Converts back to CSR and drops padding.
    pub fn to_csr(&self) -> Csr<T> {
        if self.row_order.row_of().is_none() {
            return unpad(&self.shape, self.cols, &self.row_len, &self.col, &self.val);
        }
        let positions = self.row_order.positions();
        let tail = |position: u32| (position as usize).checked_sub(self.row_len.len());
        let row_ptr = RowPtr::from_lengths(positions.iter().map(|&p| match tail(p) {
            None => self.row_len[p as usize] as usize,
            Some(k) => self.tail.row_len(k),
        }));
        Csr::filled(positions.len(), self.cols, row_ptr, |i, col, val| match tail(positions[i]) {
            None => {
                let slots = (&self.col[..], &self.val[..]);
                copy_row(&self.shape, positions[i] as usize, slots, (col, val));
            }
            Some(k) => {
                let (c, v) = self.tail.row(k);
                col.copy_from_slice(c);
                val.copy_from_slice(v);
            }
        })
        .expect("hacks and tail hold every row once") // invariant
    }

    /// Number of rows m, including those kept apart.
    pub fn rows(&self) -> usize {
        self.row_order.rows()
    }

    /// The row at each position.
    pub fn row_order(&self) -> &RowOrder {
        &self.row_order
    }

    /// Whether every row is in the hacks, at its own place.
    pub fn is_plain(&self) -> bool {
        self.row_order.row_of().is_none() && self.row_order.tail() == 0
    }

    /// The rows kept apart, in the order of their positions.
    pub fn tail(&self) -> &Csr<T> {
        &self.tail
    }

    /// Hacks, their widths and offsets, and the order of the slots.
    pub fn shape(&self) -> &HllShape {
        &self.shape
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of nonzeros, without padding, of the row at each position in the hacks.
    pub fn row_len(&self) -> &[u32] {
        &self.row_len
    }

    /// Column of each slot.
    pub fn col(&self) -> &[u32] {
        &self.col
    }

    /// Value of each slot.
    pub fn val(&self) -> &[T] {
        &self.val
    }

    /// Bytes of all arrays that an SpMV reads when it multiplies padding.
    fn read(&self) -> u64 {
        let slots = self.col.len() as u64 * (4 + T::BYTES as u64);
        let tail = if self.tail.nnz() > 0 { self.tail.bytes() } else { 0 };
        slots + self.shape.bytes() + self.row_order.bytes() + tail
    }

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        self.read() + 4 * self.row_len.len() as u64
    }

    /// Minimum bytes that one SpMV moves when it multiplies padding and so never reads
    /// `row_len`: slots, offsets and widths, permutation and tail, y and x.
    pub fn minimal_bytes(&self) -> u64 {
        self.read() + T::BYTES as u64 * (self.rows() + self.cols) as u64
    }
}

/// Writes a row and its padding into every `step`-th slot, starting at `first`.
fn pad_column<T: Scalar>(
    (c, v): (&[u32], &[T]),
    (first, step): (usize, usize),
    col: &mut [u32],
    val: &mut [T],
) {
    // A hack of empty rows has no slots.
    let Some(col) = col.get_mut(first..) else { return };
    let mut columns = col.iter_mut().step_by(step);
    let values = val[first..].iter_mut().step_by(step);
    // The row comes first in the zip: when it ends, no slot has been taken from `columns`.
    for ((&c, &v), (to_col, to_val)) in c.iter().zip(v).zip(columns.by_ref().zip(values)) {
        (*to_col, *to_val) = (c, v);
    }
    if let Some(&last) = c.last() {
        columns.for_each(|to_col| *to_col = last);
    }
}

/// The slots of each hack, as disjoint slices.
fn hack_slices<'s, T>(
    shape: &HllShape,
    mut col: &'s mut [u32],
    mut val: &'s mut [T],
) -> Vec<(&'s mut [u32], &'s mut [T])> {
    shape
        .offsets
        .windows(2)
        .map(|w| {
            let len = (w[1] - w[0]) as usize;
            let (c, rest) = std::mem::take(&mut col).split_at_mut(len);
            col = rest;
            let (v, rest) = std::mem::take(&mut val).split_at_mut(len);
            val = rest;
            (c, v)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    fn hll(order: Order) -> Hll {
        Hll::from_csr(&examples::five_by_five(), 4, order, MemoryLimit::unlimited()).unwrap()
    }

    #[test]
    fn the_papers_example_has_the_offsets_of_both_orders() {
        assert_eq!(hll(Order::RowMajor).shape().offsets(), [0, 8, 10]);
        assert_eq!(hll(Order::ColumnMajor).shape().offsets(), [0, 8, 16]);
        assert_eq!(hll(Order::RowMajor).shape().max_nzr(), [2, 2]);
    }

    #[test]
    fn both_orders_hold_the_papers_entries() {
        assert_eq!(hll(Order::RowMajor).col(), examples::five_by_five().col());
        let a = hll(Order::ColumnMajor);
        assert_eq!(a.col(), [0, 1, 1, 2, 1, 2, 2, 3, 3, 0, 0, 0, 4, 0, 0, 0]);
        assert_eq!(
            a.val(),
            [3.0, 5.0, 1.0, 2.0, 4.0, 1.0, 2.0, 3.0, 1.0, 0.0, 0.0, 0.0, 6.0, 0.0, 0.0, 0.0]
        );
        // 12·S + offsets (8 each) + max_nzr (4 each) + y + x
        assert_eq!(a.minimal_bytes(), 12 * 16 + 8 * 3 + 4 * 2 + 8 * 5 + 8 * 5);
    }

    #[test]
    fn only_powers_of_two_from_4_to_256_are_hack_sizes() {
        let a = examples::five_by_five();
        for bad in [0, 1, 2, 3, 6, 33, 512] {
            let error = Hll::from_csr(&a, bad, Order::RowMajor, MemoryLimit::unlimited());
            assert!(error.unwrap_err().to_string().ends_with(&format!(", found {bad}")));
        }
        for good in HACK_SIZES {
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let hll = Hll::from_csr(&a, good, order, MemoryLimit::unlimited()).unwrap();
                assert_eq!(hll.to_csr(), a);
            }
        }
    }

    #[test]
    fn sorting_and_spilling_lessen_the_padding_and_keep_every_row() {
        // Lengths 1, 1, 1, 9, twice: each unsorted hack of four is 9 wide.
        let lengths = [1, 1, 1, 9, 1, 1, 1, 9];
        let entries = lengths.iter().enumerate();
        let triplets: Vec<_> =
            entries.flat_map(|(i, &l)| (0..l).map(move |j| (i, j, (i * 10 + j) as f64))).collect();
        let a = Csr::from_triplets(8, 9, &triplets).unwrap();
        let arranged = |sigma, spill| {
            let layout = HllLayout { hack_size: 4, order: Order::ColumnMajor, sigma, spill };
            let hll = Hll::arranged(&a, layout, MemoryLimit::unlimited()).unwrap();
            assert_eq!(hll.to_csr(), a);
            hll
        };
        assert_eq!(arranged(1, None).shape().max_nzr(), [9, 9]);
        let sorted = arranged(8, None);
        assert_eq!((sorted.shape().max_nzr(), sorted.shape().slots()), (&[9, 1][..], 40));
        assert_eq!(sorted.row_order().row_of(), Some(&[3, 7, 0, 1, 2, 4, 5, 6][..]));
        assert_eq!(sorted.minimal_bytes(), 12 * 40 + 8 * 3 + 4 * 2 + 4 * 8 + 8 * 8 + 8 * 9);
        let spilled = arranged(1, Some(8));
        assert_eq!((spilled.shape().slots(), spilled.tail().rows()), (8, 2));
        assert_eq!(spilled.tail().row(1), a.row(7));
        let moved = 12 * (8 + 18) + 8 * 3 + 4 * 2 + 4 * 8 + 4 * 3;
        assert_eq!(spilled.minimal_bytes(), moved + 8 * 8 + 8 * 9);
    }

    #[test]
    fn offsets_past_two_to_the_32_are_computed_without_wrapping() {
        // 100 hacks of 256 rows, each with one row of 2^25 nonzeros: 2^33 slots per hack.
        let lengths = (0..25_600u32).map(|i| if i % 256 == 7 { 1 << 25 } else { 1 });
        let shape = HllShape::new(lengths, 256, Order::ColumnMajor).unwrap();
        assert_eq!(shape.slots(), 100 << 33);
        assert_eq!(shape.slot(25_599, (1 << 25) - 1), (100 << 33) - 1);
        assert_eq!(shape.slot(256, 3), (1 << 33) + 3 * 256);
    }

    #[test]
    fn arrays_that_break_the_invariants_are_refused() {
        let good = hll(Order::RowMajor);
        let build = |len: &[u32], col: &[u32], val: &[f64]| {
            Hll::try_new(4, Order::RowMajor, 5, len.to_vec(), col.to_vec(), val.to_vec())
        };
        assert!(build(good.row_len(), good.col(), good.val()).is_ok());
        assert!(build(good.row_len(), &good.col()[1..], &good.val()[1..]).is_err());
        let mut col = good.col().to_vec();
        col[9] = 5;
        assert!(build(good.row_len(), &col, good.val()).is_err(), "column out of range");
        col[9] = 3;
        assert!(build(good.row_len(), &col, good.val()).is_err(), "columns repeat");
    }
}
