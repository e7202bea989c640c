//! How well x solves the system, computed anew.

use crate::matrix::Csr;
use rayon::prelude::*;

use super::vectors::{block, blocks};

/// ‖b − A·x‖ and ‖|A|·|x|‖, each row's sum in the order of its entries in plain f64: what rounding adds
/// to the first is covered by the floor that the second gives.
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
