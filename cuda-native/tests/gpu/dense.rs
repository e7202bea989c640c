//! Batches of dense systems on a GPU: every size, right-hand side and flag, alone and combined.

use sparsescope_core::experiment::BatchedDenseProblem;
use sparsescope_core::generate::{BatchSpec, generate_batch};
use sparsescope_core::kernel::parameters::RHS;
use sparsescope_core::matrix::{Batch, Batches};

use super::*;

fn dense(whose: &str) -> impl Iterator<Item = &'static KernelDescriptor> {
    let on_gpu = |k: &&KernelDescriptor| k.device == DeviceKind::Cuda;
    kernels(Operation::BatchedDense).iter().filter(on_gpu).filter(move |k| k.id.starts_with(whose))
}

fn batch(n: usize, count: usize, bad: usize) -> Batches {
    let bad = if bad > 0 { format!("&bad={bad}") } else { String::new() };
    let spec = BatchSpec::parse(&format!("spd-batch?n={n}&count={count}{bad}")).unwrap();
    let never = AtomicBool::new(false);
    generate_batch(&spec, MemoryLimit::unlimited(), &never).unwrap().into()
}

fn of(batches: Batches) -> BatchedDenseProblem {
    BatchedDenseProblem::new(Arc::new(batches))
}

/// Every right-hand side, and several block sizes for a kernel that takes them.
fn configurations(kernel: &'static KernelDescriptor) -> Vec<Configuration> {
    let blocks: &[Option<u32>] = match kernel.takes.block {
        true => &[None, Some(32), Some(160), Some(1024)],
        false => &[None],
    };
    let with = |rhs: &'static str| {
        let parameters = Parameters::default().with(RHS.id(), rhs);
        blocks.iter().map(move |&block| {
            let parameters = parameters.clone();
            Configuration { parameters, block, ..Configuration::usual(kernel) }
        })
    };
    ["last-unit", "random"].into_iter().flat_map(with).collect()
}

/// Fails unless a kernel's solutions pass the check twice with the same bits, or the thesis's
/// kernel reports too little shared memory. Returns the solutions of each size.
fn check(backend: &CudaBackend, configuration: &Configuration, problem: &dyn Problem, what: &str) {
    let prepared = backend.prepare(configuration, problem, MemoryLimit::unlimited());
    let what = format!("{what}: {} {:?}", configuration.kernel.id, configuration.block);
    let mut prepared = match prepared {
        Err(PrepareError::Refused(why)) if configuration.kernel.id == "cuda/dense/gauss-shared" => {
            let most = problem.of::<BatchedDenseProblem>().unwrap().batches().most_unknowns();
            assert!(most > 76 && why.contains("bytes of shared memory"), "{what}: {why}");
            return;
        }
        prepared => prepared.unwrap_or_else(|error| panic!("{what}: {error}")),
    };
    let mut bits = Vec::new();
    for _ in 0..2 {
        let output = output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
        let check = problem.check(configuration, &output);
        assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
        let Output::Systems(found) = output else { panic!("{what}: no systems") };
        let x = found.iter().flat_map(|found| &found.x).map(|value| value.to_bits());
        bits.push(x.collect::<Vec<u64>>());
    }
    assert!(bits.iter().all(|other| Some(other) == bits.first()), "{what}: other bits");
}

fn check_all(backend: &CudaBackend, whose: &str, problem: &dyn Problem, what: &str) {
    for kernel in dense(whose) {
        for configuration in configurations(kernel) {
            check(backend, &configuration, problem, what);
        }
    }
}

/// Sizes on both sides of every class boundary of ours, and beyond the last.
fn sizes() -> impl Iterator<Item = usize> {
    let beyond = [47, 48, 49, 55, 56, 57, 63, 64, 65, 71, 72, 76, 77, 79, 80, 81, 95, 96, 97, 100];
    let large =
        [111, 112, 113, 127, 128, 129, 159, 160, 161, 169, 170, 200, 207, 208, 209, 256, 300];
    (1..=41).chain(beyond).chain(large)
}

/// The memory checks of `gpu-check.sh` run this test by name.
#[test]
fn our_kernels_solve_systems_of_every_size() {
    let backend = gpu!();
    for n in sizes() {
        for count in [1, 7] {
            check_all(&backend, "cuda/", &of(batch(n, count, 0)), &format!("{count} of {n}"));
        }
        let what = format!("every third of 31 of {n} is bad");
        check_all(&backend, "cuda/", &of(batch(n, 31, 3)), &what);
    }
}

#[test]
fn our_kernels_solve_many_systems() {
    let backend = gpu!();
    for (n, count) in [(1, 100_001), (5, 20_001), (13, 1000), (28, 20_000), (33, 1000), (76, 1000)]
    {
        check_all(&backend, "cuda/", &of(batch(n, count, 3)), &format!("{count} of {n}"));
    }
    for (n, count) in [(100, 1000), (129, 1000), (209, 400), (512, 7)] {
        check_all(&backend, "cuda/", &of(batch(n, count, 0)), &format!("{count} of {n}"));
    }
}

#[test]
fn libraries_solve_systems_of_every_size() {
    let backend = gpu!();
    for kernel in dense("vendor/") {
        if let Availability::Missing(why) = backend.availability(kernel) {
            skip!(Need::Cublas, "{}: {why}", kernel.id);
        }
    }
    for n in (1..=40).chain([48, 64, 76, 77, 100, 128, 129, 160, 200]) {
        for (count, bad) in [(1, 0), (7, 0), (31, 3)] {
            let what = format!("{count} of {n}, bad {bad}");
            check_all(&backend, "vendor/", &of(batch(n, count, bad)), &what);
        }
    }
    check_all(&backend, "vendor/", &of(batch(28, 1000, 3)), "1000 of 28");
}

#[test]
fn systems_that_are_not_positive_definite_are_flagged_wherever_their_pivot_fails() {
    let backend = gpu!();
    for n in [1, 2, 4, 9, 28, 33, 50, 77, 100, 140, 210] {
        // Diagonal matrices, the k-th with a wrong k-th pivot; the last one is valid.
        for wrong in [-1.0, 0.0, -0.0] {
            let of_system = |s: usize| {
                (0..n * n).map(move |place| match (place % (n + 1) == 0, place / n == s) {
                    (false, _) => 0.0,
                    (true, false) => 2.0 + s as f64,
                    (true, true) => wrong,
                })
            };
            let values = (0..=n).flat_map(of_system).collect();
            let problem = of(Batches::from(Batch::new(n, values).unwrap()));
            check_all(&backend, "cuda/", &problem, &format!("a pivot {wrong} of {n}"));
        }
    }
}

#[test]
fn systems_of_several_sizes_are_solved_in_one_execution() {
    let backend = gpu!();
    let mut first = 0;
    let sized =
        [(1, 3), (8, 21), (28, 7), (30, 5), (77, 3), (130, 2), (215, 3)].map(|(n, count)| {
            let all = batch(n, count, 4.min(count));
            let values = all.sizes()[0].batch().values().to_vec();
            let numbers = (first..first + count as u32).collect();
            first += count as u32;
            (Batch::new(n, values).unwrap(), numbers)
        });
    let few = sized[..4].to_vec();
    let problem = of(Batches::new(sized.into()).unwrap());
    check_all(&backend, "cuda/dense/cholesky", &problem, "seven sizes");
    check_all(&backend, "cuda/", &of(Batches::new(few).unwrap()), "four sizes");
}

#[test]
fn costs_tell_what_a_launch_takes_and_samples_are_positive() {
    let backend = gpu!();
    let problem = of(batch(28, 2000, 0));
    let never = AtomicBool::new(false);
    for kernel in dense("") {
        if let Availability::Missing(_) = backend.availability(kernel) {
            continue;
        }
        let configuration = Configuration::usual(kernel);
        let memory = MemoryLimit::unlimited();
        let mut prepared = backend.prepare(&configuration, &problem, memory).unwrap();
        for temperature in [Temperature::Hot, Temperature::Cold] {
            let samples =
                prepared.sample(3, temperature, &Watch::cancelled_by(&never)).wait().unwrap();
            assert!(samples.len() == 3 && samples.iter().all(|&s| s > 0.0), "{}", kernel.id);
        }
        let check = problem.check(&configuration, &prepared.last_output().wait().unwrap());
        assert_eq!(check.verdict, Verdict::Pass, "after timing, {}", kernel.id);
        let costs = prepared.costs();
        // The lower triangles and the solutions.
        assert_eq!(costs.minimal_bytes, 2000 * 8 * (28 * 29 / 2 + 28));
        let shared: Vec<u64> = costs.launches.iter().map(|launch| launch.shared_bytes).collect();
        match kernel.id {
            "cuda/dense/gauss-shared" => assert_eq!(shared, [8 * 29 * 29]),
            "cuda/dense/cholesky" => assert_eq!(shared, [4 * 8 * 28 * 29 / 2]),
            _ => assert!(shared.is_empty(), "{}", kernel.id),
        }
        let fits = |launch: &sparsescope_core::record::LaunchCost| {
            launch.local_bytes == 0 && launch.blocks_per_sm > 0 && launch.occupancy > 0.0
        };
        assert!(costs.launches.iter().all(fits), "{:?}", costs.launches);
    }
}
