//! Ranks that run in step while something happens on the second of them only.

use super::*;
use crate::experiment::KernelError;
use crate::experiment::plan::MedianGoal;
use crate::experiment::team::{Member, with_ranks};
use std::time::Duration;

/// What happens on rank 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Nothing,
    /// Its executions take longer.
    Slow,
    /// It is cancelled in its second sampling.
    Cancel,
    /// It has little memory.
    SmallMemory,
    /// A sampling fails, which the others learn.
    Failure,
    /// A sampling fails while the others wait in it.
    OwnFailure,
}

/// The CPU kernels with scripted times; every execution and sampling waits for the other ranks.
struct InStep<'c> {
    cpu: CpuBackend,
    member: &'c Member<'c>,
    /// What happens on this rank.
    event: Event,
    cancel: &'c AtomicBool,
}

struct InStepPrepared<'p> {
    right: Box<dyn Prepared + 'p>,
    step: &'p InStep<'p>,
    samplings: usize,
    failure: Option<OwnFailure>,
}

/// Seconds of a sample on rank 1, if it is slow, and on the others.
const SLOW_S: f64 = 3e-3;
const QUICK_S: f64 = 1e-3;

impl Backend for InStep<'_> {
    fn model(&self) -> &str {
        "in step"
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
        Ok(Box::new(InStepPrepared { right, step: self, samplings: 0, failure: None }))
    }
}

impl Prepared for InStepPrepared<'_> {
    fn sample<'t>(&'t mut self, n: usize, _: Temperature, _: &'t Watch<'_>) -> Sampled<'t> {
        Ticket::at_once(|| {
            self.samplings += 1;
            let event = self.step.event;
            if event == Event::OwnFailure {
                self.failure = Some(OwnFailure("the device is lost".to_owned()));
                return Err(KernelError::new("in step", "the device is lost"));
            }
            self.step.member.meet(&format!("{n} samples"));
            match event {
                Event::Failure => {
                    return Err(KernelError::new("in step", "rank 1 is out of luck"));
                }
                Event::Cancel if self.samplings == 2 => {
                    self.step.cancel.store(true, Ordering::Relaxed);
                }
                Event::Slow => {
                    std::thread::sleep(Duration::from_millis(2));
                    return Ok(vec![SLOW_S; n]);
                }
                _ => {}
            }
            Ok(vec![QUICK_S; n])
        })
    }
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t> {
        Ticket::at_once(|| {
            self.step.member.meet("an execution");
            if self.step.event == Event::Slow {
                // As long as there is time for only a few samples between looks at the cancel flag.
                std::thread::sleep(Duration::from_millis(30));
            }
            self.right.output(watch).wait()
        })
    }
    fn last_output(&mut self) -> LastOutput<'_> {
        self.right.last_output()
    }
    fn own_failure(&self) -> Option<OwnFailure> {
        self.failure.clone()
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

fn some_kernels() -> Vec<&'static KernelDescriptor> {
    let has_it = |kernel: &&KernelDescriptor| {
        ["cpu/csr/", "cpu/coo/"].iter().any(|format| kernel.id.starts_with(format))
    };
    on_cpu().into_iter().filter(has_it).collect()
}

type Ended = Result<Ending, OwnFailure>;

/// The endings of all ranks, `None` where another rank ended them, and the runs that the first keeps. It
/// stops after `stop_after` runs, and knows the runs `measured`.
fn ranks(
    ranks: usize,
    event: Event,
    (until, stop_after, measured): (Option<MedianGoal>, Option<usize>, &[Run]),
) -> (Vec<Option<Ended>>, Vec<Run>) {
    let kept = std::sync::Mutex::new(Vec::new());
    let ends = with_ranks(ranks, |member| {
        let is_first = member.rank() == 0;
        let event = if member.rank() == 1 { event } else { Event::Nothing };
        let cancel = AtomicBool::new(false);
        let backend = InStep { cpu: CpuBackend::new(), member, event, cancel: &cancel };
        let settings = Settings { runs: 20, until, threads: vec![1], ..settings() };
        let bytes = if event == Event::SmallMemory { 150 } else { 1 << 30 };
        let runner = Runner {
            backends: vec![(DeviceKind::Cpu, &backend)],
            settings: &settings,
            environment: &environment(),
            memory: Some(MemoryLimit::bytes(bytes)),
            cancel: &cancel,
            agreement: member,
        };
        let all = Configuration::all(&some_kernels(), &settings);
        let mut seen = is_first.then(|| Collect { stop_after, ..Collect::default() });
        let measured = if is_first { measured } else { &[] };
        let ended = runner.run("m", &problem(), &all, measured, &mut seen);
        if ended.is_err() {
            member.abort();
        }
        if let Some(seen) = seen {
            *kept.lock().unwrap() = seen.runs;
        }
        ended
    });
    (ends.into_iter().map(Result::ok).collect(), kept.into_inner().unwrap())
}

const USUAL: (Option<MedianGoal>, Option<usize>, &[Run]) = (None, None, &[]);

#[test]
fn the_slowest_rank_gives_the_times() {
    let goal = Some(MedianGoal { share: 0.01, at_most_s: 1e6 });
    for (count, until) in [(2, None), (3, goal), (4, None)] {
        for (event, time) in [(Event::Nothing, QUICK_S), (Event::Slow, SLOW_S)] {
            let (ends, runs) = ranks(count, event, (until, None, &[]));
            assert_eq!(ends, vec![Some(Ok(Ending::Complete)); count]);
            assert_eq!(runs.len(), some_kernels().len());
            for run in &runs {
                assert_eq!(run.check.verdict, Verdict::Pass, "{}", run.kernel);
                assert!(run.samples.iter().all(|sample| *sample == time), "{}", run.kernel);
            }
        }
    }
}

#[test]
fn all_ranks_stop_when_one_is_cancelled_or_the_first_stops() {
    for count in 2..=4 {
        let (ends, runs) = ranks(count, Event::Cancel, USUAL);
        assert_eq!(ends, vec![Some(Ok(Ending::Cancelled)); count]);
        assert!(runs.iter().all(|run| run.check.verdict == Verdict::Pass && run.cut_short));
        let (ends, runs) = ranks(count, Event::Nothing, (None, Some(2), &[]));
        assert_eq!((ends, runs.len()), (vec![Some(Ok(Ending::Cancelled)); count], 2));
    }
}

#[test]
fn what_one_rank_has_no_memory_for_is_refused_by_all() {
    let (ends, runs) = ranks(3, Event::SmallMemory, USUAL);
    assert_eq!(ends, vec![Some(Ok(Ending::Complete)); 3]);
    let refused = |run: &&Run| run.check.verdict == Verdict::Refused;
    assert!(runs.iter().filter(refused).any(|run| run.kernel.starts_with("cpu/coo/")));
    assert!(runs.iter().any(|run| run.check.verdict == Verdict::Pass));
}

#[test]
fn a_failure_that_the_others_learn_fails_the_run_of_all() {
    let (ends, runs) = ranks(3, Event::Failure, USUAL);
    assert_eq!(ends, vec![Some(Ok(Ending::Complete)); 3]);
    for run in &runs {
        let reason = run.check.reason.as_deref().unwrap();
        assert!(run.check.verdict == Verdict::Fail && reason.contains("rank 1 is out of luck"));
        assert!(run.samples.is_empty());
    }
}

#[test]
fn a_failure_of_one_rank_for_which_the_others_wait_ends_them() {
    for count in 2..=4 {
        let (ends, runs) = ranks(count, Event::OwnFailure, USUAL);
        let failure = Some(Err(OwnFailure("the device is lost".to_owned())));
        assert_eq!((&ends[1], runs.len()), (&failure, 0));
        assert!(ends.iter().enumerate().all(|(rank, end)| rank == 1 || end.is_none()), "{ends:?}");
    }
}

#[test]
fn only_the_first_rank_knows_what_is_measured() {
    let (_, runs) = ranks(2, Event::Nothing, USUAL);
    let (ends, left) = ranks(2, Event::Nothing, (None, None, &runs[1..]));
    assert_eq!((ends, left.len()), (vec![Some(Ok(Ending::Complete)); 2], 1));
    assert_eq!(left[0].kernel, runs[0].kernel);
}
