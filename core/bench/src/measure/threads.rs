//! Thread pools for native runs. Kernels themselves use the ambient pool.

use std::sync::OnceLock;
use std::sync::mpsc;

use super::cache::parse_cpus;

/// A pool that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("cannot run with {threads} threads: {reason}")]
pub struct ThreadsError {
    /// Requested number of threads.
    pub threads: u32,
    /// The reason.
    pub reason: String,
}

/// Starts the threads of the ambient pool, which runs everything that is not measured: as many as there are
/// CPUs (or as `RAYON_NUM_THREADS` says), or as the system allows. If it allows none, the caller does all the
/// work. Call once, before any work.
pub fn start_ambient_pool() {
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse().ok());
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let wanted = asked.filter(|&threads: &usize| threads > 0).unwrap_or_else(processors);
    // The threads are started before the pool is built: a pool that misses a thread cannot be built again.
    let waiting = |_| {
        let (give, take) = mpsc::channel::<rayon::ThreadBuilder>();
        let work = move || {
            if let Ok(thread) = take.recv() {
                thread.run();
            }
        };
        std::thread::Builder::new().spawn(work).ok().map(|_| give)
    };
    let waiting: Vec<_> = (0..wanted.min(rayon::max_num_threads())).map_while(waiting).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(waiting.len().max(1));
    let started = if waiting.is_empty() {
        pool.use_current_thread().build_global()
    } else {
        let mut waiting = waiting.into_iter();
        let absent = || std::io::Error::other("no thread waits");
        let give = move |thread| {
            let to = waiting.next().ok_or_else(absent)?;
            to.send(thread).map_err(|_| absent())
        };
        pool.spawn_handler(give).build_global()
    };
    // An existing ambient pool will do as well.
    let _ = started;
}

/// Builds a pool of exactly `threads` threads, which may exceed the number of CPUs. Run kernels inside its
/// `install`.
///
/// If there are enough CPUs, each thread is bound to its own, on separate cores first: otherwise Linux often
/// wakes a worker on the CPU of the thread that woke it, and two threads then take as long as one.
pub fn pool(threads: u32) -> Result<rayon::ThreadPool, ThreadsError> {
    pool_on(threads, if binds_threads(threads) { processors() } else { &[] })
}

/// Builds a pool for one of several processes on a machine; the first `others` CPUs available are left to the
/// processes before it. If too few remain, none of its threads is bound.
pub fn pool_after(others: usize, threads: u32) -> Result<rayon::ThreadPool, ThreadsError> {
    let own = processors().get(others..).unwrap_or_default();
    pool_on(threads, if threads as usize <= own.len() { own } else { &[] })
}

/// Numbers of the CPUs that this process may use, in no particular order.
pub fn processor_numbers() -> Vec<u64> {
    processors().iter().map(|processor| processor.id as u64).collect()
}

/// Builds a pool whose threads are bound to the first of these CPUs, if there are any.
fn pool_on(
    threads: u32,
    processors: &'static [core_affinity::CoreId],
) -> Result<rayon::ThreadPool, ThreadsError> {
    let refused = |reason: String| ThreadsError { threads, reason };
    let most = rayon::max_num_threads();
    let count = usize::try_from(threads).unwrap_or(usize::MAX);
    if count == 0 || count > most {
        return Err(refused(format!("expected 1 to {most}")));
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(count)
        .thread_name(|index| format!("worker-{index}"))
        .start_handler(move |index| {
            if let Some(&processor) = processors.get(index) {
                core_affinity::set_for_current(processor);
            }
        })
        .build()
        .map_err(|error| refused(error.to_string()))
}

/// Binds the calling thread, started by another library as number `index` of `threads`, as [`pool`] binds its
/// own. If there are too few CPUs, it may run on all of them.
pub fn bind_to_processor(index: usize, threads: u32) {
    let processors = processors();
    match processors.get(index).filter(|_| binds_threads(threads)) {
        Some(&processor) => {
            // As in a pool: if it cannot be bound, it runs unbound.
            core_affinity::set_for_current(processor);
        }
        None => unbind(processors),
    }
}

/// Lets the calling thread, which may have inherited a binding, run on any of these CPUs.
#[cfg(target_os = "linux")]
fn unbind(processors: &[core_affinity::CoreId]) {
    // SAFETY: a CPU set is a bit set, for which all zeros is valid.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    let most = 8 * size_of::<libc::cpu_set_t>();
    for processor in processors.iter().filter(|processor| processor.id < most) {
        // SAFETY: the set has a bit for this CPU.
        unsafe { libc::CPU_SET(processor.id, &mut set) };
    }
    // SAFETY: the size is that of the set; 0 is the calling thread. A failure changes nothing.
    unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &raw const set) };
}

#[cfg(not(target_os = "linux"))]
fn unbind(_: &[core_affinity::CoreId]) {}

/// Whether [`pool`] binds each of `threads` threads to its own CPU: the system supports it, and there are
/// enough CPUs.
pub fn binds_threads(threads: u32) -> bool {
    threads as usize <= processors().len()
}

/// The CPUs that this process may use: the first of each core, then the second of each, and so on. Empty if
/// threads cannot be bound. Determined once, as a bound thread sees only its own CPU.
fn processors() -> &'static [core_affinity::CoreId] {
    static FOUND: OnceLock<Vec<core_affinity::CoreId>> = OnceLock::new();
    FOUND.get_or_init(ranked_processors)
}

fn ranked_processors() -> Vec<core_affinity::CoreId> {
    let mut ranked: Vec<_> = core_affinity::get_core_ids()
        .unwrap_or_default()
        .into_iter()
        .map(|processor| (rank_in_core(processor.id), processor.id, processor))
        .collect();
    ranked.sort_by_key(|&(rank, id, _)| (rank, id));
    ranked.into_iter().map(|(_, _, processor)| processor).collect()
}

/// How many CPUs of the same core come before this one; 0 if the system does not report it.
fn rank_in_core(processor: usize) -> usize {
    let file = format!("/sys/devices/system/cpu/cpu{processor}/topology/thread_siblings_list");
    let siblings = std::fs::read_to_string(file).unwrap_or_default();
    let before = |&sibling: &u32| (sibling as usize) < processor;
    parse_cpus(&siblings).unwrap_or_default().iter().filter(|s| before(s)).count()
}

/// The default thread counts: 1, 2, 4, … and all `logical` CPUs.
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
    fn threads_of_a_pool_are_bound_to_different_processors() {
        let threads = u32::try_from(processors().len()).unwrap();
        if !cfg!(target_os = "linux") || threads == 0 {
            return; // bound on Linux; elsewhere as far as the system allows
        }
        assert!(binds_threads(threads) && !binds_threads(threads + 1));
        let allowed = || core_affinity::get_core_ids().unwrap_or_default();
        let bound = pool(threads).unwrap().broadcast(|_| allowed());
        let mut bound: Vec<usize> = bound
            .iter()
            .map(|own| {
                assert_eq!(own.len(), 1, "a worker may run on one CPU only");
                own[0].id
            })
            .collect();
        bound.sort_unstable();
        let mut all: Vec<usize> = processors().iter().map(|p| p.id).collect();
        all.sort_unstable();
        assert_eq!(bound, all);
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
