//! ELLPACK: every row padded to the longest one, row-major or column-major.

use crate::parallel::*;

use super::csr::{check_dimensions, check_len};
use super::{Csr, FormatError, Order, RowPtr, Scalar, SlotLayout};
use crate::memory::{MemoryError, MemoryLimit, zeroed};

/// Dimensions of an ELLPACK block and its slot arithmetic; sizes beyond any memory are fine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EllShape {
    /// Rows m.
    pub rows: usize,
    /// Slots per row, K (the papers' `MAXNZ`).
    pub width: usize,
    /// Order of the slots.
    pub order: Order,
}

impl SlotLayout for EllShape {
    fn slots(&self) -> u64 {
        self.rows as u64 * self.width as u64
    }

    #[inline]
    fn row_slots(&self, _row: usize) -> usize {
        self.width
    }

    #[inline]
    fn slot(&self, row: usize, j: usize) -> u64 {
        match self.order {
            Order::RowMajor => row as u64 * self.width as u64 + j as u64,
            Order::ColumnMajor => j as u64 * self.rows as u64 + row as u64,
        }
    }
}

/// An m × n matrix in ELLPACK: `col[m·K]` and `val[m·K]`.
///
/// Padding has value 0 and the row's last column (0 in an empty row), so that multiplying it adds
/// 0 for every finite x.
#[derive(Clone, Debug, PartialEq)]
pub struct Ellpack<T = f64> {
    shape: EllShape,
    cols: usize,
    row_len: Vec<u32>,
    col: Vec<u32>,
    val: Vec<T>,
}

impl<T: Scalar> Ellpack<T> {
    /// Takes the arrays after checking lengths, column ranges (padding too), ascending columns in
    /// each row and zero padding.
    pub fn try_new(
        shape: EllShape,
        cols: usize,
        row_len: Vec<u32>,
        col: Vec<u32>,
        val: Vec<T>,
    ) -> Result<Self, FormatError> {
        check_dimensions(shape.rows, cols)?;
        check_len("row_len", row_len.len(), shape.rows)?;
        let slots = shape.slots();
        if col.len() as u64 != slots {
            let found = col.len() as u64;
            return Err(FormatError::Length { array: "col", expected: slots, found });
        }
        check_len("val", val.len(), col.len())?;
        check_padded_rows(&shape, cols, &row_len, &col, &val)?;
        Ok(Self { shape, cols, row_len, col, val })
    }

    /// Bytes that [`from_csr`](Self::from_csr) will allocate, given the longest row.
    pub fn bytes_needed(rows: usize, width: usize) -> u128 {
        rows as u128 * width as u128 * (4 + T::BYTES as u128) + 4 * rows as u128
    }

    /// Pads every row of `a` to the longest. Fails, before allocating, when that needs more than
    /// `limit`.
    pub fn from_csr(a: &Csr<T>, order: Order, limit: MemoryLimit) -> Result<Self, FormatError> {
        let shape = EllShape { rows: a.rows(), width: a.max_row_len(), order };
        Self::preflight(a, shape.width, limit)?;
        Ok(Self::from_csr_truncated(a, shape))
    }

    /// Checks that ELLPACK of width `width` needs no more than `limit`.
    pub(crate) fn preflight(
        a: &Csr<T>,
        width: usize,
        limit: MemoryLimit,
    ) -> Result<(), MemoryError> {
        let (m, n) = (a.rows(), a.cols());
        let what = format!("ELLPACK of {m} x {n} with width {width}");
        limit.check(what, Self::bytes_needed(m, width))
    }

    /// The first `shape.width` nonzeros of each row: all of them in ELLPACK, the regular part in HYB.
    pub(crate) fn from_csr_truncated(a: &Csr<T>, shape: EllShape) -> Self {
        let slots = shape.slots() as usize;
        let (mut col, mut val) = (zeroed(0u32, slots), zeroed(T::ZERO, slots));
        if slots > 0 {
            match shape.order {
                Order::RowMajor => {
                    let (col, val) =
                        (col.par_chunks_mut(shape.width), val.par_chunks_mut(shape.width));
                    let rows = col.zip(val).enumerate().with_min_len(256);
                    rows.for_each(|(i, (col, val))| pad_row(a.row(i), col, val));
                }
                Order::ColumnMajor => fill_columns(a, &shape, &mut col, &mut val),
            }
        }
        let stored = |i: usize| a.row_len(i).min(shape.width);
        let row_len = (0..a.rows()).into_par_iter().map(|i| stored(i) as u32).collect();
        Self { shape, cols: a.cols(), row_len, col, val }
    }

    /// Converts back to CSR and drops padding.
    pub fn to_csr(&self) -> Csr<T> {
        unpad(&self.shape, self.cols, &self.row_len, &self.col, &self.val)
    }

    /// Rows, width and order.
    pub fn shape(&self) -> EllShape {
        self.shape
    }

    /// Number of columns n.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// Number of nonzeros of each row, without padding.
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

    /// Bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        Self::bytes_needed(self.shape.rows, self.shape.width) as u64
    }

    /// Minimum bytes that one SpMV moves when it multiplies padding and so never reads `row_len`.
    pub fn minimal_bytes(&self) -> u64 {
        Self::minimal_bytes_of(&self.shape, self.cols) as u64
    }

    /// [`minimal_bytes`](Self::minimal_bytes) of a matrix with this shape.
    pub fn minimal_bytes_of(shape: &EllShape, cols: usize) -> u128 {
        u128::from(shape.slots()) * (4 + T::BYTES as u128)
            + T::BYTES as u128 * (shape.rows as u128 + cols as u128)
    }
}

/// Writes as much of a CSR row as fits, then padding, into the slots of a row.
pub(super) fn pad_row<T: Scalar>(row: (&[u32], &[T]), col: &mut [u32], val: &mut [T]) {
    let len = row.0.len().min(col.len());
    col[..len].copy_from_slice(&row.0[..len]);
    val[..len].copy_from_slice(&row.1[..len]);
    col[len..].fill(len.checked_sub(1).map_or(0, |last| row.0[last]));
}

/// Rows whose slots are written together in column-major order. Their part of each column of slots is
/// a few cache lines, and for a matrix of short rows all parts stay in the cache.
const ROWS_TOGETHER: usize = 256;

/// Fills the slots in column-major order by ranges of rows, so that each row is read once.
fn fill_columns<T: Scalar>(a: &Csr<T>, shape: &EllShape, col: &mut [u32], val: &mut [T]) {
    let mut stretches: Vec<Vec<(&mut [u32], &mut [T])>> =
        (0..shape.rows.div_ceil(ROWS_TOGETHER)).map(|_| Vec::with_capacity(shape.width)).collect();
    for (col, val) in col.chunks_mut(shape.rows).zip(val.chunks_mut(shape.rows)) {
        let parts = col.chunks_mut(ROWS_TOGETHER).zip(val.chunks_mut(ROWS_TOGETHER));
        stretches.iter_mut().zip(parts).for_each(|(stretches, part)| stretches.push(part));
    }
    stretches.into_par_iter().enumerate().for_each(|(k, mut columns)| {
        let first = k * ROWS_TOGETHER;
        for i in first..shape.rows.min(first + ROWS_TOGETHER) {
            let (c, v) = a.row(i);
            let len = c.len().min(shape.width);
            let (stored, padding) = columns.split_at_mut(len);
            for (((col, val), &c), &v) in stored.iter_mut().zip(c).zip(v) {
                col[i - first] = c;
                val[i - first] = v;
            }
            if let Some(last) = len.checked_sub(1) {
                padding.iter_mut().for_each(|(col, _)| col[i - first] = c[last]);
            }
        }
    });
}

/// Checks, row by row, the invariant that ELLPACK and HLL share.
pub(crate) fn check_padded_rows<T: Scalar>(
    layout: &(impl SlotLayout + Sync),
    cols: usize,
    row_len: &[u32],
    col: &[u32],
    val: &[T],
) -> Result<(), FormatError> {
    if let Some(k) = col.par_iter().position_first(|&c| c as usize >= cols) {
        let col = u64::from(col[k]);
        return Err(FormatError::Invariant(format!(
            "slot {k} has column {col}, out of range for {cols} columns (0-based)"
        )));
    }
    let bad = (0..row_len.len()).into_par_iter().find_map_first(|i| {
        let len = row_len[i] as usize;
        let slots = layout.row_slots(i);
        if len > slots {
            return Some(FormatError::Invariant(format!(
                "row {i} has {len} nonzeros but only {slots} slots"
            )));
        }
        let at = |j: usize| layout.slot(i, j) as usize;
        if (1..len).any(|j| col[at(j - 1)] >= col[at(j)]) {
            return Some(FormatError::ColumnsNotAscending { row: i });
        }
        (len..slots)
            .any(|j| val[at(j)] != T::ZERO)
            .then(|| FormatError::Invariant(format!("row {i} has padding with a nonzero value")))
    });
    bad.map_or(Ok(()), Err)
}

/// Converts the nonzeros of a padded format to CSR.
pub(crate) fn unpad<T: Scalar>(
    layout: &(impl SlotLayout + Sync),
    cols: usize,
    row_len: &[u32],
    col: &[u32],
    val: &[T],
) -> Csr<T> {
    let row_ptr = RowPtr::from_lengths(row_len.iter().map(|&l| l as usize));
    Csr::filled(row_len.len(), cols, row_ptr, |i, to_col, to_val| {
        copy_row(layout, i, (col, val), (to_col, to_val));
    })
    .expect("a padded format keeps its rows' columns ascending and in range") // invariant
}

/// Copies as many of a row's first slots as fit.
pub(super) fn copy_row<T: Scalar>(
    layout: &impl SlotLayout,
    row: usize,
    (col, val): (&[u32], &[T]),
    (to_col, to_val): (&mut [u32], &mut [T]),
) {
    let len = to_col.len();
    if len == 0 {
        return;
    }
    let first = layout.slot(row, 0) as usize;
    // The slots of a row are equally spaced in every layout.
    let step = if len > 1 { layout.slot(row, 1) as usize - first } else { 1 };
    if step == 1 {
        to_col.copy_from_slice(&col[first..first + len]);
        to_val.copy_from_slice(&val[first..first + len]);
        return;
    }
    let slots = col[first..].iter().step_by(step).zip(val[first..].iter().step_by(step));
    for ((to_col, to_val), (&c, &v)) in to_col.iter_mut().zip(to_val).zip(slots) {
        (*to_col, *to_val) = (c, v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::examples;

    fn ell(order: Order) -> Ellpack {
        Ellpack::from_csr(&examples::four_by_four(), order, MemoryLimit::unlimited()).unwrap()
    }

    #[test]
    fn the_papers_examples_have_the_papers_widths() {
        let a =
            Ellpack::from_csr(&examples::five_by_five(), Order::RowMajor, MemoryLimit::unlimited())
                .unwrap();
        assert_eq!(a.shape().width, 2);
        assert_eq!(ell(Order::RowMajor).shape().width, 3);
    }

    #[test]
    fn both_orders_pad_with_zero_and_the_rows_last_column() {
        let a = ell(Order::RowMajor);
        assert_eq!(a.col(), [0, 1, 1, 1, 2, 2, 0, 2, 3, 1, 3, 3]);
        assert_eq!(a.val(), [1.0, 7.0, 0.0, 2.0, 8.0, 0.0, 5.0, 3.0, 9.0, 6.0, 4.0, 0.0]);
        let a = ell(Order::ColumnMajor);
        assert_eq!(a.col(), [0, 1, 0, 1, 1, 2, 2, 3, 1, 2, 3, 3]);
        assert_eq!(a.val(), [1.0, 2.0, 5.0, 6.0, 7.0, 8.0, 3.0, 4.0, 0.0, 0.0, 9.0, 0.0]);
        assert_eq!(a.minimal_bytes(), 12 * 12 + 8 * 4 + 8 * 4);
    }

    #[test]
    fn a_row_cut_short_pads_with_the_last_column_it_keeps() {
        let shape = EllShape { rows: 4, width: 1, order: Order::RowMajor };
        let a = Ellpack::from_csr_truncated(&examples::four_by_four(), shape);
        assert_eq!(a.col(), [0, 1, 0, 1]);
        assert_eq!(a.row_len(), [1, 1, 1, 1]);
    }

    #[test]
    fn slots_past_two_to_the_32_are_computed_without_wrapping() {
        let shape = EllShape { rows: 116_835, width: 114_190, order: Order::RowMajor };
        assert_eq!(shape.slots(), 13_341_388_650);
        assert_eq!(shape.slot(116_834, 114_189), 13_341_388_649);
        let shape = EllShape { order: Order::ColumnMajor, ..shape };
        assert_eq!(shape.slot(116_834, 114_189), 13_341_388_649);
        assert_eq!(shape.slot(5, 100_000), 11_683_500_005);
    }

    #[test]
    fn dc1_sized_ellpack_is_refused_with_the_bytes_it_needs() {
        let mut triplets: Vec<(usize, usize, f64)> = (0..114_190).map(|j| (7, j, 1.0)).collect();
        triplets.push((116_834, 0, 1.0));
        let a = Csr::from_triplets(116_835, 116_835, &triplets).unwrap();
        let error = Ellpack::from_csr(&a, Order::RowMajor, MemoryLimit::bytes(24_000_000_000));
        let message = error.unwrap_err().to_string();
        // 116835 rows x (114190 slots x 12 bytes + 4 bytes of row_len)
        assert!(message.contains("160097131140 bytes (160.1 GB)"), "{message}");
    }

    #[test]
    fn arrays_that_break_the_invariants_are_refused() {
        let shape = EllShape { rows: 1, width: 2, order: Order::RowMajor };
        let new = |len: u32, col: [u32; 2], val: [f64; 2]| {
            Ellpack::try_new(shape, 2, vec![len], col.to_vec(), val.to_vec())
        };
        assert!(new(2, [0, 1], [1.0, 2.0]).is_ok());
        assert!(new(1, [0, 0], [1.0, 0.0]).is_ok());
        assert!(new(3, [0, 1], [1.0, 2.0]).is_err(), "row_len over the width");
        assert!(new(2, [1, 0], [1.0, 2.0]).is_err(), "columns descend");
        assert!(new(1, [0, 2], [1.0, 0.0]).is_err(), "padding column out of range");
        assert!(new(1, [0, 0], [1.0, 5.0]).is_err(), "padding with a nonzero value");
    }
}
