//! Skylines on a GPU: hard points, refusals, and costs.

use sparsescope_core::experiment::SkylineProblem;
use sparsescope_core::kernel::Counting;
use sparsescope_core::kernel::parameters::COUNTING;
use sparsescope_core::matrix::Points;

use super::*;

fn ours() -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(Operation::Skyline).iter().filter(|k| k.device == DeviceKind::Cuda)
}

/// A pseudorandom number generator.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn below(&mut self, n: u64) -> usize {
        (self.next() % n) as usize
    }
}

/// N × D points of each kind that breaks kernels.
fn kinds(n: usize, d: usize) -> Vec<(&'static str, Vec<f64>)> {
    let mut chance = Chance((n * 1009 + d) as u64);
    let odd = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, 5e-324, 1.0, f64::INFINITY];
    let mut many = |of: &mut dyn FnMut(&mut Chance, usize) -> f64| {
        (0..n * d).map(|i| of(&mut chance, i)).collect::<Vec<_>>()
    };
    let uniform = many(&mut |chance, _| chance.share());
    let mut copies = uniform.clone();
    for i in (1..n).step_by(2) {
        let of = (i * 7 + 3) % i;
        copies.copy_within(of * d..(of + 1) * d, i * d);
    }
    // Zeros except for one coordinate: they differ in one dimension each.
    let vertices = (0..n * d).map(|i| match (i / d / 2 % d == i % d, i / d % 2) {
        (false, _) => 0.0,
        (true, 0) => 0.5,
        (true, _) => -0.5,
    });
    vec![
        ("ties", many(&mut |chance, _| chance.below(4) as f64)),
        ("zeros of both signs", many(&mut |chance, _| odd[2 + chance.below(2)])),
        ("odd numbers", many(&mut |chance, _| odd[chance.below(7)])),
        ("a chain", (0..n * d).map(|i| (i / d) as f64).collect()),
        ("vertices", vertices.collect()),
        ("copies", copies),
        ("uniform", uniform),
    ]
}

/// Maximum coordinates of a point that a kernel takes.
fn most_dimensions(kernel: &KernelDescriptor) -> usize {
    match kernel.id {
        "cuda/skyline/row-major-local" | "cuda/skyline/coalesced-local" => 256,
        "cuda/skyline/coalesced-registers" => 32,
        _ => 1000,
    }
}

/// Fails unless a kernel with these blocks keeps the points of the certificate, or refuses points
/// with more dimensions than it takes.
fn check(backend: &CudaBackend, configuration: &Configuration, problem: &dyn Problem, name: &str) {
    let Configuration { kernel, block, parameters, .. } = configuration;
    let prepared = backend.prepare(configuration, problem, MemoryLimit::unlimited());
    let dimensions = problem.of::<SkylineProblem>().unwrap().points().dimensions();
    let what = format!("{name}: {} with {block:?} {parameters}", kernel.id);
    if dimensions > most_dimensions(kernel) {
        let Err(PrepareError::Refused(reason)) = prepared.map(|_| ()) else {
            panic!("{what}: it takes {dimensions} dimensions")
        };
        assert!(reason.starts_with(&format!("the points have {dimensions} dim")), "{reason}");
        return;
    }
    let mut prepared = prepared.unwrap_or_else(|error| panic!("{what}: {error}"));
    for _ in 0..2 {
        let output = output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
        let check = problem.check(configuration, &output);
        assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
    }
}

#[test]
fn skylines_of_points_that_break_kernels_are_those_of_their_certificates() {
    let backend = gpu!();
    for d in [1, 2, 3, 4, 5, 8, 9, 16, 17, 32, 33, 64, 100, 256, 257, 1000] {
        for n in [0, 1, 2, 33, 257, 1025, 2500] {
            if n * d > 100_000 {
                continue;
            }
            for (name, coordinates) in kinds(n, d) {
                let points = Arc::new(Points::new(d, coordinates).unwrap());
                let problem = SkylineProblem::new(points);
                for kernel in ours() {
                    let usual = Configuration::usual(kernel);
                    check(&backend, &usual, &problem, &format!("{name}, {n} × {d}"));
                }
            }
        }
    }
}

#[test]
fn skylines_do_not_depend_on_the_threads_of_a_block() {
    let backend = gpu!();
    for (name, coordinates) in kinds(3001, 6) {
        let points = Arc::new(Points::new(6, coordinates).unwrap());
        let problem = SkylineProblem::new(points);
        for kernel in ours().filter(|kernel| kernel.takes.block) {
            for block in [32, 64, 96, 128, 256, 512, 1024] {
                let block = Some(block);
                let configuration = Configuration { block, ..Configuration::usual(kernel) };
                check(&backend, &configuration, &problem, name);
            }
        }
    }
}

#[test]
fn blocks_whose_threads_have_too_few_registers_are_refused_in_a_sentence() {
    let backend = gpu!();
    for dimensions in [8, 20, 32] {
        let [(name, coordinates), ..] = &kinds(1001, dimensions)[..] else { panic!("no points") };
        let points = Arc::new(Points::new(dimensions, coordinates.clone()).unwrap());
        let problem = SkylineProblem::new(points);
        for kernel in ours().filter(|kernel| kernel.takes.block) {
            let configuration = Configuration { block: Some(1024), ..Configuration::usual(kernel) };
            match backend.prepare(&configuration, &problem, MemoryLimit::unlimited()) {
                Err(PrepareError::Refused(why)) => {
                    assert!(why.contains("registers per thread"), "{}: {why}", kernel.id);
                }
                _ => check(&backend, &configuration, &problem, name),
            }
        }
    }
}

#[test]
fn points_kept_are_counted_on_the_device_or_on_the_host() {
    let backend = gpu!();
    let takes = |k: &&KernelDescriptor| k.allowed(COUNTING.id()).is_some();
    assert_eq!(ours().filter(takes).count(), 5);
    for (name, coordinates) in kinds(2001, 5) {
        let points = Arc::new(Points::new(5, coordinates).unwrap());
        let problem = SkylineProblem::new(points);
        for kernel in ours().filter(takes) {
            for counting in Counting::ALL.map(Counting::as_str) {
                let parameters = Parameters::default().with(COUNTING.id(), counting);
                let configuration = Configuration { parameters, ..Configuration::usual(kernel) };
                check(&backend, &configuration, &problem, name);
                let memory = MemoryLimit::unlimited();
                let prepared = backend.prepare(&configuration, &problem, memory).unwrap();
                assert_eq!(prepared.params()["counting"], counting, "{}", kernel.id);
            }
        }
    }
}

#[test]
fn local_kernels_keep_a_point_in_local_memory() {
    let backend = gpu!();
    let memory = MemoryLimit::unlimited();
    for kernel in ours().filter(|kernel| kernel.id.ends_with("-local")) {
        for d in [1, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 256] {
            let points = Arc::new(Points::new(d, vec![0.5; 3 * d]).unwrap());
            let problem = SkylineProblem::new(points);
            let prepared = backend.prepare(&Configuration::usual(kernel), &problem, memory);
            let costs = prepared.unwrap().costs();
            let bound = d.next_power_of_two().max(8) as u64;
            let local: Vec<u64> = costs.launches.iter().map(|launch| launch.local_bytes).collect();
            assert_eq!(local.len(), 1, "{} {d}", kernel.id);
            assert!(local.iter().all(|&bytes| bytes >= 8 * bound), "{} {d}: {local:?}", kernel.id);
        }
    }
}
