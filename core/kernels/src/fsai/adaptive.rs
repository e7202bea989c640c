//! The adaptive pattern of a row: adds the columns that reduce g·A·gᵀ most.

use super::Cancelled;
use super::error::{FsaiError, Stop};
use super::system::{Lower, Solver};
use crate::dense::Factored;
use sparsescope_matrix::memory::zeroed;

/// Work space of one thread for adaptive rows.
pub(super) struct Adaptive<'l, 'a> {
    lower: &'l Lower<'a>,
    /// The diagonal, stored contiguously: in CSR its elements lie far apart, and each step reads many.
    diagonal: &'l [f64],
    solver: Solver<'l, 'a>,
    steps: u32,
    per_step: usize,
    gain: f64,
    /// The columns of the row, ascending.
    columns: Vec<u32>,
    /// (A·gᵀ)_j; zero between steps.
    product: Vec<f64>,
    /// Columns that the product may reach, possibly with duplicates.
    touched: Vec<u32>,
    /// The best candidates of a step, best first.
    best: Vec<(f64, u32)>,
}

impl<'l, 'a> Adaptive<'l, 'a> {
    pub(super) fn new(
        lower: &'l Lower<'a>,
        diagonal: &'l [f64],
        (steps, per_step, gain): (u32, usize, f64),
    ) -> Self {
        Self {
            lower,
            diagonal,
            solver: Solver::new(lower),
            steps,
            per_step,
            gain,
            columns: Vec::new(),
            product: zeroed(0.0, lower.rows()),
            touched: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Bytes needed per thread.
    pub(super) fn bytes(rows: usize) -> u128 {
        12 * rows as u128
    }

    /// The columns found last.
    pub(super) fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Finds the columns of row `i`.
    pub(super) fn row(&mut self, i: usize, cancelled: &Cancelled<'_>) -> Result<(), Stop> {
        self.columns.clear();
        self.columns.push(i as u32);
        let mut psi = self.solve(i, cancelled)?;
        for _ in 0..self.steps {
            self.choose(i);
            if self.best.is_empty() {
                break;
            }
            self.columns.extend(self.best.iter().map(|&(_, j)| j));
            self.columns.sort_unstable();
            let before = psi;
            psi = self.solve(i, cancelled)?;
            if before - psi < self.gain * before {
                break;
            }
        }
        Ok(())
    }

    /// Computes ψ = g·A·gᵀ with the last element of g set to 1.
    fn solve(&mut self, i: usize, cancelled: &Cancelled<'_>) -> Result<f64, Stop> {
        match self.solver.factor(&self.columns, cancelled) {
            Factored::Whole => {}
            Factored::Cancelled => return Err(Stop::Cancelled),
            Factored::NotPositive(_) => {
                let size = self.columns.len();
                return Err(FsaiError::NotPositiveDefinite { row: i, size }.into());
            }
        }
        Ok(self.solver.pivot(self.columns.len() - 1))
    }

    /// Chooses the columns before `i` outside the pattern with the largest positive (A·gᵀ)_j²/a_jj; the first
    /// among equals.
    fn choose(&mut self, i: usize) {
        let a = self.lower.whole();
        let m = self.columns.len();
        let g = self.solver.row(m - 1);
        let last = g[m - 1];
        for (&c, g) in self.columns.iter().zip(g) {
            let (col, val) = a.row(c as usize);
            let col = &col[..col.partition_point(|&j| (j as usize) < i)];
            for (&j, v) in col.iter().zip(val) {
                self.product[j as usize] += v * (g / last);
            }
            self.touched.extend_from_slice(col);
        }
        for c in &self.columns {
            self.product[*c as usize] = 0.0;
        }
        self.best.clear();
        for &j in &self.touched {
            let product = std::mem::take(&mut self.product[j as usize]);
            if product == 0.0 {
                continue; // in the pattern, or seen already
            }
            let score = product * product / self.diagonal[j as usize];
            let after = |&(other, at): &(f64, u32)| other > score || (other == score && at < j);
            let place = self.best.partition_point(after);
            if score > 0.0 && place < self.per_step {
                self.best.truncate(self.per_step - 1);
                self.best.insert(place, (score, j));
            }
        }
        self.touched.clear();
    }
}
