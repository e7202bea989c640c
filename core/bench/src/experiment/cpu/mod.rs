//! The CPU backend: binds kernels to their input, with one pool per thread count.

mod auto;
mod dense;
mod machine;
mod mkl;
mod pcg;
mod prepared;
mod product;
mod skyline;
mod spmm;
mod spmv;
mod symgs;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::backend::{Availability, Backend, Prepared};
use super::binding::{Binding, Binds};
use super::configuration::Configuration;
use super::error::PrepareError;
use super::operations::{
    BatchedDenseProblem, SkylineProblem, SolveProblem, SpmmProblem, SpmvProblem, SymgsProblem,
};
use super::problem::Problem;
use super::task::{Bound, Watch};
use crate::measure::{CacheSizes, cpu};
use machine::Machine;
use prepared::CpuPrepared;
pub use product::CpuProduct;
use sparsescope_kernels::spmv::simd::Level;
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::{DeviceKind, KernelDescriptor};
use sparsescope_record::Operation;

/// The kernels of this crate on the CPU of this machine.
pub struct CpuBackend {
    model: String,
    machine: Machine,
}

impl Default for CpuBackend {
    fn default() -> Self {
        Self::new()
    }
}

impl CpuBackend {
    /// Describes the CPU and measures its gathers; pools are started on first use.
    pub fn new() -> Self {
        // Now, because preparing a kernel is timed.
        Level::for_gathers();
        let cpu = cpu();
        let machine = Machine::new(CacheSizes::of(&cpu));
        Self { model: cpu.model, machine }
    }

    /// Prepares a kernel of SpMV or SpMM that computes with any x or X, and checks its result for one. `None` when
    /// cancelled; fails if the kernel cannot run here or on this matrix.
    pub fn product(
        &self,
        configuration: &Configuration,
        a: &Arc<Csr>,
        memory: MemoryLimit,
        watch: &Watch<'_>,
    ) -> Result<Option<CpuProduct>, PrepareError> {
        CpuProduct::new(&self.machine, configuration, a, memory, watch)
    }

    /// A kernel bound to its input on the pool that it will run on.
    fn prepared<'p>(
        &'p self,
        configuration: &Configuration,
        bind: impl FnOnce(&rayon::ThreadPool) -> Result<Bound<'p>, PrepareError>,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let (kernel, threads) = (configuration.kernel.id, configuration.threads as usize);
        let pool = match mkl::has(kernel) {
            true => self.machine.caller(threads),
            false => self.machine.pool(threads),
        };
        let pool = pool.map_err(|e| PrepareError::Unsupported(e.to_string()))?;
        let bound = bind(&pool)?;
        Ok(Box::new(CpuPrepared::new(kernel, &self.machine, pool, bound)))
    }
}

/// The operations that run on the CPU.
const OPERATIONS: &[Binding<CpuBackend>] = &[
    Binding::of::<SpmvProblem>(Operation::Spmv),
    Binding::of::<SymgsProblem>(Operation::Symgs),
    Binding::of::<SkylineProblem>(Operation::Skyline),
    Binding::of::<SolveProblem>(Operation::Solve),
    Binding::of::<BatchedDenseProblem>(Operation::BatchedDense),
    Binding::of::<SpmmProblem>(Operation::Spmm),
];

impl Backend for CpuBackend {
    fn model(&self) -> &str {
        &self.model
    }

    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        if !matches!(kernel.device, DeviceKind::Cpu | DeviceKind::Ranks) {
            return Availability::Missing("runs on a GPU only".to_owned());
        }
        Binding::availability(OPERATIONS, self, kernel)
    }

    fn libraries(&self) -> BTreeMap<String, String> {
        mkl::libraries()
    }

    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        Binding::prepare(OPERATIONS, self, configuration, problem, memory)
    }
}

impl Binds<SpmvProblem> for CpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        match mkl::has(kernel.id) {
            true => mkl::availability(),
            false => Availability::built(spmv::has(kernel.id) || kernel.id == auto::ID),
        }
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SpmvProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let near_bytes = self.machine.caches().private_bytes;
        self.prepared(configuration, |pool| match configuration.kernel.id {
            auto::ID => auto::bind(configuration, problem, memory, near_bytes),
            id if mkl::has(id) => mkl::bind(configuration, problem, memory),
            _ => spmv::bind(configuration, problem, memory, near_bytes, pool),
        })
    }
}

impl Binds<SpmmProblem> for CpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        match mkl::has(kernel.id) {
            true => mkl::availability(),
            false => Availability::built(spmm::has(kernel.id)),
        }
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p SpmmProblem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        self.prepared(configuration, |pool| spmm::bind(configuration, problem, memory, pool))
    }
}

#[cfg(test)]
mod tests {
    use super::spmv::{Launchers, Vectors};
    use super::*;
    use crate::experiment::{Output, Temperature};
    use crate::measure::integer_vector;
    use sparsescope_matrix::matrix::{AnyFormat, Precision, SlotLayout, examples};
    use sparsescope_model::kernel::parameters::{MIN_FILL, OP, SCALE};
    use sparsescope_model::kernel::{
        FormatParams, Mapping, Parameters, kernels, reference, row_at, row_steps,
    };
    use sparsescope_record::Verdict;
    use std::sync::atomic::AtomicBool;

    /// The kernels that multiply by A.
    fn cpu_kernels() -> impl Iterator<Item = &'static KernelDescriptor> {
        let here =
            |k: &&KernelDescriptor| CpuBackend::new().availability(k) == Availability::Available;
        kernels(Operation::Spmv)
            .iter()
            .filter(|k| k.device == DeviceKind::Cpu)
            .filter(|k| k.takes_defaults())
            .filter(here)
    }

    /// The kernels that have their own mapping.
    fn mapped() -> impl Iterator<Item = &'static KernelDescriptor> {
        cpu_kernels().filter(|k| !matches!(k.mapping, Mapping::Chosen | Mapping::Library))
    }

    /// Blocks and diagonals with any fill.
    fn any_fill() -> FormatParams {
        FormatParams { min_fill: Some(0), ..FormatParams::default() }
    }

    /// Blocks and diagonals with any fill, on `threads` threads.
    fn configuration(kernel: &'static KernelDescriptor, threads: u32) -> Configuration {
        let parameters = match kernel.allowed(MIN_FILL.id()) {
            Some(_) => Parameters::default().with(MIN_FILL.id(), "0"),
            None => Parameters::default(),
        };
        let threads = if kernel.takes.threads { threads } else { 1 };
        Configuration { parameters, threads, ..Configuration::usual(kernel) }
    }

    fn unlimited() -> MemoryLimit {
        MemoryLimit::unlimited()
    }

    #[test]
    fn the_reference_of_every_operation_runs_on_the_cpu() {
        for &operation in Operation::ALL {
            let kernel = reference(operation);
            let found = CpuBackend::new().availability(kernel);
            assert_eq!(found, Availability::Available, "{}", kernel.id);
        }
    }

    #[test]
    fn descriptors_and_launchers_match_one_to_one() {
        let described: Vec<_> = mapped().map(|k| k.id).collect();
        let launched: Vec<_> = Launchers::<f64>::ALL.iter().map(|&(id, _)| id).collect();
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
        for (kernel, params) in mapped().flat_map(|k| [(k, plain), (k, sorted)]) {
            for threads in [1, 2, 3, 8] {
                let spec = kernel.format().unwrap().with(&params);
                let matrix =
                    problem.double().format(spec, MemoryLimit::unlimited()).unwrap().matrix;
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
                    // The last hack stores rows past the end.
                    AnyFormat::Hll(a) => {
                        outside(a.shape(), a.shape().rows(), |_, _| Some((0, 0.0)))
                    }
                    AnyFormat::HllCompact(a) => {
                        outside(a.shape(), a.shape().rows(), |_, _| Some((0, 0.0)))
                    }
                    _ => 0,
                };
                assert_eq!(
                    steps_done as u64 + outside,
                    spec_slots,
                    "{} steps over each slot once",
                    kernel.id
                );
                let vectors = Vectors::new(Arc::clone(problem.double().x()), 97, 0);
                let bound = Launchers::of(kernel.id).unwrap()(matrix, threads, vectors).unwrap();
                let mut task = bound.task;
                task.spoil();
                task.run(&Watch::cancelled_by(&AtomicBool::new(false))).unwrap();
                assert_eq!(
                    task.output(),
                    Output::Vector(y),
                    "{} with {threads} threads",
                    kernel.id
                );
            }
        }
    }

    /// Slots outside a matrix of `rows` rows: all slots except those with a column.
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
        for kernel in mapped().filter(|k| k.mapping != Mapping::GuidedHacks) {
            for threads in [1, 2, 4, 16] {
                let spec = kernel.format().unwrap().with(&any_fill());
                let matrix =
                    problem.double().format(spec, MemoryLimit::unlimited()).unwrap().matrix;
                let shares = kernel.mapping.shares(&matrix, threads).len();
                let vectors = Vectors::new(Arc::clone(problem.double().x()), 5, 0);
                let bound = Launchers::of(kernel.id).unwrap()(matrix, threads, vectors).unwrap();
                let parts = bound.parts;
                assert_eq!(parts.unwrap_or(1), shares, "{}", kernel.id);
            }
        }
    }

    #[test]
    fn prepared_kernels_pass_the_gate_and_time_hot_and_cold() {
        let a = Arc::new(examples::five_by_five());
        let problem = SpmvProblem::new(a, vec![1.0, 2.0, 3.0, 4.0, 5.0]);
        let backend = CpuBackend::new();
        let never = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&never);
        for kernel in cpu_kernels() {
            let configuration = configuration(kernel, 2);
            let mut prepared = backend.prepare(&configuration, &problem, unlimited()).unwrap();
            prepared.set_up(&watch).wait().unwrap();
            let output = prepared.output(&watch).wait().unwrap().unwrap();
            assert_eq!(output, Output::Vector(vec![11.0, 13.0, 8.0, 18.0, 34.0]), "{}", kernel.id);
            assert_eq!(problem.check(&configuration, &output).verdict, Verdict::Pass);
            for temperature in [Temperature::Hot, Temperature::Cold] {
                let samples = prepared.sample(3, temperature, &watch).wait().unwrap();
                assert!(samples.len() == 3 && samples.iter().all(|&s| s > 0.0));
            }
        }
    }

    #[test]
    fn the_kernel_that_only_multiplies_by_the_transpose_reads_the_arrays_of_a() {
        // 60 × 3, so that each of two threads has rows of its own and the second a y of its own.
        let entries: Vec<_> = (0..180).map(|k| (k / 3, k % 3, (1 + k % 5) as f64)).collect();
        let a = Arc::new(Csr::from_triplets(60, 3, &entries).unwrap());
        let problem = SpmvProblem::drawn(Arc::clone(&a), 7);
        let kernel = sparsescope_model::kernel::kernel("cpu/csr/transposed").unwrap();
        let backend = CpuBackend::new();
        let never = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&never);
        let usual = backend.prepare(&configuration(kernel, 2), &problem, unlimited());
        let error = usual.err().unwrap().to_string();
        assert_eq!(error, "op cannot be n: expected t");
        for precision in Precision::UNIFORM {
            for (scale, threads) in [("1", 1), ("1", 2), ("-2:0.5", 2)] {
                let parameters = Parameters::default().with(OP.id(), "t").with(SCALE.id(), scale);
                let usual = configuration(kernel, threads);
                let asked = Configuration { parameters, precision, ..usual };
                let mut prepared = backend.prepare(&asked, &problem, unlimited()).unwrap();
                prepared.set_up(&watch).wait().unwrap();
                let output = prepared.output(&watch).wait().unwrap().unwrap();
                let check = problem.check(&asked, &output);
                assert_eq!(check.verdict, Verdict::Pass, "{:?}", check.reason);
                let costs = prepared.costs();
                let value = precision.values().bytes();
                // A, and the second thread's y with what keeps it apart from others.
                let sums = 2 * 128 * u64::from(threads - 1);
                assert_eq!(costs.format_bytes, 180 * (value + 4) + 4 * 61 + sums);
                assert_eq!(costs.conversion_s, 0.0, "nothing is transposed for it");
            }
        }
    }

    #[test]
    fn an_x_that_is_not_finite_is_refused_by_kernels_that_multiply_padding() {
        let a = Arc::new(examples::five_by_five());
        for bad in [f64::INFINITY, f64::NAN] {
            let x = vec![1.0, bad, 1.0, 1.0, 1.0];
            let problem = SpmvProblem::new(Arc::clone(&a), x);
            let backend = CpuBackend::new();
            for kernel in cpu_kernels() {
                let configuration = configuration(kernel, 2);
                match backend.prepare(&configuration, &problem, unlimited()) {
                    Ok(mut prepared) => {
                        assert!(!kernel.needs.finite_x, "{}", kernel.id);
                        let never = AtomicBool::new(false);
                        let watch = Watch::cancelled_by(&never);
                        prepared.set_up(&watch).wait().unwrap();
                        let output = prepared.output(&watch).wait().unwrap();
                        let check = problem.check(&configuration, &output.unwrap());
                        assert_eq!(
                            check.verdict,
                            Verdict::Pass,
                            "{} {:?}",
                            kernel.id,
                            check.reason
                        );
                    }
                    Err(error) => {
                        assert!(kernel.needs.finite_x, "{}: {error}", kernel.id);
                        assert!(error.to_string().contains("padding"));
                    }
                }
            }
        }
    }

    #[test]
    fn a_format_over_the_memory_limit_is_refused_with_its_bytes() {
        let a = Arc::new(examples::five_by_five());
        let problem = SpmvProblem::new(a, vec![1.0; 5]);
        let backend = CpuBackend::new();
        let ell =
            Configuration::usual(sparsescope_model::kernel::kernel("cpu/ell/serial").unwrap());
        let error = backend.prepare(&ell, &problem, MemoryLimit::bytes(100)).err().unwrap();
        assert!(
            matches!(&error, PrepareError::Refused(why) if why.contains("140 bytes")),
            "{error}"
        );
    }
}
