//! How well a vector solves the system.

use sparsescope_matrix::matrix::{Csr, Real};
use sparsescope_matrix::parallel::*;

/// Rows whose squares are summed before the blocks are summed, so that the result does not depend on the
/// number of threads.
const BLOCK: usize = 1 << 14;

/// ‖b − A·x‖₂ / ‖b‖₂ in f64, from the values in their own precision; only the numerator if b is 0.
///
/// b has one element per row, x one per column; panics otherwise.
pub fn relative_residual<T: Real>(a: &Csr<T>, b: &[T], x: &[T]) -> f64 {
    assert_eq!(b.len(), a.rows(), "b has one element a row");
    assert_eq!(x.len(), a.cols(), "x has one element a column");
    let residual = |i: usize| -> f64 {
        let (col, val) = a.row(i);
        let terms = col.iter().zip(val).map(|(&c, &v)| v.into() * x[c as usize].into());
        terms.fold(b[i].into(), |sum, term| sum - term)
    };
    // Norms of b − A·x and of b, and the largest of all elements, in a common unit.
    let norms = |unit: f64| -> ([f64; 2], f64) {
        let blocks: Vec<[f64; 3]> = (0..b.len().div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let rows = block * BLOCK..b.len().min((block + 1) * BLOCK);
                rows.fold([0.0f64; 3], |[above, below, most], i| {
                    let (r, b): (f64, f64) = (residual(i), b[i].into());
                    let (r, b) = (r * unit, b * unit);
                    [above + r * r, below + b * b, most.max(r.abs()).max(b.abs())]
                })
            })
            .collect();
        let sum = |which: usize| blocks.iter().map(|block| block[which]).sum::<f64>().sqrt();
        ([sum(0), sum(1)], blocks.iter().map(|block| block[2]).fold(0.0, f64::max))
    };
    let ([mut above, mut below], most) = norms(1.0);
    let mut unit = 1.0;
    if most > 0.0 && most.is_finite() && !SQUARED.contains(&most) {
        unit = power_of_two_over(most);
        [above, below] = norms(unit).0;
    }
    if below == 0.0 { above / unit } else { above / below }
}

/// Elements of this magnitude have squares whose sum is within f64's range.
const SQUARED: std::ops::Range<f64> = 1e-140..1e140;

/// About 1 / `value`, which must be positive: multiplying by it is exact unless the result is subnormal.
fn power_of_two_over(value: f64) -> f64 {
    let exponent = value.to_bits() >> 52;
    f64::from_bits((2046 - exponent).max(1) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sparsescope_matrix::matrix::examples;

    #[test]
    fn the_residual_is_the_one_worked_out_by_hand() {
        let a = examples::dense(&[[2.0, 1.0], [0.0, 4.0]]);
        // b − A·x = (10 − 4, 8 − 0) for x = (2, 0): 10 of √(10² + 8²).
        assert_eq!(relative_residual(&a, &[10.0, 8.0], &[2.0, 0.0]), 10.0 / 164f64.sqrt());
        assert_eq!(relative_residual(&a, &[4.0, 8.0], &[1.0, 2.0]), 0.0);
        assert_eq!(relative_residual(&a, &[0.0, 0.0], &[0.0, 1.0]), 17f64.sqrt());
        let rounded = a.map(|v| v as f32);
        assert_eq!(relative_residual(&rounded, &[10f32, 8.0], &[2.0, 0.0]), 10.0 / 164f64.sqrt());
    }

    #[test]
    fn the_scale_of_a_system_does_not_show() {
        let a = examples::dense(&[[2.0, 1.0], [0.0, 4.0]]);
        let expected = 10.0 / 164f64.sqrt();
        // Powers of two whose squares f64 does not hold.
        for exponent in [-1000, -600, 600, 1000] {
            let unit = 2f64.powi(exponent);
            let b = [10.0 * unit, 8.0 * unit];
            assert_eq!(relative_residual(&a, &b, &[2.0 * unit, 0.0]), expected, "2^{exponent}");
        }
        let alone = relative_residual(&a, &[0.0; 2], &[0.0, 2f64.powi(-600)]);
        assert_eq!(alone, 17f64.sqrt() * 2f64.powi(-600));
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn the_number_of_threads_does_not_show() {
        let diagonal: Vec<_> = (0..100_000).map(|i| (i, i, 1.0 / (1.0 + i as f64))).collect();
        let a = Csr::from_triplets(100_000, 100_000, &diagonal).unwrap();
        let (b, x) = (vec![0.1; 100_000], vec![0.3; 100_000]);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| relative_residual(&a, &b, &x).to_bits())
        };
        assert_eq!(with(1), with(3));
    }
}
