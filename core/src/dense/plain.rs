//! The factor as textbooks have it: row-major, A = L·Lᵀ.

use super::{Factored, Packed};

/// Replaces the lower triangle of the row-major m × m matrix `a` by L of A = L·Lᵀ; what lies above the
/// diagonal is neither read nor written. An error is the first row (0-based) whose leading minor is not
/// positive or not finite; `a` is as it was then. Panics unless `a` has m² numbers.
///
/// ```
/// let mut a = [4.0, 0.0, 2.0, 10.0];
/// sparsescope_core::dense::factor(&mut a, 2).unwrap();
/// assert_eq!(a, [2.0, 0.0, 1.0, 3.0]);
/// ```
pub fn factor(a: &mut [f64], m: usize) -> Result<(), usize> {
    assert_eq!(a.len(), m * m, "the matrix has m rows of m numbers");
    let mut packed = Packed::new();
    packed.clear(m);
    for i in 0..m {
        let row = packed.row_mut(i);
        for (j, &value) in a[i * m..].iter().enumerate().take(i + 1) {
            row[Packed::column(j)] = value;
        }
    }
    match packed.factor(&|| false) {
        Factored::NotPositive(row) => return Err(row),
        Factored::Whole | Factored::Cancelled => {}
    }
    let roots: Vec<f64> = (0..m).map(|j| packed.pivot(j).sqrt()).collect();
    for i in 0..m {
        for (j, &root) in roots.iter().enumerate().take(i + 1) {
            a[i * m + j] = packed.get(i, j) * root;
        }
    }
    Ok(())
}

/// Solves L·Lᵀ·x = b with L in the lower triangle of the row-major m × m matrix `l`; `b` becomes x.
/// Panics unless `l` has m² numbers and `b` m.
pub fn solve(l: &[f64], m: usize, b: &mut [f64]) {
    assert!(l.len() == m * m && b.len() == m, "L has m rows of m numbers, and b has m");
    for i in 0..m {
        let row = &l[i * m..i * m + i];
        let sum: f64 = row.iter().zip(&*b).map(|(l, b)| l * b).sum();
        b[i] = (b[i] - sum) / l[i * m + i];
    }
    for i in (0..m).rev() {
        let x = b[i] / l[i * m + i];
        b[i] = x;
        for (b, l) in b.iter_mut().zip(&l[i * m..i * m + i]) {
            *b -= l * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EPSILON: f64 = f64::EPSILON;

    /// B·Bᵀ/m + I of a fixed sequence in [−1, 1).
    fn positive(m: usize) -> Vec<f64> {
        let mut state = m as u64 + 1;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let b: Vec<f64> = (0..m * m).map(|_| next()).collect();
        let mut a = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..m {
                let dot: f64 = (0..m).map(|k| b[i * m + k] * b[j * m + k]).sum();
                a[i * m + j] = dot / m as f64 + f64::from(u8::from(i == j));
            }
        }
        a
    }

    #[test]
    fn the_factor_multiplied_gives_the_matrix_within_the_theory_of_rounding() {
        for m in [1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 28, 31, 64, 77, 130] {
            let a = positive(m);
            let mut l = a.clone();
            factor(&mut l, m).unwrap();
            for i in 0..m {
                for j in 0..=i {
                    let (mut sum, mut size) = (0.0, 0.0);
                    for k in 0..=j {
                        sum += l[i * m + k] * l[j * m + k];
                        size += (l[i * m + k] * l[j * m + k]).abs();
                    }
                    let error = (sum - a[i * m + j]).abs();
                    assert!(error <= 4.0 * (m as f64 + 1.0) * EPSILON * size, "{m} {i} {j}");
                }
            }
        }
    }

    #[test]
    fn a_solution_has_a_small_residual() {
        for m in [1, 2, 5, 8, 28, 77] {
            let a = positive(m);
            let mut l = a.clone();
            factor(&mut l, m).unwrap();
            let b: Vec<f64> = (0..m).map(|i| (i as f64 * 0.7).sin()).collect();
            let mut x = b.clone();
            solve(&l, m, &mut x);
            for i in 0..m {
                let row = &a[i * m..(i + 1) * m];
                let product: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
                let size: f64 = row.iter().zip(&x).map(|(a, x)| (a * x).abs()).sum();
                let bound = 32.0 * m as f64 * EPSILON * (size + b[i].abs() + 1.0);
                assert!((product - b[i]).abs() <= bound, "{m} {i}");
            }
        }
    }

    #[test]
    fn the_first_leading_minor_that_is_not_positive_is_named() {
        for m in [1, 4, 6, 13, 30] {
            for bad in 0..m {
                for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
                    let mut a = positive(m);
                    a[bad * m + bad] = value;
                    if value == 0.0 {
                        a[bad * m..bad * m + bad].fill(0.0);
                    }
                    let before = a.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                    assert_eq!(factor(&mut a, m), Err(bad), "{m} {value}");
                    assert_eq!(a.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), before);
                }
            }
        }
    }

    #[test]
    fn what_lies_above_the_diagonal_is_not_read() {
        let m = 9;
        let (mut a, mut with_nan) = (positive(m), positive(m));
        for i in 0..m {
            for j in i + 1..m {
                with_nan[i * m + j] = f64::NAN;
            }
        }
        factor(&mut a, m).unwrap();
        factor(&mut with_nan, m).unwrap();
        for i in 0..m {
            assert_eq!(a[i * m..=i * m + i], with_nan[i * m..=i * m + i]);
        }
    }

    #[test]
    fn a_row_of_the_inverse_of_a_leading_part_is_solved_for() {
        let m = 23;
        let a = positive(m);
        let mut packed = Packed::new();
        packed.clear(m);
        for i in 0..m {
            for j in 0..=i {
                packed.row_mut(i)[Packed::column(j)] = a[i * m + j];
            }
        }
        assert_eq!(packed.factor(&|| false), Factored::Whole);
        for p in 0..m {
            let g = packed.normalised_row(p).to_vec();
            for i in 0..=p {
                let product: f64 = (0..=p).map(|j| a[i * m + j] * g[j]).sum();
                let expected = if i == p { 1.0 / g[p] } else { 0.0 };
                assert!((product - expected).abs() <= 1e-13, "{p} {i}: {product}");
            }
        }
    }

    #[test]
    fn a_long_factorisation_can_be_stopped() {
        let m = 600;
        let mut packed = Packed::new();
        packed.clear(m);
        for i in 0..m {
            packed.row_mut(i)[Packed::column(i)] = 1.0;
        }
        assert_eq!(packed.factor(&|| true), Factored::Cancelled);
    }

    #[test]
    fn vectors_with_and_without_fused_products_agree() {
        use crate::dense::eliminate::Eliminate;
        use crate::dense::vectors::Work;
        let m = 12;
        let a = positive(m);
        let mut packed = Packed::new();
        packed.clear(m);
        for i in 0..m {
            for j in 0..=i {
                packed.row_mut(i)[Packed::column(j)] = a[i * m + j];
            }
        }
        let mut slots = packed.slots_for_tests().to_vec();
        let (mut scaled, mut pivots) = (vec![0.0; 4 * m], vec![0.0; m]);
        for panel in 0..3 {
            let step = Eliminate {
                panel,
                panels: 3,
                slots: &mut slots,
                scaled: &mut scaled,
                pivots: &mut pivots,
            };
            // SAFETY: arrays need nothing of the processor.
            assert_eq!(unsafe { step.run::<[f64; 4]>() }, None);
        }
        packed.factor(&|| false);
        for (i, &pivot) in pivots.iter().enumerate() {
            assert!((packed.pivot(i) - pivot).abs() <= 1e-14 * pivot);
        }
    }
}
