//! SpMV of oneMKL on the CPU, with and without its inspector.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::experiment::backend::Availability;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{SpmvProblem, SpmvSide};
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::mkl::{Mkl, MklError, MklMatrix, MklValue, mkl};
use sparsescope_matrix::matrix::{Operands, Precision};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::Costs;

/// The kernel on plain CSR; the other one runs after the inspector.
const PLAIN: &str = "vendor/mkl/csr";
const OPTIMIZED: &str = "vendor/mkl/optimized";

/// Number of SpMVs announced to the inspector: enough for any optimisation to pay off.
const CALLS: u32 = 100_000;

/// Whether the kernel belongs to the library.
pub(super) fn has(id: &str) -> bool {
    [PLAIN, OPTIMIZED].contains(&id)
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

/// Binds a kernel of the library; the inspector runs in its setup.
pub(super) fn bind(
    configuration: &Configuration,
    problem: &SpmvProblem,
    memory: MemoryLimit,
) -> Result<Bound<'static>, PrepareError> {
    match configuration.precision {
        Precision::F64 => bind_in(configuration, problem.double()),
        Precision::F32 => bind_in(configuration, &*problem.single(memory)?),
    }
}

fn bind_in<T: MklValue>(
    configuration: &Configuration,
    side: &SpmvSide<T>,
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
        minimal_bytes: side.a().minimal_bytes(),
        ..Costs::default()
    };
    let kernel = configuration.kernel.id;
    let (threads, y) = (configuration.threads, vec![T::ZERO; side.a().rows()]);
    let task = Product { mkl, kernel, threads, matrix, x: Arc::clone(side.x()), y };
    Ok(Bound { task: Box::new(task), parts: None, costs, params: BTreeMap::new() })
}

fn failed(kernel: &str, error: &MklError) -> KernelError {
    KernelError::new(kernel, error.to_string())
}

/// SpMV by the library, with its vectors.
struct Product<T> {
    mkl: &'static Mkl,
    kernel: &'static str,
    threads: u32,
    matrix: MklMatrix<T>,
    x: Arc<Vec<T>>,
    y: Vec<T>,
}

impl<T: MklValue> Task for Product<T>
where
    Output: From<Vec<T>>,
{
    fn set_up(&mut self, costs: &mut Costs, _: &Watch<'_>) -> Result<Finished, PrepareError> {
        self.mkl.gather(self.threads);
        if self.kernel == OPTIMIZED {
            let start = Instant::now();
            let optimized = self.matrix.optimize(CALLS);
            optimized.map_err(|error| PrepareError::Refused(error.to_string()))?;
            costs.plan_s += start.elapsed().as_secs_f64();
        }
        Ok(Finished::Done)
    }

    fn spoil(&mut self) {
        self.y.fill(T::NAN);
    }

    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        let done = self.matrix.multiply(&self.x, &mut self.y);
        done.map_err(|error| failed(self.kernel, &error))?;
        Ok(Finished::Done)
    }

    fn multiply(&mut self, vectors: Operands<'_>) -> Option<Result<(), KernelError>> {
        let (x, y) = T::operands(vectors)?;
        let done = self.matrix.multiply(x, y);
        Some(done.map_err(|error| failed(self.kernel, &error)))
    }

    fn rest(&mut self) {
        self.mkl.rest();
    }

    fn output(&self) -> Output {
        self.y.clone().into()
    }
}
