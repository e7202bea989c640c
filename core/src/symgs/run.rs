//! Passes on several workers, who take steps in order and wait until what they need is done.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::pass::Pass;
use crate::matrix::Real;

/// A counter with cache lines of its own (processors fetch them in pairs).
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicUsize);

/// Looks at a counter before the processor is left to others.
const SPINS: usize = 2000;

/// Does all passes in order, `rounds` times. Workers take turns from a counter, so that who is late
/// or absent holds nobody up: every turn that has been taken is being worked on, and needs only
/// earlier ones.
///
/// # Safety
/// As for [`Pass::run`]: vectors are as long as there are rows and alive, and within each pass the
/// rows of a group of steps read nothing that the group writes.
pub(super) unsafe fn run<T: Real>(passes: &[Pass<'_, T>], rounds: usize, workers: usize) {
    let in_round: usize = passes.iter().map(Pass::len).sum();
    let total = in_round * rounds;
    let (next, done) = (Counter::default(), Counter::default());
    let work = || {
        loop {
            let taken = next.0.fetch_add(1, Ordering::Relaxed);
            if taken >= total {
                return;
            }
            let mut turn = taken % in_round;
            let mut before = taken - turn;
            for pass in passes {
                if turn < pass.len() {
                    wait_for(&done.0, before + pass.needs(turn));
                    // SAFETY: the counter gives each turn once; guaranteed by the caller.
                    unsafe { pass.run(turn) };
                    break;
                }
                turn -= pass.len();
                before += pass.len();
            }
            done.0.fetch_add(1, Ordering::Release);
        }
    };
    if workers.min(total) <= 1 {
        return work();
    }
    rayon::scope(|scope| {
        for _ in 1..workers {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// Returns when `done` is at least `needed`, and what was done before is seen. Steps of a later group
/// wait likewise, so that the number alone says which are done.
fn wait_for(done: &AtomicUsize, needed: usize) {
    let mut looks = 0;
    while done.load(Ordering::Acquire) < needed {
        looks += 1;
        if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}
