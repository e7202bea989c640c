//! The batch kernels against solutions known analytically.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use sparsescope_matrix::matrix::Batch;

type Kernel = fn(Systems<'_>, &mut Solutions, &(dyn Fn() -> bool + Sync)) -> bool;

const KERNELS: &[(&str, Kernel)] = &[
    ("gauss", gauss),
    ("cholesky", cholesky),
    #[cfg(all(feature = "faer", not(target_family = "wasm")))]
    ("faer", faer_cholesky),
];

/// The second difference with step 1, times `scale`: 2 on the diagonal, −1 beside it.
fn difference(n: usize, scale: f64) -> Vec<f64> {
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => 2.0 * scale,
        1 => -scale,
        _ => 0.0,
    };
    (0..n * n).map(|k| entry(k / n, k % n)).collect()
}

fn solved(kernel: Kernel, batch: &Batch, right: RightHandSides<'_>) -> Solutions {
    let mut found = Solutions::room_for(batch.unknowns(), batch.len());
    assert!(kernel(Systems::new(batch.view(), right), &mut found, &|| false));
    found
}

#[test]
fn a_string_pulled_at_its_last_point_is_straight() {
    // Their second differences are 0 except for a jump in slope at the last point: x_i = (i + 1)/(n + 1),
    // 0-based.
    for n in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 17, 28, 100] {
        for count in [1, 3, 4, 5, 11] {
            let scale = |s: usize| 1.0 + s as f64;
            let values = (0..count).flat_map(|s| difference(n, scale(s))).collect();
            let batch = Batch::new(n, values).unwrap();
            let b: Vec<f64> = (0..count)
                .flat_map(|s| (0..n).map(move |i| if i == 0 { scale(s) } else { 0.0 }))
                .collect();
            for (name, kernel) in KERNELS {
                let pulled = solved(*kernel, &batch, RightHandSides::LastUnit);
                // Load at the first point instead, scaled by the stiffness.
                let first = solved(*kernel, &batch, RightHandSides::Given(&b));
                assert_eq!(pulled.flagged().count() + first.flagged().count(), 0);
                for s in 0..count {
                    for i in 0..n {
                        let at = |x: &[f64]| x[s * n + i];
                        let straight = (i + 1) as f64 / (n + 1) as f64 / scale(s);
                        let turned = (n - i) as f64 / (n + 1) as f64;
                        let error =
                            (at(&pulled.x) - straight).abs() + (at(&first.x) - turned).abs();
                        assert!(error < 1e-12, "{name} n {n} system {s} row {i}: {error}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_system_that_is_not_positive_definite_leaves_the_others_as_they_are() {
    let n = 7;
    let good = Batch::new(n, (0..9).flat_map(|_| difference(n, 1.0)).collect()).unwrap();
    for (name, kernel) in KERNELS {
        let expected = solved(*kernel, &good, RightHandSides::LastUnit);
        for bad in 0..9 {
            for (row, value) in [(0, 0.0), (0, -1.0), (3, -2.0), (6, 0.5), (6, -1e300)] {
                let mut values: Vec<f64> = (0..9).flat_map(|_| difference(n, 1.0)).collect();
                values[bad * n * n + row * (n + 1)] = value;
                let batch = Batch::new(n, values).unwrap();
                let found = solved(*kernel, &batch, RightHandSides::LastUnit);
                assert_eq!(found.flagged().collect::<Vec<_>>(), [bad], "{name} {row} {value}");
                for s in 0..9 {
                    let x = &found.x[s * n..][..n];
                    let as_before = x == &expected.x[s * n..][..n];
                    assert!(if s == bad { x.iter().all(|x| x.is_nan()) } else { as_before });
                }
            }
        }
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn the_same_bits_come_out_for_any_number_of_threads() {
    let (n, count) = (13, 403);
    let scale = |s: usize| 1.0 + (s as f64).sqrt();
    let batch = Batch::new(n, (0..count).flat_map(|s| difference(n, scale(s))).collect()).unwrap();
    let b = random_right_hand_sides(n, count, 3);
    for (name, kernel) in KERNELS {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| solved(*kernel, &batch, RightHandSides::Given(&b)))
        };
        assert_eq!(with(1), with(3), "{name}");
    }
}

#[test]
fn a_kernel_that_is_told_to_stop_soon_does() {
    let (n, count) = (40, 4000);
    let batch = Batch::new(n, (0..count).flat_map(|_| difference(n, 1.0)).collect()).unwrap();
    for (name, kernel) in KERNELS {
        let looks = AtomicUsize::new(0);
        let mut found = Solutions::room_for(n, count);
        let systems = Systems::new(batch.view(), RightHandSides::LastUnit);
        let is_done = kernel(systems, &mut found, &|| looks.fetch_add(1, Ordering::Relaxed) >= 5);
        assert!(!is_done, "{name}");
        // It stopped early, and what it has not solved stays NaN.
        let left = found.x.chunks(n).filter(|x| x.iter().all(|x| x.is_nan())).count();
        assert!(left > count / 2, "{name}: {left}");
    }
}

#[test]
fn random_right_hand_sides_are_those_that_python_draws() {
    // ChaCha8 with key 7, streams 2⁶³ and 2⁶³ + 1, 53 bits of each 64-bit word; computed by a Python script.
    let expected =
        [0.014701622969179207, -0.8657094966572398, 0.9785408877462147, 0.7978918539627751];
    assert_eq!(random_right_hand_sides(2, 2, 7), expected);
    let many = random_right_hand_sides(10, 10_000, 7);
    assert!(many.iter().all(|b| (-1.0..1.0).contains(b)));
    // Five standard deviations of the mean of 100 000 uniform numbers.
    let mean = many.iter().sum::<f64>() / many.len() as f64;
    assert!(mean.abs() < 5.0 * 2.0 / 12f64.sqrt() / 1e5f64.sqrt(), "{mean}");
}
