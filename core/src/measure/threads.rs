//! Thread pools for native runs. Kernels themselves use the ambient pool.

/// A pool that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot run with {threads} threads: {reason}")]
pub struct ThreadsError {
    /// Threads asked for.
    pub threads: u32,
    /// What stands against it.
    pub reason: String,
}

/// A pool of exactly `threads` threads; more than there are processors is allowed. Run kernels
/// inside its `install`.
pub fn pool(threads: u32) -> Result<rayon::ThreadPool, ThreadsError> {
    let refused = |reason: String| ThreadsError { threads, reason };
    let most = rayon::max_num_threads();
    let count = usize::try_from(threads).unwrap_or(usize::MAX);
    if count == 0 || count > most {
        return Err(refused(format!("expected 1 to {most}")));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .thread_name(|index| format!("worker-{index}"))
        .build()
        .map_err(|error| refused(error.to_string()))
}

/// The thread counts measured unless others are asked for: 1, 2, 4, … and all `logical`
/// processors.
pub fn default_thread_counts(logical: u32) -> Vec<u32> {
    let doubling = std::iter::successors(Some(1_u32), |count| count.checked_mul(2));
    let mut counts: Vec<u32> = doubling.take_while(|&count| count < logical).collect();
    counts.push(logical.max(1));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pool_has_the_threads_asked_for_and_names_them() {
        let pool = pool(3).unwrap();
        let names = pool.broadcast(|_| std::thread::current().name().map(str::to_owned));
        let expected = ["worker-0", "worker-1", "worker-2"].map(|name| Some(name.to_owned()));
        assert_eq!(names, expected);
    }

    #[test]
    fn no_threads_and_too_many_are_refused_with_the_range() {
        for threads in [0, u32::MAX] {
            let message = pool(threads).unwrap_err().to_string();
            let start = format!("cannot run with {threads} threads: expected 1 to ");
            assert!(message.starts_with(&start), "{message}");
        }
    }

    #[test]
    fn default_counts_double_up_to_all_processors() {
        assert_eq!(default_thread_counts(0), [1]);
        assert_eq!(default_thread_counts(1), [1]);
        assert_eq!(default_thread_counts(2), [1, 2]);
        assert_eq!(default_thread_counts(6), [1, 2, 4, 6]);
        assert_eq!(default_thread_counts(8), [1, 2, 4, 8]);
        assert_eq!(*default_thread_counts(u32::MAX).last().unwrap(), u32::MAX);
    }
}
