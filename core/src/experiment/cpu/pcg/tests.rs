//! Every preconditioner through the backend, what stops it, and what it refuses.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::experiment::backend::{Backend, Prepared};
use crate::experiment::cpu::CpuBackend;
use crate::experiment::operations::Given;
use crate::experiment::plan::{ParameterLists, Settings};
use crate::experiment::problem::Problem;
use crate::experiment::runner::{Ending, Observer, Runner};
use crate::generate::{GeneratorSpec, generate};
use crate::kernel::{DeviceKind, KernelDescriptor, Parameter, Parameters, kernels};
use crate::matrix::Csr;
use crate::record::{Environment, Operation, Precision, Run, Verdict};

fn on_cpu() -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(Operation::Solve).iter().filter(|k| k.device == DeviceKind::Cpu)
}

fn with(kernel: &'static KernelDescriptor, values: &[(Parameter, &str)]) -> Configuration {
    let usual = Configuration { threads: 2, ..Configuration::usual(kernel) };
    let with = |all: Parameters, (of, value): &(Parameter, &str)| all.with(*of, value);
    let parameters = values.iter().fold(Parameters::default(), with);
    Configuration { parameters: kernel.in_effect(&parameters), ..usual }
}

fn grid() -> Problem {
    let spec = GeneratorSpec::parse("poisson2d?n=24").unwrap();
    let never = AtomicBool::new(false);
    let a = generate(&spec, MemoryLimit::unlimited(), &never).unwrap();
    Problem::Solve(SolveProblem::new(Arc::new(a), Given::default()).unwrap())
}

fn prepared<'p>(
    backend: &'p CpuBackend,
    configuration: &Configuration,
    problem: &'p Problem,
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
    use Parameter::{FormatA, FormatG, Merge, Pattern, Postfilter, Preconditioner, Start};
    let (problem, backend) = (grid(), CpuBackend::new());
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    for kernel in on_cpu() {
        for (values, is_factor) in [
            (&[(Preconditioner, "none")][..], false),
            (&[(Preconditioner, "jacobi"), (FormatA, "hyb")], false),
            (&[(Preconditioner, "symgs"), (Start, "precond")], false),
            (&[(Pattern, "recursive")], true),
            (&[(Pattern, "power"), (FormatG, "hll")], true),
            (&[(Pattern, "adaptive"), (Postfilter, "0.001")], true),
            (&[(Merge, "1.05"), (FormatA, "hll")], true),
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
        assert!(prepared.output(&Watch::cancelled_by(&go)).wait().unwrap().is_some());
    }
}

#[test]
fn what_is_not_positive_definite_is_refused_by_the_row_or_breaks_down() {
    let triplets = [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 1.0)];
    let a = Arc::new(Csr::from_triplets(2, 2, &triplets).unwrap());
    let b = Some(Arc::new(vec![1.0, -1.0]));
    let given = Given { b, ..Given::default() };
    let problem = Problem::Solve(SolveProblem::new(a, given).unwrap());
    let (backend, never) = (CpuBackend::new(), AtomicBool::new(false));
    let watch = Watch::cancelled_by(&never);
    for kernel in on_cpu() {
        let fsai = with(kernel, &[]);
        let error = prepared(&backend, &fsai, &problem).set_up(&watch).wait().unwrap_err();
        assert!(matches!(&error, PrepareError::Refused(why) if why.contains("row 1")), "{error}");
        let plain = with(kernel, &[(Parameter::Preconditioner, "none")]);
        let mut prepared = prepared(&backend, &plain, &problem);
        assert_eq!(prepared.set_up(&watch).wait(), Ok(Finished::Done));
        let error = prepared.output(&watch).wait().unwrap_err().to_string();
        assert!(error.contains("not positive definite"), "{error}");
        assert_eq!(prepared.params()["b"], "file");
    }
}

/// Keeps all runs.
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
    parameters.set(Parameter::Preconditioner, &["jacobi", "fsai"]).unwrap();
    parameters.set(Parameter::Power, &[1, 2]).unwrap();
    parameters.set(Parameter::MaxIterations, &[5, 500]).unwrap();
    let settings = Settings {
        runs: 2,
        until: None,
        warmup: 0,
        threads: vec![1, 2],
        blocks: Vec::new(),
        cold: false,
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
    };
    let kernels: Vec<_> = on_cpu().collect();
    let all = Configuration::all(&kernels, &settings);
    // Serial once and threads twice; jacobi once and fsai with two powers; two bounds of iterations.
    assert_eq!(all.len(), 3 * 3 * 2);
    let mut seen = Collect::default();
    assert_eq!(runner.run("m", &problem, &all, &[], &mut seen), Ending::Complete);
    assert_eq!(seen.0.len(), all.len());
    for run in &seen.0 {
        let (solve, history) = (run.solve.as_ref().unwrap(), run.history.as_ref().unwrap());
        assert_eq!(history.series[0].values.len() as u64, solve.iterations + 1);
        assert!(!run.is_wrong());
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
        assert!(!solve.converged && reason.starts_with("not converged: after 5 iterations"));
    }
}
