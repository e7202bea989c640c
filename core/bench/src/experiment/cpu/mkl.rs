//! SpMV and SpMM of oneMKL on the CPU.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::experiment::backend::Availability;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{Side, SpmmProblem, SpmmSide, SpmvProblem, SpmvSide};
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::experiment::vectors::columns;
use crate::mkl::{Mkl, MklError, MklMatrix, MklValue, mkl};
use sparsescope_matrix::matrix::{Operands, Order, Real, copied};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_matrix::order;
use sparsescope_model::kernel::parameters::{OP, SCALE};
use sparsescope_model::kernel::{Op, Scale, order_of_vectors};
use sparsescope_record::Costs;

/// The SpMV that runs after the inspector; the other one is on plain CSR.
const OPTIMIZED: &str = "vendor/mkl/optimized";

/// Number of products announced to the inspector: enough for any optimisation to pay off.
const CALLS: u32 = 100_000;

/// Whether the kernel belongs to the library.
pub(super) fn has(id: &str) -> bool {
    id.starts_with("vendor/mkl/")
}

/// Whether the library is available, or why not.
pub(super) fn availability() -> Availability {
    match mkl() {
        Ok(_) => Availability::Available,
        Err(why) => Availability::Missing(why.to_owned()),
    }
}

/// The library and its version, if it is available.
pub(super) fn libraries() -> BTreeMap<String, String> {
    order::map(mkl().iter().map(|mkl| ("oneMKL".to_owned(), mkl.version().to_owned())))
}

/// Binds an SpMV kernel of the library; the inspector runs in its setup. The library transposes A itself.
pub(super) fn bind(
    configuration: &Configuration,
    problem: &SpmvProblem,
    memory: MemoryLimit,
) -> Result<Bound<'static>, PrepareError> {
    // The check reads the transpose.
    problem.check_transposed(configuration, memory)?;
    let of = problem.turned(configuration);
    match of.side(configuration.precision, memory)? {
        Side::Double(side) => {
            bind_in(configuration, problem.double(), Vectors::of(configuration, of, &side))
        }
        Side::Single(side) => {
            let vectors = Vectors::of(configuration, of, &side);
            bind_in(configuration, &*problem.single_for_transpose(memory)?, vectors)
        }
    }
}

/// What is multiplied, and what it is added to.
struct Vectors<T> {
    x: Arc<Vec<T>>,
    /// The elements of y.
    len: usize,
    /// y before each execution, if it is added to.
    start: Option<Vec<T>>,
    /// The columns of X, and the order of X and Y, for SpMM.
    block: Option<(usize, Order)>,
}

impl<T: Real> Vectors<T> {
    /// Those of an SpMV with op(A) as `side` and `problem` have it.
    fn of(configuration: &Configuration, problem: &SpmvProblem, side: &SpmvSide<T>) -> Self {
        let adds = configuration.parameters.get(&SCALE).beta != 0.0;
        let start = || problem.start().iter().copied().map(T::rounded).collect();
        let (x, len) = (Arc::clone(side.x()), side.a().rows());
        Self { x, len, start: adds.then(start), block: None }
    }

    /// Those of an SpMM, with X in the order of its kernel.
    fn of_block(configuration: &Configuration, side: &SpmvSide<T>, x: Arc<Vec<T>>) -> Self {
        let k = SpmmProblem::vectors(configuration);
        let block = Some((k, order_of_vectors(configuration.kernel)));
        Self { x, len: k * side.a().rows(), start: None, block }
    }
}

/// Binds an SpMM kernel of the library.
pub(super) fn bind_block(
    configuration: &Configuration,
    side: SpmmSide,
) -> Result<Bound<'static>, PrepareError> {
    match side {
        SpmmSide::Double(side, x) => {
            bind_in(configuration, &side, Vectors::of_block(configuration, &side, x))
        }
        SpmmSide::Single(side, x) => {
            bind_in(configuration, &side, Vectors::of_block(configuration, &side, x))
        }
    }
}

/// Binds a kernel to A, as `side` has it, and its vectors.
fn bind_in<T: MklValue>(
    configuration: &Configuration,
    side: &SpmvSide<T>,
    vectors: Vectors<T>,
) -> Result<Bound<'static>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let mkl = mkl().map_err(|why| PrepareError::Unsupported(why.to_owned()))?;
    let start = Instant::now();
    let matrix = MklMatrix::new(mkl, Arc::clone(side.a()));
    let matrix = matrix.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let Vectors { x, len, start: y_before, block } = vectors;
    let k = block.map_or(1, |(k, _)| k);
    let added = y_before.as_ref().map_or(0, |y| size_of_val(y.as_slice()) as u64);
    let costs = Costs {
        plan_s: start.elapsed().as_secs_f64(),
        format_bytes: side.a().bytes(),
        minimal_bytes: added + side.minimal_bytes(side.a().minimal_bytes(), k),
        ..Costs::default()
    };
    let kernel = configuration.kernel.id;
    let threads = configuration.threads;
    let y = vec![T::ZERO; len];
    let op = configuration.parameters.get(&OP);
    let Scale { alpha, beta } = configuration.parameters.get(&SCALE);
    let scale = [alpha, beta].map(T::rounded);
    let params = configuration.kernel.in_force(&configuration.parameters);
    let task = Product { mkl, kernel, threads, matrix, op, scale, block, x, y, y_before };
    Ok(Bound { task: Box::new(task), parts: None, costs, params })
}

fn failed(kernel: &str, error: &MklError) -> KernelError {
    KernelError::new(kernel, error.to_string())
}

/// SpMV or SpMM by the library, with its vectors.
struct Product<T> {
    mkl: &'static Mkl,
    kernel: &'static str,
    threads: u32,
    matrix: MklMatrix<T>,
    op: Op,
    /// alpha and beta.
    scale: [T; 2],
    /// The columns of X, and the order of X and Y, for SpMM.
    block: Option<(usize, Order)>,
    x: Arc<Vec<T>>,
    y: Vec<T>,
    /// y before each execution, if it is added to.
    y_before: Option<Vec<T>>,
}

impl<T: MklValue> Task for Product<T>
where
    Output: From<Vec<T>>,
{
    fn set_up(&mut self, costs: &mut Costs, _: &Watch<'_>) -> Result<Finished, PrepareError> {
        self.mkl.gather(self.threads);
        let start = Instant::now();
        let optimized = match self.block {
            Some(block) => self.matrix.optimize_block(block, CALLS),
            None if self.kernel == OPTIMIZED => self.matrix.optimize(self.op, CALLS),
            None => return Ok(Finished::Done),
        };
        optimized.map_err(|error| PrepareError::Refused(error.to_string()))?;
        costs.plan_s += start.elapsed().as_secs_f64();
        Ok(Finished::Done)
    }

    fn is_in_place(&self) -> bool {
        self.y_before.is_some()
    }

    fn reset(&mut self) {
        if let Some(before) = &self.y_before {
            self.y.copy_from_slice(before);
        }
    }

    fn spoil(&mut self) {
        if !self.is_in_place() {
            self.y.fill(T::NAN);
        }
    }

    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        let done = match self.block {
            None => self.matrix.multiply(self.op, self.scale, &self.x, &mut self.y),
            Some(block) => self.matrix.multiply_block(block, &self.x, &mut self.y),
        };
        done.map_err(|error| failed(self.kernel, &error))?;
        Ok(Finished::Done)
    }

    fn multiply(&mut self, vectors: Operands<'_>) -> Option<Result<(), KernelError>> {
        let (x, y) = T::operands(vectors)?;
        let done = match self.block {
            None => self.matrix.multiply(self.op, self.scale, x, y),
            Some((k, order)) => {
                let size = (self.y.len() / k, self.x.len() / k);
                let k = columns(size, x.len(), y.len());
                self.matrix.multiply_block((k, order), x, y)
            }
        };
        Some(done.map_err(|error| failed(self.kernel, &error)))
    }

    fn rest(&mut self) {
        self.mkl.rest();
    }

    fn output(&self) -> Output {
        copied(&self.y).into()
    }
}
