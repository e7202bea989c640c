//! Every preconditioner through the backend, what stops it, and what it rejects.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::experiment::agreement::Alone;
use crate::experiment::backend::Backend;
use crate::experiment::operations::Given;
use crate::experiment::output::Solution;
use crate::experiment::plan::{ParameterLists, Settings};
use crate::experiment::problem::Problem;
use crate::experiment::runner::{Ending, Observer, Runner};
use sparsescope_matrix::generate::{GeneratorSpec, generate};
use sparsescope_matrix::matrix::Csr;
use sparsescope_model::kernel::parameters::{
    FORMAT_A, FORMAT_G, MAX_ITER, MERGE, PATTERN, POSTFILTER, POWER, PRECOND, RIGHT_SIDE, START,
};
use sparsescope_model::kernel::{DeviceKind, Parameter, Parameters, kernels};
use sparsescope_record::{Check, Environment, Operation, Precision, Run, Verdict};

fn on_cpu() -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(Operation::Solve).iter().filter(|k| k.device == DeviceKind::Cpu)
}

fn with(kernel: &'static KernelDescriptor, values: &[(Parameter, &str)]) -> Configuration {
    let usual = Configuration { threads: 2, ..Configuration::usual(kernel) };
    let with = |all: Parameters, (of, value): &(Parameter, &str)| all.with(*of, value);
    let parameters = values.iter().fold(Parameters::default(), with);
    Configuration { parameters: kernel.in_effect(&parameters), ..usual }
}

fn grid() -> SolveProblem {
    let spec = GeneratorSpec::parse("poisson2d?n=24").unwrap();
    let never = AtomicBool::new(false);
    let a = generate(&spec, MemoryLimit::unlimited(), &never).unwrap();
    SolveProblem::new(Arc::new(a), Given::default()).unwrap()
}

fn prepared<'p>(
    backend: &'p CpuBackend,
    configuration: &Configuration,
    problem: &'p dyn Problem,
) -> Box<dyn Prepared + 'p> {
    backend.prepare(configuration, problem, MemoryLimit::unlimited()).unwrap()
}

#[test]
fn launchers_are_in_step_with_the_descriptors() {
    let ids: Vec<_> = on_cpu().map(|k| k.id).collect();
    let launched: Vec<_> = LAUNCHERS.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids, launched);
}

#[test]
fn every_preconditioner_and_pattern_passes_the_gate_with_any_kernel_and_format() {
    let (problem, backend) = (grid(), CpuBackend::new());
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    for kernel in on_cpu() {
        for (values, is_factor) in [
            (&[(PRECOND.id(), "none")][..], false),
            (&[(PRECOND.id(), "jacobi"), (FORMAT_A.id(), "hyb")], false),
            (&[(PRECOND.id(), "symgs"), (START.id(), "precond")], false),
            (&[(PATTERN.id(), "recursive")], true),
            (&[(PATTERN.id(), "power"), (FORMAT_G.id(), "hll")], true),
            (&[(PATTERN.id(), "adaptive"), (POSTFILTER.id(), "0.001")], true),
            (&[(MERGE.id(), "1.05"), (FORMAT_A.id(), "hll")], true),
        ] {
            let configuration = with(kernel, values);
            let mut prepared = prepared(&backend, &configuration, &problem);
            assert_eq!(prepared.set_up(&watch).wait(), Ok(Finished::Done));
            let output = prepared.output(&watch).wait().unwrap().unwrap();
            let check = problem.check(&configuration, &output);
            let what = format!("{} {}: {:?}", kernel.id, configuration.parameters, check.reason);
            assert_eq!(check.verdict, Verdict::Pass, "{what}");
            let Output::Solution(solution) = &output else { panic!("{}", output.kind()) };
            assert!(solution.x.iter().all(|x| (x - 1.0).abs() < 1e-6), "{what}");
            let solve = &solution.solve;
            assert_eq!(solution.residuals.len() as u64, solve.iterations + 1, "{what}");
            assert_eq!(solve.sizes.is_some(), is_factor, "{what}");
            assert_eq!(prepared.costs().plan_s, solve.setup_s);
            let (told, history) = output.told();
            assert_eq!(told.as_ref(), Some(solve));
            assert_eq!(history.unwrap().series[0].values, solution.residuals);
        }
    }
}

#[test]
fn a_solve_can_be_stopped_in_its_set_up_and_between_iterations() {
    let (problem, backend) = (grid(), CpuBackend::new());
    for kernel in on_cpu() {
        let configuration = with(kernel, &[]);
        let mut prepared = prepared(&backend, &configuration, &problem);
        let (go, stop) = (AtomicBool::new(false), AtomicBool::new(true));
        let stopped = prepared.set_up(&Watch::cancelled_by(&stop)).wait();
        assert_eq!(stopped, Ok(Finished::Cancelled), "{}", kernel.id);
        assert!(prepared.output(&Watch::cancelled_by(&go)).wait().is_err(), "it is not set up");
        assert_eq!(prepared.set_up(&Watch::cancelled_by(&go)).wait(), Ok(Finished::Done));
        assert_eq!(prepared.output(&Watch::cancelled_by(&stop)).wait().unwrap(), None);
        let reached = prepared.last_output().wait().unwrap();
        let Output::Solution(reached) = reached else { panic!("{}", kernel.id) };
        assert_eq!((reached.solve.iterations, reached.solve.converged), (0, false));
        assert!(prepared.output(&Watch::cancelled_by(&go)).wait().unwrap().is_some());
    }
}

#[test]
fn what_is_not_positive_definite_is_refused_by_the_row_or_breaks_down() {
    let triplets = [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)];
    let a = Arc::new(Csr::from_triplets(2, 2, &triplets).unwrap());
    let b = Some(Arc::new(vec![1.0, -1.0]));
    let given = Given { b, ..Given::default() };
    let problem = SolveProblem::new(a, given).unwrap();
    let (backend, never) = (CpuBackend::new(), AtomicBool::new(false));
    let watch = Watch::cancelled_by(&never);
    for kernel in on_cpu() {
        let fsai = with(kernel, &[]);
        let error = prepared(&backend, &fsai, &problem).set_up(&watch).wait().unwrap_err();
        let is_named = matches!(&error, PrepareError::NotDefinite(why) if why.contains("row 1"));
        assert!(is_named, "{error}");
        let plain = with(kernel, &[(PRECOND.id(), "none")]);
        let mut prepared = prepared(&backend, &plain, &problem);
        assert_eq!(prepared.set_up(&watch).wait(), Ok(Finished::Done));
        let error = prepared.output(&watch).wait().unwrap_err();
        let is_said = error.to_string().contains("not positive definite");
        assert!(is_said && error.is_not_definite, "{error}");
        assert_eq!(prepared.params()["b"], "file");
    }
}

/// Collects all runs.
#[derive(Default)]
struct Collect(Vec<Run>);

impl Observer for Collect {
    fn progress(&mut self, _: usize, _: usize, _: &str) {}
    fn finished(&mut self, run: Run) -> bool {
        self.0.push(run);
        true
    }
}

#[test]
fn runs_are_multiplied_where_parameters_have_an_effect_and_tell_of_solves_that_gave_up_too() {
    let (problem, backend) = (grid(), CpuBackend::new());
    let mut parameters = ParameterLists::default();
    parameters.set(PRECOND.id(), &["jacobi", "fsai"]).unwrap();
    parameters.set(POWER.id(), &[1, 2]).unwrap();
    parameters.set(MAX_ITER.id(), &[5, 500]).unwrap();
    let settings = Settings {
        runs: 2,
        until: None,
        warmup: 0,
        threads: vec![1, 2],
        blocks: Vec::new(),
        cold: false,
        energy: false,
        seed: 1,
        precisions: vec![Precision::F64],
        parameters,
    };
    let environment = Environment::default();
    let runner = Runner {
        backends: vec![(DeviceKind::Cpu, &backend)],
        settings: &settings,
        environment: &environment,
        memory: None,
        cancel: &AtomicBool::new(false),
        agreement: &Alone,
    };
    let kernels: Vec<_> = on_cpu().collect();
    let all = Configuration::all(&kernels, &settings);
    // Serial once and threads twice; jacobi once and fsai with two powers; two iteration limits.
    assert_eq!(all.len(), 3 * 3 * 2);
    let mut seen = Collect::default();
    assert_eq!(runner.run("m", &problem, &all, &[], &mut seen), Ok(Ending::Complete));
    assert_eq!(seen.0.len(), all.len());
    for run in &seen.0 {
        let (solve, history) = (run.solve.as_ref().unwrap(), run.history.as_ref().unwrap());
        assert_eq!(history.series[0].values.len() as u64, solve.iterations + 1);
        assert!(!run.has_failed());
        if run.params["max_iter"] == "500" {
            assert_eq!(
                (run.check.verdict, run.samples.len()),
                (Verdict::Pass, 2),
                "{:?}",
                run.check
            );
            assert_eq!(run.work.unwrap().iterations, solve.iterations);
            assert!(solve.converged && run.figures.as_ref().unwrap().speedup.is_some());
            continue;
        }
        assert_eq!((run.check.verdict, run.samples.len(), solve.iterations), (Verdict::Fail, 0, 5));
        let reason = run.check.reason.as_deref().unwrap();
        assert!(!solve.converged && reason.starts_with("not converged after 5 iterations"));
    }
}

/// The solution that a kernel finds for a system, and its check.
fn outcome(problem: &dyn Problem, configuration: &Configuration) -> (Check, Solution) {
    let (backend, never) = (CpuBackend::new(), AtomicBool::new(false));
    let watch = Watch::cancelled_by(&never);
    let mut prepared = prepared(&backend, configuration, problem);
    assert_eq!(prepared.set_up(&watch).wait(), Ok(Finished::Done));
    let output = prepared.output(&watch).wait().unwrap().unwrap();
    let check = problem.check(configuration, &output);
    let Output::Solution(solution) = output else { panic!("{}", output.kind()) };
    (check, *solution)
}

/// The Laplacian of a graph: the degree of a node, and −1 for each neighbour.
fn laplacian(nodes: usize, edges: &[(usize, usize)]) -> Arc<Csr> {
    let of_edge = |&(i, j): &(usize, usize)| [(i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)];
    let triplets: Vec<_> = edges.iter().flat_map(of_edge).collect();
    Arc::new(Csr::from_triplets(nodes, nodes, &triplets).unwrap())
}

#[test]
fn a_laplacian_times_ones_is_refused_and_one_times_random_numbers_is_solved() {
    // Their nonzero eigenvalues: of a path 1 and 3, of a star 1 and 6, of a complete graph only 3.
    let path = laplacian(3, &[(0, 1), (1, 2)]);
    let star = laplacian(6, &[(0, 1), (0, 2), (0, 3), (0, 4), (0, 5)]);
    let complete = laplacian(3, &[(0, 1), (1, 2), (0, 2)]);
    for (a, steps) in [(path, 2), (star, 2), (complete, 1)] {
        let n = a.rows();
        let problem = SolveProblem::new(a, Given::default()).unwrap();
        for kernel in on_cpu() {
            let plain = [(PRECOND.id(), "none")];
            let refusal = problem.admit(&with(kernel, &plain)).unwrap_err().to_string();
            assert!(refusal.contains("b = A·1 is zero up to rounding"), "{refusal}");
            assert!(refusal.contains("--b range"), "{refusal}");
            let range = with(kernel, &[plain[0], (RIGHT_SIDE.id(), "range:7")]);
            problem.admit(&range).unwrap();
            let (check, solution) = outcome(&problem, &range);
            assert_eq!((check.verdict, check.limited_by_rounding), (Verdict::Pass, false));
            assert_eq!(solution.solve.iterations, steps);
            // From zero, x has no part in the null space, the constant vectors: it is z minus its mean.
            let z = crate::measure::uniform_vector(n, 7);
            let mean = z.iter().sum::<f64>() / n as f64;
            let off = solution.x.iter().zip(&z).map(|(x, z)| (x - (z - mean)).abs());
            assert!(off.fold(0.0, f64::max) < 1e-12, "{:?} {z:?}", solution.x);
        }
    }
}

#[test]
fn the_unit_of_b_changes_no_bit_where_it_is_a_power_of_two_and_next_to_nothing_where_it_is_not() {
    let grid = grid();
    let (a, n) = (Arc::clone(grid.a()), grid.a().rows());
    let vector = |seed: u64, unit: f64| -> Arc<Vec<f64>> {
        Arc::new(crate::measure::uniform_vector(n, seed).iter().map(|v| v * unit).collect())
    };
    let in_unit = |unit: f64, has_start: bool| {
        let start = has_start.then(|| vector(2, 100.0 * unit));
        let given = Given { b: Some(vector(1, unit)), start, ..Given::default() };
        SolveProblem::new(Arc::clone(&a), given).unwrap()
    };
    for kernel in on_cpu() {
        for (precond, has_start) in [("jacobi", false), ("fsai", true), ("symgs", true)] {
            let configuration = with(kernel, &[(PRECOND.id(), precond)]);
            let of = |unit: f64| {
                let (check, solution) = outcome(&in_unit(unit, has_start), &configuration);
                assert_eq!(check.verdict, Verdict::Pass, "{unit:e} {:?}", check.reason);
                assert!(!check.limited_by_rounding, "{unit:e} {:?}", check.reason);
                solution
            };
            let one = of(1.0);
            for exponent in [-900, -3, 1, 900] {
                let unit = f64::from_bits(((1023 + exponent) as u64) << 52);
                let other = of(unit);
                assert_eq!(other.residuals, one.residuals, "2^{exponent}");
                assert!(
                    other.x.iter().zip(&one.x).all(|(x, one)| *x == one * unit),
                    "2^{exponent}"
                );
                assert_eq!(other.solve.b_norm, one.solve.b_norm * unit);
            }
            for unit in [1e-170, 3.0, 1e160] {
                let other = of(unit);
                let off = other.solve.iterations.abs_diff(one.solve.iterations);
                assert!(off <= 1, "{unit:e}: {off}");
                assert!((other.solve.b_norm / unit / one.solve.b_norm - 1.0).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn b_of_zeros_is_solved_by_zero_says_so_and_does_not_rank() {
    let grid = grid();
    let zeros = Some(Arc::new(vec![0.0; grid.a().rows()]));
    let given = Given { b: zeros, ..Given::default() };
    let problem = SolveProblem::new(Arc::clone(grid.a()), given).unwrap();
    for kernel in on_cpu() {
        let configuration = with(kernel, &[(PRECOND.id(), "jacobi")]);
        problem.admit(&configuration).unwrap();
        let (check, solution) = outcome(&problem, &configuration);
        assert_eq!((check.verdict, solution.solve.iterations), (Verdict::Pass, 0));
        assert!(solution.x.iter().all(|&x| x == 0.0));
        assert_eq!(solution.solve.ended, "b is zero, so x = 0");
        let run = Run { check, solve: Some(solution.solve), ..Run::default() };
        assert!(!run.ranks());
    }
}
