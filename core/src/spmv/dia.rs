//! y = A·x in DIA; zeros on diagonals are multiplied.

use std::ops::Range;

use super::partition::RowParts;
use super::{check_sizes, each_part};
use crate::matrix::{Dia, Scalar};

/// Rows whose part of y stays in the first-level cache while all diagonals pass over it.
const ROWS_AT_A_TIME: usize = 1024;

/// Equal contiguous parts of the rows, one a worker; some rows at a time, diagonal by diagonal.
///
/// x has n elements, y has m; panics otherwise.
pub fn parts<T: Scalar>(a: &Dia<T>, parts: &RowParts, x: &[T], y: &mut [T]) {
    check_sizes(a.rows(), a.cols(), x, y);
    each_part(parts.split(y), |(rows, y)| {
        let firsts = rows.step_by(ROWS_AT_A_TIME);
        for (first, y) in firsts.zip(y.chunks_mut(ROWS_AT_A_TIME)) {
            rows_into(a, first..first + y.len(), x, y);
        }
    });
}

/// y[k] = row `rows.start + k` · x.
fn rows_into<T: Scalar>(a: &Dia<T>, rows: Range<usize>, x: &[T], y: &mut [T]) {
    y.fill(T::ZERO);
    let n = a.cols() as i64;
    for (d, &offset) in a.offsets().iter().enumerate() {
        // Rows that this diagonal crosses inside the matrix.
        let first = rows.start.max(usize::try_from(-offset).unwrap_or(0));
        let end = rows.end.min(usize::try_from(n - offset).unwrap_or(0));
        if first >= end {
            continue;
        }
        let column = (first as i64 + offset) as usize;
        let val = &a.val()[d * a.rows() + first..d * a.rows() + end];
        let y = &mut y[first - rows.start..end - rows.start];
        for ((y, &val), &x) in y.iter_mut().zip(val).zip(&x[column..]) {
            *y += val * x;
        }
    }
}
