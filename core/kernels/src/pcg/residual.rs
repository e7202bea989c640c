//! The residual of x, recomputed from the system.

use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::parallel::*;

use super::vectors::{block, blocks};

/// Returns ‖b − A·x‖ and ‖|A|·|x|‖, each row summed in storage order in plain f64: the rounding error of the
/// first is covered by the floor that the second gives.
pub(super) fn residual(a: &Csr, b: &[f64], x: &[f64]) -> (f64, f64) {
    let n = a.rows();
    let squares = |rows: std::ops::Range<usize>| {
        rows.fold([0.0, 0.0], |[off, size], i| {
            let (col, val) = a.row(i);
            let (mut rest, mut all) = (b[i], 0.0);
            for (&c, &v) in col.iter().zip(val) {
                let product = v * x[c as usize];
                rest -= product;
                all += product.abs();
            }
            [off + rest * rest, size + all * all]
        })
    };
    let parts: Vec<[f64; 2]> =
        (0..blocks(n)).into_par_iter().map(|k| squares(block(n, k))).collect();
    let [off, size] = parts.iter().fold([0.0, 0.0], |[a, b], [c, d]| [a + c, b + d]);
    (off.sqrt(), size.sqrt())
}
