//! What several ranks compute on a shared matrix, as the runner sees it. All ranks check together.

use std::fmt;
use std::sync::Arc;

use super::cg::checked;
use super::matrix::SharedMatrix;
use super::world::World;
use sparsescope_bench::experiment::{Configuration, Output, Problem, Resident, SpmvProblem};
use sparsescope_matrix::matrix::FormatSpec;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::DeviceKind;
use sparsescope_record::{Check, Operation, Work};

/// A matrix of all ranks.
pub(super) struct Shared {
    pub(super) world: Arc<World>,
    pub(super) matrix: Arc<SharedMatrix>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, ranks) = (self.matrix.partition().rows(), self.world.ranks());
        write!(f, "{rows} rows on {ranks} ranks")
    }
}

/// y = A·x with the integer vector x of the matrix.
#[derive(Debug)]
pub struct SharedProduct(pub(super) Shared);

/// A·x = b with a symmetric positive definite A.
#[derive(Debug)]
pub struct SharedSolve(pub(super) Shared);

/// The problem of an operation: a solve, or otherwise an SpMV.
pub fn shared_problem(
    operation: Operation,
    world: &Arc<World>,
    matrix: &Arc<SharedMatrix>,
) -> Box<dyn Problem> {
    match operation {
        Operation::Solve => Box::new(SharedSolve::new(world, matrix)),
        _ => Box::new(SharedProduct::new(world, matrix)),
    }
}

impl SharedProduct {
    /// SpMV with a matrix of these ranks.
    pub fn new(world: &Arc<World>, matrix: &Arc<SharedMatrix>) -> Self {
        Self(Shared { world: Arc::clone(world), matrix: Arc::clone(matrix) })
    }
}

impl SharedSolve {
    /// A system whose matrix these ranks have.
    pub fn new(world: &Arc<World>, matrix: &Arc<SharedMatrix>) -> Self {
        Self(Shared { world: Arc::clone(world), matrix: Arc::clone(matrix) })
    }
}

impl Problem for SharedProduct {
    fn operation(&self) -> Operation {
        Operation::Spmv
    }

    fn is_empty(&self) -> bool {
        self.0.matrix.nnz() == 0
    }

    /// The rank's rows in another format than that in which they were distributed.
    fn resident(&self, configuration: &Configuration, memory: MemoryLimit) -> Vec<Resident> {
        let spec = SpmvProblem::spec(configuration);
        if spec == FormatSpec::Csr || configuration.kernel.device != DeviceKind::Ranks {
            return Vec::new();
        }
        let local = self.0.matrix.local();
        let parts = [local.interior(), local.boundary()];
        let bytes = parts.iter().filter_map(|part| spec.size(part).ok()).map(|size| size.bytes);
        let bytes = bytes.fold(0, u64::saturating_add);
        let bytes = if bytes <= memory.get() { bytes } else { 0 };
        vec![Resident { name: format!("{}, {spec}", configuration.kernel.id), bytes }]
    }

    fn compare(&self, _: &Configuration, output: &Output) -> Option<Check> {
        let Output::Vector(y) = output else { return None };
        Some(self.0.matrix.check(&self.0.world, y))
    }

    fn work(&self, _: &Output) -> Work {
        Work { flops: 2 * self.0.matrix.nnz(), ..Work::default() }
    }
}

impl Problem for SharedSolve {
    fn operation(&self) -> Operation {
        Operation::Solve
    }

    fn is_empty(&self) -> bool {
        self.0.matrix.partition().rows() == 0
    }

    /// The vectors; the setup of a preconditioner limits its memory itself.
    fn resident(&self, configuration: &Configuration, _: MemoryLimit) -> Vec<Resident> {
        let name = format!("vectors of {}", configuration.parameters);
        vec![Resident { name, bytes: 9 * 8 * self.0.matrix.local().own_rows() as u64 }]
    }

    fn compare(&self, configuration: &Configuration, output: &Output) -> Option<Check> {
        let Output::Solution(solution) = output else { return None };
        let Shared { world, matrix } = &self.0;
        Some(checked(world, matrix, &configuration.parameters, solution))
    }

    fn work(&self, output: &Output) -> Work {
        let Output::Solution(solution) = output else { return Work::default() };
        let iterations = solution.solve.iterations;
        Work { flops: solution.flops, iterations, ..Work::default() }
    }
}
