//! The product of the factors is the matrix, and rows of inverses match the definition.

use super::eliminate::Eliminate;
use super::vectors::Work;
use super::{Factored, Packed};

/// B·Bᵀ/m + I, where B is a fixed sequence in [−1, 1); row-major.
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

/// The lower triangle of a row-major m × m matrix.
fn packed(a: &[f64], m: usize) -> Packed {
    let mut packed = Packed::new();
    packed.clear(m);
    for i in 0..m {
        for (j, &value) in a[i * m..=i * m + i].iter().enumerate() {
            packed.row_mut(i)[Packed::column(j)] = value;
        }
    }
    packed
}

#[test]
fn the_factors_multiplied_give_the_matrix_within_the_theory_of_rounding() {
    for m in [1, 2, 3, 4, 5, 7, 8, 11, 12, 13, 16, 28, 31, 64, 77, 130] {
        let a = positive(m);
        let mut factored = packed(&a, m);
        assert_eq!(factored.factor(&|| false), Factored::Whole);
        for i in 0..m {
            assert_eq!(factored.get(i, i), 1.0);
            for j in 0..=i {
                let terms = (0..=j)
                    .map(|k| factored.get(i, k) * factored.pivot(k) * factored.get(j, k))
                    .collect::<Vec<_>>();
                let error = (terms.iter().sum::<f64>() - a[i * m + j]).abs();
                let size: f64 = terms.iter().map(|term| term.abs()).sum();
                assert!(error <= 4.0 * (m as f64 + 1.0) * f64::EPSILON * size, "{m} {i} {j}");
            }
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
                let found = packed(&a, m).factor(&|| false);
                assert_eq!(found, Factored::NotPositive(bad), "{m} {value}");
            }
        }
    }
}

#[test]
fn a_row_of_the_inverse_of_a_leading_part_is_solved_for() {
    for m in [1, 2, 5, 8, 23, 77] {
        let a = positive(m);
        let mut factored = packed(&a, m);
        assert_eq!(factored.factor(&|| false), Factored::Whole);
        for p in 0..m {
            let g = factored.normalised_row(p).to_vec();
            for i in 0..=p {
                let product: f64 = (0..=p).map(|j| a[i * m + j] * g[j]).sum();
                let expected = if i == p { 1.0 / g[p] } else { 0.0 };
                assert!((product - expected).abs() <= 1e-13, "{m} {p} {i}: {product}");
            }
        }
    }
}

#[test]
fn a_long_factorisation_can_be_stopped() {
    let m = 600;
    let mut unit = Packed::new();
    unit.clear(m);
    for i in 0..m {
        unit.row_mut(i)[Packed::column(i)] = 1.0;
    }
    assert_eq!(unit.factor(&|| true), Factored::Cancelled);
}

#[test]
fn vectors_with_and_without_fused_products_agree() {
    let m = 12;
    let mut factored = packed(&positive(m), m);
    let mut slots = factored.slots_for_tests().to_vec();
    let (mut scaled, mut pivots) = (vec![0.0; 4 * m], vec![0.0; m]);
    for panel in 0..3 {
        let step = Eliminate {
            panel,
            panels: 3,
            slots: &mut slots,
            scaled: &mut scaled,
            pivots: &mut pivots,
        };
        // SAFETY: arrays have no CPU requirements.
        assert_eq!(unsafe { step.run::<[f64; 4]>() }, None);
    }
    factored.factor(&|| false);
    for (i, &pivot) in pivots.iter().enumerate() {
        assert!((factored.pivot(i) - pivot).abs() <= 1e-14 * pivot);
    }
}
