//! The number of symmetric sweeps that a small system takes in different orders.

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::symgs::{Diagonal, Mode, Wavefront, relative_residual, serial};

use super::subject::Subject;
use crate::state::Order;
use crate::waves::Waves;

/// Target residual, relative to b.
const ENOUGH: f64 = 1e-6;
/// Maximum rows of a system.
const MOST_ROWS: usize = 1024;
const MOST_SWEEPS: u32 = 5000;

/// Symmetric sweeps over A x = b from x = 0 with b = 1 until the residual is 10⁻⁶ of b; each starts
/// in ascending or descending order, or goes colour by colour.
pub(super) fn sweeps(subject: &Subject, waves: &Waves, order: Order) -> Result<u32, String> {
    let refused = || format!("{} has too many rows to run sweeps in a lesson", subject.name);
    let Some(LoadedValues::Real(a)) = &subject.picture.values else { return Err(refused()) };
    if a.rows() > MOST_ROWS {
        return Err(refused());
    }
    let mut rows: Vec<u32> = (0..a.rows() as u32).collect();
    match order {
        Order::Forward => {}
        Order::Backward => rows.reverse(),
        Order::Colors => {
            let Wavefront { places, .. } = waves.wave(order);
            let color = |row: &u32| places.get(*row as usize).map(|[color, ..]| *color);
            sparsescope_core::order::sort_by(&mut rows, |a, b| color(a).cmp(&color(b)));
        }
    }
    count(a, &rows).ok_or_else(|| "the sweeps do not converge".into())
}

/// Sweeps over the rows in this order and back until the residual is small enough; `None` if it
/// never is, or if a row has no usable diagonal.
fn count(a: &Csr<f64>, rows: &[u32]) -> Option<u32> {
    let diagonal = Diagonal::of(a, MemoryLimit::of_machine()).ok()?;
    let (b, mut x) = (vec![1.0; a.rows()], vec![0.0; a.rows()]);
    for sweep in 1..=MOST_SWEEPS {
        serial::symgs_in_order(a, &diagonal, rows, Mode::Standard, &b, &mut x);
        match relative_residual(a, &b, &x) {
            residual if !residual.is_finite() => return None,
            residual if residual <= ENOUGH => return Some(sweep),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangular_system_takes_one_sweep_and_one_that_diverges_is_given_up() {
        let lower = [(0, 0, 2.0), (1, 0, -1.0), (1, 1, 2.0), (2, 1, -1.0), (2, 2, 2.0)];
        let lower = Csr::from_triplets(3, 3, &lower).unwrap();
        assert_eq!(count(&lower, &[0, 1, 2]), Some(1));
        // From the far end, the way back follows the dependencies.
        assert_eq!(count(&lower, &[2, 1, 0]), Some(1));
        let wild = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 3.0), (1, 0, 3.0), (1, 1, 1.0)]);
        assert_eq!(count(&wild.unwrap(), &[0, 1]), None);
    }

    #[test]
    fn two_colours_take_as_many_sweeps_as_theory_says() {
        // A chain: a symmetric sweep colour by colour has spectral radius r², where r is Jacobi's,
        // cos(π / (n + 1)) (Young, Iterative Solution of Large Linear Systems, 1971): half of the
        // backward sweep repeats the forward sweep.
        let n = 24;
        let of = |i: usize| [(i, i, 2.0), (i, (i + 1) % n, -1.0), (i, (i + n - 1) % n, -1.0)];
        let inside = |&(i, j, _): &(usize, usize, f64)| i.abs_diff(j) < 2;
        let t: Vec<_> = (0..n).flat_map(of).filter(inside).collect();
        let chain = Csr::from_triplets(n, n, &t).unwrap();
        let colors: Vec<u32> = (0..n as u32).step_by(2).chain((1..n as u32).step_by(2)).collect();
        let found = f64::from(count(&chain, &colors).unwrap());
        let radius = (std::f64::consts::PI / (n as f64 + 1.0)).cos().powi(2);
        let expected = ENOUGH.ln() / radius.ln();
        assert!((found / expected - 1.0).abs() < 0.1, "{found} sweeps, theory {expected}");
    }
}
