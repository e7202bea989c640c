//! Which runs the runner keeps, refuses and stops.

use super::sampling::{BETWEEN_LOOKS_S, chunk};
use super::*;
use crate::experiment::configuration::Temperature;
use crate::experiment::resident::Resident;
use crate::experiment::{
    Alone, Availability, BatchedDenseProblem, CpuBackend, Executed, LastOutput, Metered, Output,
    ParameterLists, Sampled, SetUp, SkylineProblem, SpmmProblem, SpmvProblem, SymgsProblem, Ticket,
    Watch,
};
use sparsescope_matrix::matrix::{Batch, Csr, Points, examples};
use sparsescope_model::kernel::parameters::{HACK_SIZE, MIN_FILL};
use sparsescope_model::kernel::{KernelDescriptor, kernels, reference};
use sparsescope_record::{Bandwidth, Energy, Operation, Precision};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

mod later;
mod ranks;
mod until;

#[derive(Default)]
struct Collect {
    runs: Vec<Run>,
    /// By kernel and threads: the most samples that were told before its run was finished.
    sampled: BTreeMap<(String, u32), usize>,
    stop_after: Option<usize>,
}

impl Observer for Collect {
    fn progress(&mut self, done: usize, total: usize, _: &str) {
        assert!(done <= total, "{done} of {total}");
    }
    fn sampled(&mut self, run: &Run, _: &Work) {
        let told = self.sampled.entry((run.kernel.clone(), run.threads)).or_default();
        *told = run.samples.len().max(*told);
    }
    fn finished(&mut self, run: Run) -> bool {
        self.runs.push(run);
        self.stop_after.is_none_or(|n| self.runs.len() < n)
    }
}

fn settings() -> Settings {
    let threads = vec![1, 2];
    let mut parameters = ParameterLists::default();
    parameters.set(HACK_SIZE.id(), &[4]).unwrap();
    parameters.set(MIN_FILL.id(), &[0]).unwrap();
    Settings {
        runs: 7,
        until: None,
        warmup: 2,
        threads,
        blocks: Vec::new(),
        cold: false,
        energy: false,
        seed: 42,
        precisions: vec![Precision::F64],
        parameters,
    }
}

fn environment() -> Environment {
    let of = |threads| Bandwidth { threads, array_bytes: 1, copy: 1e10, triad: 1e10, read: 1e10 };
    Environment { id: "test".into(), bandwidth: vec![of(1), of(2)], ..Environment::default() }
}

fn problem() -> SpmvProblem {
    let a = Arc::new(examples::five_by_five());
    SpmvProblem::new(a, vec![1.0, 2.0, 3.0, 4.0, 5.0])
}

fn run_with(backend: &dyn Backend, memory: MemoryLimit, observer: &mut Collect) -> Ending {
    let (settings, environment) = (settings(), environment());
    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, backend)],
        settings: &settings,
        environment: &environment,
        memory: Some(memory),
        cancel: &AtomicBool::new(false),
        agreement: &Alone,
    };
    let all = Configuration::all(&on_cpu(), &settings);
    runner.run("m", &problem(), &all, &[], observer).unwrap()
}

/// What these backends make of the reference.
fn run_of_reference(backends: Vec<(DeviceKind, &dyn Backend)>, settings: &Settings) -> Run {
    let runner = Runner {
        backends,
        settings,
        environment: &environment(),
        memory: None,
        cancel: &AtomicBool::new(false),
        agreement: &Alone,
    };
    let mut seen = Collect::default();
    let all = Configuration::all(&[reference(Operation::Spmv)], settings);
    runner.run("m", &problem(), &all, &[], &mut seen).unwrap();
    seen.runs.remove(0)
}

/// The CPU kernels for y = A·x; a library's only where it is available.
fn on_cpu() -> Vec<&'static KernelDescriptor> {
    let cpu = CpuBackend::new();
    let on_cpu = kernels(Operation::Spmv).iter().filter(|k| k.device == DeviceKind::Cpu);
    on_cpu
        .filter(|k| k.takes_defaults())
        .filter(|k| cpu.availability(k) == Availability::Available)
        .collect()
}

#[test]
fn every_configuration_becomes_a_run_with_all_its_samples() {
    let mut seen = Collect::default();
    let ending = run_with(&CpuBackend::new(), MemoryLimit::unlimited(), &mut seen);
    assert_eq!(ending, Ending::Complete);
    let serial = on_cpu().iter().filter(|k| !k.takes.threads).count();
    assert_eq!(seen.runs.len(), serial + 2 * (on_cpu().len() - serial));
    for run in &seen.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{}: {:?}", run.kernel, run.check.reason);
        assert_eq!((run.samples.len(), run.warmup), (7, 2), "{}", run.kernel);
        let told = seen.sampled.get(&(run.kernel.clone(), run.threads));
        assert_eq!(told, Some(&7), "{}", run.kernel);
        let figures = run.figures.as_ref().unwrap();
        assert!(figures.speedup.is_some() && figures.pct_copy.is_some(), "{}", run.kernel);
        let modelled = !["cpu/bsr/", "cpu/dia/"].iter().any(|f| run.kernel.starts_with(f))
            && !run.kernel.ends_with("/compact")
            && run.costs.choice.is_none()
            && !run.kernel.starts_with("vendor/");
        assert_eq!(run.costs.predicted.is_some(), modelled, "{}", run.kernel);
    }
    assert_eq!(seen.runs[0].figures.as_ref().unwrap().speedup, Some(1.0));
}

#[test]
fn formats_over_the_limit_are_refused_and_the_rest_runs_in_groups() {
    // ELLPACK of the example takes 140 bytes, HLL 5x2 slots plus offsets; COO takes 160, its
    // one block 220, its three diagonals 168.
    let mut seen = Collect::default();
    let ending = run_with(&CpuBackend::new(), MemoryLimit::bytes(150), &mut seen);
    assert_eq!(ending, Ending::Complete);
    for run in &seen.runs {
        let too_large = ["cpu/coo/", "cpu/hll/", "cpu/bsr/", "cpu/dia/"];
        let refused = too_large.iter().any(|format| run.kernel.starts_with(format));
        let expected = if refused { Verdict::Refused } else { Verdict::Pass };
        assert_eq!(run.check.verdict, expected, "{}: {:?}", run.kernel, run.check.reason);
        assert_eq!(run.figures.is_some(), !refused);
    }
}

/// The CPU backend, as if its arrays were in this many bytes of a device.
struct Small(CpuBackend, u64);

impl Backend for Small {
    fn model(&self) -> &str {
        "small"
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.0.availability(kernel)
    }
    fn room(&self) -> Option<u64> {
        Some(self.1)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        self.0.prepare(configuration, problem, memory)
    }
}

#[test]
fn groups_stay_within_the_memory_of_the_device_too() {
    let groups = |backend: &dyn Backend, memory: MemoryLimit| -> Vec<usize> {
        let (settings, environment) = (settings(), environment());
        let runner = Runner {
            backends: vec![(DeviceKind::Cpu, backend)],
            settings: &settings,
            environment: &environment,
            memory: None,
            cancel: &AtomicBool::new(false),
            agreement: &Alone,
        };
        let all = Configuration::all(&on_cpu(), &settings);
        runner.groups(&problem(), all, memory).iter().map(Vec::len).collect()
    };
    // Larger than each format of the example, and than what the automatic choice may need.
    let (bytes, unlimited) = (500, MemoryLimit::unlimited());
    let by_limit = groups(&CpuBackend::new(), MemoryLimit::bytes(bytes));
    assert!(by_limit.len() > 1);
    assert_eq!(groups(&Small(CpuBackend::new(), bytes), unlimited), by_limit);
    assert_eq!(groups(&CpuBackend::new(), unlimited).len(), 1);
}

/// Computes with the CPU backend, then corrupts one row.
struct Wrong {
    cpu: CpuBackend,
    spoil: fn(f64) -> f64,
}

struct WrongPrepared<'p>(Box<dyn Prepared + 'p>, fn(f64) -> f64);

impl Backend for Wrong {
    fn model(&self) -> &str {
        "wrong"
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.cpu.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let right = self.cpu.prepare(configuration, problem, memory)?;
        Ok(Box::new(WrongPrepared(right, self.spoil)))
    }
}

impl Prepared for WrongPrepared<'_> {
    fn set_up<'t>(&'t mut self, watch: &'t Watch<'_>) -> SetUp<'t> {
        self.0.set_up(watch)
    }
    fn sample<'t>(&'t mut self, n: usize, t: Temperature, watch: &'t Watch<'_>) -> Sampled<'t> {
        self.0.sample(n, t, watch)
    }
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            let Some(Output::Vector(mut y)) = self.0.output(watch).wait()? else {
                panic!("no vector")
            };
            y[3] = (self.1)(y[3]);
            Ok(Some(Output::Vector(y)))
        })
    }
    fn last_output(&mut self) -> LastOutput<'_> {
        self.0.last_output()
    }
    fn energy<'t>(&'t mut self, _: Temperature, _: &'t Watch<'_>) -> Metered<'t> {
        Ticket::ready(Ok(Some(Energy { joules: 2.0, ..Energy::default() })))
    }
    fn repetitions(&self) -> u32 {
        self.0.repetitions()
    }
    fn parts(&self) -> Option<usize> {
        self.0.parts()
    }
    fn costs(&self) -> sparsescope_record::Costs {
        self.0.costs()
    }
    fn params(&self) -> BTreeMap<String, String> {
        self.0.params()
    }
}

#[test]
fn a_wrong_kernel_fails_the_gate_and_keeps_no_timing() {
    for spoil in [|y: f64| y * (1.0 + 1e-6), |_| f64::NAN] {
        let mut seen = Collect::default();
        let wrong = Wrong { cpu: CpuBackend::new(), spoil };
        run_with(&wrong, MemoryLimit::unlimited(), &mut seen);
        assert!(!seen.runs.is_empty());
        for run in &seen.runs {
            assert_eq!((run.check.verdict, run.check.row), (Verdict::Fail, Some(3)));
            assert!(run.samples.is_empty() && run.figures.is_none(), "{}", run.kernel);
        }
    }
}

#[test]
fn energy_is_measured_only_if_requested_and_refused_with_the_reason_of_the_backend() {
    let measure = |backend: &dyn Backend, energy| {
        let settings = Settings { energy, ..settings() };
        let run = run_of_reference(vec![(DeviceKind::Cpu, backend)], &settings);
        assert!(!run.cut_short);
        (run.energy.map(|energy| energy.joules), run.no_energy)
    };
    let cpu = CpuBackend::new();
    let refused = Some("energy is measured only for CUDA kernels on one GPU".to_owned());
    assert_eq!(measure(&cpu, true), (None, refused));
    assert_eq!(measure(&cpu, false), (None, None));
    let metered = |spoil: fn(f64) -> f64| Wrong { cpu: CpuBackend::new(), spoil };
    assert_eq!(measure(&metered(|y| y), true), (Some(2.0), None));
    assert_eq!(measure(&metered(|y| y), false), (None, None));
    assert_eq!(measure(&metered(|_| f64::NAN), true), (None, None), "a wrong kernel has none");
}

#[test]
fn what_computes_nothing_passes_and_has_no_times() {
    let empty = |m: usize, n: usize| Arc::new(Csr::from_triplets(m, n, &[]).unwrap());
    let product = |m: usize, n: usize| SpmvProblem::new(empty(m, n), vec![1.0; n]);
    let sweeps = SymgsProblem::new(empty(0, 0), Vec::new(), Vec::new()).unwrap();
    let points = Points::new(2, Vec::new()).unwrap();
    let batch = Batch::new(3, Vec::new()).unwrap();
    let problems: [Box<dyn Problem>; 9] = [
        Box::new(product(0, 0)),
        Box::new(product(3, 0)),
        Box::new(product(0, 3)),
        Box::new(product(3, 3)),
        Box::new(SpmmProblem::drawn(empty(0, 3), 1)),
        Box::new(SpmmProblem::drawn(empty(3, 0), 1)),
        Box::new(sweeps),
        Box::new(SkylineProblem::new(Arc::new(points))),
        Box::new(BatchedDenseProblem::new(Arc::new(batch.into()))),
    ];
    for problem in problems {
        let (settings, environment, cpu) = (settings(), environment(), CpuBackend::new());
        let runner = Runner {
            backends: vec![(DeviceKind::Cpu, &cpu)],
            settings: &settings,
            environment: &environment,
            memory: None,
            cancel: &AtomicBool::new(false),
            agreement: &Alone,
        };
        let mut seen = Collect::default();
        let all = Configuration::all(&[reference(problem.operation())], &settings);
        runner.run("m", &*problem, &all, &[], &mut seen).unwrap();
        let operation = problem.operation();
        assert!(!seen.runs.is_empty(), "{operation:?}");
        for run in &seen.runs {
            assert_eq!(run.check.verdict, Verdict::Pass, "{operation:?} {:?}", run.check.reason);
            assert_eq!(run.check.reason.as_deref(), Some("there is nothing to compute"));
            assert!(run.samples.is_empty() && run.figures.is_none() && run.metric.is_none());
        }
    }
}

#[test]
fn stopping_keeps_what_is_finished() {
    let mut seen = Collect { stop_after: Some(2), ..Collect::default() };
    let ending = run_with(&CpuBackend::new(), MemoryLimit::unlimited(), &mut seen);
    assert_eq!((ending, seen.runs.len()), (Ending::Cancelled, 2));
}

/// A product whose reference has five parts, the first of which is interrupted.
#[derive(Debug)]
struct InParts {
    product: SpmvProblem,
    cancel: AtomicBool,
    parts: AtomicUsize,
}

impl Problem for InParts {
    fn operation(&self) -> Operation {
        self.product.operation()
    }
    fn is_empty(&self) -> bool {
        self.product.is_empty()
    }
    fn resident(&self, configuration: &Configuration, memory: MemoryLimit) -> Vec<Resident> {
        self.product.resident(configuration, memory)
    }
    fn extend_reference(&self, _: &Configuration) -> bool {
        self.cancel.store(true, Ordering::Relaxed);
        self.parts.fetch_add(1, Ordering::Relaxed) < 4
    }
    fn compare(&self, configuration: &Configuration, output: &Output) -> Option<Check> {
        self.product.compare(configuration, output)
    }
    fn work(&self, output: &Output) -> Work {
        self.product.work(output)
    }
}

/// The CPU backend for its product.
struct OfParts(CpuBackend);

impl Backend for OfParts {
    fn model(&self) -> &str {
        "of parts"
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.0.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let in_parts = problem.of::<InParts>().unwrap();
        self.0.prepare(configuration, &in_parts.product, memory)
    }
}

#[test]
fn stopping_waits_for_a_part_of_the_reference_not_for_all() {
    let (cancel, parts) = (AtomicBool::new(false), AtomicUsize::new(0));
    let problem = InParts { product: problem(), cancel, parts };
    let (settings, backend) = (settings(), OfParts(CpuBackend::new()));
    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, &backend)],
        settings: &settings,
        environment: &environment(),
        memory: None,
        cancel: &problem.cancel,
        agreement: &Alone,
    };
    let mut seen = Collect::default();
    let all = Configuration::all(&[reference(Operation::Spmv)], &settings);
    let ending = runner.run("m", &problem, &all, &[], &mut seen).unwrap();
    assert_eq!((ending, seen.runs.len()), (Ending::Cancelled, 0));
    assert_eq!(problem.parts.load(Ordering::Relaxed), 1);
}

/// Takes 20 ms for every call and is interrupted by its first sample.
struct Slow<'c> {
    cpu: CpuBackend,
    cancel: &'c AtomicBool,
}

struct SlowPrepared<'p>(Box<dyn Prepared + 'p>, &'p AtomicBool);

const SLOW: std::time::Duration = std::time::Duration::from_millis(20);

impl Backend for Slow<'_> {
    fn model(&self) -> &str {
        "slow"
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.cpu.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        Ok(Box::new(SlowPrepared(self.cpu.prepare(configuration, problem, memory)?, self.cancel)))
    }
}

impl Prepared for SlowPrepared<'_> {
    fn sample<'t>(&'t mut self, n: usize, _: Temperature, _: &'t Watch<'_>) -> Sampled<'t> {
        Ticket::at_once(|| {
            self.1.store(true, Ordering::Relaxed);
            Ok(vec![SLOW.as_secs_f64(); n])
        })
    }
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            std::thread::sleep(SLOW);
            self.0.output(watch).wait()
        })
    }
    fn last_output(&mut self) -> LastOutput<'_> {
        self.0.last_output()
    }
    fn repetitions(&self) -> u32 {
        1
    }
    fn costs(&self) -> sparsescope_record::Costs {
        self.0.costs()
    }
    fn params(&self) -> BTreeMap<String, String> {
        self.0.params()
    }
}

#[test]
fn stopping_waits_for_a_tenth_of_a_second_of_samples_not_for_a_round() {
    let cancel = AtomicBool::new(false);
    let backend = Slow { cpu: CpuBackend::new(), cancel: &cancel };
    let settings = Settings { runs: 1_000_000, warmup: 0, ..settings() };
    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, &backend)],
        settings: &settings,
        environment: &environment(),
        memory: None,
        cancel: &cancel,
        agreement: &Alone,
    };
    let mut seen = Collect::default();
    let kernels = [reference(Operation::Spmv)];
    let all = Configuration::all(&kernels, &settings);
    let ending = runner.run("m", &problem(), &all, &[], &mut seen).unwrap();
    assert_eq!((ending, seen.runs.len()), (Ending::Cancelled, 1));
    let taken = seen.runs[0].samples.len();
    assert!((1..=5).contains(&taken), "{taken} samples of 20 ms");
}

#[test]
fn every_sample_of_a_round_is_taken_in_however_many_chunks() {
    for pace in [0.0, 1e-5, 0.03, 0.1, 7.0] {
        for n in [1, 2, 7, 1000] {
            let mut left = n;
            while left > 0 {
                let taken = chunk(left, Temperature::Hot, pace);
                assert!(taken >= 1 && (taken == 1 || taken as f64 * pace <= BETWEEN_LOOKS_S));
                left = left.checked_sub(taken).unwrap();
            }
        }
    }
    assert_eq!(chunk(7, Temperature::Hot, 1e-3), 7);
    assert_eq!(chunk(7, Temperature::Cold, 1e-3), 1);
}

#[test]
fn a_kernel_of_a_device_without_backend_is_unsupported() {
    let run = run_of_reference(Vec::new(), &settings());
    assert_eq!(run.check.verdict, Verdict::Unsupported);
}

#[test]
fn what_is_stopped_after_the_last_sample_is_complete() {
    for (runs, expected) in [(1, Ending::Complete), (1_000, Ending::Cancelled)] {
        let cancel = AtomicBool::new(false);
        let backend = Slow { cpu: CpuBackend::new(), cancel: &cancel };
        let settings = Settings { runs, warmup: 0, ..settings() };
        let runner = Runner {
            backends: vec![(DeviceKind::Cpu, &backend)],
            settings: &settings,
            environment: &environment(),
            memory: None,
            cancel: &cancel,
            agreement: &Alone,
        };
        let mut seen = Collect::default();
        let all = Configuration::all(&[reference(Operation::Spmv)], &settings);
        let ending = runner.run("m", &problem(), &all, &[], &mut seen).unwrap();
        assert!(cancel.load(Ordering::Relaxed));
        assert_eq!((ending, seen.runs.len()), (expected, 1));
        assert_eq!(seen.runs[0].cut_short, expected == Ending::Cancelled);
    }
}
