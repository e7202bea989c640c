//! A problem, with one variant per operation, and its results. Each operation has its own file; this is the
//! only place that distinguishes them.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use super::configuration::Configuration;
use super::error::PrepareError;
#[cfg(feature = "proof")]
use super::operations::IncrementProblem;
use super::operations::{
    BatchedDenseProblem, SkylineProblem, SolveProblem, SpmvProblem, SymgsProblem,
};
use super::output::Output;
use super::resident::Resident;
use super::task::Finished;
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::{MemoryError, MemoryLimit};
use sparsescope_record::{Check, History, Operation, Predicted, Verdict, Work};

/// Fails if the vectors that an operation keeps besides a matrix need more than `limit`; called before the
/// first of them is allocated. A one-line file may declare any number of columns.
pub fn check_vectors(operation: Operation, a: &Csr, limit: MemoryLimit) -> Result<(), MemoryError> {
    let (rows, cols) = (a.rows() as u128, a.cols() as u128);
    let (what, elements) = match operation {
        // x as given and as kernels read it, y, the reference sums and their bounds.
        Operation::Spmv => ("SpMV with x, y and its check", 2 * cols + 3 * rows),
        // b, x before, x after, the results of the two loops and their bounds.
        Operation::Symgs => ("the sweep with b, x and its check", 6 * rows),
        // b, x, and the vectors of the iteration.
        Operation::Solve => ("the solve with b, x and its check", 8 * rows),
        Operation::Skyline | Operation::BatchedDense => return Ok(()),
        #[cfg(feature = "proof")]
        Operation::Increment => return Ok(()),
    };
    limit.check(what, 8 * elements)
}

/// A problem, one variant per operation.
#[derive(Debug)]
pub enum Problem {
    /// y = A·x.
    Spmv(SpmvProblem),
    /// A symmetric Gauss–Seidel iteration.
    Symgs(SymgsProblem),
    /// The skyline of points.
    Skyline(SkylineProblem),
    /// A·x = b.
    Solve(SolveProblem),
    /// Many small dense systems.
    BatchedDense(BatchedDenseProblem),
    /// x ← x + 1.
    #[cfg(feature = "proof")]
    Increment(IncrementProblem),
}

impl Problem {
    /// The operation of the problem.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Spmv(_) => Operation::Spmv,
            Self::Symgs(_) => Operation::Symgs,
            Self::Skyline(_) => Operation::Skyline,
            Self::Solve(_) => Operation::Solve,
            Self::BatchedDense(_) => Operation::BatchedDense,
            #[cfg(feature = "proof")]
            Self::Increment(_) => Operation::Increment,
        }
    }

    /// The SpMV problem, if this is one.
    pub fn spmv(&self) -> Option<&SpmvProblem> {
        match self {
            Self::Spmv(problem) => Some(problem),
            Self::Symgs(_) | Self::Skyline(_) | Self::Solve(_) | Self::BatchedDense(_) => None,
            #[cfg(feature = "proof")]
            Self::Increment(_) => None,
        }
    }

    /// The Gauss–Seidel problem, if this is one.
    pub fn symgs(&self) -> Option<&SymgsProblem> {
        match self {
            Self::Symgs(problem) => Some(problem),
            Self::Spmv(_) | Self::Skyline(_) | Self::Solve(_) | Self::BatchedDense(_) => None,
            #[cfg(feature = "proof")]
            Self::Increment(_) => None,
        }
    }

    /// The skyline problem, if this is one.
    pub fn skyline(&self) -> Option<&SkylineProblem> {
        match self {
            Self::Skyline(problem) => Some(problem),
            Self::Spmv(_) | Self::Symgs(_) | Self::Solve(_) | Self::BatchedDense(_) => None,
            #[cfg(feature = "proof")]
            Self::Increment(_) => None,
        }
    }

    /// The solve problem, if this is one.
    pub fn solve(&self) -> Option<&SolveProblem> {
        match self {
            Self::Solve(problem) => Some(problem),
            Self::Spmv(_) | Self::Symgs(_) | Self::Skyline(_) | Self::BatchedDense(_) => None,
            #[cfg(feature = "proof")]
            Self::Increment(_) => None,
        }
    }

    /// The batch of dense systems, if this is one.
    pub fn batched_dense(&self) -> Option<&BatchedDenseProblem> {
        match self {
            Self::BatchedDense(problem) => Some(problem),
            Self::Spmv(_) | Self::Symgs(_) | Self::Skyline(_) | Self::Solve(_) => None,
            #[cfg(feature = "proof")]
            Self::Increment(_) => None,
        }
    }

    /// The same problem with its random input drawn from this seed.
    pub fn seeded(self, seed: u64) -> Self {
        match self {
            Self::BatchedDense(problem) => Self::BatchedDense(problem.seeded(seed)),
            other => other,
        }
    }

    /// Fails with the reason if a configuration cannot run on this problem.
    pub fn admit(&self, configuration: &Configuration) -> Result<(), PrepareError> {
        configuration.admit()?;
        match self {
            Self::Spmv(problem) => problem.admit(configuration),
            Self::Symgs(problem) => problem.admit(configuration),
            Self::Solve(problem) => problem.admit(configuration),
            Self::Skyline(_) | Self::BatchedDense(_) => Ok(()),
            #[cfg(feature = "proof")]
            Self::Increment(_) => Ok(()),
        }
    }

    /// Whether there is nothing to compute, so that no execution has a meaningful time or rate: a matrix
    /// without nonzeros or rows, no points, no systems.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Spmv(problem) => problem.a().nnz() == 0,
            Self::Symgs(problem) => problem.double().a().rows() == 0,
            Self::Skyline(problem) => problem.points().is_empty(),
            Self::Solve(problem) => problem.a().rows() == 0,
            Self::BatchedDense(problem) => problem.batches().is_empty(),
            #[cfg(feature = "proof")]
            Self::Increment(_) => false,
        }
    }

    /// The arrays besides the input that a configuration needs, as far as they fit into `memory`: those that
    /// do not are rejected and take no memory.
    pub fn resident(&self, configuration: &Configuration, memory: MemoryLimit) -> Vec<Resident> {
        match self {
            Self::Spmv(problem) => problem.resident(configuration, memory),
            Self::Symgs(problem) => problem.resident(configuration),
            Self::Skyline(problem) => problem.resident(configuration),
            Self::Solve(problem) => problem.resident(configuration),
            Self::BatchedDense(problem) => problem.resident(configuration),
            #[cfg(feature = "proof")]
            Self::Increment(problem) => problem.resident(),
        }
    }

    /// Computes the reference for checks where that takes long; once, before the first check.
    pub fn find_reference(&self, cancel: &AtomicBool) -> Finished {
        match self {
            Self::Spmv(_) | Self::Symgs(_) | Self::Skyline(_) | Self::Solve(_) => Finished::Done,
            Self::BatchedDense(problem) => problem.find_reference(cancel),
            #[cfg(feature = "proof")]
            Self::Increment(_) => Finished::Done,
        }
    }

    /// Checks a result of a configuration against the reference.
    pub fn check(&self, configuration: &Configuration, output: &Output) -> Check {
        let checked = match self {
            Self::Spmv(problem) => problem.check(configuration, output),
            Self::Symgs(problem) => problem.check(configuration, output),
            Self::Skyline(problem) => problem.check(output),
            Self::Solve(problem) => problem.check(configuration, output),
            Self::BatchedDense(problem) => problem.check(configuration, output),
            #[cfg(feature = "proof")]
            Self::Increment(problem) => problem.check(output),
        };
        checked.unwrap_or_else(|| Check {
            verdict: Verdict::Fail,
            reason: Some(format!(
                "the kernel returned {}, which is the wrong kind of result",
                output.kind()
            )),
            ..Check::default()
        })
    }

    /// What repeating a configuration that passed its check leads to, step by step; `None` where that is
    /// meaningless, and once `cancel` is set.
    pub fn history(&self, configuration: &Configuration, cancel: &AtomicBool) -> Option<History> {
        match self {
            Self::Spmv(_) | Self::Skyline(_) | Self::Solve(_) | Self::BatchedDense(_) => None,
            Self::Symgs(problem) => problem.history(configuration, cancel),
            #[cfg(feature = "proof")]
            Self::Increment(_) => None,
        }
    }

    /// Files for the subject's folder once results have passed, with pictures limited to `budget` bytes after
    /// deflate where their resolution can be reduced: the points, which of them form the skyline, and which
    /// dominate the others; the systems that are not positive definite. Empty if there is nothing to show.
    pub fn files(&self, budget: u64) -> BTreeMap<String, Vec<u8>> {
        match self {
            Self::Spmv(_) | Self::Symgs(_) | Self::Solve(_) => BTreeMap::new(),
            Self::Skyline(problem) => problem.files(budget),
            Self::BatchedDense(problem) => problem.files(),
            #[cfg(feature = "proof")]
            Self::Increment(_) => BTreeMap::new(),
        }
    }

    /// Work of one execution that returned this result.
    pub fn work(&self, output: &Output) -> Work {
        match self {
            Self::Spmv(problem) => problem.work(),
            Self::Symgs(problem) => problem.work(),
            Self::Skyline(problem) => problem.work(output),
            Self::Solve(problem) => problem.work(output),
            Self::BatchedDense(problem) => problem.work(output),
            #[cfg(feature = "proof")]
            Self::Increment(problem) => problem.work(),
        }
    }

    /// Prediction of the layout model for a measured configuration; `None` if there is no model, and once
    /// `cancel` is set.
    pub fn predict(
        &self,
        configuration: &Configuration,
        memory: MemoryLimit,
        cancel: &AtomicBool,
    ) -> Option<Predicted> {
        match self {
            Self::Spmv(problem) => problem.predict(configuration, memory, cancel),
            Self::Symgs(_) | Self::Skyline(_) | Self::Solve(_) | Self::BatchedDense(_) => None,
            #[cfg(feature = "proof")]
            Self::Increment(_) => None,
        }
    }

    /// Drops what was built for configurations so far; memory is freed once no kernel holds it.
    pub fn release(&self) {
        match self {
            Self::Spmv(problem) => problem.release(),
            Self::Symgs(problem) => problem.release(),
            Self::Skyline(_) => {}
            Self::Solve(problem) => problem.release(),
            Self::BatchedDense(problem) => problem.release(),
            #[cfg(feature = "proof")]
            Self::Increment(_) => {}
        }
    }
}
