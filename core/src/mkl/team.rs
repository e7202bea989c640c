//! The library's OpenMP threads: how many, on which processors, and when they sleep.

use std::ffi::{c_int, c_void};
use std::time::Duration;

use super::library::Mkl;
use crate::measure::bind_to_processor;

/// Milliseconds that a thread waits awake for more work.
const AWAKE_MS: c_int = 1;

impl Mkl {
    /// Gives the calling thread `threads` threads, itself among them, each on a processor of its own where
    /// there are enough, as the threads of our pools have. They stay awake between one product and the next,
    /// but not for long.
    pub(crate) fn gather(&self, threads: u32) {
        let count = c_int::try_from(threads).unwrap_or(c_int::MAX);
        let mut team = Team { mkl: self, threads };
        // SAFETY: the functions have these types and no conditions; each thread of the team calls `bind` with
        // the team, which outlives the call and is only read.
        unsafe {
            (self.set_threads)(count);
            (self.set_block_time)(AWAKE_MS);
            (self.parallel)(bind, (&raw mut team).cast(), threads, 0);
        }
    }

    /// Lets its threads fall asleep, so that they take no time from others.
    pub(crate) fn rest(&self) {
        std::thread::sleep(Duration::from_millis(3 * AWAKE_MS as u64));
    }
}

struct Team<'m> {
    mkl: &'m Mkl,
    threads: u32,
}

/// Binds the thread to the processor of its number in the team.
unsafe extern "C" fn bind(team: *mut c_void) {
    // SAFETY: `gather` gives its team, which nobody writes to.
    let team = unsafe { &*team.cast::<Team<'_>>() };
    // SAFETY: it has no conditions.
    let number = unsafe { (team.mkl.thread_number)() };
    bind_to_processor(usize::try_from(number).unwrap_or_default(), team.threads);
}
