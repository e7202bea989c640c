//! Output of an execution.

use sparsescope_kernels::dense::Solutions;
use sparsescope_kernels::skyline::Found;
use sparsescope_record::{History, Series, Solve};

/// A result, one variant per kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A vector, one element per row.
    Vector(Vec<f64>),
    /// The same in single precision.
    Single(Vec<f32>),
    /// x after a symmetric sweep, and between its two halves: two vectors of the same kind.
    Sweep(Box<[Output; 2]>),
    /// The skyline points, by index, and the number of comparisons.
    Points(Found),
    /// The solution of a system, and how it was reached.
    Solution(Box<Solution>),
    /// The solutions of many systems, and which systems have none: one item per size of systems, ascending.
    Systems(Vec<Solutions>),
}

/// Output of a solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// x, one element per row.
    pub x: Vec<f64>,
    /// How the solve ended, and the cost of its setup.
    pub solve: Solve,
    /// The relative residual before the first iteration and after each; empty if unknown.
    pub residuals: Vec<f64>,
    /// The Ritz values of the preconditioned matrix, ascending; empty if unknown.
    pub ritz: Vec<f64>,
    /// Floating-point operations of the solve, without the setup.
    pub flops: u64,
}

/// Maximum residuals, or Ritz values, of an execution that a bundle stores.
const MOST_VALUES: usize = 5_000;

impl Solution {
    /// Converts a solve in the unit of `scale` back to the user's unit.
    #[cfg(not(target_family = "wasm"))]
    #[doc(hidden)]
    pub fn in_unit(mut self, scale: sparsescope_kernels::pcg::Scale) -> Self {
        self.x.iter_mut().for_each(|x| *x = scale.back(*x));
        // The norm of elements near the largest f64 may overflow.
        self.solve.b_norm = scale.back(self.solve.b_norm).min(f64::MAX);
        self
    }

    /// The residuals and Ritz values as a bundle stores them: up to the first that is not finite, and thinned
    /// out to every second, third, … one if there are many.
    #[doc(hidden)]
    pub fn history(&self) -> History {
        let series = |name: &str, values: &[f64], step: Option<&str>| {
            let every = values.len().div_ceil(MOST_VALUES).max(1);
            let finite = values.iter().copied().take_while(|value| value.is_finite());
            let (values, step) = (finite.step_by(every).collect(), step.map(str::to_owned));
            Series { name: name.to_owned(), values, every: every as u32, step }
        };
        let mut all = vec![series("relative residual", &self.residuals, None)];
        if !self.ritz.is_empty() {
            all.push(series("Ritz value", &self.ritz, Some("value")));
        }
        History { step: "iteration".to_owned(), series: all }
    }
}

impl Output {
    /// Its kind, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Vector(_) => "a vector of f64",
            Self::Single(_) => "a vector of f32",
            Self::Sweep(_) => "a vector and the one between two sweeps",
            Self::Points(_) => "a set of points",
            Self::Solution(_) => "a solution",
            Self::Systems(_) => "solutions of dense systems",
        }
    }

    /// The numbers of a vector or a solution in f64; x after a sweep; the indices of skyline points; all solutions
    /// concatenated.
    pub fn in_f64(self) -> Vec<f64> {
        match self {
            Self::Vector(vector) => vector,
            Self::Single(vector) => vector.into_iter().map(f64::from).collect(),
            Self::Sweep(both) => {
                let [x, _] = *both;
                x.in_f64()
            }
            Self::Points(found) => found.indices.into_iter().map(f64::from).collect(),
            Self::Solution(solution) => solution.x,
            Self::Systems(sizes) => sizes.into_iter().flat_map(|solutions| solutions.x).collect(),
        }
    }

    /// What the execution reported of itself and of its steps; empty unless it is a solver's.
    pub fn told(&self) -> (Option<Solve>, Option<History>) {
        match self {
            Self::Solution(solution) => {
                let is_known = !solution.residuals.is_empty();
                (Some(solution.solve.clone()), is_known.then(|| solution.history()))
            }
            _ => (None, None),
        }
    }
}

impl From<Vec<f64>> for Output {
    fn from(vector: Vec<f64>) -> Self {
        Self::Vector(vector)
    }
}

impl From<Vec<f32>> for Output {
    fn from(vector: Vec<f32>) -> Self {
        Self::Single(vector)
    }
}
