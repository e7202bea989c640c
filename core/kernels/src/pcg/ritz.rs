//! What the coefficients of the iteration reveal about the spectrum of K⁻¹·A.

/// Ritz values: eigenvalues of the tridiagonal matrix T of the CG coefficients, with T_jj = 1/α_j +
/// β_{j−1}/α_{j−1} and T_{j,j+1} = √β_j/α_j (Saad, Iterative Methods for Sparse Linear Systems, 6.7.3). Up to
/// rounding they lie within the spectrum of K⁻¹·A; they do not show multiplicities.
#[derive(Clone, Debug, PartialEq)]
pub struct Ritz {
    /// In ascending order; values within a relative 1e-8 are listed once, as lost orthogonality repeats them.
    pub values: Vec<f64>,
    /// Ratio of largest to smallest, minus possible rounding: a lower bound of the condition number.
    pub condition: f64,
    /// Number of iteration steps used.
    pub steps: usize,
}

/// Maximum number of steps used; the time grows with its square.
const MOST_STEPS: usize = 10_000;

/// Neighbours with a smaller relative gap count as one.
const GAP: f64 = 1e-8;

impl Ritz {
    /// Computes the values from α of each step and β of each but the last, at most the first 10 000. None
    /// without a step, or if a coefficient is not finite and positive.
    pub fn of(alphas: &[f64], betas: &[f64]) -> Option<Self> {
        let steps = alphas.len().min(betas.len() + 1).min(MOST_STEPS);
        let (alphas, betas) = (&alphas[..steps], &betas[..steps.saturating_sub(1)]);
        let mut diagonal: Vec<f64> = alphas.iter().map(|alpha| 1.0 / alpha).collect();
        for (j, beta) in betas.iter().enumerate() {
            diagonal[j + 1] += beta / alphas[j];
        }
        let beside = betas.iter().zip(alphas).map(|(beta, alpha)| beta.sqrt() / alpha);
        let mut values = eigenvalues(diagonal, beside.collect())?;
        values.sort_by(f64::total_cmp);
        let (&smallest, &largest) = (values.first()?, values.last()?);
        let condition = largest / (smallest.max(0.0) + 4.0 * f64::EPSILON * largest);
        values.dedup_by(|next, kept| *next - *kept <= GAP * next.abs());
        Some(Self { values, condition: condition.max(1.0), steps })
    }
}

/// Maximum QL sweeps per eigenvalue; a few are usual.
const SWEEPS: usize = 60;

/// The eigenvalues of a symmetric tridiagonal matrix, in no order, by implicit QL steps with Wilkinson's
/// shift (Golub and Van Loan, Matrix Computations, 8.3). None if a number is not finite.
fn eigenvalues(mut d: Vec<f64>, mut e: Vec<f64>) -> Option<Vec<f64>> {
    if d.iter().chain(&e).any(|v| !v.is_finite()) {
        return None;
    }
    e.push(0.0);
    let n = d.len();
    for first in 0..n {
        let mut sweeps = 0;
        loop {
            let is_split = |&k: &usize| e[k].abs() <= f64::EPSILON * (d[k].abs() + d[k + 1].abs());
            let last = (first..n - 1).find(is_split).unwrap_or(n - 1);
            if last == first {
                break;
            }
            sweeps += 1;
            if sweeps > SWEEPS {
                return None;
            }
            sweep(&mut d[first..=last], &mut e[first..=last]);
        }
    }
    Some(d)
}

/// One QL step with the shift from the upper left corner; the last element of e is 0 or becomes 0.
fn sweep(d: &mut [f64], e: &mut [f64]) {
    let last = d.len() - 1;
    let half = (d[1] - d[0]) / (2.0 * e[0]);
    let root = half.hypot(1.0);
    let shift = d[0] - e[0] / (half + root.copysign(half));
    let mut g = d[last] - shift;
    let (mut sine, mut cosine, mut moved) = (1.0, 1.0, 0.0);
    for i in (0..last).rev() {
        let (f, b) = (sine * e[i], cosine * e[i]);
        let length = f.hypot(g);
        e[i + 1] = length;
        if length == 0.0 {
            d[i + 1] -= moved;
            e[last] = 0.0;
            return;
        }
        (sine, cosine) = (f / length, g / length);
        g = d[i + 1] - moved;
        let r = (d[i] - g) * sine + 2.0 * cosine * b;
        moved = sine * r;
        d[i + 1] = g + moved;
        g = cosine * r - b;
    }
    d[0] -= moved;
    e[0] = g;
    e[last] = 0.0;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_difference_has_its_known_eigenvalues() {
        for n in [1usize, 2, 3, 50, 999] {
            let mut found = eigenvalues(vec![2.0; n], vec![-1.0; n - 1]).unwrap();
            found.sort_by(f64::total_cmp);
            for (k, value) in found.iter().enumerate() {
                let angle = std::f64::consts::PI * (k + 1) as f64 / (2.0 * (n + 1) as f64);
                let expected = 4.0 * angle.sin().powi(2);
                assert!((value - expected).abs() < 1e-13, "{n} {k} {value} {expected}");
            }
        }
    }

    #[test]
    fn a_split_matrix_and_one_with_equal_values_are_told_once() {
        // α = 1/2 with β = 0 gives T = 2·I.
        let ritz = Ritz::of(&[0.5; 4], &[0.0; 3]).unwrap();
        assert_eq!((ritz.values, ritz.steps), (vec![2.0], 4));
        assert_eq!(ritz.condition.round(), 1.0);
        // Wilkinson's W21+ has pairs that agree to 14 digits: of its 21 eigenvalues, the largest are listed
        // once.
        let d: Vec<f64> = (0..21).map(|i| (10.0 - f64::from(i)).abs()).collect();
        let mut found = eigenvalues(d, vec![1.0; 20]).unwrap();
        found.sort_by(f64::total_cmp);
        assert!((found[20] - 10.746194182903393).abs() < 1e-13, "{}", found[20]);
        assert!((found[0] + 1.125441522119985).abs() < 1e-13, "{}", found[0]);
    }

    #[test]
    fn two_steps_give_the_eigenvalues_of_two_by_two() {
        // A = diag(1, 4), b = (1, 1): r₀ = b, α₀ = 2/5, r₁ = (3/5, −3/5), β₀ = 9/25, p₁ = (24/25, −6/25),
        // α₁ = (18/25)/(720/625) = 5/8.
        let ritz = Ritz::of(&[0.4, 0.625], &[0.36]).unwrap();
        assert!((ritz.values[0] - 1.0).abs() < 1e-14 && (ritz.values[1] - 4.0).abs() < 1e-14);
        assert!((ritz.condition - 4.0).abs() < 1e-12);
        assert_eq!(Ritz::of(&[], &[]), None);
        assert_eq!(Ritz::of(&[f64::NAN], &[]), None);
    }
}
