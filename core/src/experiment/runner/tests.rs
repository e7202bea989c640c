//! What the runner keeps, refuses and stops.

use super::sampling::{BETWEEN_LOOKS_S, ROUNDS, chunk};
use super::*;
use crate::experiment::configuration::Temperature;
use crate::experiment::plan::MedianGoal;
use crate::experiment::{
    Availability, BatchedDenseProblem, CpuBackend, Executed, LastOutput, ParameterLists, Sampled,
    SetUp, SkylineProblem, SpmvProblem, SymgsProblem, Ticket,
};
use crate::kernel::{KernelDescriptor, Parameter, kernels, reference};
use crate::matrix::{Batch, Csr, Points, examples};
use crate::record::{Operation, Precision};
use std::sync::{Arc, Mutex};

#[derive(Default)]
struct Collect {
    runs: Vec<Run>,
    stop_after: Option<usize>,
}

impl Observer for Collect {
    fn progress(&mut self, done: usize, total: usize, _: &str) {
        assert!(done <= total, "{done} of {total}");
    }
    fn finished(&mut self, run: Run) -> bool {
        self.runs.push(run);
        self.stop_after.is_none_or(|n| self.runs.len() < n)
    }
}

fn settings() -> Settings {
    let threads = vec![1, 2];
    let mut parameters = ParameterLists::default();
    parameters.set(Parameter::HackSize, &[4]).unwrap();
    parameters.set(Parameter::MinFill, &[0]).unwrap();
    Settings {
        runs: 7,
        until: None,
        warmup: 2,
        threads,
        blocks: Vec::new(),
        cold: false,
        seed: 42,
        precisions: vec![Precision::F64],
        parameters,
    }
}

fn environment() -> Environment {
    let of = |threads| Bandwidth { threads, array_bytes: 1, copy: 1e10, triad: 1e10, read: 1e10 };
    Environment { id: "test".into(), bandwidth: vec![of(1), of(2)], ..Environment::default() }
}

fn problem() -> Problem {
    let a = Arc::new(examples::five_by_five());
    Problem::Spmv(SpmvProblem::new(a, vec![1.0, 2.0, 3.0, 4.0, 5.0]))
}

fn run_with(backend: &dyn Backend, memory: MemoryLimit, observer: &mut Collect) -> Ending {
    let (settings, environment) = (settings(), environment());
    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, backend)],
        settings: &settings,
        environment: &environment,
        memory: Some(memory),
        cancel: &AtomicBool::new(false),
    };
    let all = Configuration::all(&on_cpu(), &settings);
    runner.run("m", &problem(), &all, &[], observer)
}

/// The products of this processor; a library's only where it is.
fn on_cpu() -> Vec<&'static KernelDescriptor> {
    let cpu = CpuBackend::new();
    let on_cpu = kernels(Operation::Spmv).iter().filter(|k| k.device == DeviceKind::Cpu);
    on_cpu.filter(|k| cpu.availability(k) == Availability::Available).collect()
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

/// Computes with the CPU backend, then spoils one row.
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
        problem: &'p Problem,
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
    fn repetitions(&self) -> u32 {
        self.0.repetitions()
    }
    fn parts(&self) -> Option<usize> {
        self.0.parts()
    }
    fn costs(&self) -> crate::record::Costs {
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
fn what_computes_nothing_passes_and_has_no_times() {
    let empty = |m: usize, n: usize| Arc::new(Csr::from_triplets(m, n, &[]).unwrap());
    let product = |m: usize, n: usize| SpmvProblem::new(empty(m, n), vec![1.0; n]);
    let sweeps = SymgsProblem::new(empty(0, 0), Vec::new(), Vec::new()).unwrap();
    let points = Points::new(2, Vec::new()).unwrap();
    let batch = Batch::new(3, Vec::new()).unwrap();
    for problem in [
        Problem::Spmv(product(0, 0)),
        Problem::Spmv(product(3, 0)),
        Problem::Spmv(product(0, 3)),
        Problem::Spmv(product(3, 3)),
        Problem::Symgs(sweeps),
        Problem::Skyline(SkylineProblem::new(Arc::new(points))),
        Problem::BatchedDense(BatchedDenseProblem::new(Arc::new(batch.into()))),
    ] {
        let (settings, environment, cpu) = (settings(), environment(), CpuBackend::new());
        let runner = Runner {
            backends: vec![(DeviceKind::Cpu, &cpu)],
            settings: &settings,
            environment: &environment,
            memory: None,
            cancel: &AtomicBool::new(false),
        };
        let mut seen = Collect::default();
        let all = Configuration::all(&[reference(problem.operation())], &settings);
        runner.run("m", &problem, &all, &[], &mut seen);
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

/// Takes 20 ms for everything and is interrupted by its first sample.
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
        problem: &'p Problem,
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
    fn parts(&self) -> Option<usize> {
        None
    }
    fn costs(&self) -> crate::record::Costs {
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
    };
    let mut seen = Collect::default();
    let kernels = [reference(Operation::Spmv)];
    let all = Configuration::all(&kernels, &settings);
    let ending = runner.run("m", &problem(), &all, &[], &mut seen);
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
    let (settings, environment) = (settings(), environment());
    let runner = Runner {
        backends: Vec::new(),
        settings: &settings,
        environment: &environment,
        memory: None,
        cancel: &AtomicBool::new(false),
    };
    let mut seen = Collect::default();
    let all = Configuration::all(&[reference(Operation::Spmv)], &settings);
    runner.run("m", &problem(), &all, &[], &mut seen);
    assert_eq!(seen.runs[0].check.verdict, Verdict::Unsupported);
}

/// Gives times out of a list that has no end, and remembers what it was asked for.
struct Scripted<'c> {
    cpu: CpuBackend,
    /// The k-th time of a kernel.
    time: fn(kernel: &str, k: usize) -> f64,
    /// What a sample really takes.
    takes: std::time::Duration,
    cancel: &'c AtomicBool,
    /// Set `cancel` after so many samples.
    cancel_after: usize,
    asked: Mutex<Vec<(&'static str, usize)>>,
}

struct ScriptedPrepared<'p> {
    right: Box<dyn Prepared + 'p>,
    kernel: &'static str,
    taken: usize,
    script: &'p Scripted<'p>,
}

impl Backend for Scripted<'_> {
    fn model(&self) -> &str {
        "scripted"
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.cpu.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let right = self.cpu.prepare(configuration, problem, memory)?;
        let kernel = configuration.kernel.id;
        Ok(Box::new(ScriptedPrepared { right, kernel, taken: 0, script: self }))
    }
}

impl Prepared for ScriptedPrepared<'_> {
    fn sample<'t>(&'t mut self, n: usize, _: Temperature, _: &'t Watch<'_>) -> Sampled<'t> {
        Ticket::at_once(|| {
            self.script.asked.lock().unwrap().push((self.kernel, n));
            std::thread::sleep(self.script.takes * n as u32);
            let samples = (self.taken..self.taken + n).map(|k| (self.script.time)(self.kernel, k));
            self.taken += n;
            if self.taken >= self.script.cancel_after {
                self.script.cancel.store(true, Ordering::Relaxed);
            }
            Ok(samples.collect())
        })
    }
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        self.right.output(watch)
    }
    fn last_output(&mut self) -> LastOutput<'_> {
        self.right.last_output()
    }
    fn repetitions(&self) -> u32 {
        1
    }
    fn parts(&self) -> Option<usize> {
        None
    }
    fn costs(&self) -> crate::record::Costs {
        self.right.costs()
    }
    fn params(&self) -> BTreeMap<String, String> {
        self.right.params()
    }
}

const STEADY: &str = "cpu/coo/serial";
const NOISY: &str = "cpu/csr/serial";

/// The kernel that is noisy takes twice as long every other time, up to its twentieth.
fn noisy_at_first(kernel: &str, k: usize) -> f64 {
    if kernel == NOISY && k < 20 && k % 2 == 1 { 2.0 } else { 1.0 }
}

/// Samples a steady and a noisy kernel until 1 %, at most for `at_most_s`; the runs by kernel, and
/// what was asked of the backend.
fn until(
    at_most_s: f64,
    script: impl FnOnce(Scripted<'_>) -> Scripted<'_>,
) -> (Ending, BTreeMap<String, Run>, Vec<(&'static str, usize)>) {
    let cancel = AtomicBool::new(false);
    let backend = script(Scripted {
        cpu: CpuBackend::new(),
        time: noisy_at_first,
        takes: std::time::Duration::ZERO,
        cancel: &cancel,
        cancel_after: usize::MAX,
        asked: Mutex::default(),
    });
    let goal = Some(MedianGoal { share: 0.01, at_most_s });
    let settings = Settings { runs: 100, warmup: 0, until: goal, ..settings() };
    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, &backend)],
        settings: &settings,
        environment: &environment(),
        memory: None,
        cancel: &cancel,
    };
    let mut seen = Collect::default();
    let kernels: Vec<_> =
        kernels(Operation::Spmv).iter().filter(|k| [STEADY, NOISY].contains(&k.id)).collect();
    let all = Configuration::all(&kernels, &settings);
    let ending = runner.run("m", &problem(), &all, &[], &mut seen);
    let runs = seen.runs.into_iter().map(|run| (run.kernel.clone(), run)).collect();
    (ending, runs, backend.asked.into_inner().unwrap())
}

#[test]
fn a_run_leaves_once_its_median_is_known_and_the_others_keep_taking_turns() {
    let (ending, runs, asked) = until(1e6, |script| script);
    assert_eq!(ending, Ending::Complete);
    // Constant times are known at the first look, after ten. Of the other's, ten are twice as long;
    // the interval's upper end is the 12th largest of 35, and the 10th of 30.
    let lengths = [STEADY, NOISY].map(|kernel| runs[kernel].samples.len());
    assert_eq!(lengths, [10, 35]);
    let order: Vec<_> = asked.iter().map(|(kernel, _)| *kernel).collect();
    let first = asked.first().unwrap().0;
    let second = if first == STEADY { NOISY } else { STEADY };
    assert_eq!(order, [&[first, second, first, second][..], &[NOISY; 5]].concat());
    assert!(asked.iter().all(|(_, n)| *n == 5), "{asked:?}");
    for run in runs.values() {
        let until = run.until.unwrap();
        assert_eq!((until.asked, until.reached, until.met), (0.01, Some(0.0), true));
        assert!(!run.cut_short && run.figures.is_some());
    }
}

#[test]
fn a_run_that_never_settles_ends_with_the_most_samples_and_says_so() {
    let (_, runs, _) = until(1e6, |script| Scripted { time: |_, k| (1 + k % 2) as f64, ..script });
    for run in runs.values() {
        let until = run.until.unwrap();
        assert_eq!((run.samples.len(), until.met, run.cut_short), (100, false, false));
        // From 1 to 2, the median 1.5.
        assert!((until.reached.unwrap() - 1.0 / 3.0).abs() < 1e-15);
    }
}

#[test]
fn a_run_ends_after_the_time_that_it_may_take() {
    let takes = std::time::Duration::from_millis(4);
    let time = |_: &str, k| (1 + k % 2) as f64;
    let (_, runs, _) = until(0.1, |script| Scripted { time, takes, ..script });
    for run in runs.values() {
        // 25 samples take the time, and no more than 5 come between looks.
        assert!((1..=30).contains(&run.samples.len()), "{}", run.samples.len());
        let until = run.until.unwrap();
        assert!(!until.met && !run.cut_short && until.at_most_s == 0.1);
    }
}

#[test]
fn a_run_that_is_stopped_before_it_is_known_is_cut_short() {
    let (ending, runs, _) = until(1e6, |script| Scripted { cancel_after: 15, ..script });
    assert_eq!(ending, Ending::Cancelled);
    let run = &runs[NOISY];
    assert_eq!((run.samples.len(), run.cut_short, run.until.unwrap().met), (15, true, false));
    assert!(!runs[STEADY].cut_short);
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
        };
        let mut seen = Collect::default();
        let all = Configuration::all(&[reference(Operation::Spmv)], &settings);
        let ending = runner.run("m", &problem(), &all, &[], &mut seen);
        assert!(cancel.load(Ordering::Relaxed));
        assert_eq!((ending, seen.runs.len()), (expected, 1));
        assert_eq!(seen.runs[0].cut_short, expected == Ending::Cancelled);
    }
}

/// Gives every answer of another backend only when it is asked for the third time.
struct Later(CpuBackend);

struct LaterPrepared<'p>(Box<dyn Prepared + 'p>);

/// Ready when it is asked for the third time.
async fn third_time() {
    let mut asked = 0;
    std::future::poll_fn(|_| {
        asked += 1;
        if asked < 3 { std::task::Poll::Pending } else { std::task::Poll::Ready(()) }
    })
    .await;
}

impl Backend for Later {
    fn model(&self) -> &str {
        "later"
    }
    fn availability(&self, kernel: &KernelDescriptor) -> Availability {
        self.0.availability(kernel)
    }
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        Ok(Box::new(LaterPrepared(self.0.prepare(configuration, problem, memory)?)))
    }
}

impl Prepared for LaterPrepared<'_> {
    fn set_up<'t>(&'t mut self, watch: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::later(async {
            third_time().await;
            self.0.set_up(watch).await
        })
    }
    fn sample<'t>(&'t mut self, n: usize, t: Temperature, watch: &'t Watch<'_>) -> Sampled<'t> {
        Ticket::later(async move {
            third_time().await;
            self.0.sample(n, t, watch).await
        })
    }
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::later(async {
            third_time().await;
            self.0.output(watch).await
        })
    }
    fn last_output(&mut self) -> LastOutput<'_> {
        self.0.last_output()
    }
    fn repetitions(&self) -> u32 {
        self.0.repetitions()
    }
    fn parts(&self) -> Option<usize> {
        self.0.parts()
    }
    fn costs(&self) -> crate::record::Costs {
        self.0.costs()
    }
    fn params(&self) -> BTreeMap<String, String> {
        self.0.params()
    }
}

#[test]
fn a_step_ends_where_a_backend_has_no_answer_yet_and_all_steps_give_every_run() {
    let backend = Later(CpuBackend::new());
    let (settings, environment) = (settings(), environment());
    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, &backend)],
        settings: &settings,
        environment: &environment,
        memory: None,
        cancel: &AtomicBool::new(false),
    };
    let (mut seen, problem) = (Collect::default(), problem());
    let all = Configuration::all(&[reference(Operation::Spmv)], &settings);
    let mut steps = runner.begin("m", &problem, &all, &[], &mut seen);
    let mut taken = Vec::new();
    let ending = loop {
        match steps.step() {
            Step::Finished(ending) => break ending,
            step => taken.push(step),
        }
    };
    assert_eq!((ending, steps.step()), (Ending::Complete, Step::Finished(Ending::Complete)));
    drop(steps);
    // Twice in vain for the set-up, the first result, each chunk of samples and the last result.
    let count = |step| taken.iter().filter(|taken| **taken == step).count();
    let chunks = 1 + ROUNDS;
    assert_eq!(count(Step::Waiting), 2 * (3 + chunks));
    // After getting ready, after each chunk and after the run.
    assert_eq!(count(Step::Working), 2 + chunks);
    assert_eq!((seen.runs.len(), seen.runs[0].samples.len(), seen.runs[0].warmup), (1, 7, 2));
    assert_eq!(seen.runs[0].check.verdict, Verdict::Pass);
}
