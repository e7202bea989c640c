//! The processor's kernels of y = A·x, bound to a matrix in their format.

use std::time::Instant;

use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::SpmvProblem;
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::matrix::AnyFormat;
use crate::memory::MemoryLimit;
use crate::record::Costs;
use crate::spmv::hyb::HybParts;
use crate::spmv::{GuidedChunks, MergePath, RowParts, bsr, coo, csr, dia, ellpack, hll, hyb};

/// A product bound to its matrix and partition, with its vectors.
struct Product<'p, F> {
    multiply: F,
    x: &'p [f64],
    y: Vec<f64>,
}

impl<F: Fn(&[f64], &mut [f64]) + Send> Task for Product<'_, F> {
    fn spoil(&mut self) {
        self.y.fill(f64::NAN);
    }

    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        (self.multiply)(self.x, std::hint::black_box(&mut self.y));
        Ok(Finished::Done)
    }

    fn output(&self) -> Output {
        Output::Vector(self.y.clone())
    }
}

/// A product, and into how many parts the work fell.
pub(super) type Bindable<'p> = (Box<dyn Task + 'p>, Option<usize>);

/// The vectors of a product that is being bound.
pub(super) struct Vectors<'p> {
    x: &'p [f64],
    rows: usize,
}

impl<'p> Vectors<'p> {
    /// x, and a y of so many rows.
    pub(super) fn new(x: &'p [f64], rows: usize) -> Self {
        Self { x, rows }
    }

    fn serial(self, multiply: impl Fn(&[f64], &mut [f64]) + Send + 'p) -> Bindable<'p> {
        let y = vec![0.0; self.rows];
        (Box::new(Product { multiply, x: self.x, y }), None)
    }

    fn parts(
        self,
        parts: usize,
        multiply: impl Fn(&[f64], &mut [f64]) + Send + 'p,
    ) -> Bindable<'p> {
        (self.serial(multiply).0, Some(parts))
    }
}

/// Binds a kernel to a matrix of its format for a number of threads; `None` for another format.
pub(super) type Bind = for<'p> fn(AnyFormat, usize, Vectors<'p>) -> Option<Bindable<'p>>;

/// A launcher for each kernel of this backend, in the descriptors' order.
pub(super) const LAUNCHERS: &[(&str, Bind)] = &[
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

pub(super) fn launcher(id: &str) -> Option<Bind> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, bind)| bind)
}

/// Converts the matrix and binds the configuration's kernel to it on the ambient pool.
pub(super) fn bind<'p>(
    configuration: &Configuration,
    problem: &'p SpmvProblem,
    memory: MemoryLimit,
    pool: &rayon::ThreadPool,
) -> Result<Bound<'p>, PrepareError> {
    let kernel = configuration.kernel;
    let bind = launcher(kernel.id)
        .ok_or_else(|| PrepareError::Unsupported("this build does not have it".to_owned()))?;
    let spec = SpmvProblem::spec(configuration);
    let made =
        problem.format(spec, memory).map_err(|error| PrepareError::Refused(error.to_string()))?;
    let vectors = Vectors::new(problem.x(), problem.a().rows());
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
