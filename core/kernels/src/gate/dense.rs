//! Checks solutions of many dense systems against the systems themselves.

use crate::dense::{Solutions, Systems};
use crate::pcg::{Magnitude, Scale, largest};
use sparsescope_matrix::matrix::BatchView;
use sparsescope_matrix::parallel::*;
use sparsescope_record::{Check, Verdict};

/// Which matrices of a batch are positive definite, determined by loops that no kernel shares.
#[derive(Clone, Debug, PartialEq)]
pub struct Definiteness {
    definite: Vec<bool>,
}

/// Solutions pass with a backward error of up to this many times n·ε, ε = 2⁻⁵².
const BOUND: f64 = 8.0;

impl Definiteness {
    /// Tests every matrix: first that its diagonal is positive, then that its Cholesky factorisation
    /// succeeds. None once `cancelled`, which is called for each matrix, returns true.
    pub fn of(batch: BatchView<'_>, cancelled: &(dyn Fn() -> bool + Sync)) -> Option<Self> {
        let n = batch.unknowns();
        let definite: Vec<Option<bool>> = (0..batch.len())
            .into_par_iter()
            .map(|s| {
                if cancelled() {
                    return None;
                }
                let a = batch.matrix(s);
                let diagonal_is_positive = a.iter().step_by(n + 1).all(|value| *value > 0.0);
                Some(diagonal_is_positive && has_factor(a, n))
            })
            .collect();
        let definite: Option<Vec<bool>> = definite.into_iter().collect();
        Some(Self { definite: definite? })
    }

    /// The indices of the matrices that are not positive definite, ascending.
    pub fn indefinite(&self) -> impl Iterator<Item = usize> {
        let all = self.definite.iter().enumerate();
        all.filter(|(_, definite)| !**definite).map(|(s, _)| s)
    }

    /// Checks that exactly the systems that are not positive definite were flagged, and that each other
    /// solution x has ‖A·x − b‖ ≤ 8·n·ε·(‖A‖·‖x‖ + ‖b‖) in the maximum norm. `row` is the number, as given by
    /// `number`, of the first wrong system, or of the worst one; `worst` is its fraction of the bound.
    pub fn check(
        &self,
        systems: Systems<'_>,
        found: &Solutions,
        number: &dyn Fn(usize) -> u64,
    ) -> Check {
        let failed = |row: Option<usize>, worst: Option<f64>, reason: String| Check {
            verdict: Verdict::Fail,
            reason: Some(reason),
            row: row.map(number),
            worst: worst.filter(|worst| worst.is_finite()),
            ..Check::default()
        };
        let (n, count) = (systems.unknowns(), systems.len());
        let (solved, flags) = (found.x.len(), found.flagged.len());
        if solved != n * count || flags != count {
            let reason = format!(
                "the result has {solved} values and {flags} flags for {count} systems of {n} \
                unknowns"
            );
            return failed(None, None, reason);
        }
        let flags = found.flagged.iter().zip(&self.definite);
        if let Some((s, (&flagged, _))) =
            flags.enumerate().find(|(_, (flagged, definite))| flagged == definite)
        {
            let name = number(s);
            let reason = match flagged {
                true => format!("system {name} was flagged but is positive definite"),
                false => format!("system {name} is not positive definite but was not flagged"),
            };
            return failed(Some(s), None, reason);
        }
        let shares = (0..count).into_par_iter().map(|s| {
            let error = match self.definite[s] {
                true => backward_error(systems, s, &found.x[s * n..][..n]),
                false => 0.0,
            };
            (error / (BOUND * n as f64 * f64::EPSILON), s)
        });
        // A NaN is worse than any number.
        let order = |share: f64| if share.is_nan() { f64::INFINITY } else { share };
        let larger = |a: (f64, usize), b: (f64, usize)| match order(b.0) > order(a.0) {
            true => b,
            false => a,
        };
        let (worst, s) = shares.reduce(|| (0.0, 0), larger);
        match worst <= 1.0 {
            true => Check {
                verdict: Verdict::Pass,
                worst: Some(worst),
                row: (worst > 0.0).then(|| number(s)),
                ..Check::default()
            },
            false => {
                let (times, name) = (format!("{worst:.3e}"), number(s));
                let reason =
                    format!("the backward error of system {name} is {times} times the bound 8nε");
                failed(Some(s), Some(worst), reason)
            }
        }
    }
}

/// ‖A·x − b‖ / (‖A‖·‖x‖ + ‖b‖) in the maximum norm; NaN if x contains NaN, or if b is so much larger than A
/// and x that it overflows in their units. The units are powers of two that make A and x about 1, as the
/// product of their norms may overflow.
fn backward_error(systems: Systems<'_>, s: usize, x: &[f64]) -> f64 {
    let (n, a) = (systems.unknowns(), systems.matrix(s));
    let about_one = |values: &[f64]| Scale::of_right_side(Magnitude::of(values.iter().copied()));
    let (unit_of_a, unit_of_x) = (about_one(a), about_one(x));
    let unit_of_b = unit_of_a.and(unit_of_x);
    let x: Vec<f64> = x.iter().map(|x| unit_of_x.there(*x)).collect();
    let mut b = vec![0.0; n];
    systems.copy_right(s, &mut b);
    b.iter_mut().for_each(|b| *b = unit_of_b.there(*b));
    let size = largest(b.iter().copied());
    let mut norm = 0.0f64;
    for (left, row) in b.iter_mut().zip(a.chunks(n)) {
        let mut sum = 0.0;
        for (a, x) in row.iter().map(|a| unit_of_a.there(*a)).zip(&x) {
            sum += a.abs();
            *left -= a * x;
        }
        norm = norm.max(sum);
    }
    let scale = norm * largest(x.iter().copied()) + size;
    match largest(b.iter().copied()) {
        // Relative to infinity, no residual can be judged small.
        _ if !scale.is_finite() => f64::NAN,
        0.0 => 0.0,
        residual => residual / scale,
    }
}

/// Whether the plain Cholesky factorisation of the row-major matrix of n rows succeeds.
fn has_factor(a: &[f64], n: usize) -> bool {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        let (before, own) = l.split_at_mut(i * n);
        let mut square = a[i * n + i];
        for j in 0..i {
            let other = &before[j * n..];
            let sum: f64 = own[..j].iter().zip(other).map(|(a, b)| a * b).sum();
            own[j] = (a[i * n + j] - sum) / other[j];
            square -= own[j] * own[j];
        }
        if !(square > 0.0 && square < f64::INFINITY) {
            return false;
        }
        own[i] = square.sqrt();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dense::RightHandSides;
    use sparsescope_matrix::matrix::Batch;

    /// Solutions of diag(2, 4) and of the matrix 1 1, 1 0.5, which has a negative eigenvalue.
    fn systems() -> (Batch, Definiteness) {
        let batch = Batch::new(2, vec![2.0, 0.0, 0.0, 4.0, 1.0, 1.0, 1.0, 0.5]).unwrap();
        let definiteness = Definiteness::of(batch.view(), &|| false).unwrap();
        (batch, definiteness)
    }

    fn check(x: &[f64], flagged: &[bool]) -> Check {
        let (batch, definiteness) = systems();
        let b = [2.0, 2.0, 1.0, 1.0];
        let systems = Systems::new(batch.view(), RightHandSides::Given(&b));
        let found = Solutions { x: x.to_vec(), flagged: flagged.to_vec() };
        definiteness.check(systems, &found, &|s| s as u64)
    }

    #[test]
    fn what_is_not_positive_definite_is_known_from_eigenvalues_on_paper() {
        assert_eq!(systems().1.indefinite().collect::<Vec<_>>(), [1]);
        // Eigenvalues 1 + ρ and 1 − ρ, then 1 + 2ρ and 1 − ρ twice.
        for (rho, n, definite) in [
            (0.999, 2, true),
            (1.0, 2, false),
            (1.5, 2, false),
            (-0.49, 3, true),
            (-0.51, 3, false),
        ] {
            let value = |k: usize| if k.is_multiple_of(n + 1) { 1.0 } else { rho };
            let batch = Batch::new(n, (0..n * n).map(value).collect()).unwrap();
            let found = Definiteness::of(batch.view(), &|| false).unwrap();
            assert_eq!(found.indefinite().count() == 0, definite, "{rho} {n}");
        }
        let zero = Batch::new(1, vec![0.0, -0.0, 1e-300]).unwrap();
        let found = Definiteness::of(zero.view(), &|| false).unwrap();
        assert_eq!(found.indefinite().collect::<Vec<_>>(), [0, 1]);
        assert_eq!(Definiteness::of(zero.view(), &|| true), None);
    }

    #[test]
    fn a_right_solution_passes_and_a_wrong_one_is_named() {
        let nan = f64::NAN;
        let right = check(&[1.0, 0.5, nan, nan], &[false, true]);
        assert_eq!((right.verdict, right.worst), (Verdict::Pass, Some(0.0)));
        // ‖A‖ = 4, ‖x‖ = 1, ‖b‖ = 2: n = 2 allows a residual of 96ε.
        let by = |residual: f64| check(&[1.0 + residual / 2.0, 0.5, 0.0, 0.0], &[false, true]);
        let inside = by(90.0 * f64::EPSILON);
        assert_eq!(inside.verdict, Verdict::Pass);
        assert!((inside.worst.unwrap() - 90.0 / 96.0).abs() < 0.02, "{inside:?}");
        let outside = by(104.0 * f64::EPSILON);
        assert_eq!((outside.verdict, outside.row), (Verdict::Fail, Some(0)));
        let reason = outside.reason.unwrap();
        assert!(reason.starts_with("the backward error of system 0 is 1.08"), "{reason}");
        for wrong in [nan, f64::INFINITY] {
            let check = check(&[1.0, wrong, 0.0, 0.0], &[false, true]);
            assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(0)), "{wrong}");
        }
    }

    #[test]
    fn no_solution_passes_because_its_bound_overflows() {
        // 4·x₂ overflows, and so did the bound for the residual of x₁.
        let wrong = check(&[1.0, 1e308, 0.0, 0.0], &[false, true]);
        assert_eq!((wrong.verdict, wrong.row), (Verdict::Fail, Some(0)));
        let batch = Batch::new(2, vec![1e-300, 0.0, 0.0, 4.0]).unwrap();
        let definiteness = Definiteness::of(batch.view(), &|| false).unwrap();
        let b = [1.0, 4.0];
        let systems = Systems::new(batch.view(), RightHandSides::Given(&b));
        let verdict = |x: [f64; 2]| {
            let found = Solutions { x: x.to_vec(), flagged: vec![false] };
            definiteness.check(systems, &found, &|s| s as u64).verdict
        };
        // b₂ and x₂ are within the rounding of ‖A‖·‖x‖, which is 4e300.
        assert_eq!(verdict([1e300, 1.0]), Verdict::Pass);
        assert_eq!(verdict([f64::INFINITY, 1.0]), Verdict::Fail);
        assert_eq!(verdict([1e300, 1e290]), Verdict::Fail);
    }

    #[test]
    fn a_right_solution_passes_where_the_product_of_the_norms_overflows() {
        // In the first, ‖A‖·‖x‖ is 1e500; in the second, ‖A‖ alone is 2.5e308.
        let values = [[1e200, 0.0, 0.0, 1e-300], [1.5e308, 1e308, 1e308, 1.5e308]];
        let batch = Batch::new(2, values.concat()).unwrap();
        let definiteness = Definiteness::of(batch.view(), &|| false).unwrap();
        let systems = Systems::new(batch.view(), RightHandSides::Given(&[1.0, 1.0, 2.5e8, 2.5e8]));
        let check = |x: [f64; 4]| {
            let found = Solutions { x: x.to_vec(), flagged: vec![false; 2] };
            definiteness.check(systems, &found, &|s| s as u64)
        };
        let right = check([1e-200, 1e300, 1e-300, 1e-300]);
        assert_eq!(right.verdict, Verdict::Pass, "{right:?}");
        let first = check([1e300, 1e300, 1e-300, 1e-300]);
        assert_eq!((first.verdict, first.row), (Verdict::Fail, Some(0)));
        let second = check([1e-200, 1e300, 1e-300, 2e-300]);
        assert_eq!((second.verdict, second.row), (Verdict::Fail, Some(1)));
    }

    #[test]
    fn flags_must_be_those_of_the_systems_that_have_no_solution() {
        let reason = |flags: &[bool]| check(&[1.0, 0.5, 0.0, 0.0], flags).reason.unwrap();
        assert_eq!(reason(&[true, true]), "system 0 was flagged but is positive definite");
        assert_eq!(
            reason(&[false, false]),
            "system 1 is not positive definite but was not flagged"
        );
        assert_eq!(
            reason(&[false]),
            "the result has 4 values and 1 flags for 2 systems of 2 unknowns"
        );
        assert_eq!(check(&[1.0], &[false, true]).verdict, Verdict::Fail);
    }
}
