//! Hacked ELLPACK (HLL): rows in hacks of `hack_size`, each hack an ELLPACK block as wide as its
//! own longest row.

use rayon::prelude::*;

use super::csr::{check_dimensions, check_len};
use super::ellpack::{check_padded_rows, unpad};
use super::{Csr, FormatError, Order, Scalar, SlotLayout};
use crate::memory::MemoryLimit;

/// Hack sizes that are accepted: powers of two from 4 to 256.
pub const HACK_SIZES: [usize; 7] = [4, 8, 16, 32, 64, 128, 256];

/// The paper's hack size.
pub const DEFAULT_HACK_SIZE: usize = 32;

/// Widths and offsets of the hacks, and the slot arithmetic of both orders.
///
/// Row-major in the hack (the Tor Vergata paper): slot `offsets[h] + r·max_nzr[h] + j`, the last
/// hack stores existing rows only. Column-major in the hack (spGPU, PSBLAS): slot
/// `offsets[h] + j·hack_size + r`, every hack stores `hack_size` rows.
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
                "hack size {hack_size} is not a power of two from 4 to 256"
            )));
        }
        let rows = row_len.len();
        let mut max_nzr = vec![0u32; rows.div_ceil(hack_size)];
        for (i, len) in row_len.enumerate() {
            let widest = &mut max_nzr[i / hack_size];
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

    /// Rows a hack.
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

    /// First slot of each hack, and the number of slots at the end.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Rows of hack `h`.
    pub fn hack_rows(&self, h: usize) -> std::ops::Range<usize> {
        let first = h * self.hack_size;
        first..self.rows.min(first + self.hack_size)
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

    fn row_slots(&self, row: usize) -> usize {
        self.max_nzr[row / self.hack_size] as usize
    }

    fn slot(&self, row: usize, j: usize) -> u64 {
        let (h, r) = (row / self.hack_size, (row % self.hack_size) as u64);
        let in_hack = match self.order {
            Order::RowMajor => r * u64::from(self.max_nzr[h]) + j as u64,
            Order::ColumnMajor => j as u64 * self.hack_size as u64 + r,
        };
        self.offsets[h] + in_hack
    }
}

/// An m × n matrix in HLL. Padding has value 0 and the row's last column (0 in an empty row and
/// in the rows that column-major order stores past m).
#[derive(Clone, Debug, PartialEq)]
pub struct Hll<T = f64> {
    shape: HllShape,
    cols: usize,
    row_len: Vec<u32>,
    col: Vec<u32>,
    val: Vec<T>,
}

impl<T: Scalar> Hll<T> {
    /// Takes the arrays after checking lengths, column ranges (padding too), ascending columns in
    /// each row and zero padding. The hacks' widths follow from `row_len`.
    pub fn try_new(
        hack_size: usize,
        order: Order,
        cols: usize,
        row_len: Vec<u32>,
        col: Vec<u32>,
        val: Vec<T>,
    ) -> Result<Self, FormatError> {
        check_dimensions(row_len.len(), cols)?;
        let shape = HllShape::new(row_len.iter().copied(), hack_size, order)?;
        if col.len() as u64 != shape.slots() {
            let (expected, found) = (shape.slots(), col.len() as u64);
            return Err(FormatError::Length { array: "col", expected, found });
        }
        check_len("val", val.len(), col.len())?;
        check_padded_rows(&shape, cols, &row_len, &col, &val)?;
        Ok(Self { shape, cols, row_len, col, val })
    }

    /// The shape that `a` takes, without allocating its slots.
    pub fn shape_of(a: &Csr<T>, hack_size: usize, order: Order) -> Result<HllShape, FormatError> {
        HllShape::new((0..a.rows()).map(|i| a.row_len(i) as u32), hack_size, order)
    }

    /// Bytes of all arrays of a matrix with this shape.
    pub fn bytes_needed(shape: &HllShape) -> u128 {
        u128::from(shape.slots()) * (4 + T::BYTES as u128)
            + u128::from(shape.bytes())
            + 4 * shape.rows() as u128
    }

    /// Pads each row to the longest of its hack. Fails, before allocating, when that needs more
    /// than `limit` or the hack size is not allowed.
    pub fn from_csr(
        a: &Csr<T>,
        hack_size: usize,
        order: Order,
        limit: MemoryLimit,
    ) -> Result<Self, FormatError> {
        let shape = Self::shape_of(a, hack_size, order)?;
        let what = format!("HLL of {} x {} with hack size {hack_size}", a.rows(), a.cols());
        limit.check(what, Self::bytes_needed(&shape))?;
        let slots = shape.slots() as usize;
        let mut col = vec![0u32; slots];
        let mut val = vec![T::ZERO; slots];
        let hacks = hack_slices(&shape, &mut col, &mut val);
        hacks.into_par_iter().enumerate().for_each(|(h, (col, val))| {
            let (base, width) = (shape.offsets[h], shape.max_nzr[h] as usize);
            for i in shape.hack_rows(h) {
                let (c, v) = a.row(i);
                let at = |j: usize| (shape.slot(i, j) - base) as usize;
                for (j, (&c, &v)) in c.iter().zip(v).enumerate() {
                    col[at(j)] = c;
                    val[at(j)] = v;
                }
                if let Some(&last) = c.last() {
                    (c.len()..width).for_each(|j| col[at(j)] = last);
                }
            }
        });
        let row_len = (0..a.rows()).into_par_iter().map(|i| a.row_len(i) as u32).collect();
        Ok(Self { shape, cols: a.cols(), row_len, col, val })
    }

    /// Back to CSR, padding dropped.
    pub fn to_csr(&self) -> Csr<T> {
        unpad(&self.shape, self.cols, &self.row_len, &self.col, &self.val)
    }

    /// Hacks, widths, offsets and order.
    pub fn shape(&self) -> &HllShape {
        &self.shape
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Entries of each row that are not padding.
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

    /// Bytes of all arrays.
    pub fn bytes(&self) -> u64 {
        Self::bytes_needed(&self.shape) as u64
    }

    /// Minimal bytes that one product moves when it multiplies padding and so never reads
    /// `row_len`: slots, offsets and widths, y and x.
    pub fn minimal_bytes(&self) -> u64 {
        Self::minimal_bytes_of(&self.shape, self.cols) as u64
    }

    /// [`minimal_bytes`](Self::minimal_bytes) of a matrix with this shape.
    pub fn minimal_bytes_of(shape: &HllShape, cols: usize) -> u128 {
        u128::from(shape.slots()) * (4 + T::BYTES as u128)
            + u128::from(shape.bytes())
            + T::BYTES as u128 * (shape.rows as u128 + cols as u128)
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
            assert!(error.unwrap_err().to_string().contains(&format!("hack size {bad} ")));
        }
        for good in HACK_SIZES {
            for order in [Order::RowMajor, Order::ColumnMajor] {
                let hll = Hll::from_csr(&a, good, order, MemoryLimit::unlimited()).unwrap();
                assert_eq!(hll.to_csr(), a);
            }
        }
    }

    #[test]
    fn offsets_past_two_to_the_32_are_computed_without_wrapping() {
        // 100 hacks of 256 rows, each with one row of 2^25 entries: 2^33 slots a hack.
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
