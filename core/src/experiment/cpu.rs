//! The CPU backend: launchers of the kernels in `spmv`, one pool a thread count.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::backend::{
    Availability, Backend, KernelError, PrepareError, Prepared, Setting, Temperature,
};
use super::problem::{Output, Problem, SpmvProblem};
use crate::kernel::{DeviceKind, KernelDescriptor};
use crate::matrix::{AnyFormat, FormatSpec};
use crate::measure::{CacheFlusher, CacheSizes, ThreadsError, cpu, pool};
use crate::memory::MemoryLimit;
use crate::record::Costs;
use crate::spmv::hyb::HybParts;
use crate::spmv::{GuidedChunks, MergePath, RowParts, bsr, coo, csr, dia, ellpack, hll, hyb};

/// A product bound to its matrix and partition: (x, y) ↦ y = A·x.
type Product = Box<dyn Fn(&[f64], &mut [f64]) + Send + Sync>;

/// A kernel bound to a matrix, and into how many parts the work fell.
struct Bound {
    product: Product,
    parts: Option<usize>,
}

impl Bound {
    fn serial(product: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { product: Box::new(product), parts: None }
    }

    fn parts(parts: usize, product: impl Fn(&[f64], &mut [f64]) + Send + Sync + 'static) -> Self {
        Self { product: Box::new(product), parts: Some(parts) }
    }
}

/// Binds a kernel to a matrix of its format for a number of threads; `None` for another format.
type Bind = fn(AnyFormat, usize) -> Option<Bound>;

/// A launcher for each kernel of this backend, in the descriptors' order.
const LAUNCHERS: &[(&str, Bind)] = &[
    ("cpu/csr/serial", |a, _| match a {
        AnyFormat::Csr(a) => Some(Bound::serial(move |x, y| csr::serial(&a, x, y))),
        _ => None,
    }),
    ("cpu/csr/rows", |a, threads| match a {
        AnyFormat::Csr(a) => {
            let parts = RowParts::equal_rows(a.rows(), threads);
            Some(Bound::parts(parts.len(), move |x, y| csr::parts(&a, &parts, x, y)))
        }
        _ => None,
    }),
    ("cpu/csr/nnz", |a, threads| match a {
        AnyFormat::Csr(a) => {
            let parts = RowParts::equal_entries(a.row_ptr(), threads);
            Some(Bound::parts(parts.len(), move |x, y| csr::parts(&a, &parts, x, y)))
        }
        _ => None,
    }),
    ("cpu/csr/merge", |a, threads| match a {
        AnyFormat::Csr(a) => {
            let path = MergePath::new(a.row_ptr(), threads);
            Some(Bound::parts(path.len(), move |x, y| csr::merge(&a, &path, x, y)))
        }
        _ => None,
    }),
    ("cpu/coo/serial", |a, _| match a {
        AnyFormat::Coo(a) => Some(Bound::serial(move |x, y| coo::serial(&a, x, y))),
        _ => None,
    }),
    ("cpu/ell/serial", |a, _| match a {
        AnyFormat::Ell(a) => Some(Bound::serial(move |x, y| ellpack::serial(&a, x, y))),
        _ => None,
    }),
    ("cpu/ell/rows", |a, threads| match a {
        AnyFormat::Ell(a) => {
            let parts = RowParts::equal_rows(a.shape().rows, threads);
            Some(Bound::parts(parts.len(), move |x, y| ellpack::parts(&a, &parts, x, y)))
        }
        _ => None,
    }),
    ("cpu/hyb/serial", |a, _| match a {
        AnyFormat::Hyb(a) => Some(Bound::serial(move |x, y| hyb::serial(&a, x, y))),
        _ => None,
    }),
    ("cpu/hyb/rows", |a, threads| match a {
        AnyFormat::Hyb(a) => {
            let parts = HybParts::new(&a, threads);
            let count = parts.rows().len();
            Some(Bound::parts(count, move |x, y| hyb::parts(&a, &parts, x, y)))
        }
        _ => None,
    }),
    ("cpu/hll/serial", |a, _| match a {
        AnyFormat::Hll(a) => Some(Bound::serial(move |x, y| hll::serial(&a, x, y))),
        _ => None,
    }),
    ("cpu/hll/guided", |a, threads| match a {
        AnyFormat::Hll(a) => {
            let chunks = GuidedChunks::new(a.shape(), threads);
            let count = (chunks.hacks().len() + a.tail().rows()).min(threads);
            Some(Bound::parts(count, move |x, y| hll::guided(&a, &chunks, x, y)))
        }
        _ => None,
    }),
    ("cpu/bsr/rows", |a, threads| match a {
        AnyFormat::Bsr(a) => {
            let parts = RowParts::equal_block_rows(a.rows(), a.block(), threads);
            Some(Bound::parts(parts.len(), move |x, y| bsr::parts(&a, &parts, x, y)))
        }
        _ => None,
    }),
    ("cpu/dia/rows", |a, threads| match a {
        AnyFormat::Dia(a) => {
            let parts = RowParts::equal_rows(a.rows(), threads);
            Some(Bound::parts(parts.len(), move |x, y| dia::parts(&a, &parts, x, y)))
        }
        _ => None,
    }),
];

fn launcher(id: &str) -> Option<Bind> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, bind)| bind)
}

/// The kernels of `spmv` on this machine's processor.
pub struct CpuBackend {
    model: String,
    caches: CacheSizes,
    pools: Mutex<BTreeMap<usize, Arc<rayon::ThreadPool>>>,
    flusher: Mutex<Option<Arc<CacheFlusher>>>,
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuBackend {
    /// Describes the processor; pools are started when first asked for.
    pub fn new() -> Self {
        let cpu = cpu();
        let caches = CacheSizes::of(&cpu);
        Self { model: cpu.model, caches, pools: Mutex::default(), flusher: Mutex::default() }
    }

    fn pool(&self, threads: usize) -> Result<Arc<rayon::ThreadPool>, ThreadsError> {
        let mut pools = self.pools.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pool) = pools.get(&threads) {
            return Ok(Arc::clone(pool));
        }
        let made = Arc::new(pool(u32::try_from(threads).unwrap_or(u32::MAX))?);
        pools.insert(threads, Arc::clone(&made));
        Ok(made)
    }

    fn flusher(&self) -> Result<Arc<CacheFlusher>, String> {
        let mut flusher = self.flusher.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = flusher.as_ref() {
            return Ok(Arc::clone(made));
        }
        let made = CacheFlusher::new(self.caches, MemoryLimit::of_machine());
        let made = Arc::new(made.map_err(|error| error.to_string())?);
        *flusher = Some(Arc::clone(&made));
        Ok(made)
    }
}

impl Backend for CpuBackend {
    fn model(&self) -> &str {
        &self.model
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        if kernel.device != DeviceKind::Cpu {
            return Availability::Missing("it runs on a GPU".to_owned());
        }
        match launcher(kernel.id) {
            Some(_) => Availability::Available,
            None => Availability::Missing("this build does not have it".to_owned()),
        }
    }

    fn prepare<'p>(
        &'p self,
        kernel: &'static KernelDescriptor,
        problem: &'p Problem,
        setting: &Setting,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let Problem::Spmv(problem) = problem;
        let bind = launcher(kernel.id)
            .ok_or_else(|| PrepareError::Unsupported("this build does not have it".to_owned()))?;
        if kernel.needs_finite_x && !problem.x_is_finite() {
            let reason = "it multiplies padding by x, which holds an infinite or NaN element";
            return Err(PrepareError::Refused(reason.to_owned()));
        }
        let threads = if kernel.is_serial() { 1 } else { setting.threads };
        let pool = self.pool(threads).map_err(|e| PrepareError::Unsupported(e.to_string()))?;
        let spec = kernel.format.with(&setting.format);
        let made = problem
            .format(spec, setting.memory)
            .map_err(|error| PrepareError::Refused(error.to_string()))?;
        let start = Instant::now();
        let bound = pool
            .install(|| bind(made.matrix.clone(), threads))
            .expect("a kernel's descriptor names the format that its launcher takes"); // invariant
        let costs = Costs {
            conversion_s: made.seconds,
            plan_s: start.elapsed().as_secs_f64(),
            format_bytes: made.matrix.bytes(),
            minimal_bytes: made.matrix.minimal_bytes(),
            ..Costs::default()
        };
        let params = params(spec, &made.matrix);
        let y = vec![0.0; problem.a().rows()];
        let backend = self;
        Ok(Box::new(CpuPrepared {
            kernel,
            backend,
            problem,
            pool,
            bound,
            costs,
            params,
            y,
            repetitions: 1,
        }))
    }
}

/// The parameters in force, by the names of the command line's options.
fn params(spec: FormatSpec, made: &AnyFormat) -> BTreeMap<String, String> {
    let named = |pairs: &[(&str, Option<usize>)]| {
        let given = pairs.iter().filter_map(|&(name, value)| Some((name, value?)));
        given.map(|(name, value)| (name.to_owned(), value.to_string())).collect()
    };
    match (spec, made) {
        (FormatSpec::Hll(layout), _) => named(&[
            ("hack_size", Some(layout.hack_size)),
            ("sigma", Some(layout.sigma).filter(|&sigma| sigma > 1)),
            ("spill", layout.spill),
        ]),
        (_, AnyFormat::Hyb(a)) => named(&[("hyb_width", Some(a.ell().shape().width))]),
        (_, AnyFormat::Bsr(a)) => named(&[("bsr_block", Some(a.block()))]),
        _ => BTreeMap::new(),
    }
}

/// Samples shorter than this are measured over several products.
const SHORTEST_SAMPLE_S: f64 = 50e-6;
/// Most products behind one sample.
const MOST_REPETITIONS: f64 = 10_000.0;

struct CpuPrepared<'p> {
    kernel: &'static KernelDescriptor,
    backend: &'p CpuBackend,
    problem: &'p SpmvProblem,
    pool: Arc<rayon::ThreadPool>,
    bound: Bound,
    costs: Costs,
    params: BTreeMap<String, String>,
    y: Vec<f64>,
    repetitions: u32,
}

impl CpuPrepared<'_> {
    /// Runs `work` inside the pool; a panic of the kernel becomes an error.
    fn install<R: Send>(
        &mut self,
        work: impl FnOnce(&Product, &[f64], &mut [f64]) -> R + Send,
    ) -> Result<R, KernelError> {
        let Self { pool, bound, problem, y, .. } = self;
        let product = &bound.product;
        let x = problem.x();
        let run = std::panic::AssertUnwindSafe(|| pool.install(|| work(product, x, y)));
        std::panic::catch_unwind(run).map_err(|_| KernelError {
            kernel: self.kernel.id.to_owned(),
            reason: "it panicked, which is a defect of the program".to_owned(),
        })
    }
}

impl Prepared for CpuPrepared<'_> {
    fn sample(&mut self, n: usize, temperature: Temperature) -> Result<Vec<f64>, KernelError> {
        match temperature {
            Temperature::Hot => {
                let (samples, repetitions) = self.install(|product, x, y| {
                    let start = Instant::now();
                    product(x, y);
                    let once = start.elapsed().as_secs_f64().max(1e-9);
                    let repetitions = (SHORTEST_SAMPLE_S / once).ceil().min(MOST_REPETITIONS);
                    let repetitions = repetitions as u32;
                    let sample = || {
                        let start = Instant::now();
                        (0..repetitions).for_each(|_| product(x, std::hint::black_box(&mut *y)));
                        start.elapsed().as_secs_f64() / f64::from(repetitions)
                    };
                    (std::iter::repeat_with(sample).take(n).collect(), repetitions)
                })?;
                self.repetitions = self.repetitions.max(repetitions);
                Ok(samples)
            }
            Temperature::Cold => {
                let flusher = self
                    .backend
                    .flusher()
                    .map_err(|reason| KernelError { kernel: self.kernel.id.to_owned(), reason })?;
                self.install(|product, x, y| {
                    let sample = || {
                        flusher.flush();
                        let start = Instant::now();
                        product(x, std::hint::black_box(&mut *y));
                        start.elapsed().as_secs_f64()
                    };
                    std::iter::repeat_with(sample).take(n).collect()
                })
            }
        }
    }

    fn output(&mut self) -> Result<Output, KernelError> {
        self.install(|product, x, y| {
            y.fill(f64::NAN);
            product(x, y);
        })?;
        Ok(Output::Vector(self.y.clone()))
    }

    fn repetitions(&self) -> u32 {
        self.repetitions
    }

    fn parts(&self) -> Option<usize> {
        self.bound.parts
    }

    fn costs(&self) -> Costs {
        self.costs.clone()
    }

    fn params(&self) -> BTreeMap<String, String> {
        self.params.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::{FormatParams, KERNELS, Mapping, row_at, row_steps};
    use crate::matrix::{Csr, SlotLayout, examples};
    use crate::measure::integer_vector;
    use crate::record::Verdict;

    fn cpu_kernels() -> impl Iterator<Item = &'static KernelDescriptor> {
        KERNELS.iter().filter(|k| k.device == DeviceKind::Cpu)
    }

    /// Blocks and diagonals however empty.
    fn any_fill() -> FormatParams {
        FormatParams { min_fill: Some(0), ..FormatParams::default() }
    }

    fn setting(threads: usize) -> Setting {
        let format = any_fill();
        Setting { threads, block: None, format, memory: MemoryLimit::unlimited() }
    }

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let described: Vec<_> = cpu_kernels().map(|k| k.id).collect();
        let launched: Vec<_> = LAUNCHERS.iter().map(|&(id, _)| id).collect();
        assert_eq!(described, launched);
    }

    #[test]
    fn every_kernel_does_what_its_descriptors_mapping_says() {
        // Integers, so that sums are exact in any order.
        let triplets: Vec<_> = (0..97usize)
            .flat_map(|i| {
                (0..1 + i * i % 11).map(move |j| (i, (i * 7 + j * 5) % 61, 1.0 + j as f64))
            })
            .chain((0..61).map(|j| (40, j, 2.0)))
            .collect();
        let a = Arc::new(Csr::from_triplets(97, 61, &triplets).unwrap());
        let x = integer_vector(61, 1);
        let problem = SpmvProblem::new(Arc::clone(&a), x.clone());
        let plain = any_fill();
        let sorted =
            FormatParams { hack_size: 4, sigma: 20, spill: Some(9), bsr_block: Some(5), ..plain };
        for (kernel, params) in cpu_kernels().flat_map(|k| [(k, plain), (k, sorted)]) {
            for threads in [1, 2, 3, 8] {
                let spec = kernel.format.with(&params);
                let matrix = problem.format(spec, MemoryLimit::unlimited()).unwrap().matrix;
                let mut y = vec![0.0; 97];
                let mut steps_done = 0;
                for share in kernel.mapping.shares(&matrix, threads) {
                    for row in share.rows.clone() {
                        let mut steps = row_steps(&matrix, row);
                        if let Some(entries) = &share.entries {
                            let row_start = a.row_range(row).start;
                            let mut k = row_start..;
                            steps.retain(|_| k.next().is_some_and(|k| entries.contains(&k)));
                        }
                        steps_done += steps.len();
                        y[row_at(&matrix, row)] +=
                            steps.iter().map(|&(c, v)| v * x[c as usize]).sum::<f64>();
                    }
                }
                let spec_slots = spec.size(&a).unwrap().slots;
                // Blocks and diagonals have slots outside the matrix, which are not read.
                let outside = match &matrix {
                    AnyFormat::Bsr(a) => outside(a.as_ref(), 97, |i, j| a.slot_entry(i, j)),
                    AnyFormat::Dia(a) => outside(a.as_ref(), 97, |i, j| a.slot_entry(i, j)),
                    _ => 0,
                };
                assert_eq!(
                    steps_done as u64 + outside,
                    spec_slots,
                    "{} steps over each slot once",
                    kernel.id
                );
                let bound = launcher(kernel.id).unwrap()(matrix, threads).unwrap();
                let mut z = vec![f64::NAN; 97];
                (bound.product)(&x, &mut z);
                assert_eq!(z, y, "{} with {threads} threads", kernel.id);
            }
        }
    }

    /// Slots outside a matrix of `rows` rows: what remains of all when those with a column are
    /// taken away.
    fn outside(
        layout: &impl SlotLayout,
        rows: usize,
        entry: impl Fn(usize, usize) -> Option<(u32, f64)>,
    ) -> u64 {
        let slots = |i: usize| (0..layout.row_slots(i)).filter(|&j| entry(i, j).is_some()).count();
        layout.slots() - (0..rows).map(slots).sum::<usize>() as u64
    }

    #[test]
    fn the_number_of_parts_is_the_mappings_number_of_shares() {
        let a = Arc::new(examples::five_by_five());
        let problem = SpmvProblem::new(Arc::clone(&a), vec![1.0; 5]);
        for kernel in cpu_kernels().filter(|k| k.mapping != Mapping::GuidedHacks) {
            for threads in [1, 2, 4, 16] {
                let spec = kernel.format.with(&any_fill());
                let matrix = problem.format(spec, MemoryLimit::unlimited()).unwrap().matrix;
                let shares = kernel.mapping.shares(&matrix, threads).len();
                let bound = launcher(kernel.id).unwrap()(matrix, threads).unwrap();
                assert_eq!(bound.parts.unwrap_or(1), shares, "{}", kernel.id);
            }
        }
    }

    #[test]
    fn prepared_kernels_pass_the_gate_and_time_hot_and_cold() {
        let a = Arc::new(examples::five_by_five());
        let problem = Problem::Spmv(SpmvProblem::new(a, vec![1.0, 2.0, 3.0, 4.0, 5.0]));
        let backend = CpuBackend::new();
        for kernel in cpu_kernels() {
            let mut prepared = backend.prepare(kernel, &problem, &setting(2)).unwrap();
            let output = prepared.output().unwrap();
            assert_eq!(output, Output::Vector(vec![11.0, 13.0, 8.0, 18.0, 34.0]), "{}", kernel.id);
            assert_eq!(problem.check(&output).verdict, Verdict::Pass);
            for temperature in [Temperature::Hot, Temperature::Cold] {
                let samples = prepared.sample(3, temperature).unwrap();
                assert!(samples.len() == 3 && samples.iter().all(|&s| s > 0.0 && s < 1.0));
            }
        }
    }

    #[test]
    fn an_x_that_is_not_finite_is_refused_by_kernels_that_multiply_padding() {
        let a = Arc::new(examples::five_by_five());
        for bad in [f64::INFINITY, f64::NAN] {
            let x = vec![1.0, bad, 1.0, 1.0, 1.0];
            let problem = Problem::Spmv(SpmvProblem::new(Arc::clone(&a), x));
            let backend = CpuBackend::new();
            for kernel in cpu_kernels() {
                match backend.prepare(kernel, &problem, &setting(2)) {
                    Ok(mut prepared) => {
                        assert!(!kernel.needs_finite_x, "{}", kernel.id);
                        let check = problem.check(&prepared.output().unwrap());
                        assert_eq!(
                            check.verdict,
                            Verdict::Pass,
                            "{} {:?}",
                            kernel.id,
                            check.reason
                        );
                    }
                    Err(error) => {
                        assert!(kernel.needs_finite_x, "{}: {error}", kernel.id);
                        assert!(error.to_string().contains("padding"));
                    }
                }
            }
        }
    }

    #[test]
    fn a_format_over_the_memory_limit_is_refused_with_its_bytes() {
        let a = Arc::new(examples::five_by_five());
        let problem = Problem::Spmv(SpmvProblem::new(a, vec![1.0; 5]));
        let backend = CpuBackend::new();
        let small = Setting { memory: MemoryLimit::bytes(100), ..setting(1) };
        let kernel = crate::kernel::kernel("cpu/ell/serial").unwrap();
        let error = backend.prepare(kernel, &problem, &small).err().unwrap();
        assert!(
            matches!(&error, PrepareError::Refused(why) if why.contains("140 bytes")),
            "{error}"
        );
    }
}
