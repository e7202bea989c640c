//! Workers that spin between one SpMV and the next. SpMV with a small matrix takes less time than the system
//! needs to wake a thread; the threads of OpenMP runtimes spin, too.

#![cfg_attr(target_family = "wasm", allow(dead_code, reason = "the page measures nothing"))]

use std::any::Any;
use std::cell::Cell;
use std::hint::spin_loop;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The job of each worker, given its number in the pool.
type Job<'j> = &'j (dyn Fn(usize) + Sync);

/// Spins of a waiting thread between calls into rayon for other work of its pool.
const LOOKS: u32 = 256;

/// The job number that ends the loop.
const OVER: usize = usize::MAX;

thread_local! {
    /// The spinning pool that this thread currently leads.
    static LED: Cell<*const Crew> = const { Cell::new(ptr::null()) };
}

/// Calls `work` while the other workers of the ambient pool spin, so that SpMV inside it is distributed
/// without waking a thread. If the pool has one thread, or this thread already leads a spinning pool, it
/// calls `work` directly. Do not use with more threads than logical CPUs: spinning threads would take time
/// from working ones.
pub fn gather<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    let threads = rayon::current_num_threads();
    let Some(leader) = rayon::current_thread_index() else { return work() };
    if threads < 2 || is_led() {
        return work();
    }
    let crew = Crew::new(threads, leader);
    let (work, result) = (Mutex::new(Some(work)), Mutex::new(None));
    rayon::broadcast(|worker| {
        if worker.index() != leader {
            return crew.follow(worker.index());
        }
        let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = work.map(|work| crew.lead(work));
        *result.lock().unwrap_or_else(PoisonError::into_inner) = done;
    });
    let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
    result.expect("the leader's part has been done, or has panicked") // invariant
}

/// Calls `work` on each worker of the ambient pool, with the worker's number: through the spinning pool, if
/// this thread leads one.
pub(super) fn each_worker(work: Job<'_>) {
    // It leads none meanwhile: nested SpMV uses rayon directly.
    let crew = LED.replace(ptr::null());
    if crew.is_null() {
        rayon::broadcast(|worker| work(worker.index()));
        return;
    }
    let _again = Leads(crew);
    // SAFETY: `lead` sets the pointer to a `Crew` that outlives the closure it calls, and this runs within
    // that closure.
    unsafe { &*crew }.share_out(work);
}

/// Whether this thread leads a spinning pool.
fn is_led() -> bool {
    !LED.get().is_null()
}

/// Makes this thread the leader of a spinning pool when dropped.
struct Leads(*const Crew);

impl Drop for Leads {
    fn drop(&mut self) {
        LED.set(self.0);
    }
}

/// A number with a cache line, and the line that is fetched with it, to itself.
#[repr(align(128))]
struct Line(AtomicUsize);

struct Crew {
    leader: usize,
    /// The number of the last job, counted from 1, or [`OVER`].
    number: Line,
    /// A `Job` on the leader's stack, valid until every worker has done it.
    job: AtomicPtr<()>,
    /// The last job that each worker has done; the leader's own slot is unused.
    done: Vec<Line>,
    /// The payload if a worker panicked.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Crew {
    fn new(threads: usize, leader: usize) -> Self {
        // No worker has arrived yet, so no number matches.
        let done = (0..threads).map(|_| Line(AtomicUsize::new(OVER))).collect();
        let number = Line(AtomicUsize::new(0));
        Self { leader, number, job: AtomicPtr::default(), done, panic: Mutex::default() }
    }

    /// Calls `work` once all others have arrived; they leave when it returns or panics.
    fn lead<R>(&self, work: impl FnOnce() -> R) -> R {
        struct Ends<'c>(&'c Crew);
        impl Drop for Ends<'_> {
            fn drop(&mut self) {
                self.0.number.0.store(OVER, Ordering::Release);
            }
        }
        let _ends = Ends(self);
        self.wait_for(0);
        LED.set(self);
        let _leads_none = Leads(ptr::null());
        work()
    }

    /// Waits until every worker has done the job with this number.
    fn wait_for(&self, number: usize) {
        let others = self.done.iter().enumerate().filter(|&(worker, _)| worker != self.leader);
        for (_, done) in others {
            wait(|| done.0.load(Ordering::Acquire) == number);
        }
    }

    /// Does each job until the leader ends the pool.
    fn follow(&self, worker: usize) {
        let Some(done) = self.done.get(worker) else { return };
        let mut last = 0;
        loop {
            done.0.store(last, Ordering::Release);
            wait(|| self.number.0.load(Ordering::Acquire) != last);
            last = self.number.0.load(Ordering::Acquire);
            if last == OVER {
                break;
            }
            let job = self.job.load(Ordering::Relaxed).cast::<Job<'_>>();
            // SAFETY: the leader set the pointer before the number, and its target lives until this worker
            // has stored the number as done.
            let job = unsafe { *job };
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| job(worker))) {
                *self.panic.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
            }
        }
    }

    /// Calls `work` on each worker and waits for all of them.
    fn share_out(&self, work: Job<'_>) {
        struct Done<'c>(&'c Crew, usize);
        impl Drop for Done<'_> {
            fn drop(&mut self) {
                self.0.wait_for(self.1);
            }
        }
        let number = self.number.0.load(Ordering::Relaxed) + 1;
        self.job.store((&raw const work).cast_mut().cast(), Ordering::Relaxed);
        self.number.0.store(number, Ordering::Release);
        // Even if the leader's part panics, `work` must stay alive until all others are done with it.
        let all = Done(self, number);
        work(self.leader);
        drop(all);
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }
}

/// Spins, and now and then does other work that the pool has queued for this thread.
fn wait(is_over: impl Fn() -> bool) {
    loop {
        for _ in 0..LOOKS {
            if is_over() {
                return;
            }
            spin_loop();
        }
        rayon::yield_local();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pool(threads: usize) -> rayon::ThreadPool {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn every_worker_does_every_job_once_and_in_turn() {
        let counts = [0, 1].map(|_| AtomicUsize::new(0));
        let one_more = |round| {
            let job = |worker: usize| {
                assert_eq!(counts[worker].fetch_add(1, Ordering::Relaxed), round);
            };
            each_worker(&job);
            assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == round + 1));
        };
        pool(2).install(|| {
            gather(|| {
                assert!(is_led());
                (0..10_000).for_each(one_more);
                // The spinning pool is not set up twice, and nested SpMV uses rayon directly.
                gather(|| each_worker(&|_| assert!(!is_led())));
                // Other work of the pool is done, too.
                assert_eq!(rayon::broadcast(|_| ()).len(), 2);
                one_more(10_000);
            })
        });
        // The same without a spinning pool.
        let rounds = counts[0].load(Ordering::Relaxed);
        pool(2).install(|| one_more(rounds));
        assert_eq!(gather(|| 7), 7);
        assert!(!pool(1).install(|| gather(is_led)));
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn a_panic_of_any_worker_is_the_leaders_and_the_crew_goes_on() {
        pool(2).install(|| {
            gather(|| {
                for guilty in 0..2 {
                    let job = |worker| assert_ne!(worker, guilty, "told");
                    let panic = catch_unwind(AssertUnwindSafe(|| each_worker(&job))).unwrap_err();
                    assert!(panic.downcast_ref::<String>().unwrap().contains("told"));
                    each_worker(&|_| assert!(!is_led()));
                    assert!(is_led());
                }
            })
        });
        let pool = pool(2);
        let ends = AssertUnwindSafe(|| pool.install(|| gather(|| assert_eq!(1, 2))));
        assert!(catch_unwind(ends).is_err());
        assert_eq!(pool.install(|| gather(|| 3)), 3);
    }
}
