//! Every kernel on a GPU: hard matrices, the check, and timing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_core::experiment::{
    Availability, Backend, Configuration, KernelError, Output, PrepareError, Prepared, Problem,
    SpmvProblem, Temperature, Watch,
};
use sparsescope_core::kernel::parameters::{HACK_SIZE, MIN_FILL, OP, SCALE, SIGMA, SPILL, VALUES};
use sparsescope_core::kernel::{Allowed, DeviceKind, KernelDescriptor, Parameters, kernels};
use sparsescope_core::matrix::{Csr, Precision};
use sparsescope_core::measure::integer_vector;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Operation, Verdict};
use sparsescope_cuda::CudaBackend;
use sparsescope_test_support::devices::{matrices, matrix, output, problem, ready};
use sparsescope_test_support::{Need, skip};

/// The first GPU, or a skip that says why there is none.
macro_rules! gpu {
    () => {
        match CudaBackend::open(0) {
            Ok(backend) => backend,
            Err(absence) => skip!(Need::Gpu, "{absence}"),
        }
    };
}

mod adaptive;
mod dense;
mod energy;
mod faults;
mod fsai;
#[cfg(unix)]
mod libraries;
mod pcg;
mod product;
mod several;
mod skyline;
mod spmm;
mod symgs;
mod user;

/// A kernel, its threads per block and the precision of the values.
type Case = (&'static KernelDescriptor, Option<u32>, Precision);

/// The kernels of y = A·x whose ids start with `whose`, each with the block sizes of the papers in
/// each of its precisions; or why one of them cannot run.
fn cases(backend: &CudaBackend, whose: &str) -> Result<Vec<Case>, String> {
    cases_with(backend, whose, "n")
}

/// The same for the kernels that take this operation.
fn cases_with(backend: &CudaBackend, whose: &str, op: &str) -> Result<Vec<Case>, String> {
    let takes = |k: &&KernelDescriptor| k.allowed(OP.id()).is_some_and(|all| all.contains(op));
    let mut all: Vec<Case> = Vec::new();
    let mut add = |kernel: &'static KernelDescriptor, block| {
        all.extend(kernel.precisions.iter().map(|&precision| (kernel, block, precision)));
    };
    let on_gpu = |k: &&KernelDescriptor| k.device == DeviceKind::Cuda && k.id.starts_with(whose);
    for kernel in kernels(Operation::Spmv).iter().filter(on_gpu).filter(takes) {
        match backend.availability(kernel) {
            Availability::Available if kernel.takes.block => {
                [32, 64, 96, 128, 160, 1024].into_iter().for_each(|block| add(kernel, Some(block)));
            }
            Availability::Available => add(kernel, None),
            // Older libraries lack it.
            Availability::Missing(_) if kernel.id.starts_with("vendor/cusparse/op") => {}
            Availability::Missing(why) => return Err(format!("{}: {why}", kernel.id)),
        }
    }
    assert!(!all.is_empty(), "{whose}");
    Ok(all)
}

/// Our kernels: a device that runs one runs them all.
fn ours(backend: &CudaBackend) -> Vec<Case> {
    cases(backend, "cuda/").unwrap()
}

/// The vendor's kernels, or a skip that says why they cannot run.
macro_rules! vendors {
    ($backend:expr) => {
        match cases($backend, "vendor/") {
            Ok(cases) => cases,
            Err(why) => skip!(Need::Cusparse, "{why}"),
        }
    };
}

/// A case and, if its kernel reads HLL and takes them, hacks of this size; BSR and DIA are accepted
/// at any fill.
fn configured((kernel, block, precision): Case, hack_size: usize) -> Configuration {
    let hack_size = match kernel.allowed(HACK_SIZE.id()) {
        Some(Allowed::Only(_)) => "32".to_owned(),
        _ => hack_size.to_string(),
    };
    let parameters =
        Parameters::default().with(HACK_SIZE.id(), &hack_size).with(MIN_FILL.id(), "0");
    let parameters = kernel.listed(&parameters);
    Configuration { block, parameters, precision, ..Configuration::usual(kernel) }
}

/// The memory checks of `gpu-check.sh` run these two tests by name.
#[test]
fn our_kernels_pass_the_gate_on_matrices_that_break_kernels() {
    let backend = gpu!();
    pass_the_gate(&backend, &ours(&backend));
}

#[test]
fn vendors_kernels_pass_the_gate_on_matrices_that_break_kernels() {
    let backend = gpu!();
    pass_the_gate(&backend, &vendors!(&backend));
}

#[test]
fn spmv_with_a_plan_runs_or_says_what_it_needs() {
    let backend = gpu!();
    // Skips where there is no cuSPARSE at all.
    let _ = vendors!(&backend);
    for id in ["vendor/cusparse/op", "vendor/cusparse/op-alg1", "vendor/cusparse/op-alg2"] {
        let kernel = sparsescope_core::kernel::kernel(id).unwrap();
        if let Availability::Missing(why) = backend.availability(kernel) {
            assert!(why.contains("SpMVOp"), "{why}");
        }
    }
}

fn pass_the_gate(backend: &CudaBackend, cases: &[Case]) {
    for (name, a) in matrices() {
        let problem = problem(a);
        for &case in cases {
            let (kernel, block, precision) = case;
            for hack_size in [4, 32, 256] {
                if hack_size != 32 && kernel.allowed(HACK_SIZE.id()).is_none() {
                    continue;
                }
                let what =
                    format!("{} {precision:?} block {block:?} hack {hack_size}: {name}", kernel.id);
                let configuration = configured(case, hack_size);
                let prepared = ready(backend, &configuration, &problem);
                let mut prepared = prepared.unwrap_or_else(|error| panic!("{what}: {error}"));
                let output =
                    output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
                let check = problem.check(&configuration, &output);
                assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
            }
        }
    }
}

#[test]
fn products_with_the_transpose_pass_the_gate() {
    let backend = gpu!();
    let _ = vendors!(&backend);
    let [ours, vendors] = ["cuda/", "vendor/"].map(|of| cases_with(&backend, of, "t").unwrap());
    for (name, a) in matrices() {
        let problem = SpmvProblem::drawn(Arc::new(a), 42);
        for case in ours.iter().chain(&vendors).copied() {
            let configuration = configured(case, 32);
            let parameters = configuration.parameters.clone().with(OP.id(), "t");
            let configuration = Configuration { parameters, ..configuration };
            let mut prepared = ready(&backend, &configuration, &problem).unwrap();
            assert_eq!(prepared.params()["op"], "t", "{}", case.0.id);
            // A library that takes the operation converts nothing.
            let converts = case.0.id != "vendor/cusparse/csr-transposed";
            let seconds = prepared.costs().conversion_s;
            assert_eq!(seconds > 0.0, converts, "{} {name}: {seconds}", case.0.id);
            let check = problem.check(&configuration, &output(&mut prepared).unwrap());
            let what = format!("{} {:?}: {name}", case.0.id, case.1);
            assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
        }
    }
}

/// Several executions, each from the same y; the memory checks of `gpu-check.sh` run it by name.
#[test]
fn products_that_are_scaled_and_added_to_y_pass_the_gate() {
    let backend = gpu!();
    let of = |op: &str| {
        let vendors = cases_with(&backend, "vendor/", op).unwrap_or_default();
        cases_with(&backend, "cuda/", op).unwrap().into_iter().chain(vendors).collect::<Vec<_>>()
    };
    let (plain, turned) = (of("n"), of("t"));
    for (name, a) in matrices() {
        let problem = SpmvProblem::drawn(Arc::new(a), 42);
        // Each kernel is built once per scale: beta of 0, of 1, and of another value.
        let all = [("n", "-0.5"), ("n", "2:1"), ("t", "1:-0.75")];
        for (op, scale) in all {
            let cases = if op == "n" { &plain } else { &turned };
            let takes = |case: &&Case| {
                case.0.allowed(SCALE.id()).is_some_and(|all: Allowed| all.contains(scale))
            };
            for &case in cases.iter().filter(takes) {
                let what = format!("{} {:?} {op} {scale}: {name}", case.0.id, case.1);
                let configuration = configured(case, 32);
                let parameters = configuration.parameters.clone();
                let parameters = parameters.with(OP.id(), op).with(SCALE.id(), scale);
                let configuration = Configuration { parameters, ..configuration };
                let mut prepared = ready(&backend, &configuration, &problem)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                for _ in 0..2 {
                    let check = problem.check(&configuration, &output(&mut prepared).unwrap());
                    assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
                }
            }
        }
    }
}

#[test]
fn rows_that_are_sorted_or_kept_apart_pass_the_gate() {
    let backend = gpu!();
    for (name, a) in matrices() {
        let problem = problem(a);
        for case in ours(&backend).into_iter().filter(|case| case.0.takes.order) {
            for (sigma, spill) in [("64", "3"), ("1", "20"), ("4096", "1000")] {
                let mut configuration = configured(case, 32);
                let parameters = configuration.parameters.with(SIGMA.id(), sigma);
                configuration.parameters = parameters.with(SPILL.id(), spill);
                let mut prepared = ready(&backend, &configuration, &problem).unwrap();
                let check = problem.check(&configuration, &output(&mut prepared).unwrap());
                let what = format!("{:?} sigma {sigma} spill {spill}: {name}", case.1);
                assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
            }
        }
    }
}

#[test]
fn compact_hacks_pass_the_gate_however_columns_and_values_are_stored() {
    let backend = gpu!();
    // Some rows span more than 16 bits, and there are seven values.
    let rows = (0..5000usize).flat_map(|i| {
        let far = (i % 97 == 5).then_some((i, 199_000 - i, 3.5));
        (0..i % 23).map(move |j| (i, (i * 13 + j * 5) % 4000, (j % 7) as f64 - 2.5)).chain(far)
    });
    let problem = problem(Csr::from_triplets(5000, 200_000, &rows.collect::<Vec<_>>()).unwrap());
    let compact = |case: &Case| case.0.id == "cuda/hll/compact";
    for case in ours(&backend).into_iter().filter(compact) {
        for values in ["plain", "8", "16"] {
            for sigma in ["1", "256"] {
                let mut configuration = configured(case, 32);
                let parameters = configuration.parameters.with(VALUES.id(), values);
                configuration.parameters = parameters.with(SIGMA.id(), sigma);
                let mut prepared = ready(&backend, &configuration, &problem).unwrap();
                let check = problem.check(&configuration, &output(&mut prepared).unwrap());
                let what = format!("{:?} values {values} sigma {sigma}", case.1);
                assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
            }
        }
    }
}

#[test]
fn what_is_chosen_is_told_with_all_that_were_tried() {
    let backend = gpu!();
    let problem = problem(matrix(9000, (0..9000).map(|i| 1 + i * i % 67)));
    let auto = |case: &Case| case.0.id == "cuda/spmv/auto";
    let all = ours(&backend).into_iter().filter(auto);
    for (case, op) in all.flat_map(|case| ["n", "t"].map(|op| (case, op))) {
        let configuration = configured(case, 32);
        let parameters = configuration.parameters.clone().with(OP.id(), op);
        let configuration = Configuration { parameters, ..configuration };
        let prepared = ready(&backend, &configuration, &problem).unwrap();
        let choice = prepared.costs().choice.unwrap();
        let tried: Vec<&str> = choice.tried.iter().map(|one| one.kernel.as_str()).collect();
        assert!(tried.len() > 1 && tried.contains(&choice.kernel.as_str()), "{choice:?}");
        assert!(choice.trial_s > 0.0 && !choice.why.is_empty(), "{choice:?}");
        assert!(tried.iter().all(|id| id.starts_with("cuda/") && !id.ends_with("/auto")));
        assert!(!choice.params.contains_key("op"));
        assert_eq!(prepared.params().get("op").map(String::as_str), (op == "t").then_some("t"));
    }
}

#[test]
fn results_are_the_same_from_run_to_run() {
    let backend = gpu!();
    let problem = problem(matrix(9000, (0..9000).map(|i| 1 + i * i % 167)));
    for case in ours(&backend) {
        let mut prepared = ready(&backend, &configured(case, 32), &problem).unwrap();
        let first = output(&mut prepared).unwrap();
        for _ in 0..5 {
            assert_eq!(output(&mut prepared).unwrap(), first, "{} {case:?}", case.0.id);
        }
    }
}

#[test]
fn an_x_that_is_not_finite_gives_the_classes_of_csr_or_is_refused() {
    let backend = gpu!();
    take_or_refuse_what_is_not_finite(&backend, &ours(&backend));
}

#[test]
fn vendors_kernels_give_the_classes_of_csr_or_refuse_an_x_that_is_not_finite() {
    let backend = gpu!();
    take_or_refuse_what_is_not_finite(&backend, &vendors!(&backend));
}

fn take_or_refuse_what_is_not_finite(backend: &CudaBackend, cases: &[Case]) {
    for bad in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let a = matrix(400, (0..700).map(|i| i % 29));
        let mut x = vec![1.0; 400];
        x[5] = bad;
        x[399] = bad;
        let problem = SpmvProblem::new(Arc::new(a), x);
        for &case in cases {
            let (kernel, configuration) = (case.0, configured(case, 32));
            match ready(backend, &configuration, &problem) {
                Ok(mut prepared) => {
                    assert!(!kernel.needs.finite_x, "{}", kernel.id);
                    let check = problem.check(&configuration, &output(&mut prepared).unwrap());
                    assert_eq!(check.verdict, Verdict::Pass, "{} {:?}", kernel.id, check.reason);
                }
                Err(error) => {
                    assert!(kernel.needs.finite_x, "{}: {error}", kernel.id);
                    assert!(
                        matches!(&error, PrepareError::Refused(why) if why.contains("padding"))
                    );
                }
            }
        }
    }
}

#[test]
fn a_row_that_is_off_fails_the_gate() {
    let backend = gpu!();
    let problem = problem(matrix(500, (0..500).map(|i| i % 41)));
    let configuration = configured(ours(&backend)[0], 32);
    let mut prepared = ready(&backend, &configuration, &problem).unwrap();
    let Output::Vector(y) = output(&mut prepared).unwrap() else { panic!("no vector") };
    for spoilt in [y[300] * (1.0 + 1e-6), f64::NAN] {
        let mut z = y.clone();
        z[300] = spoilt;
        let check = problem.check(&configuration, &Output::Vector(z));
        assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(300)));
    }
}

#[test]
fn a_value_beyond_f32_is_refused_in_all_precisions_but_f64() {
    let backend = gpu!();
    let problem = problem(Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1e300)]).unwrap());
    for case in ours(&backend).into_iter().filter(|case| case.1 == Some(128)) {
        let made = ready(&backend, &configured(case, 32), &problem);
        match (case.2, made.err()) {
            (Precision::F64, None) => {}
            (Precision::F64, error) => panic!("{} in f64: {error:?}", case.0.id),
            (_, Some(PrepareError::Refused(why))) => {
                assert!(why.starts_with("row 1 has 1e300"), "{why}");
            }
            (precision, error) => panic!("{} {precision:?}: {error:?}", case.0.id),
        }
    }
}

#[test]
fn values_in_fewer_bits_move_fewer_bytes() {
    let backend = gpu!();
    let a = matrix(400, (0..700).map(|i| i % 29));
    let [rows, cols, nnz] = [a.rows(), a.cols(), a.nnz()].map(|count| count as u64);
    let problem = problem(a);
    let on_csr = |case: &Case| case.0.id.starts_with("cuda/csr/") && case.1.is_none_or(|b| b == 64);
    let mut seen = 0;
    for case in ours(&backend).into_iter().filter(on_csr) {
        let costs = ready(&backend, &configured(case, 32), &problem).unwrap().costs();
        let (values, vectors) = match case.2 {
            Precision::F64 => (8, 8),
            Precision::F32 => (4, 4),
            Precision::F32F64 => (4, 8),
            Precision::Bf16F32 | Precision::F16F32 => (2, 4),
        };
        let expected = nnz * (4 + values) + 4 * (rows + 1) + vectors * (rows + cols);
        assert_eq!(costs.minimal_bytes, expected, "{} {:?}", case.0.id, case.2);
        seen += 1;
    }
    assert_eq!(seen, 7 * 5, "kernels times precisions");
}

#[test]
fn compact_hacks_store_values_in_the_bytes_of_the_precision() {
    let backend = gpu!();
    // Distinct values in f64 and f32: codes would take more bytes.
    let row = |i: usize| (0..4).map(move |j| (i, i + j, 1.0 + (4 * i + j) as f64 / 512.0));
    let a = Csr::from_triplets(64, 67, &(0..64).flat_map(row).collect::<Vec<_>>()).unwrap();
    let problem = problem(a);
    let compact = |case: &Case| case.0.id == "cuda/hll/compact" && case.1 == Some(64);
    let mut seen = 0;
    for case in ours(&backend).into_iter().filter(compact) {
        let prepared = ready(&backend, &configured(case, 32), &problem).unwrap();
        assert_eq!(prepared.params().get("values").map(String::as_str), Some("plain"));
        let (values, vectors) = (case.2.values().bytes(), case.2.vectors().bytes());
        // Two groups of 128 slots have distances of 2 bytes, eight bases and three offsets.
        let expected = 256 * (2 + values) + 4 * (8 + 3) + vectors * (64 + 67);
        assert_eq!(prepared.costs().minimal_bytes, expected, "{:?}", case.2);
        seen += 1;
    }
    assert_eq!(seen, 5, "precisions");
}

#[test]
fn times_are_positive_hot_and_cold_and_small_products_are_timed_as_a_graph() {
    let backend = gpu!();
    time_small_products(&backend, &ours(&backend));
}

#[test]
fn vendors_small_products_are_timed_hot_and_cold_and_as_a_graph() {
    let backend = gpu!();
    time_small_products(&backend, &vendors!(&backend));
}

fn time_small_products(backend: &CudaBackend, cases: &[Case]) {
    // Short also for a thread that processes a hack of four rows.
    let problem = problem(matrix(900, (0..900).map(|i| i % 9)));
    // In DIA, with too many diagonals, it is not small.
    for &case in cases.iter().filter(|case| case.0.id != "cuda/dia/thread-per-row") {
        let (kernel, configuration) = (case.0, configured(case, 4));
        let mut prepared = ready(backend, &configuration, &problem).unwrap();
        let never = AtomicBool::new(false);
        for temperature in [Temperature::Hot, Temperature::Cold] {
            let samples =
                prepared.sample(3, temperature, &Watch::cancelled_by(&never)).wait().unwrap();
            assert_eq!(samples.len(), 3);
            assert!(samples.iter().all(|&s| s > 0.0), "{} {samples:?}", kernel.id);
        }
        let costs = prepared.costs();
        let launch = costs.launch_s.unwrap_or_else(|| panic!("{}", kernel.id));
        let graph = costs.graph_s.unwrap_or_else(|| panic!("{}", kernel.id));
        assert!(launch > 0.0 && graph > 0.0, "{}", kernel.id);
        assert!(prepared.repetitions() > 1 && costs.minimal_bytes > 0);
        let check = problem.check(&configuration, &output(&mut prepared).unwrap());
        assert_eq!(check.verdict, Verdict::Pass, "after timing, {}", kernel.id);
    }
}

#[test]
fn costs_tell_transfers_and_what_each_launch_takes_of_a_multiprocessor() {
    let backend = gpu!();
    let problem = problem(matrix(500, (0..1003).map(|i| 1 + i % 41)));
    for case in ours(&backend) {
        let (kernel, block, precision) = case;
        let what = format!("{} {precision:?} {block:?}", kernel.id);
        let mut prepared = ready(&backend, &configured(case, 32), &problem).unwrap();
        output(&mut prepared).unwrap();
        let costs = prepared.costs();
        let transfers = [costs.upload_s, costs.allocate_s, costs.download_s];
        assert!(transfers.iter().all(|s| s.is_some_and(|s| s > 0.0)), "{what} {transfers:?}");
        let functions: Vec<&str> = costs.launches.iter().map(|l| l.function.as_str()).collect();
        let own = kernel.id.trim_start_matches("cuda/").replace(['/', '-'], "_");
        // The chosen kernel is checked by itself; others have one function per way of storing.
        if kernel.id == "cuda/spmv/auto" {
            continue;
        }
        let in_ways = ["cuda/csr/adaptive", "cuda/csr/lanes", "cuda/hll/compact", "cuda/bsr/warp"];
        match kernel.id {
            "cuda/coo/segmented" => assert_eq!(functions, ["coo_segmented", "coo_carry"]),
            // Whether its tail is launched depends on the chosen width.
            "cuda/hyb/ell-coo" => assert_eq!(functions.first(), Some(&"ell_column_major")),
            id if in_ways.contains(&id) => {
                assert!(functions.len() == 1 && functions[0].starts_with(&own), "{functions:?}");
                continue;
            }
            _ => assert_eq!(functions, [own]),
        }
        let shared = ["csr_warp_shared", "csr_vector_mining", "hll_shared_x"];
        for launch in &costs.launches {
            assert!(launch.registers > 0 && launch.blocks_per_sm > 0, "{what} {launch:?}");
            assert!(launch.occupancy > 0.0 && launch.occupancy <= 1.0, "{what} {launch:?}");
            let expected = match launch.function.as_str() {
                function if shared.contains(&function) => {
                    precision.vectors().bytes() * u64::from(block.unwrap())
                }
                // One value per warp, if rows are kept apart.
                "hll_sigma" => precision.vectors().bytes() * u64::from(block.unwrap()) / 32,
                _ => 0,
            };
            assert_eq!(launch.shared_bytes, expected, "{what} {launch:?}");
        }
    }
}

#[test]
fn hacks_that_several_blocks_plan_pass_the_gate() {
    let backend = gpu!();
    let problem = problem(matrix(50, (0..40_000).map(|i| i % 7)));
    for case in ours(&backend).into_iter().filter(|case| case.0.takes.order) {
        let configuration = configured(case, 4);
        let mut prepared = ready(&backend, &configuration, &problem).unwrap();
        let check = problem.check(&configuration, &output(&mut prepared).unwrap());
        assert_eq!(check.verdict, Verdict::Pass, "{:?}: {:?}", case.1, check.reason);
    }
}

#[test]
fn memory_of_arrays_that_are_gone_can_be_allocated_again() {
    let backend = gpu!();
    let device = backend.device();
    let (slack, configuration) = (32 << 20, configured(ours(&backend)[0], 32));
    let prepare = |rows: usize| {
        let problem = problem(matrix(rows, (0..rows).map(|_| 16)));
        drop(ready(&backend, &configuration, &problem).unwrap());
    };
    // Loads the kernel, which takes memory.
    prepare(100);
    let free = device.free_bytes().unwrap();
    prepare(500_000);
    device.check_memory("as much as before", free - slack).unwrap();
    let much = device.check_memory("more than there is", u64::MAX).unwrap_err();
    assert!(much.to_string().starts_with("more than there is: needs"), "{much}");
}

#[test]
fn blocks_that_are_no_whole_warps_are_refused() {
    let backend = gpu!();
    let problem = problem(matrix(5, [1; 5]));
    let (kernel, _, precision) = ours(&backend)[0];
    for block in [0, 1, 33, 2048] {
        let case = (kernel, Some(block), precision);
        let error = ready(&backend, &configured(case, 32), &problem).err().unwrap();
        assert!(matches!(error, PrepareError::Refused(_)), "{block}: {error}");
    }
}

#[test]
fn the_device_describes_itself_with_a_bandwidth() {
    let backend = gpu!();
    let gpu = backend.describe().unwrap();
    assert_eq!(gpu.model, backend.model());
    assert!(gpu.copy.is_some_and(|copy| copy > 1e9), "{:?}", gpu.details);
    for detail in ["compute_capability", "cuda_driver", "nvrtc", "l2_bytes"] {
        assert!(gpu.details.contains_key(detail), "{detail}");
    }
}
