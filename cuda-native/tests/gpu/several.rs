//! One matrix on several GPUs: SpMVs and solves equal those of one CPU, however rows are
//! distributed.

use std::sync::{Mutex, PoisonError};

use sparsescope_core::distributed::Rows;
use sparsescope_core::experiment::{CpuBackend, Finished, Given, Solution, SolveProblem};
use sparsescope_core::generate::{GeneratedRows, GeneratorSpec, generate};
use sparsescope_core::kernel::Parameter;
use sparsescope_core::kernel::kernel;
use sparsescope_core::kernel::parameters::{FORMAT_A, PRECOND, RANKS, START, TOL};
use sparsescope_core::pcg::{Judgement, OperatorFormat, SolveParameters};
use sparsescope_cuda::NcclBackend;

use super::*;

/// Held while using all GPUs: two tests that waited for one another's kernels on the same GPUs
/// could deadlock.
static TURN: Mutex<()> = Mutex::new(());

/// The lock, and the GPUs of this machine with NCCL, or a skip that says what is missing; one GPU
/// is enough for `1`.
macro_rules! several {
    ($least:expr) => {
        match NcclBackend::open() {
            Ok(backend) if backend.devices() >= $least => {
                (TURN.lock().unwrap_or_else(PoisonError::into_inner), backend)
            }
            Ok(backend) => skip!(Need::Nccl, "there is {} GPU", backend.devices()),
            Err(absence) => skip!(Need::Nccl, "{absence}"),
        }
    };
}

/// The numbers of GPUs to test.
fn counts(backend: &NcclBackend) -> impl Iterator<Item = usize> {
    let most = backend.devices();
    [1, 2, 4].into_iter().filter(move |&count| count <= most)
}

const PRODUCTS: [&str; 2] = ["nccl/csr/halo-overlap", "nccl/hll/halo-overlap"];

/// A kernel on this many GPUs, with other parameters.
fn on(id: &str, ranks: usize, values: &[(Parameter, &str)]) -> Configuration {
    let kernel = kernel(id).unwrap();
    let with = |all: Parameters, (of, value): &(Parameter, &str)| all.with(*of, value);
    let parameters = values.iter().fold(Parameters::default(), with);
    let parameters = parameters.with(RANKS.id(), &ranks.to_string());
    let parameters = kernel.in_effect(&kernel.listed(&parameters));
    Configuration { parameters, ..Configuration::usual(kernel) }
}

/// A kernel, prepared and set up.
fn made<'p>(
    backend: &'p NcclBackend,
    configuration: &Configuration,
    problem: &'p dyn Problem,
) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
    let mut prepared = backend.prepare(configuration, problem, MemoryLimit::unlimited())?;
    let never = AtomicBool::new(false);
    assert_eq!(prepared.set_up(&Watch::cancelled_by(&never)).wait()?, Finished::Done);
    Ok(prepared)
}

fn generated(spec: &str) -> Csr {
    let spec = GeneratorSpec::parse(spec).unwrap();
    generate(&spec, MemoryLimit::unlimited(), &AtomicBool::new(false)).unwrap()
}

/// The same structure with integers, whose products with integers are exact.
fn of_integers(a: &Csr) -> Csr {
    let mut triplets = Vec::new();
    for i in 0..a.rows() {
        let columns = a.row(i).0.iter();
        triplets.extend(
            columns.map(|&c| (i, c as usize, ((i * 7 + c as usize * 3) % 19) as f64 - 9.0)),
        );
    }
    Csr::from_triplets(a.rows(), a.cols(), &triplets).unwrap()
}

/// Matrices whose rows split into ranks in unusual ways.
fn shared() -> Vec<(&'static str, Csr)> {
    let mut all = matrices();
    let blocks = |n: usize| {
        // Two decoupled halves.
        let half = |i: usize| if i < n / 2 { 0..n / 2 } else { n / 2..n };
        let rows =
            (0..n).flat_map(|i| half(i).step_by(3).map(move |j| (i, j, 1.0 + (i + j) as f64)));
        Csr::from_triplets(n, n, &rows.collect::<Vec<_>>()).unwrap()
    };
    let reversed = (0..600).map(|i| (i, 599 - i, 0.5 + i as f64)).collect::<Vec<_>>();
    all.extend([
        ("ranks without a halo", blocks(200)),
        ("rows of the others' columns alone", Csr::from_triplets(600, 600, &reversed).unwrap()),
        ("columns of every rank in every row", matrix(64, [64; 64])),
        ("a grid of 27 points", generated("stencil27?n=24")),
    ]);
    all
}

#[test]
fn products_on_several_gpus_have_the_bits_of_one_processor_on_integers() {
    let (_turn, backend) = several!(1);
    for (name, a) in shared() {
        let a = of_integers(&a);
        let problem = problem(a);
        let reference = problem.double().reference().y().to_vec();
        for (id, ranks) in PRODUCTS.iter().flat_map(|id| counts(&backend).map(move |n| (*id, n))) {
            let what = format!("{id} on {ranks}: {name}");
            let mut prepared = made(&backend, &on(id, ranks, &[]), &problem);
            let prepared = prepared.as_mut().unwrap_or_else(|error| panic!("{what}: {error}"));
            for _ in 0..3 {
                match output(prepared).unwrap_or_else(|error| panic!("{what}: {error}")) {
                    Output::Vector(y) => assert_eq!(y, reference, "{what}"),
                    other => panic!("{what}: {}", other.kind()),
                }
            }
        }
    }
}

#[test]
fn hacks_that_are_made_in_several_pieces_are_those_of_the_whole_matrix() {
    let (_turn, backend) = several!(1);
    // 9 million nonzeros.
    let problem = problem(of_integers(&generated("stencil27?n=70")));
    let reference = problem.double().reference().y().to_vec();
    for ranks in counts(&backend) {
        let mut prepared = made(&backend, &on(PRODUCTS[1], ranks, &[]), &problem).unwrap();
        match output(&mut prepared).unwrap() {
            Output::Vector(y) => assert!(y == reference, "on {ranks}"),
            other => panic!("{}", other.kind()),
        }
    }
}

#[test]
fn products_on_several_gpus_pass_the_gate_on_reals() {
    let (_turn, backend) = several!(1);
    for (name, a) in shared() {
        let problem = problem(a);
        for (id, ranks) in PRODUCTS.iter().flat_map(|id| counts(&backend).map(move |n| (*id, n))) {
            let configuration = on(id, ranks, &[]);
            let mut prepared = made(&backend, &configuration, &problem).unwrap();
            let check = problem.check(&configuration, &output(&mut prepared).unwrap());
            assert_eq!(check.verdict, Verdict::Pass, "{id} on {ranks}: {name}: {:?}", check.reason);
            assert_eq!(prepared.params()["ranks"], ranks.to_string());
        }
    }
}

#[test]
fn samples_on_several_gpus_are_taken_hot_and_cold_and_leave_the_result_as_it_was() {
    let (_turn, backend) = several!(2);
    let problem = problem(generated("stencil27?n=40"));
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    for id in PRODUCTS {
        let mut prepared = made(&backend, &on(id, 2, &[]), &problem).unwrap();
        let first = output(&mut prepared).unwrap();
        for temperature in [Temperature::Hot, Temperature::Cold] {
            let seconds = prepared.sample(5, temperature, &watch).wait().unwrap();
            assert!(
                seconds.len() == 5 && seconds.iter().all(|&s| s > 0.0 && s < 1.0),
                "{seconds:?}"
            );
        }
        assert_eq!(prepared.last_output().wait().unwrap(), first, "{id}");
        let told = prepared.distributed().unwrap();
        // A plane of 40 x 40 points is sent each way, plus what an unaligned cut adds next to it.
        let halos: Vec<u64> = told.ranks.iter().map(|rank| rank.halo).collect();
        assert!(halos.iter().all(|halo| (1600..1700).contains(halo)), "{halos:?}");
        assert_eq!((told.bytes(), told.messages()), (8 * halos.iter().sum::<u64>(), 2));
        assert_eq!(told.ranks.iter().map(|rank| rank.rows).sum::<u64>(), 64_000);
        assert!(told.ranks.iter().all(|rank| rank.computing_s > 0.0 && rank.packing_s >= 0.0));
    }
}

fn solution(output: Output) -> Solution {
    match output {
        Output::Solution(solution) => *solution,
        other => panic!("{} is no solution", other.kind()),
    }
}

/// Systems whose rows split into ranks in unusual ways.
fn systems() -> Vec<(&'static str, Csr)> {
    let chain = |n: usize| {
        let mut triplets: Vec<_> = (0..n).map(|i| (i, i, 2.5)).collect();
        triplets.extend((1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]));
        Csr::from_triplets(n, n, &triplets).unwrap()
    };
    vec![
        ("one row", chain(1)),
        ("two rows", chain(2)),
        ("a chain", chain(3333)),
        (
            "a diagonal",
            Csr::from_triplets(
                50,
                50,
                &(0..50).map(|i| (i, i, 1.0 + i as f64)).collect::<Vec<_>>(),
            )
            .unwrap(),
        ),
        ("a grid of 5 points", generated("poisson2d?n=90")),
        ("a grid of 27 points", generated("stencil27?n=24")),
    ]
}

#[test]
fn solves_on_several_gpus_take_the_iterations_of_one_processor_and_pass_the_gate() {
    let ((_turn, backend), cpu) = (several!(1), CpuBackend::new());
    for (name, a) in systems() {
        let problem = SolveProblem::new(Arc::new(a), Given::default()).unwrap();
        for preconditioner in ["none", "jacobi"] {
            for start in ["zero", "precond"] {
                let base = [(PRECOND.id(), preconditioner), (START.id(), start)];
                let reference = {
                    let kernel = kernel("cpu/pcg/serial").unwrap();
                    let with =
                        |all: Parameters, (of, value): &(Parameter, &str)| all.with(*of, value);
                    let parameters = kernel.listed(&base.iter().fold(Parameters::default(), with));
                    let configuration =
                        Configuration { parameters, ..Configuration::usual(kernel) };
                    let mut prepared =
                        cpu.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
                    let never = AtomicBool::new(false);
                    prepared.set_up(&Watch::cancelled_by(&never)).wait().unwrap();
                    solution(output(&mut prepared).unwrap())
                };
                for format in ["csr", "hll"] {
                    for ranks in counts(&backend) {
                        let what =
                            format!("{name}: {preconditioner} from {start} in {format} on {ranks}");
                        let values = [&base[..], &[(FORMAT_A.id(), format)]].concat();
                        let configuration = on("nccl/pcg/halo-overlap", ranks, &values);
                        let mut prepared = made(&backend, &configuration, &problem)
                            .unwrap_or_else(|error| panic!("{what}: {error}"));
                        assert_eq!(prepared.params().get("graph"), None, "{what}");
                        let ours =
                            output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
                        let check = problem.check(&configuration, &ours);
                        assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
                        let (found, expected) =
                            (solution(ours).solve.iterations, reference.solve.iterations);
                        let most = 1.max(expected / 50);
                        assert!(
                            found.abs_diff(expected) <= most,
                            "{what}: {found}, expected {expected}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn two_solves_on_several_gpus_have_the_same_bits() {
    let (_turn, backend) = several!(2);
    let problem =
        SolveProblem::new(Arc::new(generated("stencil27?n=32")), Given::default()).unwrap();
    let configuration = on("nccl/pcg/halo-overlap", 2, &[(PRECOND.id(), "jacobi")]);
    let mut prepared = made(&backend, &configuration, &problem).unwrap();
    let first = solution(output(&mut prepared).unwrap());
    for _ in 0..3 {
        let again = solution(output(&mut prepared).unwrap());
        assert_eq!((&again.x, &again.residuals), (&first.x, &first.residuals));
    }
}

#[test]
fn a_solve_on_several_gpus_that_is_stopped_ends_and_the_next_one_is_whole() {
    let (_turn, backend) = several!(2);
    let problem =
        SolveProblem::new(Arc::new(generated("poisson2d?n=700")), Given::default()).unwrap();
    let values = [(PRECOND.id(), "none"), (TOL.id(), "1e-12")];
    let configuration = on("nccl/pcg/halo-overlap", 2, &values);
    let mut prepared = made(&backend, &configuration, &problem).unwrap();
    let stopped = AtomicBool::new(true);
    assert_eq!(prepared.output(&Watch::cancelled_by(&stopped)).wait().unwrap(), None);
    let check = problem.check(&configuration, &output(&mut prepared).unwrap());
    assert_eq!(check.verdict, Verdict::Pass, "{:?}", check.reason);
}

#[test]
fn more_gpus_than_there_are_and_other_preconditioners_are_refused_in_a_sentence() {
    let (_turn, backend) = several!(1);
    let most = backend.devices();
    let product = problem(generated("poisson2d?n=9"));
    let refused = made(&backend, &on(PRODUCTS[0], most + 1, &[]), &product).err().unwrap();
    let sentence = refused.to_string();
    assert!(sentence.contains(&format!("needs {} GPUs, found {most}", most + 1)), "{sentence}");
    let system = SolveProblem::new(Arc::new(generated("poisson2d?n=9")), Given::default()).unwrap();
    let refused = made(&backend, &on("nccl/pcg/halo-overlap", 1, &[]), &system).err().unwrap();
    assert!(!refused.to_string().is_empty());
}

#[test]
fn each_gpu_of_a_pair_sends_to_the_other_at_a_rate_that_is_told() {
    let (_turn, backend) = several!(2);
    let told = backend.describe().unwrap();
    for pair in ["gpu_0_to_1", "gpu_1_to_0"] {
        let rate: f64 = told.details[&format!("{pair}_bytes_per_second")].parse().unwrap();
        assert!(rate > 1e9, "{pair}: {rate}");
        let latency: f64 = told.details[&format!("{pair}_latency_seconds")].parse().unwrap();
        assert!(latency > 0.0 && latency < 1e-2, "{pair}: {latency}");
    }
}

#[test]
fn matrices_that_nobody_holds_are_multiplied_and_solved_and_checked_by_the_owners_of_their_rows() {
    let (_turn, backend) = several!(1);
    for spec in ["stencil27?n=30&nz=47", "stencil7?n=41", "random?m=3000&row=20&n=1700"] {
        let spec = GeneratorSpec::parse(spec).unwrap();
        let rows = GeneratedRows::new(&spec, MemoryLimit::unlimited()).unwrap();
        let is_square = rows.rows() == rows.cols();
        let rows: Arc<dyn Rows + Send + Sync> = Arc::new(rows);
        for ranks in counts(&backend) {
            for id in PRODUCTS {
                let memory = MemoryLimit::unlimited();
                let made = backend.product_of_rows(id, ranks, Arc::clone(&rows), (7, 3), memory);
                let made = made.unwrap_or_else(|error| panic!("{id} on {ranks}: {spec}: {error}"));
                assert_eq!(made.check.verdict, Verdict::Pass, "{id} on {ranks}: {spec}");
                assert_eq!((made.samples.len(), made.distributed.ranks.len()), (3, ranks));
            }
            if is_square {
                for format in [OperatorFormat::Csr, OperatorFormat::Hll] {
                    let (how, memory) = (SolveParameters::default(), MemoryLimit::unlimited());
                    let made = backend
                        .solve_of_rows(ranks, Arc::clone(&rows), (true, format), how, (1, memory))
                        .unwrap();
                    let (residual, floor) = (made.true_residual, made.rounding_floor);
                    let judged = Judgement::of(residual, floor, 1.0, 1e-10);
                    let is_right = matches!(judged, Judgement::Met | Judgement::LimitedByRounding);
                    assert!(made.converged && is_right, "{spec} on {ranks}: {made:?}");
                }
            }
        }
    }
}
