//! Patterns, values and filters against computations from the definition.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::checks::{
    Held, dense, has_small_backward_errors, last_of_inverse, made, merged, recursive,
    row_by_definition, set_up, symmetric, tried, with_threads,
};
use super::{
    Fsai, FsaiError, FsaiParameters, Merging, PatternRule, dense_system, factor_rows, pattern_of,
};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;

const RECIPES: [&str; 4] =
    ["poisson2d?n=6", "fem-hex?n=3&dof=3", "fem-hex?n=4&dof=1", "fem-tet?nx=4&ny=3&nz=3&dof=3"];

fn power(power: u32) -> FsaiParameters {
    FsaiParameters { pattern: PatternRule::Power { power }, ..FsaiParameters::default() }
}

fn adaptive() -> FsaiParameters {
    FsaiParameters { pattern: PatternRule::adaptive(), ..FsaiParameters::default() }
}

fn bits(g: &Csr) -> (Vec<u32>, Vec<u64>) {
    (g.col().to_vec(), g.val().iter().map(|v| v.to_bits()).collect())
}

#[test]
fn the_rows_of_g_are_those_of_the_definition() {
    for recipe in RECIPES {
        let a = made(recipe);
        let rows = dense(&a);
        for parameters in
            [recursive(1), recursive(2), power(2), adaptive(), merged(1, 1.0), merged(2, 1.05)]
        {
            let inverse = set_up(&a, &parameters);
            for i in 0..a.rows() {
                let (col, val) = inverse.g().row(i);
                let expected = row_by_definition(&rows, col);
                let size = expected.iter().fold(0.0f64, |size, v| size.max(v.abs()));
                for (found, expected) in val.iter().zip(&expected) {
                    assert!((found - expected).abs() <= 1e-10 * size, "{recipe} row {i}");
                }
            }
        }
    }
}

#[test]
fn patterns_of_powers_are_those_of_products_of_matrices() {
    for recipe in RECIPES {
        let a = made(recipe);
        let n = a.rows();
        let edges: Vec<Vec<bool>> =
            dense(&a).iter().map(|row| row.iter().map(|v| *v != 0.0).collect()).collect();
        let times = |s: &[Vec<bool>], lower: bool| -> Vec<Vec<bool>> {
            let entry =
                |i: usize, j: usize| (!lower || j <= i) && (0..n).any(|k| s[i][k] && edges[k][j]);
            (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect()
        };
        let low = |s: &[Vec<bool>]| -> Vec<Vec<bool>> {
            (0..n).map(|i| (0..n).map(|j| j <= i && s[i][j]).collect()).collect()
        };
        let (mut climbing, mut falling) = (edges.clone(), low(&edges));
        for k in 1..=3 {
            for (parameters, expected) in
                [(recursive(k), falling.clone()), (power(k), low(&climbing))]
            {
                let limit = MemoryLimit::unlimited();
                let found = pattern_of(&a, &parameters, limit, &|| false).unwrap().unwrap();
                for (i, row) in expected.iter().enumerate() {
                    let columns: Vec<u32> = (0..n as u32).filter(|&j| row[j as usize]).collect();
                    assert_eq!(found.row(i), columns, "{recipe} {k} row {i}");
                }
            }
            climbing = times(&climbing, false);
            falling = times(&falling, true);
        }
    }
}

#[test]
fn only_the_power_has_the_path_that_climbs_and_comes_back() {
    let lower = [(0, 0, 2.0), (1, 1, 2.0), (2, 0, 0.5), (2, 1, 0.5), (2, 2, 2.0)];
    let a = symmetric(3, &lower);
    assert_eq!(set_up(&a, &power(2)).g().row(1).0, [0, 1]);
    assert_eq!(set_up(&a, &recursive(2)).g().row(1).0, [1]);
    assert_eq!(set_up(&a, &recursive(2)).g().row(2).0, [0, 1, 2]);
}

#[test]
fn the_prefilter_drops_at_equality() {
    let a = symmetric(2, &[(0, 0, 4.0), (1, 0, 1.0), (1, 1, 4.0)]);
    let with = |prefilter| FsaiParameters { prefilter, ..recursive(1) };
    assert_eq!(set_up(&a, &with(1.0 / 16.0)).g().nnz(), 2);
    assert_eq!(set_up(&a, &with(1.0 / 16.0)).report().entries_prefiltered, 2);
    assert_eq!(set_up(&a, &with(1.0 / 16.1)).g().nnz(), 3);
    let zero = symmetric(2, &[(0, 0, 4.0), (1, 0, 0.0), (1, 1, 4.0)]);
    assert_eq!(set_up(&zero, &with(0.0)).g().nnz(), 2);
}

#[test]
fn the_postfilter_drops_at_equality_and_scales_what_is_left() {
    // The solution of the last row is g = (−1, −1, −1, 1).
    let lower =
        [(0, 0, 2.0), (1, 1, 2.0), (2, 2, 2.0), (3, 0, 2.0), (3, 1, 2.0), (3, 2, 2.0), (3, 3, 7.0)];
    let a = symmetric(4, &lower);
    let with = |postfilter| FsaiParameters { postfilter, ..recursive(1) };
    let kept = set_up(&a, &with(0.2499999));
    assert_eq!(kept.g().row(3), (&[0u32, 1, 2, 3][..], &[-1.0, -1.0, -1.0, 1.0][..]));
    let dropped = set_up(&a, &with(0.25));
    assert_eq!(dropped.g().row(3), (&[3u32][..], &[1.0 / 7f64.sqrt()][..]));
    assert_eq!((dropped.report().entries_before_filter, dropped.report().entries), (7, 4));
}

#[test]
fn a_badly_scaled_matrix_keeps_its_unit_diagonal_through_the_postfilter() {
    let a = made("fem-hex?n=5&dof=3");
    let scale = |i: usize| 10f64.powi((i as i32 * 7) % 41 - 20);
    let mut lower = Vec::new();
    for i in 0..a.rows() {
        let (col, val) = a.row(i);
        let entries = col.iter().zip(val).filter(|(c, _)| **c as usize <= i);
        lower.extend(entries.map(|(&c, v)| (i, c as usize, v * scale(i) * scale(c as usize))));
    }
    let a = symmetric(a.rows(), &lower);
    for merge in [None, Some(Merging::new(1.05))] {
        for postfilter in [1e-6, 1e-2, 0.1] {
            let parameters = FsaiParameters { postfilter, merge, ..recursive(2) };
            let inverse = set_up(&a, &parameters);
            let report = inverse.report();
            assert!(report.entries < report.entries_before_filter, "{postfilter}");
            has_small_backward_errors(&a, inverse.g(), Held::Not);
        }
    }
}

#[test]
fn backward_errors_are_those_of_rounding() {
    for recipe in ["fem-hex?n=5&dof=3", "poisson2d?n=30", "fem-tet?nx=6&ny=5&nz=5&dof=3"] {
        let a = made(recipe);
        for parameters in [
            recursive(1),
            recursive(2),
            power(2),
            adaptive(),
            merged(1, 1.0),
            merged(2, 1.0),
            merged(2, 1.11),
        ] {
            has_small_backward_errors(&a, set_up(&a, &parameters).g(), Held::Entries);
        }
    }
}

#[test]
fn the_transpose_is_the_transpose() {
    let a = made("fem-hex?n=7&dof=3");
    for parameters in [recursive(1), merged(2, 1.05)] {
        let inverse = set_up(&a, &parameters);
        assert_eq!(**inverse.gt(), inverse.g().transpose());
    }
}

/// The adaptive columns of row `i` by the definition, with dense arithmetic.
fn adaptive_columns(
    a: &[Vec<f64>],
    i: usize,
    (steps, per_step, gain): (u32, usize, f64),
) -> Vec<u32> {
    let solved = |columns: &[u32]| {
        let line = |&p: &u32| columns.iter().map(|&q| a[p as usize][q as usize]).collect();
        let g = last_of_inverse(columns.iter().map(line).collect());
        let last = g[g.len() - 1];
        (1.0 / last, g.iter().map(|g| g / last).collect::<Vec<f64>>())
    };
    let mut columns = vec![i as u32];
    let (mut psi, mut g) = solved(&columns);
    for _ in 0..steps {
        let score = |j: usize| {
            let dot: f64 = columns.iter().zip(&g).map(|(&c, g)| a[j][c as usize] * g).sum();
            dot * dot / a[j][j]
        };
        let outside = |j: &usize| !columns.contains(&(*j as u32));
        let mut candidates: Vec<(f64, usize)> = (0..i)
            .filter(outside)
            .map(|j| (score(j), j))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        candidates.sort_by(|(s, i), (t, j)| t.total_cmp(s).then(i.cmp(j)));
        if candidates.is_empty() {
            break;
        }
        columns.extend(candidates.iter().take(per_step).map(|(_, j)| *j as u32));
        columns.sort_unstable();
        let before = psi;
        (psi, g) = solved(&columns);
        if before - psi < gain * before {
            break;
        }
    }
    columns
}

#[test]
fn adaptive_patterns_take_what_lessens_the_energy_most() {
    for recipe in ["fem-hex?n=3&dof=3", "fem-hex?n=4&dof=1"] {
        let a = made(recipe);
        let rows = dense(&a);
        for (steps, per_step, gain) in [(5, 3, 1e-3), (2, 1, 0.0), (0, 3, 1e-3), (4, 2, 0.05)] {
            let pattern = PatternRule::Adaptive { steps, per_step: per_step as u32, gain };
            let parameters = FsaiParameters { pattern, ..FsaiParameters::default() };
            let inverse = set_up(&a, &parameters);
            for i in 0..a.rows() {
                let expected = adaptive_columns(&rows, i, (steps, per_step, gain));
                assert_eq!(inverse.g().row(i).0, expected, "{recipe} {steps} row {i}");
            }
        }
    }
}

#[test]
fn equal_candidates_are_taken_from_the_first() {
    let lower =
        [(0, 0, 2.0), (1, 1, 2.0), (2, 2, 2.0), (3, 0, 0.5), (3, 1, 0.5), (3, 2, 0.5), (3, 3, 2.0)];
    let a = symmetric(4, &lower);
    let pattern = PatternRule::Adaptive { steps: 1, per_step: 2, gain: 0.0 };
    let inverse = set_up(&a, &FsaiParameters { pattern, ..FsaiParameters::default() });
    assert_eq!(inverse.g().row(3).0, [0, 1, 3]);
}

#[test]
fn a_given_pattern_is_its_lower_triangle_and_the_diagonal() {
    let a = made("poisson2d?n=3");
    let given = Csr::from_triplets(9, 9, &[(4, 1, 0.0), (4, 7, 1.0), (5, 5, 0.0)]).unwrap();
    let pattern = PatternRule::Given(Arc::new(given));
    let inverse = set_up(&a, &FsaiParameters { pattern, ..FsaiParameters::default() });
    assert_eq!(inverse.g().row(4).0, [1, 4]);
    assert_eq!(inverse.g().nnz(), 10);
    let small = Csr::from_triplets(2, 2, &[(0, 0, 1.0)]).unwrap();
    let pattern = PatternRule::Given(Arc::new(small));
    let error = tried(&a, &FsaiParameters { pattern, ..FsaiParameters::default() }).unwrap_err();
    assert!(matches!(error, FsaiError::PatternSize { found_rows: 2, rows: 9, .. }));
}

#[test]
fn a_row_whose_system_is_not_positive_definite_is_named() {
    let mut lower: Vec<_> = (0..9).map(|i| (i, i, 1.0)).collect();
    lower.extend([(5, 4, 2.0), (8, 7, 3.0), (6, 5, 0.1)]);
    let a = symmetric(9, &lower);
    for parameters in [recursive(1), recursive(2), merged(1, 1.0), merged(1, 1.3), adaptive()] {
        let error = tried(&a, &parameters).unwrap_err();
        assert!(matches!(error, FsaiError::NotPositiveDefinite { row: 5, .. }), "{error}");
        let shifted = FsaiParameters { shift: 3.0, ..parameters };
        assert_eq!(set_up(&a, &shifted).g().rows(), 9);
    }
    let missing = symmetric(2, &[(0, 0, 1.0)]);
    let error = tried(&missing, &recursive(1)).unwrap_err();
    assert!(matches!(error, FsaiError::NotPositiveDefinite { row: 1, size: 1 }));
}

#[test]
fn a_shift_adds_to_the_diagonal_in_proportion() {
    let a = made("fem-hex?n=3&dof=3");
    let mut lower = Vec::new();
    for i in 0..a.rows() {
        let (col, val) = a.row(i);
        for (&c, &v) in col.iter().zip(val).filter(|(c, _)| **c as usize <= i) {
            lower.push((i, c as usize, if c as usize == i { v * 1.25 } else { v }));
        }
    }
    let larger = symmetric(a.rows(), &lower);
    let shifted = FsaiParameters { shift: 0.25, postfilter: 1e-3, ..recursive(1) };
    let plain = FsaiParameters { shift: 0.0, ..shifted.clone() };
    assert_eq!(bits(set_up(&a, &shifted).g()), bits(set_up(&larger, &plain).g()));
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn g_has_the_same_bits_for_any_number_of_threads() {
    let a = made("fem-hex?n=8&dof=3");
    let small = Some(Merging { alpha: 1.05, block: Some(300) });
    for parameters in [
        recursive(1),
        FsaiParameters { postfilter: 1e-3, prefilter: 1e-4, ..recursive(2) },
        FsaiParameters { merge: small, postfilter: 1e-3, ..recursive(1) },
        merged(1, 1.0),
        adaptive(),
    ] {
        let one = with_threads(1, || set_up(&a, &parameters));
        for threads in [2, 3, 5] {
            let many = with_threads(threads, || set_up(&a, &parameters));
            assert_eq!(bits(one.g()), bits(many.g()), "{threads} threads");
            assert_eq!(bits(one.gt()), bits(many.gt()), "{threads} threads");
        }
    }
}

#[test]
fn refreshing_is_setting_up_with_the_pattern_that_was_kept() {
    let a = made("fem-hex?n=5&dof=3&seed=1");
    let b = made("fem-hex?n=5&dof=3&seed=2");
    let limit = MemoryLimit::unlimited();
    for merge in [None, Some(Merging::new(1.05))] {
        let parameters =
            FsaiParameters { merge, prefilter: 1e-3, postfilter: 1e-3, ..recursive(2) };
        let unfiltered = FsaiParameters { postfilter: 0.0, ..parameters.clone() };
        let mut inverse = set_up(&a, &parameters);
        let first = inverse.clone();

        inverse.refresh(&a, false, limit, &|| false).unwrap().unwrap();
        assert_eq!(bits(inverse.g()), bits(first.g()));

        inverse.refresh(&b, false, limit, &|| false).unwrap().unwrap();
        let kept = pattern_of(&a, &parameters, limit, &|| false).unwrap().unwrap();
        let values = vec![1.0; kept.entries()];
        let kept =
            Csr::try_new(a.rows(), a.rows(), kept.row_ptr().clone(), kept.col().to_vec(), values);
        let given = PatternRule::Given(Arc::new(kept.unwrap()));
        let anew = set_up(&b, &FsaiParameters { pattern: given, ..parameters.clone() });
        assert_eq!(bits(inverse.g()), bits(anew.g()));
        assert_eq!(**inverse.gt(), inverse.g().transpose());

        let mut inverse = first.clone();
        inverse.refresh(&b, true, limit, &|| false).unwrap().unwrap();
        assert_eq!(inverse.g().col(), first.g().col());
        assert!(inverse.report().entries < inverse.report().entries_before_filter);
        has_small_backward_errors(&b, inverse.g(), Held::Not);
        let before = inverse.g().clone();
        assert_eq!(inverse.refresh(&a, true, limit, &|| true).unwrap(), None);
        assert_eq!(*inverse.g(), before);

        let mut whole = set_up(&a, &unfiltered);
        whole.refresh(&b, true, limit, &|| false).unwrap().unwrap();
        has_small_backward_errors(&b, whole.g(), Held::Entries);
        assert_eq!(whole.g().col(), set_up(&a, &unfiltered).g().col());
    }
    let other = made("poisson2d?n=3");
    let error = set_up(&a, &recursive(1)).refresh(&other, false, limit, &|| false).unwrap_err();
    assert_eq!(error, FsaiError::OtherSize { expected: a.rows(), found: 9 });
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn set_up_can_be_cancelled_in_every_phase() {
    let a = made("fem-hex?n=6&dof=3");
    let limit = MemoryLimit::unlimited();
    let all = FsaiParameters { postfilter: 1e-3, ..merged(2, 1.05) };
    let asked = AtomicUsize::new(0);
    let count = || asked.fetch_add(1, Ordering::Relaxed) == usize::MAX;
    assert!(with_threads(1, || Fsai::set_up(&a, &all, limit, &count)).unwrap().is_some());
    let asked = asked.into_inner();
    assert!(asked > 20, "asked {asked} times");
    for after in 0..asked {
        let left = AtomicUsize::new(0);
        let cancelled = || left.fetch_add(1, Ordering::Relaxed) >= after;
        assert!(with_threads(1, || Fsai::set_up(&a, &all, limit, &cancelled)).unwrap().is_none());
    }
}

#[test]
fn memory_is_asked_for_before_it_is_taken() {
    let arrow = |n: usize| (0..n).flat_map(move |j| [(n - 1, j, 1.0), (j, j, n as f64)]);
    let a = symmetric(3000, &arrow(3000).collect::<Vec<_>>());
    let small = MemoryLimit::bytes(2_000_000);
    let error = Fsai::set_up(&a, &power(2), small, &|| false).unwrap_err();
    assert!(matches!(error, FsaiError::Memory(_)), "{error}");
    let given = PatternRule::Given(Arc::new(symmetric(1500, &arrow(1500).collect::<Vec<_>>())));
    let parameters = FsaiParameters { pattern: given, ..FsaiParameters::default() };
    let a = symmetric(1500, &(0..1500).map(|i| (i, i, 1.0)).collect::<Vec<_>>());
    let error = Fsai::set_up(&a, &parameters, small, &|| false).unwrap_err();
    assert!(error.to_string().starts_with("the dense systems"), "{error}");
    assert_eq!(set_up(&a, &parameters).report().largest, 1500);
}

#[test]
fn a_ready_factor_is_taken_when_it_is_one() {
    let a = made("poisson2d?n=5");
    let g = set_up(&a, &recursive(2)).g().clone();
    let inverse = Fsai::from_factor(Arc::clone(&g)).unwrap();
    assert_eq!((&**inverse.g(), &**inverse.gt()), (&*g, &g.transpose()));
    let upper = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)]).unwrap();
    assert_eq!(Fsai::from_factor(Arc::new(upper)).unwrap_err(), FsaiError::NotAFactor { row: 0 });
    let negative = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, -1.0)]).unwrap();
    assert_eq!(
        Fsai::from_factor(Arc::new(negative)).unwrap_err(),
        FsaiError::NotAFactor { row: 1 }
    );
    let wide = Csr::from_triplets(1, 2, &[(0, 0, 1.0)]).unwrap();
    assert!(matches!(Fsai::from_factor(Arc::new(wide)).unwrap_err(), FsaiError::NotSquare { .. }));
}

#[test]
fn parameters_out_of_their_range_are_refused() {
    let a = made("poisson2d?n=3");
    let base = FsaiParameters::default;
    for (name, parameters) in [
        ("the power", recursive(0)),
        ("the prefilter", FsaiParameters { prefilter: -1.0, ..base() }),
        ("the postfilter", FsaiParameters { postfilter: f64::NAN, ..base() }),
        ("the shift", FsaiParameters { shift: f64::INFINITY, ..base() }),
        ("alpha", merged(1, 0.99)),
        (
            "the merge block",
            FsaiParameters { merge: Some(Merging { alpha: 1.0, block: Some(0) }), ..base() },
        ),
    ] {
        let error = tried(&a, &parameters).unwrap_err();
        assert!(error.to_string().starts_with(&format!("FSAI: {name}")), "{error}");
    }
}

#[test]
fn the_system_of_a_row_is_the_matrix_at_its_columns() {
    let a = made("fem-hex?n=3&dof=3");
    let rows = dense(&a);
    let columns = [2u32, 5, 11, 40];
    let system = dense_system(&a, &columns);
    for (p, &i) in columns.iter().enumerate() {
        for (q, &j) in columns.iter().enumerate() {
            let (i, j) = (i.max(j) as usize, i.min(j) as usize);
            assert_eq!(system[4 * p + q], rows[i][j]);
        }
    }
}

#[test]
fn some_rows_have_the_bits_that_they_have_in_the_whole_factor() {
    let a = made("fem-hex?n=4&dof=3");
    let power = |power| FsaiParameters { pattern: PatternRule::Power { power }, ..recursive(1) };
    let filtered = FsaiParameters { prefilter: 1e-4, postfilter: 1e-3, ..recursive(2) };
    for parameters in [recursive(1), recursive(2), power(2), filtered] {
        let whole = set_up(&a, &parameters);
        let third = a.rows() / 3;
        for rows in [0..a.rows(), third..2 * third, 2 * third..a.rows(), third..third] {
            let limit = MemoryLimit::unlimited();
            let some = factor_rows(&a, rows.clone(), &parameters, limit, &|| false).unwrap();
            let (g, report) = some.unwrap();
            assert_eq!(
                (g.rows(), g.cols(), report.entries),
                (rows.len(), a.cols(), g.nnz() as u64)
            );
            for (k, i) in rows.enumerate() {
                assert_eq!(g.row(k), whole.g().row(i), "row {i}");
            }
        }
    }
    let a = symmetric(3, &[(0, 0, 1.0), (1, 1, 1.0), (2, 1, 2.0), (2, 2, 1.0)]);
    let error = factor_rows(&a, 1..3, &recursive(1), MemoryLimit::unlimited(), &|| false);
    assert_eq!(error.unwrap_err(), FsaiError::NotPositiveDefinite { row: 2, size: 2 });
}

#[test]
fn the_empty_matrix_has_an_empty_inverse() {
    let a = Csr::from_triplets(0, 0, &[] as &[(usize, usize, f64)]).unwrap();
    for parameters in [recursive(2), merged(1, 1.0), adaptive()] {
        assert_eq!(set_up(&a, &parameters).g().nnz(), 0);
    }
}
