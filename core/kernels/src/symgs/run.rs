//! Passes on several workers, which take steps in order and wait until their dependencies are done.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::pass::Pass;
use sparsescope_matrix::matrix::Real;

/// A counter with cache lines of its own (CPUs fetch them in pairs).
#[derive(Default)]
#[repr(align(128))]
struct Counter(AtomicUsize);

/// Number of spins before the thread yields.
const SPINS: usize = 2000;

/// Does all passes in order, `rounds` times. Workers take turns from a counter, so that a late or absent
/// worker blocks nobody: every turn that has been taken is being processed, and depends only on earlier ones.
///
/// # Safety
/// As for [`Pass::run`]: vectors have one element per row and are alive, and within each pass the rows of a
/// group of steps read nothing that the group writes.
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
                    // SAFETY: the counter gives out each turn once; the rest is guaranteed by the caller.
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

/// Waits until `done` is at least `needed`, and makes the finished work visible. Steps of a later group wait
/// in the same way, so that the count alone says which steps are done.
fn wait_for(done: &AtomicUsize, needed: usize) {
    let mut looks = 0;
    while done.load(Ordering::Acquire) < needed {
        looks += 1;
        if looks < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
    }
}
