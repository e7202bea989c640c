//! The CPU kernels for Y = A·X, bound to a matrix in their format.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use super::mkl;
use super::spmv::{Bindable, Vectors, minimal_bytes};
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{SpmmProblem, SpmmSide, SpmvProblem, SpmvSide};
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use crate::experiment::vectors::columns;
use sparsescope_kernels::spmm::{self, Products};
use sparsescope_kernels::spmv::simd::Level;
use sparsescope_kernels::spmv::{RowParts, SlotParts};
use sparsescope_matrix::matrix::{AnyFormat, Csr, Operands, Order, Real, transposed};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::order_of_vectors;
use sparsescope_model::kernel::parameters::VECTORS;
use sparsescope_record::Costs;

/// Binds a kernel to a matrix of its format and k columns for a number of threads; `None` for another format. Products
/// with other vectors may have any number of columns.
type Bind<T> = fn(AnyFormat<T>, usize, usize, Vectors<T>) -> Option<Bindable>;

/// The launchers for one precision.
struct Launchers<T>(PhantomData<T>);

impl<T: Products> Launchers<T>
where
    Output: From<Vec<T>>,
{
    /// The launchers of this backend, in the order of the descriptors.
    const ALL: &'static [(&'static str, Bind<T>)] = &[
        ("cpu/spmm/serial", |a, _, _, v| match a {
            AnyFormat::Csr(a) => Some(v.serial(move |_, x, y| {
                let k = columns((a.rows(), a.cols()), x.len(), y.len());
                spmm::serial(&a, k, x, y);
            })),
            _ => None,
        }),
        ("cpu/spmm/rows", |a, _, threads, v| match a {
            AnyFormat::Csr(a) => {
                let parts = RowParts::equal_rows(a.rows(), threads);
                Some(in_parts(a, parts, v, spmm::parts))
            }
            _ => None,
        }),
        ("cpu/spmm/nnz", |a, _, threads, v| match a {
            AnyFormat::Csr(a) => {
                let parts = RowParts::equal_entries(a.row_ptr(), threads);
                Some(in_parts(a, parts, v, spmm::parts))
            }
            _ => None,
        }),
        ("cpu/spmm/simd", |a, k, threads, v| match a {
            AnyFormat::Csr(a) => {
                let parts = RowParts::equal_entries(a.row_ptr(), threads);
                let (count, most) = (parts.len(), Level::of_machine());
                let multiply = move |_, x: &[T], y: &mut [T]| {
                    let k = columns((a.rows(), a.cols()), x.len(), y.len());
                    T::simd(&a, most, &parts, k, x, y);
                };
                Some(v.parts(count, multiply).at(spmm::level_for::<T>(most, k)))
            }
            _ => None,
        }),
        ("cpu/spmm/hll", |a, k, threads, v| match a {
            AnyFormat::Hll(a) => {
                let parts = SlotParts::new(&a, threads);
                let (count, most) = (parts.len(), Level::of_machine());
                let multiply = move |_, x: &[T], y: &mut [T]| {
                    let k = columns((a.rows(), a.cols()), x.len(), y.len());
                    T::hll(&a, most, &parts, k, x, y);
                };
                Some(v.parts(count, multiply).at(spmm::level_for::<T>(most, k)))
            }
            _ => None,
        }),
        ("cpu/spmm/columns", |a, _, threads, v| match a {
            AnyFormat::Csr(a) => {
                let parts = RowParts::equal_entries(a.row_ptr(), threads);
                Some(in_parts(a, parts, v, spmm::columns))
            }
            _ => None,
        }),
    ];

    fn of(id: &str) -> Option<Bind<T>> {
        Self::ALL.iter().find(|(known, _)| *known == id).map(|&(_, bind)| bind)
    }
}

/// Y = A·X with X of k columns, where each worker has whole rows.
type InParts<T> = fn(&Csr<T>, &RowParts, usize, &[T], &mut [T]);

/// Binds a kernel that gives each worker whole rows.
fn in_parts<T: Real>(
    a: Arc<Csr<T>>,
    parts: RowParts,
    vectors: Vectors<T>,
    multiply: InParts<T>,
) -> Bindable
where
    Output: From<Vec<T>>,
{
    vectors.parts(parts.len(), move |_, x, y| {
        let k = columns((a.rows(), a.cols()), x.len(), y.len());
        multiply(&a, &parts, k, x, y);
    })
}

/// Whether this backend has the kernel.
pub(super) fn has(id: &str) -> bool {
    Launchers::<f64>::of(id).is_some()
}

/// Binds a kernel to X of the columns that the configuration requests.
pub(super) fn bind(
    configuration: &Configuration,
    problem: &SpmmProblem,
    memory: MemoryLimit,
    pool: &rayon::ThreadPool,
) -> Result<Bound<'static>, PrepareError> {
    let k = SpmmProblem::vectors(configuration);
    let bound = match problem.side(configuration, memory)? {
        side if mkl::has(configuration.kernel.id) => mkl::bind_block(configuration, side),
        SpmmSide::Double(side, x) => bind_in(configuration, &side, (k, x), memory, pool),
        SpmmSide::Single(side, x) => bind_in(configuration, &side, (k, x), memory, pool),
    }?;
    Ok(match order_of_vectors(configuration.kernel) {
        Order::RowMajor => bound,
        Order::ColumnMajor => {
            let size = (problem.a().rows(), problem.a().cols());
            Bound { task: Box::new(ByColumns { task: bound.task, size }), ..bound }
        }
    })
}

/// A product with X and Y by columns. Its result, and the vectors of a caller, are by rows; what copies them is not
/// timed.
struct ByColumns {
    task: Box<dyn Task>,
    /// Rows and columns of A.
    size: (usize, usize),
}

impl Task for ByColumns {
    fn is_in_place(&self) -> bool {
        self.task.is_in_place()
    }

    fn is_product(&self) -> bool {
        self.task.is_product()
    }

    fn set_up(&mut self, costs: &mut Costs, watch: &Watch<'_>) -> Result<Finished, PrepareError> {
        self.task.set_up(costs, watch)
    }

    fn reset(&mut self) {
        self.task.reset();
    }

    fn spoil(&mut self) {
        self.task.spoil();
    }

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        self.task.run(watch)
    }

    fn multiply(&mut self, vectors: Operands<'_>) -> Option<Result<(), KernelError>> {
        let (task, size) = (&mut self.task, self.size);
        match vectors {
            Operands::Double(x, y) => {
                by_columns(size, x, y, |x, y| task.multiply(Operands::Double(x, y)))
            }
            Operands::Single(x, y) => {
                by_columns(size, x, y, |x, y| task.multiply(Operands::Single(x, y)))
            }
        }
    }

    fn rest(&mut self) {
        self.task.rest();
    }

    fn output(&self) -> Output {
        match self.task.output() {
            Output::Vector(y) => Output::Vector(transposed(&y, self.size.0)),
            Output::Single(y) => Output::Single(transposed(&y, self.size.0)),
            other => other,
        }
    }
}

/// Calls `multiply`, which takes X and Y by columns, for X and Y by rows.
fn by_columns<T: Real, R>(
    size: (usize, usize),
    x: &[T],
    y: &mut [T],
    multiply: impl FnOnce(&[T], &mut [T]) -> R,
) -> R {
    let k = columns(size, x.len(), y.len());
    let mut product = vec![T::ZERO; y.len()];
    let done = multiply(&transposed(x, k), &mut product);
    y.copy_from_slice(&transposed(&product, size.0));
    done
}

/// Converts the matrix and binds the configuration's kernel to it and to X of k columns.
fn bind_in<T: Products>(
    configuration: &Configuration,
    side: &SpmvSide<T>,
    (k, x): (usize, Arc<Vec<T>>),
    memory: MemoryLimit,
    pool: &rayon::ThreadPool,
) -> Result<Bound<'static>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let bind = Launchers::<T>::of(configuration.kernel.id)
        .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
    let spec = SpmvProblem::spec(configuration);
    let made =
        side.format(spec, memory).map_err(|error| PrepareError::Refused(error.to_string()))?;
    Ok(pool.install(|| {
        let vectors = Vectors::new(x, k * side.a().rows(), 0);
        let start = Instant::now();
        let threads = configuration.threads as usize;
        let Bindable { task, parts, level } = bind(made.matrix.clone(), k, threads, vectors)
            .expect("a kernel's descriptor names the format that its launcher takes"); // invariant
        let costs = Costs {
            conversion_s: made.seconds,
            plan_s: start.elapsed().as_secs_f64(),
            format_bytes: made.matrix.bytes(),
            minimal_bytes: side.minimal_bytes(minimal_bytes(configuration.kernel, &made.matrix), k),
            ..Costs::default()
        };
        let mut params = spec.in_force(&made.matrix);
        params.insert(VECTORS.id().name().to_owned(), k.to_string());
        params.extend(level.map(|level| ("simd".to_owned(), level.as_str().to_owned())));
        Bound { task, parts, costs, params }
    }))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;
    use crate::experiment::backend::Backend;
    use crate::experiment::problem::Problem;
    use crate::experiment::{CpuBackend, Temperature};
    use sparsescope_matrix::matrix::Precision;
    use sparsescope_model::kernel::{DeviceKind, Mapping, Parameters, kernel, kernels};
    use sparsescope_record::{Operation, Verdict};

    #[test]
    fn launchers_are_in_step_with_the_descriptors() {
        let cpu = kernels(Operation::Spmm).iter().filter(|k| k.device == DeviceKind::Cpu);
        let own = cpu.filter(|k| k.mapping != Mapping::Library).map(|k| k.id);
        let launched = Launchers::<f64>::ALL.iter().map(|(id, _)| *id);
        assert_eq!(own.collect::<Vec<_>>(), launched.collect::<Vec<_>>());
    }

    /// 37 rows of 0 to 10 nonzeros, one of them full, in 61 columns.
    fn matrix() -> Arc<Csr> {
        let of_row = |i: usize| {
            let value = move |j: usize| 0.1 + ((i * 31 + j * 17) % 23) as f64;
            (0..i * i % 11).map(move |j| (i, (i * 7 + j * 5) % 61, value(j)))
        };
        let full = (0..61).map(|j| (20, j, 0.5));
        let entries: Vec<_> = (0..37).flat_map(of_row).chain(full).collect();
        Arc::new(Csr::from_triplets(37, 61, &entries).unwrap())
    }

    #[test]
    fn every_kernel_passes_the_check_with_any_number_of_columns_and_is_timed() {
        let (backend, never) = (CpuBackend::new(), AtomicBool::new(false));
        let watch = Watch::cancelled_by(&never);
        let problem = SpmmProblem::drawn(matrix(), 42);
        let memory = MemoryLimit::unlimited();
        for (id, _) in Launchers::<f64>::ALL {
            for (k, precision) in [(1, Precision::F64), (5, Precision::F32), (32, Precision::F64)] {
                let kernel = kernel(id).unwrap();
                let parameters = Parameters::default().with(VECTORS.id(), &k.to_string());
                let threads = if kernel.takes.threads { 2 } else { 1 };
                let configuration = Configuration {
                    parameters,
                    precision,
                    threads,
                    ..Configuration::usual(kernel)
                };
                let mut prepared = backend.prepare(&configuration, &problem, memory).unwrap();
                assert_eq!(prepared.params()["vectors"], k.to_string());
                let output = prepared.output(&watch).wait().unwrap().unwrap();
                let check = problem.check(&configuration, &output);
                assert_eq!(check.verdict, Verdict::Pass, "{id} {k} {:?}", check.reason);
                assert_eq!(problem.work(&output).flops, 2 * problem.a().nnz() as u64 * k);
                let samples = prepared.sample(2, Temperature::Hot, &watch).wait().unwrap();
                assert!(samples.len() == 2 && samples.iter().all(|&s| s > 0.0), "{id}");
            }
        }
    }

    #[test]
    fn the_fewest_bytes_are_those_of_a_x_and_y() {
        let (backend, problem) = (CpuBackend::new(), SpmmProblem::drawn(matrix(), 42));
        let (a, memory) = (Arc::clone(problem.a()), MemoryLimit::unlimited());
        let parameters = Parameters::default().with(VECTORS.id(), "12");
        let usual = Configuration::usual(kernel("cpu/spmm/nnz").unwrap());
        let configuration = Configuration { parameters, ..usual };
        let prepared = backend.prepare(&configuration, &problem, memory).unwrap();
        let expected = 12 * a.nnz() as u64 + 4 * 38 + 12 * 8 * (37 + 61);
        assert_eq!(prepared.costs().minimal_bytes, expected);
        let refused = backend.prepare(&configuration, &problem, MemoryLimit::bytes(100));
        assert!(refused.err().unwrap().to_string().contains("SpMM with X, Y and its check"));
    }
}
