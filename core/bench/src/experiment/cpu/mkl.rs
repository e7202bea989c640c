//! SpMV and SpMM of oneMKL on the CPU.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::experiment::backend::Availability;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{SpmmProblem, SpmvProblem, SpmvSide};
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::experiment::vectors::columns;
use crate::mkl::{Mkl, MklError, MklMatrix, MklValue, mkl};
use sparsescope_matrix::matrix::{Operands, Precision};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::Costs;

/// The kernel on plain CSR; the others run after the inspector.
const PLAIN: &str = "vendor/mkl/csr";
const OPTIMIZED: &str = "vendor/mkl/optimized";
const SEVERAL: &str = "vendor/mkl/spmm";

/// Number of products announced to the inspector: enough for any optimisation to pay off.
const CALLS: u32 = 100_000;

/// Whether the kernel belongs to the library.
pub(super) fn has(id: &str) -> bool {
    [PLAIN, OPTIMIZED, SEVERAL].contains(&id)
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
    mkl().iter().map(|mkl| ("oneMKL".to_owned(), mkl.version().to_owned())).collect()
}

/// Binds an SpMV kernel of the library; the inspector runs in its setup.
pub(super) fn bind(
    configuration: &Configuration,
    problem: &SpmvProblem,
    memory: MemoryLimit,
) -> Result<Bound<'static>, PrepareError> {
    match configuration.precision {
        Precision::F64 => {
            let side = problem.double();
            bind_in(configuration, side, Arc::clone(side.x()), None)
        }
        Precision::F32 => {
            let side = problem.single(memory)?;
            bind_in(configuration, &side, Arc::clone(side.x()), None)
        }
    }
}

/// The same for SpMM.
pub(super) fn bind_block(
    configuration: &Configuration,
    problem: &SpmmProblem,
    memory: MemoryLimit,
) -> Result<Bound<'static>, PrepareError> {
    let k = SpmmProblem::vectors(configuration);
    match configuration.precision {
        Precision::F64 => {
            bind_in(configuration, problem.double(), problem.double_block(k), Some(k))
        }
        Precision::F32 => {
            let x = problem.single_block(k)?;
            bind_in(configuration, &*problem.single(memory)?, x, Some(k))
        }
    }
}

/// Binds a kernel to x, or to X of this many columns.
fn bind_in<T: MklValue>(
    configuration: &Configuration,
    side: &SpmvSide<T>,
    x: Arc<Vec<T>>,
    columns: Option<usize>,
) -> Result<Bound<'static>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let mkl = mkl().map_err(|why| PrepareError::Unsupported(why.to_owned()))?;
    let start = Instant::now();
    let matrix = MklMatrix::new(mkl, Arc::clone(side.a()));
    let matrix = matrix.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let costs = Costs {
        plan_s: start.elapsed().as_secs_f64(),
        format_bytes: side.a().bytes(),
        minimal_bytes: side.minimal_bytes(side.a().minimal_bytes(), columns.unwrap_or(1)),
        ..Costs::default()
    };
    let kernel = configuration.kernel.id;
    let threads = configuration.threads;
    let y = vec![T::ZERO; side.a().rows() * columns.unwrap_or(1)];
    let params = configuration.kernel.in_force(&configuration.parameters);
    let task = Product { mkl, kernel, threads, matrix, columns, x, y };
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
    /// The columns of X, for SpMM.
    columns: Option<usize>,
    x: Arc<Vec<T>>,
    y: Vec<T>,
}

impl<T: MklValue> Task for Product<T>
where
    Output: From<Vec<T>>,
{
    fn set_up(&mut self, costs: &mut Costs, _: &Watch<'_>) -> Result<Finished, PrepareError> {
        self.mkl.gather(self.threads);
        let start = Instant::now();
        let optimized = match self.columns {
            Some(k) => self.matrix.optimize_block(k, CALLS),
            None if self.kernel == OPTIMIZED => self.matrix.optimize(CALLS),
            None => return Ok(Finished::Done),
        };
        optimized.map_err(|error| PrepareError::Refused(error.to_string()))?;
        costs.plan_s += start.elapsed().as_secs_f64();
        Ok(Finished::Done)
    }

    fn spoil(&mut self) {
        self.y.fill(T::NAN);
    }

    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        let done = match self.columns {
            None => self.matrix.multiply(&self.x, &mut self.y),
            Some(k) => self.matrix.multiply_block(k, &self.x, &mut self.y),
        };
        done.map_err(|error| failed(self.kernel, &error))?;
        Ok(Finished::Done)
    }

    fn multiply(&mut self, vectors: Operands<'_>) -> Option<Result<(), KernelError>> {
        let (x, y) = T::operands(vectors)?;
        let done = match self.columns {
            None => self.matrix.multiply(x, y),
            Some(k) => {
                let size = (self.y.len() / k, self.x.len() / k);
                self.matrix.multiply_block(columns(size, x.len(), y.len()), x, y)
            }
        };
        Some(done.map_err(|error| failed(self.kernel, &error)))
    }

    fn rest(&mut self) {
        self.mkl.rest();
    }

    fn output(&self) -> Output {
        self.y.clone().into()
    }
}
