//! The processor's kernels of y = A·x, bound to a matrix in their format.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{SpmvProblem, SpmvSide};
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::matrix::{AnyFormat, Precision, Real};
use crate::memory::MemoryLimit;
use crate::record::Costs;
use crate::spmv::hyb::HybParts;
use crate::spmv::{GuidedChunks, MergePath, RowParts, bsr, coo, csr, dia, ellpack, hll, hyb};

/// A product bound to its matrix and partition, with its vectors.
struct Product<F, T> {
    multiply: F,
    x: Arc<Vec<T>>,
    y: Vec<T>,
}

impl<T: Real, F: Fn(&[T], &mut [T]) + Send> Task for Product<F, T>
where
    Output: From<Vec<T>>,
{
    fn spoil(&mut self) {
        self.y.fill(T::NAN);
    }

    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        (self.multiply)(&self.x, std::hint::black_box(&mut self.y));
        Ok(Finished::Done)
    }

    fn output(&self) -> Output {
        self.y.clone().into()
    }
}

/// A product, and into how many parts the work fell.
pub(super) type Bindable = (Box<dyn Task>, Option<usize>);

/// The vectors of a product that is being bound.
pub(super) struct Vectors<T> {
    x: Arc<Vec<T>>,
    rows: usize,
}

impl<T: Real> Vectors<T>
where
    Output: From<Vec<T>>,
{
    /// x, and a y of so many rows.
    pub(super) fn new(x: Arc<Vec<T>>, rows: usize) -> Self {
        Self { x, rows }
    }

    fn serial(self, multiply: impl Fn(&[T], &mut [T]) + Send + 'static) -> Bindable {
        let y = vec![T::ZERO; self.rows];
        (Box::new(Product { multiply, x: self.x, y }), None)
    }

    fn parts(self, parts: usize, multiply: impl Fn(&[T], &mut [T]) + Send + 'static) -> Bindable {
        (self.serial(multiply).0, Some(parts))
    }
}

/// Binds a kernel to a matrix of its format for a number of threads; `None` for another format.
pub(super) type Bind<T> = fn(AnyFormat<T>, usize, Vectors<T>) -> Option<Bindable>;

/// The launchers in a precision.
pub(super) struct Launchers<T>(PhantomData<T>);

impl<T: Real> Launchers<T>
where
    Output: From<Vec<T>>,
{
    /// One for each kernel of this backend, in the descriptors' order.
    pub(super) const ALL: &'static [(&'static str, Bind<T>)] = &[
        ("cpu/csr/serial", |a, _, v| match a {
            AnyFormat::Csr(a) => Some(v.serial(move |x, y| csr::serial(&a, x, y))),
            _ => None,
        }),
        ("cpu/csr/rows", |a, threads, v| match a {
            AnyFormat::Csr(a) => {
                let parts = RowParts::equal_rows(a.rows(), threads);
                Some(v.parts(parts.len(), move |x, y| csr::parts(&a, &parts, x, y)))
            }
            _ => None,
        }),
        ("cpu/csr/nnz", |a, threads, v| match a {
            AnyFormat::Csr(a) => {
                let parts = RowParts::equal_entries(a.row_ptr(), threads);
                Some(v.parts(parts.len(), move |x, y| csr::parts(&a, &parts, x, y)))
            }
            _ => None,
        }),
        ("cpu/csr/merge", |a, threads, v| match a {
            AnyFormat::Csr(a) => {
                let path = MergePath::new(a.row_ptr(), threads);
                Some(v.parts(path.len(), move |x, y| csr::merge(&a, &path, x, y)))
            }
            _ => None,
        }),
        ("cpu/coo/serial", |a, _, v| match a {
            AnyFormat::Coo(a) => Some(v.serial(move |x, y| coo::serial(&a, x, y))),
            _ => None,
        }),
        ("cpu/ell/serial", |a, _, v| match a {
            AnyFormat::Ell(a) => Some(v.serial(move |x, y| ellpack::serial(&a, x, y))),
            _ => None,
        }),
        ("cpu/ell/rows", |a, threads, v| match a {
            AnyFormat::Ell(a) => {
                let parts = RowParts::equal_rows(a.shape().rows, threads);
                Some(v.parts(parts.len(), move |x, y| ellpack::parts(&a, &parts, x, y)))
            }
            _ => None,
        }),
        ("cpu/hyb/serial", |a, _, v| match a {
            AnyFormat::Hyb(a) => Some(v.serial(move |x, y| hyb::serial(&a, x, y))),
            _ => None,
        }),
        ("cpu/hyb/rows", |a, threads, v| match a {
            AnyFormat::Hyb(a) => {
                let parts = HybParts::new(&a, threads);
                let count = parts.rows().len();
                Some(v.parts(count, move |x, y| hyb::parts(&a, &parts, x, y)))
            }
            _ => None,
        }),
        ("cpu/hll/serial", |a, _, v| match a {
            AnyFormat::Hll(a) => Some(v.serial(move |x, y| hll::serial(&a, x, y))),
            _ => None,
        }),
        ("cpu/hll/guided", |a, threads, v| match a {
            AnyFormat::Hll(a) => {
                let chunks = GuidedChunks::new(a.shape(), threads);
                let count = (chunks.hacks().len() + a.tail().rows()).min(threads);
                Some(v.parts(count, move |x, y| hll::guided(&a, &chunks, x, y)))
            }
            _ => None,
        }),
        ("cpu/bsr/rows", |a, threads, v| match a {
            AnyFormat::Bsr(a) => {
                let parts = RowParts::equal_block_rows(a.rows(), a.block(), threads);
                Some(v.parts(parts.len(), move |x, y| bsr::parts(&a, &parts, x, y)))
            }
            _ => None,
        }),
        ("cpu/dia/rows", |a, threads, v| match a {
            AnyFormat::Dia(a) => {
                let parts = RowParts::equal_rows(a.rows(), threads);
                Some(v.parts(parts.len(), move |x, y| dia::parts(&a, &parts, x, y)))
            }
            _ => None,
        }),
    ];

    pub(super) fn of(id: &str) -> Option<Bind<T>> {
        Self::ALL.iter().find(|(known, _)| *known == id).map(|&(_, bind)| bind)
    }
}

/// Whether this backend has the kernel.
pub(super) fn has(id: &str) -> bool {
    Launchers::<f64>::of(id).is_some()
}

/// Converts the matrix and binds the configuration's kernel to it on the ambient pool.
pub(super) fn bind(
    configuration: &Configuration,
    problem: &SpmvProblem,
    memory: MemoryLimit,
    pool: &rayon::ThreadPool,
) -> Result<Bound<'static>, PrepareError> {
    match configuration.precision {
        Precision::F64 => bind_in(configuration, problem.double(), memory, pool),
        Precision::F32 => bind_in(configuration, &*problem.single(memory)?, memory, pool),
    }
}

fn bind_in<T: Real>(
    configuration: &Configuration,
    side: &SpmvSide<T>,
    memory: MemoryLimit,
    pool: &rayon::ThreadPool,
) -> Result<Bound<'static>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let bind = Launchers::of(configuration.kernel.id)
        .ok_or_else(|| PrepareError::Unsupported("this build does not have it".to_owned()))?;
    let spec = SpmvProblem::spec(configuration);
    let made =
        side.format(spec, memory).map_err(|error| PrepareError::Refused(error.to_string()))?;
    let vectors = Vectors::new(Arc::clone(side.x()), side.a().rows());
    let start = Instant::now();
    let threads = configuration.threads as usize;
    let (task, parts) = pool
        .install(|| bind(made.matrix.clone(), threads, vectors))
        .expect("a kernel's descriptor names the format that its launcher takes"); // invariant
    let costs = Costs {
        conversion_s: made.seconds,
        plan_s: start.elapsed().as_secs_f64(),
        format_bytes: made.matrix.bytes(),
        minimal_bytes: made.matrix.minimal_bytes(),
        ..Costs::default()
    };
    Ok(Bound { task, parts, costs, params: spec.in_force(&made.matrix) })
}
