//! Merged rows: what groups guarantee, and the thesis's band matrix.

use super::checks::{made, merged, recursive, set_up, symmetric};
use super::{FsaiParameters, MERGE_CAP, Merging};

#[test]
fn merged_patterns_contain_the_unmerged_ones_and_kaporins_number_never_rises() {
    for recipe in ["fem-hex?n=6&dof=3", "poisson2d?n=25", "fem-tet?nx=7&ny=6&nz=5&dof=1"] {
        let a = made(recipe);
        for power in [1, 2] {
            let plain = set_up(&a, &recursive(power));
            for alpha in [1.0, 1.05, 1.5] {
                let merged = set_up(&a, &merged(power, alpha));
                for i in 0..a.rows() {
                    let ((few, few_val), (many, many_val)) = (plain.g().row(i), merged.g().row(i));
                    let held = |c: &u32| many.binary_search(c).is_ok();
                    assert!(few.iter().all(held), "{recipe} row {i}");
                    // Kaporin's number is (trace/n)/det^(1/n) of G·A·Gᵀ, whose diagonal is 1: it falls as the
                    // diagonal of G grows, and that grows in each row.
                    let (few, many) = (few_val[few.len() - 1], many_val[many.len() - 1]);
                    assert!(many >= few * (1.0 - 1e-12), "{recipe} row {i}: {few} {many}");
                }
            }
        }
    }
}

#[test]
fn the_larger_alpha_the_fewer_the_groups() {
    for recipe in ["fem-hex?n=9&dof=3", "fem-tet?nx=12&ny=10&nz=9&dof=3"] {
        let a = made(recipe);
        let systems = |alpha| set_up(&a, &merged(1, alpha)).report().systems;
        let counts: Vec<u64> = [1.0, 1.01, 1.05, 1.11].map(systems).to_vec();
        assert!(counts.windows(2).all(|pair| pair[0] >= pair[1]), "{recipe} {counts:?}");
        assert!(counts[0] * 2 < a.rows() as u64 && counts[3] < counts[0], "{recipe} {counts:?}");
    }
}

/// Each row has four nonzeros up to the diagonal.
fn band(n: usize) -> sparsescope_matrix::matrix::Csr {
    let below = |i: usize| (1..=3.min(i)).map(move |k| (i, i - k, -1.0));
    let lower: Vec<_> = (0..n).flat_map(|i| below(i).chain([(i, i, 7.0)])).collect();
    symmetric(n, &lower)
}

#[test]
fn the_band_matrix_that_would_become_one_group_is_held_by_the_cap() {
    // With α = 1.5 every further row costs less than α allows: (u + 1)³ < 1.5·(u³ + 4³) for every u. The
    // first group takes rows up to 200 columns; the next start with 4 columns and take 197 rows each.
    let a = band(1000);
    let merge = Some(Merging { alpha: 1.5, block: None });
    let inverse = set_up(&a, &FsaiParameters { merge, ..recursive(1) });
    assert_eq!((inverse.report().largest, inverse.report().systems), (MERGE_CAP as u64, 6));
    assert_eq!(inverse.g().row_len(199), 200);
    assert_eq!(inverse.g().row(200).0, [197, 198, 199, 200]);
}

#[test]
fn groups_grow_as_the_thesis_has_it() {
    // At α = 1 the union of u columns takes a row of 4 with one new column while (u + 1)³ < u³ + 4³, that is
    // up to u = 4: rows 0 to 4 form a group of 5 columns, and from row 5 on every two rows form one.
    let inverse = set_up(&band(25), &merged(1, 1.0));
    assert_eq!(inverse.report().systems, 1 + 10);
    assert_eq!(inverse.g().row(4).0, [0, 1, 2, 3, 4]);
    assert_eq!(inverse.g().row(5).0, [2, 3, 4, 5]);
    assert_eq!(inverse.g().row(6).0, [2, 3, 4, 5, 6]);
    assert_eq!(inverse.g().row(7).0, [4, 5, 6, 7]);
}

#[test]
fn groups_close_at_the_end_of_their_block() {
    let merge = Some(Merging { alpha: 1.5, block: Some(10) });
    let inverse = set_up(&band(40), &FsaiParameters { merge, ..recursive(1) });
    assert_eq!(inverse.report().systems, 4);
    assert_eq!(inverse.g().row(10).0, [7, 8, 9, 10]);
    assert_eq!(inverse.g().row(19).0, (7..=19).collect::<Vec<u32>>());
}

#[test]
fn rows_longer_than_the_cap_are_groups_of_their_own() {
    let n = 400;
    let mut lower: Vec<_> = (0..n).map(|i| (i, i, 500.0)).collect();
    lower.extend((0..250).map(|j| (390, j, 1.0)));
    lower.extend((0..250).map(|j| (391, j, 1.0)));
    let a = symmetric(n, &lower);
    let inverse = set_up(&a, &merged(1, 1.5));
    assert_eq!(inverse.report().largest, 251);
    assert_eq!(inverse.g().row_len(390), 251);
    assert_eq!(inverse.g().row_len(391), 251);
}
