//! The library's OpenMP threads: how many, on which CPUs, and when they sleep.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use super::library::Mkl;
use crate::measure::bind_to_processor;

/// Milliseconds that an idle thread spins before it sleeps.
const AWAKE_MS: c_int = 1;

impl Mkl {
    /// Gives the calling thread a team of `threads` threads including itself, each bound to its own CPU if
    /// there are enough, as in our own pools. They stay awake between consecutive SpMVs, but not for long.
    pub(crate) fn gather(&self, threads: u32) {
        let count = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let mut team = Team { mkl: self, threads };
        // SAFETY: the functions have these types and no preconditions; each thread of the team calls `bind`
        // with the team, which outlives the call and is only read.
        unsafe {
            (self.set_threads)(count);
            (self.set_block_time)(AWAKE_MS);
            (self.parallel)(bind, (&raw mut team).cast(), threads, 0);
        }
    }

    /// Waits until its threads sleep, so that they take no time from others.
    pub(crate) fn rest(&self) {
        std::thread::sleep(Duration::from_millis(3 * AWAKE_MS as u64));
    }
}

struct Team<'m> {
    mkl: &'m Mkl,
    threads: u32,
}

/// Binds the thread to the CPU with its number in the team.
unsafe extern "C" fn bind(team: *mut c_void) {
    // SAFETY: `gather` passes its team, which nobody writes to.
    let team = unsafe { &*team.cast::<Team<'_>>() };
    // SAFETY: the function has no preconditions.
    let number = unsafe { (team.mkl.thread_number)() };
    bind_to_processor(usize::try_from(number).unwrap_or_default(), team.threads);
}
