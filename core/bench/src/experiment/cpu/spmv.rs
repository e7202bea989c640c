//! The CPU kernels for y = A·x, bound to a matrix in their format.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Instant;

use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::{Converted, Side, SpmvProblem, SpmvSide};
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use sparsescope_kernels::spmv::compact::{CsrShares, HllShares};
use sparsescope_kernels::spmv::hyb::HybParts;
use sparsescope_kernels::spmv::simd::{CsrPlan, HllPlan, Level, Tuning};
use sparsescope_kernels::spmv::transposed::{self, TransposedPlan};
use sparsescope_kernels::spmv::{
    GuidedChunks, MergePath, Products, RowParts, Scaling, bsr, coo, csr, ellpack, hll, hyb,
};
use sparsescope_kernels::with_store;
use sparsescope_matrix::matrix::{AnyFormat, Csr, Operands, Real, copied};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};
use sparsescope_model::kernel::parameters::SCALE;
use sparsescope_model::kernel::{KernelDescriptor, Scale};
use sparsescope_record::Costs;

/// SpMV bound to its matrix and partition, with its vectors.
struct Product<F, T> {
    multiply: F,
    x: Arc<Vec<T>>,
    y: Vec<T>,
    /// y before each execution, if it adds to y.
    start: Option<Arc<Vec<T>>>,
}

impl<T: Real, F: Fn(&[T], &mut [T]) + Send> Task for Product<F, T>
where
    Output: From<Vec<T>>,
{
    fn is_in_place(&self) -> bool {
        self.start.is_some()
    }

    fn is_product(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        if let Some(start) = &self.start {
            self.y.copy_from_slice(start);
        }
    }

    fn spoil(&mut self) {
        if !self.is_in_place() {
            self.y.fill(T::NAN);
        }
    }

    fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
        (self.multiply)(&self.x, std::hint::black_box(&mut self.y));
        Ok(Finished::Done)
    }

    fn multiply(&mut self, vectors: Operands<'_>) -> Option<Result<(), KernelError>> {
        let (x, y) = T::operands(vectors)?;
        (self.multiply)(x, y);
        Some(Ok(()))
    }

    fn output(&self) -> Output {
        copied(&self.y).into()
    }
}

/// A bound SpMV.
pub(super) struct Bindable {
    pub(super) task: Box<dyn Task>,
    /// Number of parts that the work was split into.
    pub(super) parts: Option<usize>,
    /// Its SIMD level, where one was chosen for the CPU.
    pub(super) level: Option<Level>,
}

impl Bindable {
    pub(super) fn at(self, level: Level) -> Self {
        Self { level: Some(level), ..self }
    }
}

/// The vectors of an SpMV that is being bound.
pub(super) struct Vectors<T> {
    x: Arc<Vec<T>>,
    rows: usize,
    /// Bytes of x that fit close to a core.
    near_bytes: u64,
    /// alpha and beta, unless they are 1 and 0.
    scaling: Option<Scaling<T>>,
    /// y before each execution, if beta is not 0.
    start: Option<Arc<Vec<T>>>,
}

impl<T: Real> Vectors<T>
where
    Output: From<Vec<T>>,
{
    /// Wraps x, and a y of `rows` elements. `near_bytes` of x fit in a core's private caches.
    pub(super) fn new(x: Arc<Vec<T>>, rows: usize, near_bytes: u64) -> Self {
        Self { x, rows, near_bytes, scaling: None, start: None }
    }

    /// Tuning for a matrix with `cols` columns that are accessed in the order of `col`.
    fn tuning(&self, cols: usize, col: &[u32]) -> Tuning
    where
        T: Products,
    {
        Tuning::new::<T>(cols, col, Level::for_gathers(), self.near_bytes)
    }

    /// Binds a kernel, a function of the scaling, x and y.
    pub(super) fn serial(
        self,
        kernel: impl Fn(Option<Scaling<T>>, &[T], &mut [T]) + Send + 'static,
    ) -> Bindable {
        let (x, y, start) = (self.x, zeroed(T::ZERO, self.rows), self.start);
        let scaling = self.scaling;
        let multiply = move |x: &[T], y: &mut [T]| kernel(scaling, x, y);
        Bindable { task: Box::new(Product { multiply, x, y, start }), parts: None, level: None }
    }

    pub(super) fn parts(
        self,
        parts: usize,
        kernel: impl Fn(Option<Scaling<T>>, &[T], &mut [T]) + Send + 'static,
    ) -> Bindable {
        Bindable { parts: Some(parts), ..self.serial(kernel) }
    }
}

/// Binds a kernel to a matrix of its format for a number of threads; `None` for another format.
pub(super) type Bind<T> = fn(AnyFormat<T>, usize, Vectors<T>) -> Option<Bindable>;

/// The launchers for one precision.
pub(super) struct Launchers<T>(PhantomData<T>);

impl<T: Products> Launchers<T>
where
    Output: From<Vec<T>>,
{
    /// The launchers of this backend, in the order of the descriptors.
    pub(super) const ALL: &'static [(&'static str, Bind<T>)] = &[
        ("cpu/csr/serial", |a, _, v| match a {
            AnyFormat::Csr(a) => Some(v.serial(move |scaling, x, y| {
                with_store!(scaling, |store| csr::serial(&a, store, x, y));
            })),
            _ => None,
        }),
        ("cpu/csr/rows", |a, threads, v| match a {
            AnyFormat::Csr(a) => {
                let parts = RowParts::equal_rows(a.rows(), threads);
                Some(in_parts(a, parts, v))
            }
            _ => None,
        }),
        ("cpu/csr/nnz", |a, threads, v| match a {
            AnyFormat::Csr(a) => {
                let parts = RowParts::equal_entries(a.row_ptr(), threads);
                Some(in_parts(a, parts, v))
            }
            _ => None,
        }),
        ("cpu/csr/merge", |a, threads, v| match a {
            AnyFormat::Csr(a) => {
                let path = MergePath::new(a.row_ptr(), threads);
                Some(v.parts(path.len(), move |scaling, x, y| {
                    with_store!(scaling, |store| csr::merge(&a, &path, store, x, y));
                }))
            }
            _ => None,
        }),
        ("cpu/csr/simd", |a, threads, v| match a {
            AnyFormat::Csr(a) => {
                let tuning = v.tuning(a.cols(), a.col());
                let plan = CsrPlan::new(&a, threads, tuning);
                let (parts, level) = (plan.parts(), plan.level());
                Some(v.parts(parts, move |s, x, y| T::csr_simd(&a, &plan, s, x, y)).at(level))
            }
            _ => None,
        }),
        ("cpu/coo/serial", |a, _, v| match a {
            AnyFormat::Coo(a) => Some(v.serial(move |scaling, x, y| {
                with_store!(scaling, |store| coo::serial(&a, store, x, y));
            })),
            _ => None,
        }),
        ("cpu/ell/serial", |a, _, v| match a {
            AnyFormat::Ell(a) => Some(v.serial(move |scaling, x, y| {
                with_store!(scaling, |store| ellpack::serial(&a, store, x, y));
            })),
            _ => None,
        }),
        ("cpu/ell/rows", |a, threads, v| match a {
            AnyFormat::Ell(a) => {
                let parts = RowParts::equal_rows(a.shape().rows, threads);
                Some(v.parts(parts.len(), move |scaling, x, y| {
                    with_store!(scaling, |store| ellpack::parts(&a, &parts, store, x, y));
                }))
            }
            _ => None,
        }),
        ("cpu/hyb/serial", |a, _, v| match a {
            AnyFormat::Hyb(a) => Some(v.serial(move |scaling, x, y| {
                with_store!(scaling, |store| hyb::serial(&a, store, x, y));
            })),
            _ => None,
        }),
        ("cpu/hyb/rows", |a, threads, v| match a {
            AnyFormat::Hyb(a) => {
                let parts = HybParts::new(&a, threads);
                let count = parts.rows().len();
                Some(v.parts(count, move |scaling, x, y| {
                    with_store!(scaling, |store| hyb::parts(&a, &parts, store, x, y));
                }))
            }
            _ => None,
        }),
        ("cpu/hll/serial", |a, _, v| match a {
            AnyFormat::Hll(a) => Some(v.serial(move |scaling, x, y| {
                with_store!(scaling, |store| hll::serial(&a, store, x, y));
            })),
            _ => None,
        }),
        ("cpu/hll/guided", |a, threads, v| match a {
            AnyFormat::Hll(a) => {
                let chunks = GuidedChunks::new(a.shape(), threads);
                let count = (chunks.hacks().len() + a.tail().rows()).min(threads);
                Some(v.parts(count, move |scaling, x, y| {
                    with_store!(scaling, |store| hll::guided(&a, &chunks, store, x, y));
                }))
            }
            _ => None,
        }),
        ("cpu/hll/simd", |a, threads, v| match a {
            AnyFormat::Hll(a) => {
                let tuning = v.tuning(a.cols(), a.col());
                let plan = HllPlan::new(&a, threads, tuning);
                let (parts, level) = (plan.parts(), plan.level());
                Some(v.parts(parts, move |s, x, y| T::hll_simd(&a, &plan, s, x, y)).at(level))
            }
            _ => None,
        }),
        ("cpu/bsr/rows", |a, threads, v| match a {
            AnyFormat::Bsr(a) => {
                let parts = RowParts::equal_block_rows(a.rows(), a.block(), threads);
                let (count, level) = (parts.len(), bsr::level(&a, Level::of_machine()));
                let bound = v.parts(count, move |s, x, y| T::bsr_rows(&a, level, &parts, s, x, y));
                Some(bound.at(level))
            }
            _ => None,
        }),
        ("cpu/dia/rows", |a, threads, v| match a {
            AnyFormat::Dia(a) => {
                let parts = RowParts::equal_rows(a.rows(), threads);
                let (count, level) = (parts.len(), Level::of_machine());
                let bound = v.parts(count, move |s, x, y| T::dia_rows(&a, level, &parts, s, x, y));
                Some(bound.at(level))
            }
            _ => None,
        }),
        ("cpu/csr/compact", |a, threads, v| match a {
            AnyFormat::CsrCompact(a) => {
                let shares = CsrShares::new(&a, threads, Level::for_gathers());
                let (parts, level) = (shares.parts(), shares.level());
                let bound = v.parts(parts, move |s, x, y| T::csr_compact(&a, &shares, s, x, y));
                Some(bound.at(level))
            }
            _ => None,
        }),
        ("cpu/hll/compact", |a, threads, v| match a {
            AnyFormat::HllCompact(a) => {
                let shares = HllShares::new(&a, threads, Level::for_gathers(), v.near_bytes);
                let (parts, level) = (shares.parts(), shares.level());
                let bound = v.parts(parts, move |s, x, y| T::hll_compact(&a, &shares, s, x, y));
                Some(bound.at(level))
            }
            _ => None,
        }),
    ];

    pub(super) fn of(id: &str) -> Option<Bind<T>> {
        Self::ALL.iter().find(|(known, _)| *known == id).map(|&(_, bind)| bind)
    }
}

/// CSR in contiguous parts of the rows.
fn in_parts<T: Real>(a: Arc<Csr<T>>, parts: RowParts, v: Vectors<T>) -> Bindable
where
    Output: From<Vec<T>>,
{
    v.parts(parts.len(), move |scaling, x, y| {
        with_store!(scaling, |store| csr::parts(&a, &parts, store, x, y));
    })
}

/// The kernel that multiplies by A' and reads A.
const TRANSPOSED: &str = "cpu/csr/transposed";

/// Whether this backend has the kernel.
pub(super) fn has(id: &str) -> bool {
    id == TRANSPOSED || Launchers::<f64>::of(id).is_some()
}

/// Converts the matrix and binds the configuration's kernel to it on the ambient pool.
pub(super) fn bind(
    configuration: &Configuration,
    problem: &SpmvProblem,
    memory: MemoryLimit,
    near_bytes: u64,
    pool: &rayon::ThreadPool,
) -> Result<Bound<'static>, PrepareError> {
    problem.check_transposed(configuration, memory)?;
    let of = problem.turned(configuration);
    let place = (memory, near_bytes, pool);
    if configuration.kernel.id == TRANSPOSED {
        // Only the check reads the transpose.
        return match of.side(configuration.precision, memory)? {
            Side::Double(side) => {
                bind_transposed(configuration, problem.double(), (of, &*side), place)
            }
            Side::Single(side) => {
                let read = problem.single_for_transpose(memory)?;
                bind_transposed(configuration, &*read, (of, &*side), place)
            }
        };
    }
    let mut bound = match of.side(configuration.precision, memory)? {
        Side::Double(side) => bind_in(configuration, &side, of, place),
        Side::Single(side) => bind_in(configuration, &side, of, place),
    }?;
    bound.costs.conversion_s += problem.transposition_s(configuration);
    Ok(bound)
}

fn bind_in<T: Products>(
    configuration: &Configuration,
    side: &SpmvSide<T>,
    problem: &SpmvProblem,
    (memory, near_bytes, pool): (MemoryLimit, u64, &rayon::ThreadPool),
) -> Result<Bound<'static>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let bind = launcher(configuration)?;
    let spec = SpmvProblem::spec(configuration);
    let made =
        side.format(spec, memory).map_err(|error| PrepareError::Refused(error.to_string()))?;
    let vectors = Vectors { start: start(configuration, problem), ..vectors(side, near_bytes) };
    Ok(pool.install(|| bind_to(bind, configuration, vectors, &made)))
}

/// Analyses A, as `read` has it, for the product with its transpose, which `problem` and `side` have.
fn bind_transposed<T: Products>(
    configuration: &Configuration,
    read: &SpmvSide<T>,
    (problem, side): (&SpmvProblem, &SpmvSide<T>),
    (memory, near_bytes, pool): (MemoryLimit, u64, &rayon::ThreadPool),
) -> Result<Bound<'static>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let made = read.format(SpmvProblem::spec(configuration), memory);
    let made = made.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let vectors = Vectors { start: start(configuration, problem), ..vectors(side, near_bytes) };
    let start = Instant::now();
    let threads = configuration.threads as usize;
    let plan = pool.install(|| TransposedPlan::new(read.a(), threads, memory));
    let plan = plan.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let (plan_s, plan_bytes) = (start.elapsed().as_secs_f64(), plan.bytes());
    let bind = |a: AnyFormat<T>, _: usize, v: Vectors<T>| match a {
        AnyFormat::Csr(a) => Some(v.parts(plan.parts(), move |scaling, x, y| {
            with_store!(scaling, |store| transposed::csr(&a, &plan, store, x, y));
        })),
        _ => None,
    };
    let mut bound = bind_to(bind, configuration, vectors, &made);
    bound.costs.plan_s += plan_s;
    bound.costs.format_bytes += plan_bytes;
    Ok(bound)
}

/// y before each execution of a configuration that adds to it; `problem` is that of op(A).
pub(super) fn start<T: Real>(
    configuration: &Configuration,
    problem: &SpmvProblem,
) -> Option<Arc<Vec<T>>> {
    let adds = configuration.parameters.get(&SCALE).beta != 0.0;
    adds.then(|| Arc::new(problem.start().iter().copied().map(T::rounded).collect()))
}

fn launcher<T: Products>(configuration: &Configuration) -> Result<Bind<T>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let missing = || PrepareError::Unsupported("not included in this build".to_owned());
    Launchers::of(configuration.kernel.id).ok_or_else(missing)
}

/// Converts the matrix and binds a kernel to it, both on the ambient pool; `start` is y before each execution, if it
/// adds to y.
pub(super) fn bind_here<T: Products>(
    configuration: &Configuration,
    side: &SpmvSide<T>,
    start: Option<Arc<Vec<T>>>,
    memory: MemoryLimit,
    near_bytes: u64,
) -> Result<Bound<'static>, PrepareError>
where
    Output: From<Vec<T>>,
{
    let bind = launcher(configuration)?;
    let made = side.format(SpmvProblem::spec(configuration), memory);
    let made = made.map_err(|error| PrepareError::Refused(error.to_string()))?;
    let vectors = Vectors { start, ..vectors(side, near_bytes) };
    Ok(bind_to(bind, configuration, vectors, &made))
}

/// x, and a y of the matrix's rows.
fn vectors<T: Real>(side: &SpmvSide<T>, near_bytes: u64) -> Vectors<T>
where
    Output: From<Vec<T>>,
{
    Vectors::new(Arc::clone(side.x()), side.a().rows(), near_bytes)
}

/// Binds a configuration's kernel to the matrix in its format, on the pool that it will run on.
fn bind_to<T: Products>(
    bind: impl FnOnce(AnyFormat<T>, usize, Vectors<T>) -> Option<Bindable>,
    configuration: &Configuration,
    mut vectors: Vectors<T>,
    made: &Converted<T>,
) -> Bound<'static>
where
    Output: From<Vec<T>>,
{
    let scale = configuration.parameters.get(&SCALE);
    let [alpha, beta] = [scale.alpha, scale.beta].map(T::rounded);
    vectors.scaling = (scale != Scale::NONE).then_some(Scaling { alpha, beta });
    let y_bytes = vectors.start.as_ref().map_or(0, |start| size_of_val(start.as_slice()) as u64);
    let start = Instant::now();
    let threads = configuration.threads as usize;
    let Bindable { task, parts, level } = bind(made.matrix.clone(), threads, vectors)
        .expect("a kernel's descriptor names the format that its launcher takes"); // invariant
    let costs = Costs {
        conversion_s: made.seconds,
        plan_s: start.elapsed().as_secs_f64(),
        format_bytes: made.matrix.bytes(),
        minimal_bytes: minimal_bytes(configuration.kernel, &made.matrix) + y_bytes,
        ..Costs::default()
    };
    let mut params = SpmvProblem::spec(configuration).in_force(&made.matrix);
    params.extend(configuration.kernel.computed(&configuration.parameters));
    params.extend(level.map(|level| ("simd".to_owned(), level.as_str().to_owned())));
    Bound { task, parts, costs, params }
}

/// Minimal bytes that one SpMV moves. A kernel that stops at `row_len` reads that array and only the slots
/// with nonzeros, so padding does not count for it.
pub(super) fn minimal_bytes<T: Real>(kernel: &KernelDescriptor, matrix: &AnyFormat<T>) -> u64 {
    let whole = matrix.minimal_bytes();
    match matrix {
        AnyFormat::Hll(a) if !kernel.needs.finite_x => {
            let entries: u64 = a.row_len().iter().map(|&length| u64::from(length)).sum();
            let padding = a.val().len() as u64 - entries;
            let slot = (T::BYTES + size_of::<u32>()) as u64;
            whole - padding * slot + size_of_val(a.row_len()) as u64
        }
        _ => whole,
    }
}
