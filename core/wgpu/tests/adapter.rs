//! Every kernel on an adapter, which may be a software one: difficult matrices, the check of results, and
//! timing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_core::experiment::{
    Availability, Backend, Configuration, KernelError, Output, PrepareError, Problem, SpmmProblem,
    SpmvProblem, Temperature, Watch,
};
use sparsescope_core::kernel::parameters::{HACK_SIZE, VECTORS};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, Parameters, kernel, kernels};
use sparsescope_core::matrix::Csr;
use sparsescope_core::record::{Operation, Verdict};
use sparsescope_test_support::devices::{matrices, matrix, output, problem, ready};
use sparsescope_test_support::{Need, skip};
use sparsescope_wgpu::{ClockChoice, Options, WgpuBackend};

/// The first adapter, or skips the test with the reason why there is none.
macro_rules! adapter {
    ($options:expr) => {
        match WgpuBackend::open(0, $options) {
            Ok(backend) => backend,
            Err(absence) => skip!(Need::Adapter, "{absence}"),
        }
    };
}

/// llvmpipe ends an invocation's loops after this many steps in total.
const STEPS_IN_SOFTWARE: usize = 65_000;

/// With and without checks of every index.
const BOTH: [Options; 2] = [
    Options { checks: false, clock: ClockChoice::Best },
    Options { checks: true, clock: ClockChoice::Best },
];

/// A kernel and its invocations per workgroup.
type Case = (&'static KernelDescriptor, u32);

fn of_wgpu() -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(Operation::Spmv).iter().filter(|k| k.device == DeviceKind::Wgpu)
}

/// Every kernel that the device supports, with each of these workgroup sizes.
fn cases(backend: &WgpuBackend, blocks: &[u32]) -> Vec<Case> {
    let here = of_wgpu().filter(|k| backend.availability(k) == Availability::Available);
    here.flat_map(|kernel| blocks.iter().map(move |&block| (kernel, block))).collect()
}

fn configured((kernel, block): Case, hack_size: usize) -> Configuration {
    let parameters = Parameters::default().with(HACK_SIZE.id(), &hack_size.to_string());
    let parameters = kernel.listed(&parameters);
    Configuration { block: Some(block), parameters, ..Configuration::usual(kernel) }
}

#[test]
fn all_kernels_pass_the_gate_on_matrices_that_break_kernels_with_and_without_checks() {
    for options in BOTH {
        let backend = adapter!(options);
        let cases = cases(&backend, &[32, 64, 96, 128, 160, 256]);
        for (name, a) in matrices() {
            let widest = a.max_row_len();
            let problem = problem(a);
            for &case in &cases {
                for hack_size in [4, 32, 256] {
                    if hack_size != 32 && case.0.allowed(HACK_SIZE.id()).is_none() {
                        continue;
                    }
                    let steps = hack_size * widest;
                    let is_hack = case.0.id == "wgpu/hll/thread-per-hack";
                    if backend.is_software() && is_hack && steps > STEPS_IN_SOFTWARE {
                        continue;
                    }
                    let what = format!("{} {} hack {hack_size}: {name}", case.0.id, case.1);
                    let configuration = configured(case, hack_size);
                    let prepared = ready(&backend, &configuration, &problem);
                    let mut prepared = prepared.unwrap_or_else(|error| panic!("{what}: {error}"));
                    let output =
                        output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
                    let check = problem.check(&configuration, &output);
                    assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
                }
            }
        }
    }
}

#[test]
fn an_x_that_is_not_finite_gives_the_classes_of_csr_or_is_refused() {
    for options in BOTH {
        let backend = adapter!(options);
        for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            let a = matrix(400, (0..700).map(|i| i % 29));
            let mut x = vec![1.0; 400];
            x[5] = bad;
            x[399] = bad;
            let problem = SpmvProblem::new(Arc::new(a), x);
            for case in cases(&backend, &[64, 128]) {
                let (kernel, configuration) = (case.0, configured(case, 32));
                match ready(&backend, &configuration, &problem) {
                    Ok(mut prepared) => {
                        assert!(!kernel.needs.finite_x, "{}", kernel.id);
                        let check = problem.check(&configuration, &output(&mut prepared).unwrap());
                        assert_eq!(check.verdict, Verdict::Pass, "{} {check:?}", kernel.id);
                    }
                    Err(error) => {
                        assert!(kernel.needs.finite_x, "{}: {error}", kernel.id);
                        let is_refusal =
                            matches!(&error, PrepareError::Refused(why) if why.contains("padding"));
                        assert!(is_refusal, "{error}");
                    }
                }
            }
        }
    }
}

#[test]
fn results_are_the_same_from_run_to_run() {
    let backend = adapter!(Options::default());
    let problem = problem(matrix(9000, (0..9000).map(|i| 1 + i * i % 167)));
    for case in cases(&backend, &[128]) {
        let mut prepared = ready(&backend, &configured(case, 32), &problem).unwrap();
        let first = output(&mut prepared).unwrap();
        for _ in 0..3 {
            assert_eq!(output(&mut prepared).unwrap(), first, "{}", case.0.id);
        }
    }
}

#[test]
fn more_workgroups_than_one_dimension_holds_pass_the_gate() {
    let backend = adapter!(Options::default());
    // 32 invocations per row, and 32 per workgroup: one workgroup for each of 70 000 rows.
    let problem = problem(matrix(90, (0..70_000).map(|i| i % 3)));
    for case in cases(&backend, &[32]) {
        let configuration = configured(case, 4);
        let mut prepared = ready(&backend, &configuration, &problem).unwrap();
        let check = problem.check(&configuration, &output(&mut prepared).unwrap());
        assert_eq!(check.verdict, Verdict::Pass, "{}: {:?}", case.0.id, check.reason);
    }
}

/// SpMM with this many invocations per workgroup and columns of X.
fn several(block: u32, k: u32) -> Configuration {
    let parameters = Parameters::default().with(VECTORS.id(), &k.to_string());
    let kernel = kernel("wgpu/spmm/row-split").unwrap();
    Configuration { block: Some(block), parameters, ..Configuration::usual(kernel) }
}

/// Runs SpMM twice: its result passes the check, and is the same in both runs.
fn pass_several(
    backend: &WgpuBackend,
    problem: &SpmmProblem,
    configuration: &Configuration,
    what: &str,
) {
    let prepared = ready(backend, configuration, problem);
    let mut prepared = prepared.unwrap_or_else(|error| panic!("{what}: {error}"));
    let first = output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
    let check = problem.check(configuration, &first);
    assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
    let Output::Single(first) = first else { panic!("{what}: no vector") };
    let Output::Single(second) = output(&mut prepared).unwrap() else { panic!("{what}") };
    let bits = |y: &[f32]| y.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&second), bits(&first), "{what}");
}

#[test]
fn spmm_passes_the_gate_with_any_number_of_columns_with_and_without_checks() {
    for options in BOTH {
        let backend = adapter!(options);
        for (name, a) in matrices() {
            let problem = SpmmProblem::drawn(Arc::new(a), 42);
            for block in [32, 160] {
                for k in [1, 2, 3, 7, 8, 16, 17, 33, 64] {
                    let what = format!("{k} columns, {block} invocations: {name}");
                    pass_several(&backend, &problem, &several(block, k), &what);
                }
            }
        }
    }
}

#[test]
fn spmm_passes_the_gate_with_an_x_that_is_not_finite() {
    let backend = adapter!(Options::default());
    for bad in [f64::INFINITY, f64::NAN] {
        let mut x = vec![1.0; 3 * 400];
        x[3 * 5 + 1] = bad;
        let a = Arc::new(matrix(400, (0..700).map(|i| i % 29)));
        let problem = SpmmProblem::given(a, 3, x);
        pass_several(&backend, &problem, &several(64, 3), &format!("{bad}"));
    }
}

#[test]
fn spmm_with_more_workgroups_than_one_dimension_holds_passes_the_gate() {
    let backend = adapter!(Options::default());
    // 15 invocations per row, and 32 per workgroup: 65 625 workgroups.
    let tall = SpmmProblem::drawn(Arc::new(matrix(90, (0..140_000).map(|i| i % 3))), 42);
    pass_several(&backend, &tall, &several(32, 15), "many rows");
}

#[test]
fn spmm_records_its_columns_and_counts_the_bytes_of_all_of_them() {
    let backend = adapter!(Options::default());
    let problem = SpmmProblem::drawn(Arc::new(matrix(50, [3, 0, 7, 40])), 42);
    let prepared = ready(&backend, &several(128, 33), &problem).unwrap();
    assert_eq!(prepared.params()["vectors"], "33");
    // Row offsets, columns and values of A, and 33 columns of X and Y.
    assert_eq!(prepared.costs().minimal_bytes, 4 * 5 + 8 * 50 + 4 * 33 * (50 + 4));
}

#[test]
fn a_row_that_is_off_fails_the_gate() {
    let backend = adapter!(Options::default());
    let problem = problem(matrix(500, (0..500).map(|i| i % 41)));
    let configuration = configured(cases(&backend, &[128])[0], 32);
    let mut prepared = ready(&backend, &configuration, &problem).unwrap();
    let Output::Single(y) = output(&mut prepared).unwrap() else { panic!("no vector") };
    for spoilt in [y[300] * (1.0 + 1e-4), f32::NAN] {
        let mut z = y.clone();
        z[300] = spoilt;
        let check = problem.check(&configuration, &Output::Single(z));
        assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(300)));
    }
}

#[test]
fn values_beyond_f32_f64_and_workgroups_of_odd_sizes_are_refused_in_a_sentence() {
    let backend = adapter!(Options::default());
    let large = problem(Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1e300)]).unwrap());
    let small = problem(matrix(5, [1, 2]));
    for case in cases(&backend, &[128]) {
        let error = ready(&backend, &configured(case, 32), &large).err().unwrap();
        assert!(error.to_string().starts_with("row 1 has 1e300"), "{error}");
        let in_f64 = Configuration {
            precision: sparsescope_core::record::Precision::F64,
            ..configured(case, 32)
        };
        let error = ready(&backend, &in_f64, &small).err().unwrap();
        assert_eq!(error.to_string(), "does not support f64");
        for block in [320, 1024] {
            let error = ready(&backend, &configured((case.0, block), 32), &small).err().unwrap();
            let expected = format!("{block} invocations per workgroup: expected a multiple of 32");
            assert!(error.to_string().starts_with(&expected), "{error}");
        }
    }
}

/// Samples of one kernel by a clock, SpMVs per sample, and the run's description of the clock.
fn sampled(
    backend: &WgpuBackend,
    temperature: Temperature,
) -> Result<(Vec<f64>, u32, String), KernelError> {
    let problem = problem(matrix(9000, (0..9000).map(|i| 1 + i * i % 67)));
    let configuration = configured(cases(backend, &[128])[0], 32);
    let configuration = Configuration { temperature, ..configuration };
    let mut prepared = ready(backend, &configuration, &problem).unwrap();
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    let samples = prepared.sample(3, temperature, &watch).wait()?;
    Ok((samples, prepared.repetitions(), prepared.params()["clock"].clone()))
}

#[test]
fn samples_are_long_enough_for_whatever_clock_there_is_and_the_run_names_it() {
    for (clock, resolution_s, name) in [
        (ClockChoice::Best, 1e-9, "timestamps of "),
        (ClockChoice::Rounded(65_536), 65_536e-9, "timestamps of 65536 ns"),
        (ClockChoice::Rounded(100_000), 100e-6, "timestamps of 100000 ns"),
        (ClockChoice::Wall, 10e-6, "wall clock without an empty submission"),
    ] {
        let backend = adapter!(Options { checks: false, clock });
        let (samples, products, told) = sampled(&backend, Temperature::Hot).unwrap();
        assert!(told.starts_with(name), "{told}");
        assert_eq!(samples.len(), 3);
        for seconds in samples {
            let sample_s = seconds * f64::from(products);
            // The SpMV may be faster the next time; a tenth of the requested time is more than a clock step.
            let wanted_s = (100.0_f64 * resolution_s).clamp(1e-3, 50e-3);
            assert!(sample_s > 0.1 * wanted_s, "{told}: {products} products in {sample_s} s");
        }
    }
}

#[test]
fn flushed_caches_are_timed_a_product_at_a_time_or_the_clock_is_too_coarse() {
    let backend = adapter!(Options::default());
    let (samples, products, _) = sampled(&backend, Temperature::Cold).unwrap();
    assert!(samples.len() == 3 && products == 1 && samples.iter().all(|&s| s > 0.0));
    let coarse = Options { checks: false, clock: ClockChoice::Rounded(10_000_000) };
    let coarse = sampled(&adapter!(coarse), Temperature::Cold);
    // Most SpMVs begin and end between two steps of such a clock.
    assert!(coarse.unwrap_err().to_string().contains("clock"));
}

#[test]
fn a_cancelled_run_takes_no_more_samples() {
    let backend = adapter!(Options::default());
    let problem = problem(matrix(500, (0..500).map(|i| i % 41)));
    let configuration = configured(cases(&backend, &[128])[0], 32);
    let mut prepared = ready(&backend, &configuration, &problem).unwrap();
    let stop = AtomicBool::new(true);
    let samples = prepared.sample(1000, Temperature::Hot, &Watch::cancelled_by(&stop)).wait();
    assert_eq!(samples.unwrap(), Vec::<f64>::new());
}

#[test]
fn a_lost_device_is_told_and_opened_anew_once() {
    let backend = adapter!(Options::default());
    let problem = problem(matrix(500, (0..500).map(|i| i % 41)));
    let configuration = configured(cases(&backend, &[128])[0], 32);
    let mut prepared = ready(&backend, &configuration, &problem).unwrap();
    backend.lose_device();
    let error = output(&mut prepared).unwrap_err().to_string();
    assert!(error.contains("the device was lost"), "{error}");
    let mut again = ready(&backend, &configuration, &problem).unwrap();
    let check = problem.check(&configuration, &output(&mut again).unwrap());
    assert_eq!(check.verdict, Verdict::Pass);
    backend.lose_device();
    drop(output(&mut again));
    let error = ready(&backend, &configuration, &problem).err().unwrap();
    assert!(matches!(&error, PrepareError::Refused(why) if why.contains("lost")), "{error}");
}

#[test]
fn the_device_is_described_with_its_bandwidth_and_as_software_where_it_is() {
    let backend = adapter!(Options::default());
    let gpu = backend.describe().unwrap();
    assert_eq!(gpu.model, backend.model());
    assert!(gpu.copy.is_some_and(|copy| copy > 1e8), "{gpu:?}");
    for name in ["interface", "kind", "features", "clock", "largest_array_bytes"] {
        assert!(gpu.details.contains_key(name), "{name} in {gpu:?}");
    }
    assert_eq!(backend.is_software(), gpu.model.ends_with("software)"), "{}", gpu.model);
    let is_none = sparsescope_wgpu::WgpuBackend::open(99, Options::default()).err().unwrap();
    assert!(is_none.to_string().starts_with("there is no device 99:"), "{is_none}");
}

#[test]
fn a_device_without_subgroups_leaves_those_kernels_out_in_a_sentence() {
    let backend = adapter!(Options::default());
    for kernel in of_wgpu() {
        match backend.availability(kernel) {
            Availability::Available => {}
            Availability::Missing(why) => {
                assert!(kernel.id.ends_with("/subgroup-per-row"), "{}", kernel.id);
                assert!(why.contains("does not support subgroups"), "{why}");
            }
        }
    }
}
