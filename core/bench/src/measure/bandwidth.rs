//! Memory bandwidth of the CPU, measured like McCalpin's STREAM: long arrays, the best of several passes, and
//! only checked results.
//!
//! Stores are ordinary ones that go through the caches, as in the matrix kernels. CPUs read a line before
//! they write it; as in STREAM, that write-allocate traffic is not counted.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{CacheSizes, ThreadsError, cpu, pool};
use sparsescope_matrix::memory::available_bytes;
use sparsescope_matrix::parallel::lock;
use sparsescope_record::Bandwidth;

/// Why no bandwidth was measured.
#[derive(Debug, thiserror::Error)]
pub enum BandwidthError {
    /// The caller's flag was set.
    #[error("the memory bandwidth measurement was cancelled")]
    Cancelled,
    /// The arrays do not contain the expected values after the passes.
    #[error(
        "the bandwidth measurement with {threads} threads computed a wrong result: the memory or \
        the CPU is faulty"
    )]
    #[expect(missing_docs, reason = "the message names the field")]
    WrongResult { threads: u32 },
    /// A thread pool could not be started.
    #[error(transparent)]
    Threads(#[from] ThreadsError),
}

/// Minimum number of passes, regardless of time.
const MIN_PASSES: u32 = 3;
/// No further pass starts once a thread count has taken this long.
const TIME_FOR_PASSES: Duration = Duration::from_secs(1);
/// Smallest array: 1 MiB.
const MIN_ELEMENTS: u64 = (1 << 20) / 8;

/// Whether the fewest passes over the smallest arrays are enough.
static IS_BRIEF: AtomicBool = AtomicBool::new(false);

/// From now on, this process measures bandwidths with the fewest passes over the smallest arrays: rates of caches,
/// not of memory. For the program that tests run, of whose time the measurement would be most.
pub fn measure_bandwidth_briefly() {
    IS_BRIEF.store(true, Ordering::Relaxed);
}

/// Measures the bandwidth with each of these thread counts, each in its own pool. Array sizes follow from the
/// caches and the free memory of this machine.
pub fn measure_bandwidth(
    threads: &[u32],
    cancel: &AtomicBool,
) -> Result<Vec<Bandwidth>, BandwidthError> {
    let meter = BandwidthMeter::new(CacheSizes::of(&cpu()), available_bytes());
    threads.iter().map(|&count| pool(count)?.install(|| meter.measure(cancel))).collect()
}

/// Measures copy, triad and read bandwidth of the ambient pool.
#[derive(Clone, Copy, Debug)]
pub struct BandwidthMeter {
    caches: CacheSizes,
    available_bytes: u64,
    time_for_passes: Duration,
}

impl BandwidthMeter {
    /// Arrays are four times as large as the last-level caches, but all three together at most an eighth of
    /// `available_bytes`.
    pub fn new(caches: CacheSizes, available_bytes: u64) -> Self {
        match IS_BRIEF.load(Ordering::Relaxed) {
            true => Self { caches, available_bytes: 0, time_for_passes: Duration::ZERO },
            false => Self { caches, available_bytes, time_for_passes: TIME_FOR_PASSES },
        }
    }

    /// Elements of each array for `threads` threads. On a large machine, few threads reach only few of the
    /// last-level caches, so smaller arrays suffice for them.
    fn elements(&self, threads: usize) -> usize {
        let wanted = self.caches.last_level_within_reach(threads).saturating_mul(4) / 8;
        let allowed = self.available_bytes / 8 / 3 / 8;
        usize::try_from(wanted.min(allowed).max(MIN_ELEMENTS)).unwrap_or(usize::MAX)
    }

    /// Measures the bandwidth with the threads of the ambient pool: call inside its `install`. Takes about a
    /// second, or longer if three passes do. `cancel` is checked between passes.
    ///
    /// Every thread allocates and first writes its part of the arrays, so that on NUMA machines each part
    /// lies in the thread's local memory; hence the arrays are allocated again for every thread count.
    ///
    /// A pass is the chain `c = a; a = b − c; s = Σ a`, each step timed separately. Values are small
    /// integers, so sums are exact in any order; a alternates between b − a and a, so the sum shows whether
    /// copy and triad of this very pass ran. At the end every element of a and c is compared.
    pub fn measure(&self, cancel: &AtomicBool) -> Result<Bandwidth, BandwidthError> {
        let started = Instant::now();
        let elements = self.elements(rayon::current_num_threads());
        let parts = rayon::broadcast(|thread| {
            let range = part_of(elements, thread.index(), thread.num_threads());
            Mutex::new(Part::new(range))
        });
        let threads = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        let check = |good: bool| good.then_some(()).ok_or(BandwidthError::WrongResult { threads });

        let (initial, turned) = sums_of_a(elements as u64);
        let mut best = [Duration::MAX; 3];
        let mut passes = 0;
        while passes < MIN_PASSES || started.elapsed() < self.time_for_passes {
            if cancel.load(Ordering::Relaxed) {
                return Err(BandwidthError::Cancelled);
            }
            passes += 1;
            let mut total = 0.0;
            for (kernel, best) in
                [Kernel::Copy, Kernel::Triad, Kernel::Read].into_iter().zip(&mut best)
            {
                let start = Instant::now();
                let sums = rayon::broadcast(|thread| lock(&parts[thread.index()]).run(kernel));
                *best = start.elapsed().min(*best);
                total = sums.iter().sum();
            }
            let expected = if passes % 2 == 1 { turned } else { initial };
            check(total == expected as f64)?;
        }
        let right = rayon::broadcast(|thread| lock(&parts[thread.index()]).is_right(passes));
        check(right.iter().all(|&right| right))?;

        let rate = |best: Duration, bytes_an_element: f64| {
            bytes_an_element * elements as f64 / best.as_secs_f64().max(1e-9)
        };
        Ok(Bandwidth {
            threads,
            array_bytes: elements as u64 * 8,
            copy: rate(best[0], 16.0),
            triad: rate(best[1], 24.0),
            read: rate(best[2], 8.0),
        })
    }
}

/// One step of the chain.
#[derive(Clone, Copy)]
enum Kernel {
    /// `c = a`
    Copy,
    /// `a = b + s·c` with s = −1
    Triad,
    /// `Σ a`
    Read,
}

/// The value of `a[i]` before the first pass and after every second one: 0 … 6.
fn initial_a(i: u64) -> u64 {
    i % 7
}

/// The constant value of `b[i]`: 7 … 11, so that b − a is positive.
fn b_at(i: u64) -> u64 {
    7 + i % 5
}

/// Σ a over `len` elements, before the first pass and after it.
fn sums_of_a(len: u64) -> (u64, u64) {
    // 0 + 1 + … + (m − 1), repeated.
    let sum_of_remainders = |m: u64| len / m * (m * (m - 1) / 2) + (0..len % m).sum::<u64>();
    let initial = sum_of_remainders(7);
    (initial, 7 * len + sum_of_remainders(5) - initial)
}

/// One thread's part of the three arrays.
struct Part {
    first: u64,
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
}

impl Part {
    /// Allocates and writes the elements of `range`.
    fn new(range: Range<usize>) -> Self {
        let first = range.start as u64;
        let indices = || range.clone().map(|i| i as u64);
        Self {
            first,
            a: indices().map(|i| initial_a(i) as f64).collect(),
            b: indices().map(|i| b_at(i) as f64).collect(),
            c: vec![-1.0; range.len()],
        }
    }

    /// Runs a step on this part; returns the sum for `Read`, otherwise 0.
    fn run(&mut self, kernel: Kernel) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the CPU has AVX2, the only feature that `run_avx2` adds.
            return unsafe { self.run_avx2(kernel) };
        }
        self.run_plain(kernel)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&mut self, kernel: Kernel) -> f64 {
        self.run_plain(kernel)
    }

    #[inline(always)]
    fn run_plain(&mut self, kernel: Kernel) -> f64 {
        match kernel {
            Kernel::Copy => {
                // A plain copy would be compiled to a call of `memcpy`, whose non-temporal stores avoid the
                // write-allocate. A factor that the compiler cannot see prevents that, and costs no time
                // compared to the memory access.
                let one = black_box(1.0);
                for (c, a) in self.c.iter_mut().zip(&self.a) {
                    *c = one * a;
                }
                0.0
            }
            Kernel::Triad => {
                let s = black_box(-1.0);
                for ((a, b), c) in self.a.iter_mut().zip(&self.b).zip(&self.c) {
                    *a = b + s * c;
                }
                0.0
            }
            Kernel::Read => sum_plain(&self.a),
        }
    }

    /// Whether `a` and `c` hold the expected values after `passes` passes.
    fn is_right(&self, passes: u32) -> bool {
        (self.first..).zip(&self.a).zip(&self.c).all(|((i, &a), &c)| {
            let initial = initial_a(i);
            let turned = b_at(i) - initial;
            let (now, before) = if passes % 2 == 1 { (turned, initial) } else { (initial, turned) };
            a == now as f64 && c == before as f64
        })
    }
}

/// Σ values, at memory speed.
pub(super) fn sum(values: &[f64]) -> f64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the CPU has AVX2, the only feature that `sum_avx2` adds.
        return unsafe { sum_avx2(values) };
    }
    sum_plain(values)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(values: &[f64]) -> f64 {
    sum_plain(values)
}

/// The front and back halves are read side by side, as a matrix kernel reads values and columns: the
/// prefetchers follow each stream separately, and one stream alone leaves bandwidth unused. 32 sums keep
/// enough additions in flight to hide their latency behind the loads.
#[inline(always)]
fn sum_plain(values: &[f64]) -> f64 {
    let half = values.len() / 2 / 16 * 16;
    let (streams, rest) = values.split_at(2 * half);
    let (front, back) = streams.split_at(half);
    let (mut front_sums, mut back_sums) = ([0.0; 16], [0.0; 16]);
    let add = |sums: &mut [f64; 16], chunk: &[f64; 16]| {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value;
        }
    };
    for (front, back) in front.as_chunks().0.iter().zip(back.as_chunks().0) {
        add(&mut front_sums, front);
        add(&mut back_sums, back);
    }
    front_sums.iter().chain(&back_sums).chain(rest).sum()
}

/// Part `index` of `len` elements split into `count` parts whose lengths differ by at most one.
pub(super) fn part_of(len: usize, index: usize, count: usize) -> Range<usize> {
    let cut = |part: usize| len / count * part + (len % count).min(part);
    cut(index)..cut(index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(last_level_bytes: u64, last_level_count: u32) -> CacheSizes {
        CacheSizes { private_bytes: 1 << 20, last_level_bytes, last_level_count, logical: 64 }
    }

    #[test]
    fn arrays_are_four_times_the_last_level_cache() {
        let meter = BandwidthMeter::new(sizes(32 << 20, 1), 64 << 30);
        assert_eq!(meter.elements(1) * 8, 128 << 20);
        assert_eq!(meter.elements(64) * 8, 128 << 20);
    }

    #[test]
    fn arrays_grow_with_the_last_level_caches_that_the_threads_reach() {
        let meter = BandwidthMeter::new(sizes(32 << 20, 12), 512 << 30);
        assert_eq!(meter.elements(1) * 8, 128 << 20);
        assert_eq!(meter.elements(4) * 8, 512 << 20);
        assert_eq!(meter.elements(64) * 8, 1536 << 20);
    }

    #[test]
    fn all_three_arrays_stay_within_an_eighth_of_the_memory() {
        for (cache, memory) in [(1 << 30, 8_u64 << 30), (u64::MAX, 2 << 30), (u64::MAX, 1 << 40)] {
            let elements = BandwidthMeter::new(sizes(cache, 64), memory).elements(64) as u64;
            assert!(3 * 8 * elements <= memory / 8, "{elements} elements of {memory} bytes");
            assert!(3 * 8 * (elements + 1) > memory / 8, "{elements} elements of {memory} bytes");
        }
    }

    #[test]
    fn arrays_have_a_smallest_size() {
        for (cache, memory) in [(0, 1 << 30), (32 << 20, 0)] {
            assert_eq!(BandwidthMeter::new(sizes(cache, 1), memory).elements(2) * 8, 1 << 20);
        }
    }

    #[test]
    fn parts_are_contiguous_equal_and_complete() {
        for (len, count) in [(10, 3), (2, 4), (0, 2), (64, 8)] {
            let parts: Vec<_> = (0..count).map(|index| part_of(len, index, count)).collect();
            assert_eq!((parts[0].start, parts[count - 1].end), (0, len));
            assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
            let lengths = || parts.iter().map(Range::len);
            assert!(lengths().max().unwrap() - lengths().min().unwrap() <= 1);
        }
    }

    #[test]
    fn sums_include_every_element_whatever_the_length() {
        for len in [0, 1, 15, 16, 31, 32, 33, 47, 48, 63, 64, 65, 101, 1000] {
            let values: Vec<f64> = (1..=len).map(f64::from).collect();
            let expected = f64::from(len * (len + 1) / 2);
            assert_eq!((sum(&values), sum_plain(&values)), (expected, expected), "{len}");
        }
    }

    #[test]
    fn expected_sums_are_those_of_the_elements() {
        for len in [0_u64, 1, 34, 35, 36, 1000] {
            let initial: u64 = (0..len).map(initial_a).sum();
            let turned: u64 = (0..len).map(|i| b_at(i) - initial_a(i)).sum();
            assert_eq!(sums_of_a(len), (initial, turned));
        }
    }

    #[test]
    fn a_part_that_missed_a_link_or_holds_a_wrong_element_is_found() {
        let done = |passes: u32| {
            let mut part = Part::new(5..105);
            for _ in 0..passes {
                part.run(Kernel::Copy);
                part.run(Kernel::Triad);
            }
            part
        };
        for passes in 1..4 {
            assert!(done(passes).is_right(passes));
            assert!(!done(passes - 1).is_right(passes), "a pass left out");
            let mut part = done(passes);
            part.a[99] += 1.0;
            assert!(!part.is_right(passes), "a wrong element of a");
            let mut part = done(passes);
            part.c.swap(0, 2);
            assert!(!part.is_right(passes), "two elements of c swapped");
        }
        let mut without_copy = done(1);
        without_copy.run(Kernel::Triad);
        assert!(!without_copy.is_right(2));
    }

    #[test]
    fn plain_and_dispatched_links_agree() {
        let (mut plain, mut dispatched) = (Part::new(0..1000), Part::new(0..1000));
        for kernel in [Kernel::Copy, Kernel::Triad, Kernel::Read] {
            assert_eq!(plain.run_plain(kernel), dispatched.run(kernel));
        }
        assert_eq!((plain.a, plain.c), (dispatched.a, dispatched.c));
    }

    #[test]
    fn bandwidths_are_finite_and_positive_and_name_threads_and_size() {
        let meter = BandwidthMeter::new(sizes(1 << 20, 1), 1 << 30);
        let measured = pool(3).unwrap().install(|| meter.measure(&AtomicBool::new(false))).unwrap();
        assert_eq!((measured.threads, measured.array_bytes), (3, 4 << 20));
        for rate in [measured.copy, measured.triad, measured.read] {
            assert!(rate.is_finite() && rate > 0.0, "{measured:?}");
        }
    }

    #[test]
    fn a_set_flag_cancels() {
        let result = measure_bandwidth(&[1], &AtomicBool::new(true));
        assert!(matches!(result, Err(BandwidthError::Cancelled)));
    }
}
