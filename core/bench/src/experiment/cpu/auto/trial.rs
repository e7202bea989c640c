//! The trial: each kernel races the best so far, in alternation; the fastest SpMV of each counts.

use std::time::{Duration, Instant};

use crate::experiment::cpu::machine::awake;
use crate::experiment::error::KernelError;
use crate::experiment::task::{Finished, Task, Watch};
use crate::experiment::timing::repetitions;

/// Minimum rounds of a race.
const ROUNDS: u32 = 7;

/// Minimum rounds before a kernel that is far behind drops out.
const FIRST_ROUNDS: u32 = 2;

/// Minimum time of a race: the first SpMVs are slower until caches and threads have settled, and another process
/// may take a core for a time slice, about 3 ms.
const SHORTEST: Duration = Duration::from_millis(4);

/// Ratio to the best from which a kernel is far behind.
const BEHIND: f64 = 1.25;

/// Ratio of times that a kernel of another format must beat: its conversion has to pay off, and smaller
/// differences are noise.
const BETTER: f64 = 0.98;

/// The same ratio for a kernel that replaces the serial one, which the choice must never be slower than.
const BETTER_THAN_SERIAL: f64 = 0.95;

/// A result of the trial; `None` when cancelled.
type Sampled<T> = Result<Option<T>, KernelError>;

/// A kernel in the trial.
pub(super) struct Runner {
    task: Box<dyn Task>,
    repetitions: u32,
    /// Seconds that each call takes longer outside of the trial, where its threads have to be woken.
    wake_s: f64,
    /// Seconds of its fastest SpMV, with those.
    pub(super) least_s: f64,
}

impl Runner {
    /// Executes the kernel twice: once to warm up, once to measure its time.
    pub(super) fn new(mut task: Box<dyn Task>, wake_s: f64, watch: &Watch<'_>) -> Sampled<Self> {
        task.spoil();
        let twice = awake(|| {
            let first = time(task.as_mut(), 1, watch)?;
            Ok(first.zip(time(task.as_mut(), 1, watch)?))
        });
        let Some((first, second)) = twice? else { return Ok(None) };
        let awake_s = first.min(second);
        let (repetitions, least_s) = (repetitions(awake_s), awake_s + wake_s);
        Ok(Some(Self { task, repetitions, wake_s, least_s }))
    }

    /// Returns the bare task.
    pub(super) fn into_task(self) -> Box<dyn Task> {
        self.task
    }

    fn sample(&mut self, watch: &Watch<'_>) -> Sampled<()> {
        let Some(seconds) = time(self.task.as_mut(), self.repetitions, watch)? else {
            return Ok(None);
        };
        self.least_s = self.least_s.min(seconds + self.wake_s);
        Ok(Some(()))
    }

    /// Whether it beats the best so far, which may still be the serial kernel.
    pub(super) fn beats(&self, best: &Self, is_serial: bool) -> bool {
        let margin = if is_serial { BETTER_THAN_SERIAL } else { BETTER };
        self.least_s < margin * best.least_s
    }
}

/// Samples both in alternation, swapping who goes first, until there are enough rounds, fewer if the second is far
/// behind, or until `end`.
pub(super) fn race(
    best: &mut Runner,
    other: &mut Runner,
    end: Instant,
    watch: &Watch<'_>,
) -> Sampled<()> {
    awake(|| {
        let start = Instant::now();
        for round in 1.. {
            let order =
                if round % 2 == 1 { [&mut *best, &mut *other] } else { [&mut *other, &mut *best] };
            for one in order {
                if one.sample(watch)?.is_none() {
                    return Ok(None);
                }
            }
            let is_behind = other.least_s > BEHIND * best.least_s;
            if Instant::now() >= end || is_over(round, start.elapsed(), is_behind) {
                break;
            }
        }
        Ok(Some(()))
    })
}

/// Whether this many rounds, which took this long, are enough.
fn is_over(rounds: u32, elapsed: Duration, is_behind: bool) -> bool {
    let enough = if is_behind { FIRST_ROUNDS } else { ROUNDS };
    rounds >= enough && elapsed >= SHORTEST
}

/// Mean time of `repetitions` SpMVs. What adds to y starts from the same y each time, whose copy is not timed.
fn time(task: &mut dyn Task, repetitions: u32, watch: &Watch<'_>) -> Sampled<f64> {
    let (start, mut copying) = (Instant::now(), Duration::ZERO);
    for _ in 0..repetitions {
        if task.is_in_place() {
            let from = Instant::now();
            task.reset();
            copying += from.elapsed();
        }
        if watch.is_cancelled() || task.run(watch)? == Finished::Cancelled {
            return Ok(None);
        }
    }
    let spent = start.elapsed().saturating_sub(copying);
    Ok(Some(spent.as_secs_f64() / f64::from(repetitions)))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::*;
    use crate::experiment::output::Output;

    /// Sleeps for this long, and counts its executions.
    struct Sleeper(Duration, &'static AtomicU32);

    impl Task for Sleeper {
        fn spoil(&mut self) {}
        fn run(&mut self, _: &Watch<'_>) -> Result<Finished, KernelError> {
            self.1.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(self.0);
            Ok(Finished::Done)
        }
        fn output(&self) -> Output {
            Output::Vector(Vec::new())
        }
    }

    fn runner(ms: u64, wake_s: f64, count: &'static AtomicU32) -> Runner {
        let flag = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&flag);
        let task = Box::new(Sleeper(Duration::from_millis(ms), count));
        Runner::new(task, wake_s, &watch).unwrap().unwrap()
    }

    #[test]
    fn no_kernel_drops_out_before_it_has_settled() {
        let (early, late) = (Duration::from_millis(1), Duration::from_millis(5));
        assert!(!is_over(2, early, true) && is_over(2, late, true) && !is_over(1, late, true));
        assert!(!is_over(7, early, false) && is_over(7, late, false) && !is_over(6, late, false));
    }

    #[test]
    fn who_is_far_behind_leaves_early_and_the_faster_wins() {
        static SLOW: AtomicU32 = AtomicU32::new(0);
        static FAST: AtomicU32 = AtomicU32::new(0);
        let flag = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&flag);
        let end = Instant::now() + Duration::from_secs(60);
        let (mut slow, mut fast) = (runner(40, 0.0, &SLOW), runner(2, 0.0, &FAST));
        race(&mut fast, &mut slow, end, &watch).unwrap().unwrap();
        // Two executions at the start, and two rounds.
        assert_eq!((SLOW.load(Ordering::Relaxed), FAST.load(Ordering::Relaxed)), (4, 4));
        assert!(!slow.beats(&fast, false) && fast.beats(&slow, true));
        // If the time is up, one round remains; a cancelled race returns nothing.
        race(&mut slow, &mut fast, Instant::now(), &watch).unwrap().unwrap();
        assert_eq!(SLOW.load(Ordering::Relaxed), 5);
        flag.store(true, Ordering::Relaxed);
        assert!(race(&mut slow, &mut fast, end, &watch).unwrap().is_none());
    }

    #[test]
    fn a_fast_kernel_loses_if_waking_its_threads_takes_longer_than_it_saves() {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let flag = AtomicBool::new(false);
        let watch = Watch::cancelled_by(&flag);
        let (mut alone, mut several) = (runner(4, 0.0, &COUNT), runner(1, 60.0, &COUNT));
        let end = Instant::now() + Duration::from_secs(60);
        race(&mut alone, &mut several, end, &watch).unwrap().unwrap();
        assert!(alone.beats(&several, false) && !several.beats(&alone, true));
        assert!((60.0..120.0).contains(&several.least_s) && alone.least_s < 60.0);
    }
}
