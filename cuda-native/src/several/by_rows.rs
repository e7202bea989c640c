//! Matrices that nobody holds whole, on several GPUs: each GPU's thread makes its rows, and checks its part of
//! the result by making them once more.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_core::distributed::Rows;
use sparsescope_core::experiment::solving::Applied;
use sparsescope_core::experiment::{
    DeviceSystem, Elements, KernelError, PrepareError, Prepared, Temperature, Watch,
};
use sparsescope_core::kernel::kernel;
use sparsescope_core::measure::integer_range;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::pcg::{OperatorFormat, SolveParameters, rounding_floor};
use sparsescope_core::record::{Check, Distributed};

use super::backend::{LOCAL, NcclBackend};
use super::by_index::{row_sums, squares_of_residual};
use super::prepared_product::PreparedProducts;
use super::prepared_solver::{set_up, solve, told};
use crate::device::DeviceError;

/// A product and what came of it.
#[derive(Clone, Debug)]
pub struct ProductOfRows {
    /// Whether every row is right.
    pub check: Check,
    /// Seconds of each sample.
    pub samples: Vec<f64>,
    /// Who has what, and does what.
    pub distributed: Distributed,
}

/// A solve of A·x = A·1 and what came of it.
#[derive(Clone, Debug)]
pub struct SolveOfRows {
    /// Iterations of each solve.
    pub iterations: usize,
    /// The residual of the recurrence reached the tolerance.
    pub converged: bool,
    /// ‖b − A·x‖ / ‖b‖, computed anew from rows made anew.
    pub true_residual: f64,
    /// How far rounding alone may move it, as for solves of one device.
    pub rounding_floor: f64,
    /// Seconds of each solve.
    pub samples: Vec<f64>,
    /// Who has what.
    pub distributed: Distributed,
    /// Why iterations were launched one kernel after another, where they were not recorded as a graph.
    pub no_graph: Option<String>,
}

/// Why there is no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ByRowsError {
    /// It was not made ready.
    #[error("{0}")]
    Prepare(String),
    /// It failed.
    #[error("{0}")]
    Device(#[from] DeviceError),
    /// Its result is none.
    #[error("{0}")]
    Result(String),
}

impl From<PrepareError> for ByRowsError {
    fn from(error: PrepareError) -> Self {
        Self::Prepare(error.to_string())
    }
}

impl From<KernelError> for ByRowsError {
    fn from(error: KernelError) -> Self {
        Self::Result(error.to_string())
    }
}

impl NcclBackend {
    /// y = A·x by one of the kernels of this backend on the first `ranks` GPUs, A's rows made by their owners
    /// and x the integers of a seed; `samples` of it are timed.
    pub fn product_of_rows(
        &self,
        id: &str,
        ranks: usize,
        rows: Arc<dyn Rows + Send + Sync>,
        (seed, samples): (u64, usize),
        memory: MemoryLimit,
    ) -> Result<ProductOfRows, ByRowsError> {
        let known = LOCAL.iter().find(|(known, _)| *known == id);
        let local = known.and_then(|&(id, local)| Some((id, kernel(local?)?)));
        let missing =
            || ByRowsError::Prepare(format!("there is no product `{id}` of several GPUs"));
        let team = self.team(ranks)?;
        let x: Elements = Arc::new(move |range| integer_range(range, seed));
        let local = local.ok_or_else(missing)?;
        let mut made = PreparedProducts::new(team, local, &rows, x, memory)?;
        made.execute()?;
        let first = made.check_by_rows(&rows, seed)?;
        let never = AtomicBool::new(false);
        let samples =
            made.sample(samples, Temperature::Hot, &Watch::cancelled_by(&never)).wait()?;
        // What is timed is right, too.
        made.execute()?;
        let last = made.check_by_rows(&rows, seed)?;
        let check = first.worse(last);
        let distributed = made.distributed().unwrap_or_default();
        Ok(ProductOfRows { check, samples, distributed })
    }

    /// Conjugate gradients on A·x = A·1 from zero on the first `ranks` GPUs, A's rows made by their owners;
    /// with the reciprocals of the diagonal as preconditioner, or with none. Solved `samples` times.
    pub fn solve_of_rows(
        &self,
        ranks: usize,
        rows: Arc<dyn Rows + Send + Sync>,
        (has_jacobi, format): (bool, OperatorFormat),
        how: SolveParameters,
        (samples, memory): (usize, MemoryLimit),
    ) -> Result<SolveOfRows, ByRowsError> {
        let team = self.team(ranks)?;
        let of_b = Arc::clone(&rows);
        let system = DeviceSystem {
            b: Arc::new(move |range| row_sums(&*of_b, range)),
            start: None,
            applied: if has_jacobi { Applied::Jacobi } else { Applied::None },
            format,
            how: Arc::new(how),
        };
        let set_up = set_up(&team, &rows, &system, memory)?;
        let number = set_up.number;
        let never = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&never);
        let mut seconds = Vec::new();
        for _ in 0..=samples {
            seconds.extend(solve(&team, number, &watch)?);
        }
        // The first one does not count: it may have to load what later ones find.
        let seconds: Vec<f64> = seconds.into_iter().skip(1).collect();
        let (ended, x, _) = told(&team, number)?.map_err(ByRowsError::Result)?;
        let (x, source) = (Arc::new(x), rows);
        let distributed = set_up.record;
        let parts: Vec<(u64, u64)> =
            distributed.ranks.iter().map(|rank| (rank.first_row, rank.rows)).collect();
        let squares = team.each(move |rank| {
            let (first, count) = parts.get(rank.number()).copied().unwrap_or_default();
            let of_rank = squares_of_residual(&*source, first..first + count, &x);
            rank.forget(number)?;
            Ok(of_rank)
        })?;
        let [off, size] = squares.iter().fold([0.0, 0.0], |[a, b], [c, d]| [a + c, b + d]);
        let relative = |square: f64| match ended.norm_b {
            0.0 => 0.0,
            norm => square.sqrt() / norm,
        };
        Ok(SolveOfRows {
            iterations: ended.iterations,
            converged: ended.converged,
            true_residual: relative(off),
            rounding_floor: rounding_floor(relative(size)),
            samples: seconds,
            distributed,
            no_graph: set_up.no_graph,
        })
    }
}
