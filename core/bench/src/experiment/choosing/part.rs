//! A sample of the rows of a large matrix.

use sparsescope_matrix::matrix::{Csr, RowPtr, Scalar};

/// Consecutive rows per span of the sample. Divisible by every block edge, so that blocks start where spans
/// do.
const SPAN: usize = 840;

/// Number of spans in the sample.
const SPANS: usize = 16;

/// Samples evenly spread rows of a large matrix; `None` if the matrix is small enough to use whole.
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
