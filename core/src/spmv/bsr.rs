//! y = A·x in BSR; zeros in blocks are multiplied.

use std::ops::Range;

use super::partition::RowParts;
use super::{check_sizes, each_part};
use crate::matrix::{Bsr, Scalar};

/// Equal contiguous parts of the rows of blocks, one a worker; b sums at a time.
///
/// x has n elements, y has m, `parts` begin at rows of blocks; panics otherwise.
pub fn parts<T: Scalar>(a: &Bsr<T>, parts: &RowParts, x: &[T], y: &mut [T]) {
    check_sizes(a.rows(), a.cols(), x, y);
    let rows_into = match a.block() {
        2 => rows_into::<2, T>,
        3 => rows_into::<3, T>,
        4 => rows_into::<4, T>,
        5 => rows_into::<5, T>,
        6 => rows_into::<6, T>,
        7 => rows_into::<7, T>,
        _ => rows_into::<8, T>,
    };
    each_part(parts.split(y), |(rows, y)| rows_into(a, rows, x, y));
}

/// y[k] = row `rows.start + k` · x, with blocks of B × B.
fn rows_into<const B: usize, T: Scalar>(a: &Bsr<T>, rows: Range<usize>, x: &[T], y: &mut [T]) {
    assert!(a.block() == B && rows.start.is_multiple_of(B), "parts begin at rows of blocks");
    let (row_ptr, col) = (a.row_ptr(), a.col());
    let (lines, _) = a.val().as_chunks::<B>();
    for (y, h) in y.chunks_mut(B).zip(rows.start / B..) {
        let mut sums = [T::ZERO; B];
        for k in row_ptr.range(h) {
            let first = col[k] as usize * B;
            let block = &lines[k * B..(k + 1) * B];
            match x[first..].first_chunk::<B>() {
                Some(x) => {
                    for (sum, line) in sums.iter_mut().zip(block) {
                        *sum += line.iter().zip(x).map(|(&a, &x)| a * x).sum::<T>();
                    }
                }
                // The rightmost blocks may reach past the last column.
                None => {
                    for (sum, line) in sums.iter_mut().zip(block) {
                        *sum += line.iter().zip(&x[first..]).map(|(&a, &x)| a * x).sum::<T>();
                    }
                }
            }
        }
        y.copy_from_slice(&sums[..y.len()]);
    }
}
