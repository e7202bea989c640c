//! Every kernel against the definition, and against sizes computed by others.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use super::*;
use sparsescope_matrix::matrix::Points;

type Kernel = fn(PointsView<'_>, MemoryLimit, &Cancelled<'_>) -> Result<Option<Found>, MemoryError>;

const KERNELS: [(&str, Kernel); 4] = [
    ("serial", serial),
    ("own-points", own_points),
    ("shared-marks", shared_marks),
    ("fast", fast),
];

static POOLS: LazyLock<[ThreadPool; 4]> = LazyLock::new(|| {
    [1, 2, 4, 8].map(|n| ThreadPoolBuilder::new().num_threads(n).build().unwrap())
});

fn points(dimensions: usize, coordinates: Vec<f64>) -> Points {
    Points::new(dimensions, coordinates).unwrap()
}

fn found(kernel: Kernel, points: &Points) -> Found {
    kernel(points.view(), MemoryLimit::unlimited(), &|| false).unwrap().expect("nobody cancels")
}

/// The skyline, literally by its definition.
fn skyline(points: &Points) -> Vec<u32> {
    let all: Vec<&[f64]> = (0..points.len()).map(|i| points.view().point(i)).collect();
    let beats = |p: &[f64], q: &[f64]| {
        p.iter().zip(q).all(|(p, q)| p >= q) && p.iter().zip(q).any(|(p, q)| p > q)
    };
    let kept = |i: &u32| !all.iter().any(|p| beats(p, all[*i as usize]));
    (0..all.len() as u32).filter(kept).collect()
}

/// Checks that all kernels return these points on 1, 2, 4 and 8 threads, with the promised number of
/// comparisons.
fn agree(points: &Points, expected: &[u32]) -> Result<(), TestCaseError> {
    let reference = found(serial, points);
    for (pool, threads) in POOLS.iter().zip([1, 2, 4, 8]) {
        for (name, kernel) in KERNELS {
            let first = pool.install(|| found(kernel, points));
            prop_assert_eq!(&first.indices, expected, "{} on {} threads", name, threads);
            if name != "shared-marks" || threads == 1 {
                prop_assert_eq!(&pool.install(|| found(kernel, points)), &first, "{}", name);
            }
            if name == "own-points" {
                prop_assert_eq!(first.comparisons, reference.comparisons);
            }
        }
    }
    Ok(())
}

fn agrees(points: &Points) {
    agree(points, &skyline(points)).unwrap();
}

/// Coordinates with many equal values, including both zeros and both infinities.
fn few_values() -> impl Strategy<Value = f64> {
    let extremes = [f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, f64::MAX, f64::MIN_POSITIVE];
    prop_oneof![4 => (0..5i8).prop_map(f64::from), 1 => prop::sample::select(extremes.to_vec())]
}

/// Up to `most` points, some of them repeated.
fn sets(
    dimensions: usize,
    most: usize,
    value: impl Strategy<Value = f64> + Clone,
) -> impl Strategy<Value = Points> {
    let point = prop::collection::vec(value, dimensions);
    let again = prop::collection::vec(any::<prop::sample::Index>(), 0..8);
    (prop::collection::vec(point, 0..=most), again).prop_map(move |(mut all, again)| {
        if !all.is_empty() {
            let copies: Vec<_> = again.iter().map(|i| i.get(&all).clone()).collect();
            all.extend(copies);
        }
        points(dimensions, all.concat())
    })
}

proptest! {
    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn points_with_ties_in_few_dimensions(
        set in prop::sample::select(vec![1usize, 2, 3]).prop_flat_map(|d| sets(d, 150, few_values().boxed()))
    ) {
        agree(&set, &skyline(&set))?;
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn points_with_ties_in_eight_dimensions(set in sets(8, 150, few_values().boxed())) {
        agree(&set, &skyline(&set))?;
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "starts threads")]
    fn points_of_any_coordinates(
        set in (1usize..12).prop_flat_map(|d| sets(d, 150, any::<f64>().boxed()))
    ) {
        agree(&set, &skyline(&set))?;
    }
}

/// Numbers in [0, 1) derived from a seed.
fn numbers(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn many_dimensions() {
    for d in [50, 1000] {
        let mut next = numbers(d as u64);
        let mut all: Vec<Vec<f64>> =
            (0..60).map(|_| (0..d).map(|_| (next() * 4.0).floor()).collect()).collect();
        // With this many dimensions hardly any point dominates another unless made to.
        for i in 0..60 {
            let mut below = all[i].clone();
            below[(i * 7) % d] -= 1.0;
            all.push(below);
            all.push(all[i].clone());
        }
        let set = points(d, all.concat());
        assert_eq!(skyline(&set).len(), 120);
        agrees(&set);
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn no_point_one_point_and_all_equal() {
    for d in [1, 2, 3, 8, 50, 1000] {
        agree(&points(d, vec![]), &[]).unwrap();
        agree(&points(d, vec![-1.5; d]), &[0]).unwrap();
        let all: Vec<u32> = (0..300).collect();
        agree(&points(d, vec![2.5; 300 * d]), &all).unwrap();
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn of_a_chain_one_point_stays_and_of_an_antichain_every_one() {
    for d in [2, 3, 8] {
        // The largest is neither first nor last.
        let rank = |i: usize| (i * 7 + 3) % 500;
        let chain = (0..500).flat_map(|i| vec![rank(i) as f64; d]).collect();
        let largest = (0..500).position(|i| rank(i) == 499).unwrap() as u32;
        agree(&points(d, chain), &[largest]).unwrap();
        let along = |i: usize| (0..d).map(move |k| if k == 0 { -(i as f64) } else { i as f64 });
        let antichain = (0..500).flat_map(|i| along(rank(i))).collect();
        agree(&points(d, antichain), &(0..500).collect::<Vec<_>>()).unwrap();
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn sets_of_several_batches_and_trees_of_several_heights() {
    for (d, n) in [(1, 20_000), (2, 9_000), (3, 9_000), (5, 9_000), (8, 6_000), (20, 5_000)] {
        let mut next = numbers(n as u64);
        let uniform: Vec<f64> = (0..n * d).map(|_| next()).collect();
        // No point is dominated, and most share their levels with many others.
        let curve = (0..n * d).map(|c| if c % d == 0 { 1.0 } else { -1.0 } * uniform[c / d]);
        let tied = uniform.iter().map(|value| (value * 6.0).floor());
        let plane = uniform.chunks(d).flat_map(|p| {
            let last = if d > 1 { 2.0 - p[1..].iter().sum::<f64>() } else { p[0] };
            p[1..].iter().copied().chain([last])
        });
        // With evenly spaced levels, a single distant point would leave the others few of them.
        let far = uniform.iter().enumerate().map(|(c, v)| if c == 0 { 1e300 } else { v.powi(40) });
        let sets =
            [curve.collect(), tied.collect(), plane.collect(), far.collect(), uniform.clone()];
        for (which, set) in sets.into_iter().enumerate() {
            let set = points(d, set);
            let expected = skyline(&set);
            let [first, more @ ..] =
                POOLS.each_ref().map(|pool| pool.install(|| found(fast, &set)));
            assert_eq!(first.indices, expected, "set {which} of {n} points in {d} dimensions");
            // The number of comparisons, too, is the same for any number of threads.
            more.iter().for_each(|found| assert_eq!(*found, first, "set {which} of {n} points"));
        }
    }
}

#[test]
#[cfg_attr(target_family = "wasm", ignore = "starts threads")]
fn sums_that_round_or_are_no_number_mislead_nobody() {
    let inf = f64::INFINITY;
    // Both sums are 1e16.
    agree(&points(2, vec![1e16, 0.0, 1e16, 1.0]), &[1]).unwrap();
    // Both sums are NaN.
    agree(&points(3, vec![inf, -inf, 0.0, inf, -inf, 1.0]), &[1]).unwrap();
    // Ordering by bits would put −0 below +0.
    agree(&points(2, vec![0.0, 1.0, -0.0, 1.0, -0.0, 2.0]), &[2]).unwrap();
    agree(&points(1, vec![-0.0, 0.0, -1.0]), &[0, 1]).unwrap();
    agree(&points(1, vec![-inf, inf, 7.0, inf]), &[1, 3]).unwrap();
}

#[test]
fn every_kernel_stops_soon_when_cancelled() {
    // No point dominates another, so nothing ends early.
    let mut next = numbers(5);
    let set = points(3, (0..400_000).flat_map(|_| on_a_plane(next(), next())).collect());
    for (name, kernel) in KERNELS {
        for asked in [0, 20] {
            let left = AtomicU32::new(asked);
            let is_over = || {
                let none_left = |left: u32| left.checked_sub(1);
                left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, none_left).is_err()
            };
            let start = Instant::now();
            let outcome = kernel(set.view(), MemoryLimit::unlimited(), &is_over);
            assert_eq!(outcome, Ok(None), "{name} asked {asked} times");
            // Uncancelled, the three slow kernels take minutes.
            assert!(start.elapsed() < Duration::from_secs(10), "{name}");
        }
    }
}

fn on_a_plane(x: f64, y: f64) -> [f64; 3] {
    [x, y, -x - y]
}

#[test]
fn what_does_not_fit_the_memory_limit_is_refused() {
    let set = points(2, vec![0.5; 2000]);
    for (name, kernel) in KERNELS {
        let error = kernel(set.view(), MemoryLimit::bytes(1000), &|| false).unwrap_err();
        let expected = "the skyline of 1000 points in 2 dimensions needs ";
        assert!(error.to_string().starts_with(expected), "{name}: {error}");
    }
}

/// The inputs of the task: number of points, and size of the skyline from another program.
#[cfg(not(target_family = "wasm"))]
const TASKS: [(&str, usize, usize); 4] = [
    ("100000 W0", 100_000, 26),
    ("100000 s D4", 100_000, 10_352),
    ("100000 d D10", 100_020, 24_892),
    ("100000 y D8", 100_009, 17_458),
];

#[cfg(not(target_family = "wasm"))]
#[test]
fn published_inputs_keep_as_many_points_as_others_found() {
    use sparsescope_matrix::io::{Progress, points::rbox};
    use sparsescope_test_need::{Need, has_rbox, skip};

    if !has_rbox() {
        skip!(Need::Rbox, "rbox (Qhull) is not installed");
    }
    for (arguments, n, kept) in TASKS {
        let set = rbox(arguments, MemoryLimit::unlimited(), Progress::none()).unwrap();
        assert_eq!(set.len(), n, "{arguments}");
        let found_by =
            |kernel: Kernel, set: &Points| POOLS[1].install(|| found(kernel, set)).indices;
        assert_eq!(found_by(fast, &set).len(), kept, "{arguments}");
        // The others compare each point that stays with all: half a minute each, but for the first input.
        let some = if kept < 100 { n } else { 10_000 };
        let coordinates = (0..some).flat_map(|i| set.view().point(i).to_vec()).collect();
        let part = points(set.dimensions(), coordinates);
        let expected = found_by(fast, &part);
        for (name, kernel) in KERNELS {
            assert_eq!(found_by(kernel, &part), expected, "{name}: {some} points of {arguments}");
        }
    }
}
