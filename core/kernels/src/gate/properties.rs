//! Properties of the SpMV and sweep bounds for arbitrary numbers: every order of summation passes, and an
//! element that is off by three bounds fails.

use proptest::prelude::*;

use super::{Reference, SweepBounds};
use crate::symgs::{Diagonal, Mode, serial};
use sparsescope_matrix::matrix::{Csr, Real};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::{Check, Verdict};

/// Factors of a row's terms: of usual size, huge, subnormal, and numbers that cancel preceding ones.
fn factors() -> impl Strategy<Value = Vec<(f64, f64)>> {
    let usual = (-1e3..1e3f64, -1e3..1e3f64);
    let huge = (-8e307..8e307f64, -1.5..1.5f64);
    let products = (-1e200..1e200f64, -1e200..1e200f64);
    let tiny = (-1e-300..1e-300f64, -1e-15..1e-15f64);
    let one = prop_oneof![6 => usual, 1 => huge, 1 => products, 2 => tiny];
    prop::collection::vec((one, any::<bool>()), 1..60).prop_map(|list| {
        let cancelled = list.into_iter().flat_map(|((a, x), cancels)| {
            [Some((a, x)), cancels.then_some((-a, x * (1.0 + 1e-13)))]
        });
        cancelled.flatten().collect::<Vec<_>>()
    })
}

fn row<T: Real>(factors: &[(f64, f64)]) -> (Csr<T>, Vec<T>) {
    let entries: Vec<(usize, usize, f64)> =
        factors.iter().enumerate().map(|(j, &(a, _))| (0, j, a)).collect();
    let a = Csr::from_triplets(1, factors.len(), &entries).unwrap();
    (a.map(T::rounded), factors.iter().map(|&(_, x)| T::rounded(x)).collect())
}

/// The sums of a row's terms in the order of the keys, sequentially and in two halves.
fn sums<T: Real>(a: &Csr<T>, x: &[T], keys: &[u32]) -> [T; 2] {
    let (col, val) = a.row(0);
    let mut terms: Vec<(u32, T)> = col
        .iter()
        .zip(val)
        .map(|(&c, &v)| (keys[c as usize % keys.len()] ^ c, v * x[c as usize]))
        .collect();
    terms.sort_by_key(|&(key, _)| key);
    let sum = |terms: &[(u32, T)]| terms.iter().fold(T::ZERO, |sum, &(_, term)| sum + term);
    let (before, after) = terms.split_at(terms.len() / 2);
    [sum(&terms), sum(before) + sum(after)]
}

/// Rows of a diagonally dominant system, each in its own unit.
fn system() -> impl Strategy<Value = Vec<(usize, usize, f64)>> {
    (2usize..12).prop_flat_map(|n| {
        let beside = prop::collection::vec((0..n, 0..n, -1.0..1.0f64), 0..5 * n);
        let units = prop::collection::vec(-8i32..8, n);
        (beside, units).prop_map(move |(beside, units)| {
            let unit = |i: usize| 10f64.powi(units[i]);
            let beside: Vec<_> = beside.into_iter().filter(|&(i, j, _)| i != j).collect();
            let size = |i: usize| -> f64 {
                beside.iter().filter(|&&(row, ..)| row == i).map(|&(.., value)| value.abs()).sum()
            };
            let diagonal = (0..n).map(|i| (i, i, (size(i) + 0.5) * unit(i)));
            diagonal
                .chain(beside.iter().map(|&(i, j, value)| (i, j, value * unit(i))))
                .collect::<Vec<(usize, usize, f64)>>()
        })
    })
}

/// A forward and a backward sweep that sum each row's terms from last to first.
fn backwards<T: Real>(a: &Csr<T>, mode: Mode, b: &[T], x: &mut [T]) {
    let mut row = |i: usize| {
        let (col, val) = a.row(i);
        let (mut sum, mut diagonal) = (T::ZERO, T::ONE);
        for (&c, &v) in col.iter().zip(val).rev() {
            let is_diagonal = c as usize == i;
            if is_diagonal {
                diagonal = v;
            }
            if !is_diagonal || mode == Mode::Smoother {
                sum += v * x[c as usize];
            }
        }
        let right = match mode {
            Mode::Standard => b[i],
            Mode::Smoother => x[i] + diagonal * x[i],
        };
        x[i] = (right - sum) / diagonal;
    };
    (0..b.len()).for_each(&mut row);
    (0..b.len()).rev().for_each(&mut row);
}

/// The checks of sweeps that sum backwards, as computed and with one element off by three bounds.
fn judged<T: Real>(
    entries: &[(usize, usize, f64)],
    mode: Mode,
    off: prop::sample::Index,
) -> [Check; 2] {
    let n = entries.iter().map(|&(i, ..)| i + 1).max().unwrap();
    let a = Csr::from_triplets(n, n, entries).unwrap().map(T::rounded);
    let b: Vec<T> = (0..n).map(|i| T::rounded(0.3 - 0.1 * (i % 7) as f64)).collect();
    let start: Vec<T> = (0..n).map(|i| T::rounded(0.1 + 0.1 * (i % 5) as f64)).collect();
    let diagonal = Diagonal::of(&a, MemoryLimit::unlimited()).unwrap();
    let bounds = SweepBounds::new(&a, &diagonal, mode, (&b, &start), 1);
    let (mut expected, mut found) = (start.clone(), start);
    serial::symgs(&a, &diagonal, mode, &b, &mut expected, 1);
    backwards(&a, mode, &b, &mut found);
    let right = bounds.check(&expected, &found);
    let i = off.index(n);
    let value: f64 = expected[i].into();
    found[i] = T::rounded(value + 3.0 * bounds.of_row(i));
    [right, bounds.check(&expected, &found)]
}

proptest! {
    #[test]
    fn sweeps_that_add_backwards_pass_and_one_element_off_by_three_bounds_fails(
        entries in system(),
        off in any::<prop::sample::Index>(),
    ) {
        for mode in Mode::ALL {
            let both = [judged::<f64>(&entries, mode, off), judged::<f32>(&entries, mode, off)];
            for [right, wrong] in both {
                prop_assert_eq!(right.verdict, Verdict::Pass, "{:?}", right.reason);
                prop_assert_eq!(wrong.verdict, Verdict::Fail);
            }
        }
    }

    #[test]
    fn every_order_of_summation_passes_or_has_overflowed(
        factors in factors(),
        keys in prop::collection::vec(any::<u32>(), 7),
    ) {
        let (a, x) = row::<f64>(&factors);
        let reference = Reference::new(&a, &x);
        for z in sums(&a, &x, &keys) {
            let check = reference.check(&[z]);
            let expected = match z.is_finite() || check.verdict == Verdict::Pass {
                true => (Verdict::Pass, false),
                false => (Verdict::Refused, true),
            };
            prop_assert_eq!((check.verdict, check.undecided), expected, "{} {:?}", z, check.reason);
        }
    }

    #[test]
    fn every_order_of_summation_in_f32_passes(
        list in prop::collection::vec((-1e18..1e18f64, -1e18..1e18f64), 1..60),
        small in prop::collection::vec((-1e-25..1e-25f64, -1e-18..1e-18f64), 0..20),
        keys in prop::collection::vec(any::<u32>(), 7),
    ) {
        for factors in [[&list[..], &small].concat(), small].into_iter().filter(|f| !f.is_empty()) {
            let (a, x) = row::<f32>(&factors);
            let reference = Reference::new(&a, &x);
            for z in sums(&a, &x, &keys) {
                let check = reference.check(&[z]);
                prop_assert_eq!(check.verdict, Verdict::Pass, "{} {:?}", z, check.reason);
            }
        }
    }

    #[test]
    fn what_is_off_by_three_bounds_fails(factors in factors(), up in any::<bool>()) {
        let (a, x) = row::<f64>(&factors);
        let reference = Reference::new(&a, &x);
        let (y, bound) = (reference.y()[0], reference.bound(0));
        let z = if up { y + 3.0 * bound } else { y - 3.0 * bound };
        if z.is_finite() {
            let check = reference.check(&[z]);
            prop_assert_eq!(check.verdict, Verdict::Fail, "{} instead of {} ± {}", z, y, bound);
        }
        let check = reference.check(&[f64::NAN]);
        prop_assert!(check.verdict == Verdict::Fail || check.undecided);
    }
}
