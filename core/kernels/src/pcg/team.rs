//! Workers that run the steps of an iteration block by block, one step after another.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A step: blocks that may run concurrently in any order, and what one worker runs when all are done, before
/// the next step begins.
pub(super) struct Step<'a> {
    pub(super) blocks: usize,
    pub(super) work: &'a (dyn Fn(usize) + Sync),
    pub(super) after: &'a (dyn Fn() + Sync),
}

/// The workers and their counters.
#[derive(Debug)]
pub(super) struct Team {
    workers: usize,
    /// Blocks taken from each worker's share of each step.
    taken: Vec<Counter>,
    /// Blocks done in each step.
    done: Vec<Counter>,
    /// Steps finished, including their `after`.
    finished: Counter,
}

/// A counter on its own cache lines (CPUs fetch them in pairs).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicUsize);

/// Number of polls of a counter before the worker yields.
const SPINS: usize = 2000;

impl Team {
    /// Uses the workers of the ambient pool, or the caller alone; at most one worker per block, for runs of
    /// at most `steps` steps.
    pub(super) fn new(parallel: bool, blocks: usize, steps: usize) -> Self {
        let threads = if parallel { rayon::current_num_threads() } else { 1 };
        let workers = threads.min(blocks).max(1);
        let counters = |len| (0..len).map(|_| Counter::default()).collect();
        let finished = Counter::default();
        Self { workers, taken: counters(workers * steps), done: counters(steps), finished }
    }

    /// Runs the steps in order. Each worker starts with its own share of the blocks, the same in every run,
    /// so that its data is in a near cache, and then helps others: a late or absent worker blocks nobody.
    pub(super) fn run(&mut self, steps: &[Step<'_>]) {
        if self.workers == 1 {
            for step in steps {
                (0..step.blocks).for_each(step.work);
                (step.after)();
            }
            return;
        }
        for counter in self.taken.iter_mut().chain(&mut self.done).chain([&mut self.finished]) {
            *counter.0.get_mut() = 0;
        }
        let team = &*self;
        spread(team.workers, &|| team.work(steps));
    }

    /// The loop of each worker.
    fn work(&self, steps: &[Step<'_>]) {
        let own = rayon::current_thread_index().unwrap_or(0) % self.workers;
        let mut at = self.finished.0.load(Ordering::Acquire);
        while let Some(step) = steps.get(at) {
            let mut blocks = 0;
            for share in (own..self.workers).chain(0..own) {
                let bound = |share| step.blocks * share / self.workers;
                let taken = &self.taken[at * self.workers + share].0;
                loop {
                    let block = bound(share) + taken.fetch_add(1, Ordering::Relaxed);
                    if block >= bound(share + 1) {
                        break;
                    }
                    (step.work)(block);
                    blocks += 1;
                }
            }
            // The last worker to add has seen the results of all others.
            let before = self.done[at].0.fetch_add(blocks, Ordering::AcqRel);
            at += 1;
            if blocks > 0 && before + blocks == step.blocks {
                (step.after)();
                self.finished.0.store(at, Ordering::Release);
            } else {
                at = self.wait_for(at);
            }
        }
    }

    /// Waits until this many steps are finished and returns how many are.
    fn wait_for(&self, needed: usize) -> usize {
        let mut looks = 0;
        loop {
            let finished = self.finished.0.load(Ordering::Acquire);
            if finished >= needed {
                return finished;
            }
            looks += 1;
            if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
        }
    }
}

/// Runs the same closure on this many workers, without allocating.
fn spread(workers: usize, work: &(dyn Fn() + Sync)) {
    match workers {
        0 | 1 => work(),
        _ => {
            let half = workers / 2;
            rayon::join(|| spread(workers - half, work), || spread(half, work));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn every_block_is_done_once_and_after_all_of_the_step_before() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(5).build().unwrap();
        pool.install(|| {
            let mut team = Team::new(true, 40, 2);
            for _ in 0..200 {
                let seen: [Vec<AtomicUsize>; 2] =
                    [40, 3].map(|n| (0..n).map(|_| AtomicUsize::new(0)).collect());
                let order = Mutex::new(Vec::new());
                let count = |step: usize, block: usize| {
                    let all = |k: usize| seen[k].iter().all(|n| n.load(Ordering::Relaxed) == 1);
                    assert!(step == 0 || all(0), "a step waits for the one before");
                    seen[step][block].fetch_add(1, Ordering::Relaxed);
                };
                let after = |step| order.lock().unwrap().push(step);
                team.run(&[
                    Step { blocks: 40, work: &|block| count(0, block), after: &|| after(0) },
                    Step { blocks: 3, work: &|block| count(1, block), after: &|| after(1) },
                ]);
                assert!(seen.iter().flatten().all(|n| n.load(Ordering::Relaxed) == 1));
                assert_eq!(*order.lock().unwrap(), [0, 1]);
            }
        });
    }
}
