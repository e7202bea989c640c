//! Some rows of a large matrix, where they tell as much as all.

use crate::matrix::{Csr, RowPtr, Scalar};

/// Rows that are looked at together where a part of the matrix is enough: blocks of every edge begin
/// where they do.
const SPAN: usize = 840;

/// Spans of the part.
const SPANS: usize = 16;

/// Some rows of a large matrix, evenly spread; none where all of them are few enough.
pub(super) fn part<T: Scalar>(a: &Csr<T>) -> Option<Csr<T>> {
    let spans = a.rows() / SPAN;
    if spans <= SPANS {
        return None;
    }
    let firsts = (0..SPANS).map(|k| k * spans / SPANS * SPAN);
    let rows: Vec<usize> = firsts.flat_map(|first| first..first + SPAN).collect();
    let row_ptr = RowPtr::from_lengths(rows.iter().map(|&i| a.row_len(i)));
    let col = rows.iter().flat_map(|&i| a.row(i).0.iter().copied()).collect();
    let val = rows.iter().flat_map(|&i| a.row(i).1.iter().copied()).collect();
    Csr::try_new(rows.len(), a.cols(), row_ptr, col, val).ok()
}
