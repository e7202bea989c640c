//! The rows of a matrix in any format, as kernels read them.

use sparsescope_matrix::matrix::{AnyFormat, Coo, Scalar, SlotLayout};

/// The row at a position of a format; it differs from the position only if the format sorts rows.
pub fn row_at<T: Scalar>(a: &AnyFormat<T>, position: usize) -> usize {
    match a {
        AnyFormat::Hll(a) => a.row_order().row_at(position),
        AnyFormat::HllCompact(a) => a.row_order().row_at(position),
        _ => position,
    }
}

/// The slots that a kernel reads for the row at a position, in order, as `(column, value)`, padding
/// included. A HYB row continues in its tail; slots of BSR and DIA outside the matrix are not read.
pub fn row_steps<T: Scalar>(a: &AnyFormat<T>, row: usize) -> Vec<(u32, T)> {
    fn padded<T: Copy>(
        layout: &impl SlotLayout,
        row: usize,
        col: &[u32],
        val: &[T],
    ) -> Vec<(u32, T)> {
        let slots = (0..layout.row_slots(row)).map(|j| layout.slot(row, j) as usize);
        slots.map(|s| (col[s], val[s])).collect()
    }
    fn coordinates<T: Scalar>(a: &Coo<T>, row: usize) -> impl Iterator<Item = (u32, T)> + '_ {
        let first = a.row().partition_point(|&r| (r as usize) < row);
        let entries = (first..a.nnz()).take_while(move |&k| a.row()[k] as usize == row);
        entries.map(|k| (a.col()[k], a.val()[k]))
    }
    match a {
        AnyFormat::Coo(a) => coordinates(a, row).collect(),
        AnyFormat::Csr(a) => padded(a.as_ref(), row, a.col(), a.val()),
        AnyFormat::Ell(a) => padded(&a.shape(), row, a.col(), a.val()),
        AnyFormat::Hyb(a) => {
            let mut steps = padded(&a.ell().shape(), row, a.ell().col(), a.ell().val());
            steps.extend(coordinates(a.tail(), row));
            steps
        }
        AnyFormat::Hll(a) => match row.checked_sub(a.row_order().in_blocks()) {
            None => padded(a.shape(), row, a.col(), a.val()),
            Some(k) => padded(a.tail(), k, a.tail().col(), a.tail().val()),
        },
        AnyFormat::CsrCompact(a) => a.entries(row).collect(),
        AnyFormat::HllCompact(a) => match row.checked_sub(a.row_order().in_blocks()) {
            None => {
                let len = a.row_len()[row] as usize;
                let slots = a.row_slots(row).enumerate();
                slots.map(|(j, (c, v))| (c, if j < len { v } else { T::ZERO })).collect()
            }
            Some(k) => padded(a.tail(), k, a.tail().col(), a.tail().val()),
        },
        AnyFormat::Bsr(a) => (0..a.row_slots(row)).filter_map(|j| a.slot_entry(row, j)).collect(),
        AnyFormat::Dia(a) => (0..a.row_slots(row)).filter_map(|j| a.slot_entry(row, j)).collect(),
    }
}

/// Number of slots that a kernel reads for the row at a position, including padding if `padding`.
/// Zeros in blocks and diagonals count as nonzeros. 0 for formats without row slots.
pub(crate) fn row_length<T: Scalar>(a: &AnyFormat<T>, row: usize, padding: bool) -> usize {
    let length =
        |row_len: &[u32], slots: usize| if padding { slots } else { row_len[row] as usize };
    match a {
        AnyFormat::Csr(a) => a.row_slots(row),
        AnyFormat::Ell(a) => length(a.row_len(), a.shape().row_slots(row)),
        AnyFormat::Hll(a) => length(a.row_len(), a.shape().row_slots(row)),
        AnyFormat::Hyb(a) => length(a.ell().row_len(), a.ell().shape().row_slots(row)),
        AnyFormat::CsrCompact(a) => a.row_slots(row),
        AnyFormat::HllCompact(a) => length(a.row_len(), a.shape().row_slots(row)),
        AnyFormat::Bsr(a) => a.row_slots(row),
        AnyFormat::Dia(a) => a.row_slots(row),
        AnyFormat::Coo(_) => 0,
    }
}

/// Index into `col` and `val` of slot `j` of the row at a position; `j` itself for formats without
/// row slots.
#[inline]
pub(crate) fn slot<T: Scalar>(a: &AnyFormat<T>, row: usize, j: usize) -> u64 {
    match a {
        AnyFormat::Csr(a) => a.slot(row, j),
        AnyFormat::Ell(a) => a.shape().slot(row, j),
        AnyFormat::Hll(a) => a.shape().slot(row, j),
        AnyFormat::Hyb(a) => a.ell().shape().slot(row, j),
        AnyFormat::CsrCompact(a) => a.slot(row, j),
        AnyFormat::HllCompact(a) => a.shape().slot(row, j),
        AnyFormat::Bsr(a) => a.slot(row, j),
        AnyFormat::Dia(a) => a.slot(row, j),
        AnyFormat::Coo(_) => j as u64,
    }
}
