//! Runs that are sampled until their medians are known.

use std::sync::Mutex;

use super::*;
use crate::experiment::plan::MedianGoal;

/// Returns times from an endless list and records its calls.
struct Scripted<'c> {
    cpu: CpuBackend,
    /// The k-th time of a kernel.
    time: fn(kernel: &str, k: usize) -> f64,
    /// Actual duration of a sample.
    takes: std::time::Duration,
    cancel: &'c AtomicBool,
    /// Set `cancel` after this many samples.
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
        problem: &'p dyn Problem,
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
    fn costs(&self) -> sparsescope_record::Costs {
        self.right.costs()
    }
    fn params(&self) -> BTreeMap<String, String> {
        self.right.params()
    }
}

const STEADY: &str = "cpu/coo/serial";
const NOISY: &str = "cpu/csr/serial";

/// Times of a noisy kernel: twice as long every other time, up to the twentieth.
fn noisy_at_first(kernel: &str, k: usize) -> f64 {
    if kernel == NOISY && k < 20 && k % 2 == 1 { 2.0 } else { 1.0 }
}

/// Samples a steady and a noisy kernel until 1 %, for at most `at_most_s`; returns the runs by kernel, and
/// the calls of the backend.
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
        agreement: &Alone,
    };
    let mut seen = Collect::default();
    let kernels: Vec<_> =
        kernels(Operation::Spmv).iter().filter(|k| [STEADY, NOISY].contains(&k.id)).collect();
    let all = Configuration::all(&kernels, &settings);
    let ending = runner.run("m", &problem(), &all, &[], &mut seen).unwrap();
    let runs = seen.runs.into_iter().map(|run| (run.kernel.clone(), run)).collect();
    (ending, runs, backend.asked.into_inner().unwrap())
}

#[test]
fn a_run_leaves_once_its_median_is_known_and_the_others_keep_taking_turns() {
    let (ending, runs, asked) = until(1e6, |script| script);
    assert_eq!(ending, Ending::Complete);
    // Constant times are known at the first check, after ten. Of the noisy kernel's, ten are twice as long;
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
        // 25 samples use up the time, and at most 5 fit between checks.
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
