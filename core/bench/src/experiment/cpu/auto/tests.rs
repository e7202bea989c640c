use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::experiment::{Backend, CpuBackend, Prepared, Problem};
use crate::measure::integer_vector;
use sparsescope_matrix::matrix::{Csr, Precision};
use sparsescope_model::kernel::parameters::COMPACT;
use sparsescope_model::kernel::{Parameter, Parameters, kernel};
use sparsescope_record::Verdict;

/// A band of half-width 2 with five distinct values.
fn band(m: usize) -> Arc<Csr> {
    let row = |i: usize| {
        (i.max(2) - 2..(i + 3).min(m)).map(move |j| (i, j, 1.5 + ((i + 2 * j) % 5) as f64))
    };
    let entries: Vec<_> = (0..m).flat_map(row).collect();
    Arc::new(Csr::from_triplets(m, m, &entries).unwrap())
}

fn configuration(threads: u32, precision: Precision, compact: &str) -> Configuration {
    let parameters = Parameters::default().with(COMPACT.id(), compact);
    Configuration { threads, precision, parameters, ..Configuration::usual(kernel(ID).unwrap()) }
}

fn set_up<'p>(
    backend: &'p CpuBackend,
    problem: &'p dyn Problem,
    configuration: &Configuration,
) -> Box<dyn Prepared + 'p> {
    let flag = AtomicBool::new(false);
    let memory = MemoryLimit::unlimited();
    let mut prepared = backend.prepare(configuration, problem, memory).unwrap();
    assert_eq!(prepared.set_up(&Watch::cancelled_by(&flag)).wait().unwrap(), Finished::Done);
    prepared
}

#[test]
fn its_result_has_the_bits_of_the_kernel_that_it_names() {
    let a = band(3_000);
    // Not powers of two, so that sums depend on their order.
    let x: Vec<f64> = integer_vector(3_000, 5).into_iter().map(|v| v / 3.0).collect();
    let problem = SpmvProblem::new(a, x);
    let backend = CpuBackend::new();
    let flag = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&flag);
    for precision in Precision::UNIFORM {
        for (threads, compact) in [(1, "on"), (2, "off"), (5, "on")] {
            let asked = configuration(threads, precision, compact);
            let mut prepared = set_up(&backend, &problem, &asked);
            let y = prepared.output(&watch).wait().unwrap().unwrap();
            let check = problem.check(&asked, &y);
            assert_eq!(check.verdict, Verdict::Pass, "{:?}", check.reason);
            let costs = prepared.costs();
            let choice = costs.choice.clone().unwrap();
            assert!(compact == "on" || !choice.kernel.ends_with("/compact"), "{}", choice.kernel);
            assert_eq!(prepared.params()["compact"], compact);
            // All of its cost is reported, and only once.
            let all = costs.conversion_s + costs.plan_s;
            assert!((all - choice.seconds()).abs() < 1e-12 && choice.trial_s > 0.0);
            let conversions: f64 = choice.tried.iter().map(|tried| tried.conversion_s).sum();
            assert!((conversions - choice.conversion_s).abs() < 1e-12);
            assert_eq!(choice.tried[0].kernel, SERIAL);
            // The kernel that it names, run directly.
            let named = kernel(&choice.kernel).unwrap();
            let runs = |tried: &&Tried| {
                let is_asked = |(name, value)| choice.params.get(name) == Some(value);
                tried.kernel == named.id && tried.params.iter().all(is_asked)
            };
            // Parameters that are not listed have their defaults, so the longest list is its own.
            let own = |tried: &&Tried| tried.params.len();
            let tried = choice.tried.iter().filter(runs).max_by_key(own).unwrap();
            // Never slower than the serial kernel, as far as the trial measured.
            assert!(tried.least_s <= choice.tried[0].least_s, "{choice:?}");
            let parameters = tried.params.iter().fold(Parameters::default(), |all, (of, value)| {
                all.with(Parameter::of(of).unwrap(), value)
            });
            let threads = if named.takes.threads { threads } else { 1 };
            let alone =
                Configuration { precision, parameters, threads, ..Configuration::usual(named) };
            let memory = MemoryLimit::unlimited();
            let mut alone = backend.prepare(&alone, &problem, memory).unwrap();
            assert_eq!(alone.output(&watch).wait().unwrap().unwrap(), y, "{}", choice.kernel);
            assert_eq!((alone.params(), alone.parts()), (choice.params.clone(), prepared.parts()));
            let own = alone.costs();
            assert_eq!(own.minimal_bytes, costs.minimal_bytes);
            assert_eq!(own.format_bytes, costs.format_bytes);
        }
    }
}

#[test]
fn the_transpose_has_a_choice_of_its_own_and_its_time_counts_as_conversion() {
    // One row: its transpose has rows of one nonzero.
    let entries: Vec<_> = (0..3_000).map(|j| (0, j, 1.0 + j as f64)).collect();
    let a = Arc::new(Csr::from_triplets(1, 3_000, &entries).unwrap());
    let problem = SpmvProblem::drawn(a, 42);
    let backend = CpuBackend::new();
    let plain = configuration(1, Precision::F64, "off");
    let parameters = plain.parameters.clone().with(OP.id(), "t");
    let transposed = Configuration { parameters, ..plain };
    let mut prepared = set_up(&backend, &problem, &transposed);
    let flag = AtomicBool::new(false);
    let y = prepared.output(&Watch::cancelled_by(&flag)).wait().unwrap().unwrap();
    let check = problem.check(&transposed, &y);
    assert_eq!(check.verdict, Verdict::Pass, "{:?}", check.reason);
    let (params, costs) = (prepared.params(), prepared.costs());
    let choice = costs.choice.unwrap();
    assert_eq!((params["op"].as_str(), choice.params.get("op")), ("t", None));
    let transposition_s = problem.transposition_s(&transposed);
    assert!(transposition_s > 0.0);
    assert_eq!(costs.conversion_s, transposition_s + choice.conversion_s);
    // 3001 row offsets and 3000 columns of 4 bytes, as many values, and x and y.
    assert_eq!(choice.tried[0].minimal_bytes, 4 * 3_001 + 12 * 3_000 + 8 * 3_001);
}

#[test]
fn with_beta_every_execution_starts_from_the_same_y() {
    let problem = SpmvProblem::drawn(band(3_000), 42);
    let backend = CpuBackend::new();
    let flag = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&flag);
    for (op, threads) in [("n", 1), ("t", 2)] {
        let plain = configuration(threads, Precision::F64, "on");
        let parameters = plain.parameters.clone().with(OP.id(), op).with(SCALE.id(), "2:-0.5");
        let scaled = Configuration { parameters, ..plain };
        let mut prepared = set_up(&backend, &problem, &scaled);
        let y = prepared.output(&watch).wait().unwrap().unwrap();
        let check = problem.check(&scaled, &y);
        assert_eq!(check.verdict, Verdict::Pass, "{:?}", check.reason);
        assert_eq!(prepared.output(&watch).wait().unwrap().unwrap(), y);
        let choice = prepared.costs().choice.unwrap();
        let given = prepared.params().get("scale").cloned();
        assert_eq!((given.as_deref(), choice.params.get("scale")), (Some("2:-0.5"), None));
        let mut left_out = choice.tried.iter().filter_map(|tried| tried.left_out.as_ref());
        assert!(left_out.all(|why| !why.contains("scale")), "{choice:?}");
        // Chosen or not, it reads y, too.
        let serial = choice.tried.iter().find(|tried| tried.kernel == SERIAL).unwrap();
        assert_eq!(serial.minimal_bytes, problem.a().minimal_bytes() + 8 * 3_000);
    }
}

#[test]
fn only_the_format_of_the_chosen_kernel_is_kept() {
    let problem = SpmvProblem::new(band(3_000), vec![1.0; 3_000]);
    let backend = CpuBackend::new();
    let prepared = set_up(&backend, &problem, &configuration(1, Precision::F64, "on"));
    let choice = prepared.costs().choice.unwrap();
    let side = problem.double();
    for tried in choice.tried.iter().filter(|tried| tried.conversion_s > 0.0) {
        let parameters = tried.params.iter().fold(Parameters::default(), |all, (of, value)| {
            all.with(Parameter::of(of).unwrap(), value)
        });
        let kernel = kernel(&tried.kernel).unwrap();
        let spec = SpmvProblem::spec(&Configuration { parameters, ..Configuration::usual(kernel) });
        let is_asked = |(name, value)| choice.params.get(name) == Some(value);
        let is_chosen = tried.kernel == choice.kernel && tried.params.iter().all(is_asked);
        // Two codings may turn out the same.
        assert!(!side.has(spec) || is_chosen, "{}", tried.kernel);
    }
}

#[test]
fn the_statistics_of_a_small_matrix_leave_time_to_try_its_formats() {
    // 200 SpMVs take 0.018 s, of which the statistics took 0.014 s, or 200 s, of which they took 20 s.
    assert_eq!(left_s(90e-6, 0.014), 0.1);
    assert_eq!(left_s(1.0, 20.0), 180.0);
}

#[test]
fn threads_are_not_woken_where_that_takes_longer_than_they_save() {
    let problem = SpmvProblem::new(band(50_000), vec![1.0; 50_000]);
    let flag = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&flag);
    let room = (MemoryLimit::unlimited(), 1 << 20);
    let pool = crate::measure::pool(2).unwrap();
    for precision in Precision::UNIFORM {
        let asked = configuration(2, precision, "on");
        let found = pool.install(|| chosen(&asked, &problem, room, 60.0, &watch));
        let found = found.unwrap().unwrap();
        assert!(found.parts.unwrap_or(1) <= 1);
        // The others were tried with one thread.
        let tried = found.costs.choice.unwrap().tried;
        assert!(tried.iter().filter_map(|tried| tried.least_s).all(|seconds| seconds < 60.0));
    }
}

#[test]
fn what_multiplies_padding_takes_no_part_where_x_is_not_finite() {
    let mut x = vec![1.0; 3_000];
    x[7] = f64::INFINITY;
    let problem = SpmvProblem::new(band(3_000), x);
    let backend = CpuBackend::new();
    let asked = configuration(2, Precision::F64, "on");
    let mut prepared = set_up(&backend, &problem, &asked);
    let choice = prepared.costs().choice.unwrap();
    let dia = choice.tried.iter().find(|tried| tried.kernel == "cpu/dia/rows").unwrap();
    assert!(dia.left_out.as_ref().is_some_and(|why| why.contains("padding")), "{dia:?}");
    let flag = AtomicBool::new(false);
    let y = prepared.output(&Watch::cancelled_by(&flag)).wait().unwrap().unwrap();
    assert_eq!(problem.check(&asked, &y).verdict, Verdict::Pass);
}

#[test]
fn a_format_that_does_not_fit_is_left_out_and_a_cancelled_choice_is_none() {
    let problem = SpmvProblem::new(band(3_000), vec![1.0; 3_000]);
    let backend = CpuBackend::new();
    let asked = configuration(1, Precision::F64, "on");
    let flag = AtomicBool::new(false);
    let mut prepared = backend.prepare(&asked, &problem, MemoryLimit::bytes(100)).unwrap();
    prepared.set_up(&Watch::cancelled_by(&flag)).wait().unwrap();
    let choice = prepared.costs().choice.unwrap();
    assert!(choice.kernel.starts_with("cpu/csr/") && !choice.kernel.ends_with("/compact"));
    let left_out = |id: &str| {
        choice.tried.iter().find(|tried| tried.kernel == id).unwrap().left_out.clone().unwrap()
    };
    // On a busy machine the time may be up before its turn.
    let why = left_out("cpu/hll/simd");
    assert!(why.contains("bytes") || why.contains("time"), "{why}");

    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    let memory = MemoryLimit::unlimited();
    let mut prepared = backend.prepare(&asked, &problem, memory).unwrap();
    assert_eq!(prepared.set_up(&Watch::cancelled_by(&flag)).wait().unwrap(), Finished::Cancelled);
    // Without setup there is nothing to run.
    flag.store(false, std::sync::atomic::Ordering::Relaxed);
    let error = prepared.output(&Watch::cancelled_by(&flag)).wait().unwrap_err().to_string();
    assert!(error.contains("not set up"), "{error}");
}
