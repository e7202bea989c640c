//! Elimination without pivoting, as in the thesis's CPU program.

use super::systems::{Solutions, Systems};

/// `cpu/dense/gauss`. One thread; each system is copied as [A|b], eliminated below the diagonal row by row
/// and substituted back. A system with a pivot that is not positive and finite is flagged. Returns false once
/// `cancelled` does. Panics unless `found` has the size of these systems.
pub fn gauss(
    systems: Systems<'_>,
    found: &mut Solutions,
    cancelled: &(dyn Fn() -> bool + Sync),
) -> bool {
    let n = systems.unknowns();
    let mut work = vec![0.0; n * (n + 1)];
    for (s, x) in found.x.chunks_mut(n).enumerate() {
        if cancelled() {
            return false;
        }
        for (i, row) in work.chunks_mut(n + 1).enumerate() {
            row[..n].copy_from_slice(&systems.matrix(s)[i * n..][..n]);
        }
        systems.copy_right(s, x);
        work.iter_mut().skip(n).step_by(n + 1).zip(&*x).for_each(|(to, b)| *to = *b);
        found.flagged[s] = !eliminated(&mut work, n);
        match found.flagged[s] {
            true => x.fill(f64::NAN),
            false => substitute(&work, n, x),
        }
    }
    true
}

/// Makes [A|b] of n rows upper triangular; false if a pivot is not positive and finite.
fn eliminated(work: &mut [f64], n: usize) -> bool {
    for k in 0..n {
        let (above, below) = work.split_at_mut((k + 1) * (n + 1));
        let pivot_row = &above[k * (n + 1)..];
        let pivot = pivot_row[k];
        if !(pivot > 0.0 && pivot < f64::INFINITY) {
            return false;
        }
        for row in below.chunks_exact_mut(n + 1) {
            let factor = row[k] / pivot;
            for (value, above) in row[k + 1..].iter_mut().zip(&pivot_row[k + 1..]) {
                *value -= factor * above;
            }
        }
    }
    true
}

/// Computes x from the last row to the first.
fn substitute(work: &[f64], n: usize, x: &mut [f64]) {
    for i in (0..n).rev() {
        let row = &work[i * (n + 1)..][..=n];
        let known: f64 = row[i + 1..n].iter().zip(&x[i + 1..]).map(|(a, x)| a * x).sum();
        x[i] = (row[n] - known) / row[i];
    }
}
