//! The check of every factorised inverse, however it was set up: backward errors within rounding.

use sparsescope_matrix::matrix::Csr;

/// The bound on (GA)_ij.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// 16·m·ε·(|G||A|)_ij.
    Entries,
    /// 16·m·ε·Σ_k |g_ik|·√(a_kk·a_jj): the error of an elimination of `A[P,P]` = LLᵀ, because |L||Lᵀ| is
    /// bounded by the diagonal and not by |A| (Higham, 2002, theorem 10.4).
    Factors,
    /// None: a postfilter changed the row.
    Not,
}

/// Checks that (GA)_ij for j < i, (GA)_ii − 1/G_ii, and |(GAGᵀ)_ii − 1| are within 16·m·ε of the same with
/// absolute values, on the pattern of G. `a` is symmetric and as large as `g`. The error names the entry that
/// violates the bound, or the row that does not end on the diagonal.
pub fn check_backward_errors(a: &Csr, g: &Csr, held: Held) -> Result<(), String> {
    let entry = |i: usize| {
        let (col, val) = a.row(i);
        col.binary_search(&(i as u32)).map_or(0.0, |at| val[at])
    };
    let diagonal: Vec<f64> = (0..a.rows()).map(entry).collect();
    let mut product = vec![0.0; a.cols()];
    let mut size = vec![0.0; a.cols()];
    for i in 0..g.rows() {
        let (col, val) = g.row(i);
        if col.last() != Some(&(i as u32)) {
            return Err(format!("row {i} does not end on the diagonal"));
        }
        for (&c, &g) in col.iter().zip(val) {
            let (ac, av) = a.row(c as usize);
            for (&j, &v) in ac.iter().zip(av) {
                product[j as usize] += g * v;
                size[j as usize] += (g * v).abs();
            }
        }
        check_row(i, (col, val), (&product, &size), &diagonal, held)?;
        for &c in col {
            for &j in a.row(c as usize).0 {
                product[j as usize] = 0.0;
                size[j as usize] = 0.0;
            }
        }
    }
    Ok(())
}

/// Checks a row of G, from its product with A and with the absolute values.
fn check_row(
    i: usize,
    (col, val): (&[u32], &[f64]),
    (product, size): (&[f64], &[f64]),
    diagonal: &[f64],
    held: Held,
) -> Result<(), String> {
    let bound = 16.0 * col.len() as f64 * f64::EPSILON;
    let (mut energy, mut energy_size) = (0.0, 0.0);
    for (&c, &g) in col.iter().zip(val) {
        let at = c as usize;
        energy += product[at] * g;
        energy_size += size[at] * g.abs();
        let expected = if at == i { 1.0 / g } else { 0.0 };
        let error = (product[at] - expected).abs();
        let root = |(&k, g): (&u32, &f64)| (diagonal[k as usize] * diagonal[at]).sqrt() * g.abs();
        let allowed = match held {
            Held::Entries => bound * size[at],
            Held::Factors => bound * col.iter().zip(val).map(root).sum::<f64>(),
            Held::Not => continue,
        };
        if error.is_nan() || error > allowed {
            return Err(format!("GA[{i}, {c}] is off by {error:e}, more than {allowed:e}"));
        }
    }
    let (error, allowed) = ((energy - 1.0).abs(), bound * energy_size);
    match error <= allowed {
        true => Ok(()),
        false => Err(format!("GAGᵀ[{i}, {i}] is off by {error:e}, more than {allowed:e}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fsai::checks::{made, recursive, set_up};

    #[test]
    fn a_factor_with_one_value_off_is_told() {
        let a = made("poisson2d?n=5");
        let g = set_up(&a, &recursive(2)).g().clone();
        assert_eq!(check_backward_errors(&a, &g, Held::Entries), Ok(()));
        let off = |at: usize| {
            let mut val = g.val().to_vec();
            val[at] *= 1.0 + 1e-12;
            Csr::try_new(25, 25, g.row_ptr().clone(), g.col().to_vec(), val).unwrap()
        };
        for held in [Held::Entries, Held::Factors] {
            assert!(check_backward_errors(&a, &off(20), held).is_err(), "{held:?}");
        }
        // A row's energy is minimal at its solution: to first order it follows the diagonal alone.
        let diagonal = g.nnz() - 1;
        assert!(check_backward_errors(&a, &off(diagonal), Held::Not).is_err());
        let upper = Csr::from_triplets(1, 1, &[] as &[(usize, usize, f64)]).unwrap();
        let one = Csr::from_triplets(1, 1, &[(0, 0, 1.0)]).unwrap();
        assert!(check_backward_errors(&one, &upper, Held::Not).is_err());
    }
}
