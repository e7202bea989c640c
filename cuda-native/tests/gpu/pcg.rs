//! Conjugate gradients on a GPU compared with the CPU's: preconditioners, formats, stopping.

use std::sync::atomic::Ordering;

use sparsescope_core::experiment::{CpuBackend, Finished, Given, Solution, SolveProblem};
use sparsescope_core::kernel::Parameter;
use sparsescope_core::kernel::parameters::{
    FORMAT_A, FORMAT_G, MAX_ITER, POWER, PRECOND, START, TOL,
};

use super::fsai::made;
use super::*;

/// A system, and what a user gives besides the parameters.
fn problem(a: Csr, given: Given) -> SolveProblem {
    SolveProblem::new(Arc::new(a), given).unwrap()
}

/// The Laplacian of a grid of n × n points, each row and column scaled by a power of two up to 2^±`spread`.
fn laplacian(n: usize, spread: i32) -> Csr {
    let scale = |i: usize| 2f64.powi((i as i32 * 7 % (2 * spread + 1)) - spread);
    let mut triplets = Vec::new();
    for i in 0..n * n {
        let (row, col) = (i / n, i % n);
        let mut entry = |j: usize, value: f64| triplets.push((i, j, value * scale(i) * scale(j)));
        entry(i, 4.0);
        for (is_inside, j) in [
            (row > 0, i.wrapping_sub(n)),
            (row + 1 < n, i + n),
            (col > 0, i.wrapping_sub(1)),
            (col + 1 < n, i + 1),
        ] {
            if is_inside {
                entry(j, -1.0);
            }
        }
    }
    Csr::from_triplets(n * n, n * n, &triplets).unwrap()
}

/// An arrow: one row over several tiles, all others short.
fn arrow(n: usize) -> Csr {
    // Weak enough that all eigenvalues are close together: otherwise rounding makes solvers diverge
    // from one another.
    let coupling = 1.0 / (n as f64).sqrt();
    let mut triplets = vec![(0, 0, 8.0)];
    for i in 1..n {
        let value = coupling * (0.5 + (i % 3) as f64 / 8.0);
        triplets.extend([(i, i, 4.0 + (i % 5) as f64), (0, i, value), (i, 0, value)]);
    }
    Csr::from_triplets(n, n, &triplets).unwrap()
}

/// A tridiagonal matrix with this many values on its diagonal.
fn chain(n: usize, distinct: usize) -> Csr {
    chain_of(n, |i| 2.5 + (i % distinct) as f64 / 65536.0)
}

/// A tridiagonal matrix with this diagonal.
fn chain_of(n: usize, diagonal: impl Fn(usize) -> f64) -> Csr {
    let mut triplets: Vec<_> = (0..n).map(|i| (i, i, diagonal(i))).collect();
    triplets.extend((1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]));
    Csr::from_triplets(n, n, &triplets).unwrap()
}

/// The same with a first row of 43 nonzeros: several turns of a lane, and padding after the last.
fn chain_with_a_long_row(n: usize, distinct: usize) -> Csr {
    let diagonal = |i: usize| 2.5 + (i % distinct) as f64 / 65536.0;
    let mut triplets: Vec<_> = (0..n).map(|i| (i, i, diagonal(i))).collect();
    triplets.extend((1..n).flat_map(|i| [(i, i - 1, -1.0), (i - 1, i, -1.0)]));
    triplets.extend((2..43).flat_map(|j| [(0, j, -1.0 / 64.0), (j, 0, -1.0 / 64.0)]));
    Csr::from_triplets(n, n, &triplets).unwrap()
}

/// A matrix whose columns are this far from their rows, with this many values on its diagonal.
fn far(n: usize, apart: usize, distinct: usize) -> Csr {
    let diagonal = |i: usize| 2.5 + (i % distinct) as f64 / 65536.0;
    let mut triplets: Vec<_> = (0..n).map(|i| (i, i, diagonal(i))).collect();
    triplets.extend((apart..n).flat_map(|i| [(i, i - apart, -1.0), (i - apart, i, -1.0)]));
    Csr::from_triplets(n, n, &triplets).unwrap()
}

/// Systems, named by what is unusual about them.
fn systems() -> Vec<(&'static str, Csr)> {
    vec![
        ("one row", chain(1, 1)),
        ("two rows", chain(2, 1)),
        ("33 rows", chain(33, 1)),
        ("a grid", laplacian(40, 0)),
        ("a badly scaled grid", laplacian(12, 2)),
        ("a long row", arrow(3000)),
        ("many blocks", laplacian(200, 0)),
    ]
}

fn with(id: &str, values: &[(Parameter, &str)]) -> Configuration {
    let kernel = kernels(Operation::Solve).iter().find(|kernel| kernel.id == id).unwrap();
    let with = |all: Parameters, (of, value): &(Parameter, &str)| all.with(*of, value);
    let parameters = values.iter().fold(Parameters::default(), with);
    let parameters = kernel.in_effect(&kernel.listed(&parameters));
    Configuration { parameters, ..Configuration::usual(kernel) }
}

/// A backend kernel's solution of a system, or why it failed.
fn solved(
    backend: &dyn Backend,
    configuration: &Configuration,
    problem: &dyn Problem,
) -> Result<Solution, KernelError> {
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    problem.admit(configuration).unwrap();
    let mut prepared = backend.prepare(configuration, problem, MemoryLimit::unlimited()).unwrap();
    assert_eq!(prepared.set_up(&watch).wait().unwrap(), Finished::Done);
    match prepared.output(&watch).wait()?.unwrap() {
        Output::Solution(solution) => Ok(*solution),
        other => panic!("{} is no solution", other.kind()),
    }
}

/// Iterations agree within one below 100, otherwise within one percent, or 5 % if rounding is not
/// far below the tolerance.
fn assert_near(ours: &Solution, reference: &Solution, what: &str) {
    let [found, expected] = [ours, reference].map(|one| one.solve.iterations as f64);
    let rounding = reference.solve.rounding_floor.unwrap() / 10.0;
    let share = if rounding <= reference.solve.tolerance / 100.0 { 0.01 } else { 0.05 };
    let most = if expected < 100.0 { 1.0 } else { share * expected };
    assert!((found - expected).abs() <= most, "{what}: {found} iterations, expected {expected}");
    // The first residuals are those of the same iteration; rounding separates later ones.
    for (k, (r, s)) in ours.residuals.iter().zip(&reference.residuals).take(10).enumerate() {
        assert!((r - s).abs() <= 1e-6 * s + 1e-12, "{what}: residual {k} is {r:e}, expected {s:e}");
    }
}

const PRECONDITIONERS: [&str; 4] = ["none", "jacobi", "symgs", "fsai"];

#[test]
fn every_preconditioner_in_every_format_solves_as_the_processor_does() {
    let (backend, cpu) = (gpu!(), CpuBackend::new());
    for (name, a) in systems() {
        let problem = problem(a, Given::default());
        for preconditioner in PRECONDITIONERS {
            for start in ["zero", "precond"] {
                let base = [(PRECOND.id(), preconditioner), (START.id(), start), (POWER.id(), "1")];
                let reference = solved(&cpu, &with("cpu/pcg/serial", &base), &problem).unwrap();
                for format in ["csr", "hyb", "hll"] {
                    let formats = [(FORMAT_A.id(), format), (FORMAT_G.id(), format)];
                    let configuration = with("cuda/pcg/device", &[&base[..], &formats].concat());
                    let what = format!("{name}: {preconditioner} from {start} in {format}");
                    let ours = solved(&backend, &configuration, &problem).unwrap();
                    assert_near(&ours, &reference, &what);
                    let check = problem.check(&configuration, &Output::Solution(Box::new(ours)));
                    assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
                }
            }
        }
    }
}

#[test]
fn two_solves_have_the_same_bits() {
    let backend = gpu!();
    for a in [laplacian(60, 0), arrow(5000), laplacian(120, 0)] {
        let problem = problem(a, Given::default());
        for preconditioner in PRECONDITIONERS {
            for format in ["csr", "hyb", "hll"] {
                let values =
                    [(PRECOND.id(), preconditioner), (FORMAT_A.id(), format), (POWER.id(), "1")];
                let configuration = with("cuda/pcg/device", &values);
                let mut prepared = ready(&backend, &configuration, &problem).unwrap();
                let mut bits = || match output(&mut prepared).unwrap() {
                    Output::Solution(solution) => {
                        let all = solution.x.iter().chain(&solution.residuals);
                        all.map(|value| value.to_bits()).collect::<Vec<_>>()
                    }
                    other => panic!("{}", other.kind()),
                };
                let first = bits();
                for _ in 0..3 {
                    assert!(first == bits(), "{preconditioner} in {format}");
                }
            }
        }
    }
}

/// Solves in HLL with values as they are and as codes, which must have the same bits; returns the
/// bytes that codes save.
fn saved_by_codes(backend: &CudaBackend, a: Csr, preconditioner: &str) -> u64 {
    let problem = problem(a, Given::default());
    let [plain, auto] = ["plain", "auto"].map(|how| {
        let formats = [(FORMAT_A.id(), "hll"), (FORMAT_G.id(), "hll"), (VALUES.id(), how)];
        let values = [&[(PRECOND.id(), preconditioner), (POWER.id(), "1")][..], &formats].concat();
        let configuration = with("cuda/pcg/device", &values);
        let mut prepared = ready(backend, &configuration, &problem).unwrap();
        let Output::Solution(solution) = output(&mut prepared).unwrap() else {
            panic!("no solution")
        };
        let all = solution.x.iter().chain(&solution.residuals);
        let bits: Vec<u64> = all.map(|value| value.to_bits()).collect();
        (bits, prepared.costs().format_bytes)
    });
    assert!(plain.0 == auto.0, "{preconditioner}");
    plain.1 - auto.1
}

#[test]
fn codes_of_few_values_change_no_bits_and_save_the_bytes_they_should() {
    let backend = gpu!();
    let n = 9600;
    // The others are -1 and the 0 of padding. A row has 3 slots of 10 bytes and a length without codes,
    // 4 of 3 or 4 bytes with them.
    for (diagonal, saved_by_row) in [(1, 22), (254, 22), (255, 18), (8190, 18), (8191, 0), (n, 0)] {
        let table = if saved_by_row == 0 { 0 } else { 8 * (diagonal as u64 + 2) };
        let saved = saved_by_codes(&backend, chain(n, diagonal), "jacobi");
        assert_eq!(saved + table, n as u64 * saved_by_row, "{diagonal} on the diagonal");
    }
    // Adjacent rows with values that samples elsewhere lack: one, enough for wider codes, too many.
    let n = 98_304;
    for (others, saved_by_row) in [(1, 22), (300, 18), (9000, 0)] {
        let diagonal = |i: usize| if (1000..1000 + others).contains(&i) { i as f64 } else { 2.5 };
        let table = if saved_by_row == 0 { 0 } else { 8 * (others as u64 + 3) };
        let saved = saved_by_codes(&backend, chain_of(n, diagonal), "jacobi");
        assert_eq!(saved + table, n as u64 * saved_by_row, "{others} others");
    }
    // Two windows take a bit of a code. Rows have 2 nonzeros, and 3 from 40 000 to 58 304, which is the
    // first of its hack; the last hack has one row.
    let (n, stored) = (98_305, 98_336_u64);
    for (diagonal, bytes) in [(126, 3), (127, 4)] {
        let (slots, table) = (2 * stored + 18_336, 8 * (diagonal as u64 + 2));
        let saved = saved_by_codes(&backend, far(n, 40_000, diagonal), "jacobi");
        let expected = 10 * slots + 4 * n as u64 - 4 * bytes * stored;
        assert_eq!(saved + table, expected, "{diagonal} on the diagonal");
    }
    // The first columns beyond one window of A, beyond one of G, whose rows are then in the second, and
    // beyond two of G.
    for (n, apart) in [(98_305, 32_768), (98_305, 65_536), (131_105, 131_072)] {
        assert!(saved_by_codes(&backend, far(n, apart, 1), "fsai") > 0, "{apart} apart");
    }
    // The columns of the arrow need 32 bits, and two lanes share a row: its longest makes many slots.
    for (name, a) in [
        ("a long row, 8-bit codes", chain_with_a_long_row(9600, 1)),
        ("a long row, 16-bit codes", chain_with_a_long_row(9600, 300)),
        ("7 points", made("stencil7?n=30")),
        ("an arrow", arrow(140_000)),
    ] {
        for preconditioner in ["none", "jacobi", "fsai"] {
            let saved = saved_by_codes(&backend, a.clone(), preconditioner);
            assert!(saved > 0, "{name}, {preconditioner}");
        }
    }
    // Few rows of many nonzeros, each shared by several lanes, keep distances and values.
    assert_eq!(saved_by_codes(&backend, made("stencil27?n=30"), "jacobi"), 0);
    // So does a matrix of two windows with few nonzeros per row, but a long row, which makes many slots.
    assert_eq!(saved_by_codes(&backend, arrow(60_000), "jacobi"), 0);
}

#[test]
fn a_right_side_of_zeros_is_answered_by_zeros_whatever_is_begun_with() {
    let backend = gpu!();
    for start in [None, Some(Arc::new(vec![1.0; 100]))] {
        let given = Given { b: Some(Arc::new(vec![0.0; 100])), start, ..Given::default() };
        let problem = problem(laplacian(10, 0), given);
        for preconditioner in PRECONDITIONERS {
            let configuration = with("cuda/pcg/device", &[(PRECOND.id(), preconditioner)]);
            let solution = solved(&backend, &configuration, &problem).unwrap();
            assert_eq!((solution.solve.iterations, solution.x), (0, vec![0.0; 100]));
            assert!(solution.solve.converged && solution.residuals == [0.0]);
        }
    }
}

#[test]
fn what_is_given_to_begin_with_is_begun_with() {
    let (backend, cpu) = (gpu!(), CpuBackend::new());
    let start = Some(Arc::new((0..1600).map(|i| f64::from(i % 7)).collect()));
    let problem = problem(laplacian(40, 0), Given { start, ..Given::default() });
    for preconditioner in PRECONDITIONERS {
        let of = |id| with(id, &[(PRECOND.id(), preconditioner)]);
        let reference = solved(&cpu, &of("cpu/pcg/serial"), &problem).unwrap();
        let ours = solved(&backend, &of("cuda/pcg/device"), &problem).unwrap();
        assert_near(&ours, &reference, preconditioner);
        let [a, b] = [&ours, &reference].map(|one| one.ritz.last().copied().unwrap());
        assert!((a - b).abs() < 1e-3 * b, "{preconditioner}: Ritz values {a} and {b}");
    }
}

#[test]
fn what_breaks_down_or_gives_up_says_what_the_processor_says() {
    let (backend, cpu) = (gpu!(), CpuBackend::new());
    // Symmetric with a positive diagonal, and indefinite.
    let mut triplets: Vec<_> = (0..50).map(|i| (i, i, 1.0)).collect();
    triplets.extend((1..50).flat_map(|i| [(i, i - 1, 3.0), (i - 1, i, 3.0)]));
    let indefinite = Csr::from_triplets(50, 50, &triplets).unwrap();
    let b = (0..50).map(|i| f64::from(i % 2) - 0.5).collect();
    let given = Given { b: Some(Arc::new(b)), ..Given::default() };
    let problem = problem(indefinite, given);
    for preconditioner in ["none", "jacobi"] {
        for id in ["cuda/pcg/device", "vendor/cusparse/pcg"] {
            let of = |id| with(id, &[(PRECOND.id(), preconditioner)]);
            let configuration = of(id);
            if let Availability::Missing(why) = backend.availability(configuration.kernel) {
                skip!(Need::Cusparse, "{why}");
            }
            let ours = solved(&backend, &configuration, &problem).unwrap_err().reason;
            let expected = solved(&cpu, &of("cpu/pcg/serial"), &problem).unwrap_err().reason;
            // The GPU does not compute the rounding error bound.
            assert!(expected.ends_with("so the matrix is not positive definite"), "{expected}");
            let so = "so the matrix is not positive definite or is numerically singular";
            assert!(ours.ends_with(so), "{id}: {ours}");
            let iteration =
                |sentence: &str| sentence.split_once(": p·Ap is ").unwrap().0.to_owned();
            assert_eq!(iteration(&ours), iteration(&expected), "{id}");
        }
    }
}

#[test]
fn a_solve_ends_after_the_iterations_it_may_make() {
    let (backend, cpu) = (gpu!(), CpuBackend::new());
    let problem = problem(laplacian(40, 0), Given::default());
    for preconditioner in PRECONDITIONERS {
        for most in ["1", "5", "16", "17", "33"] {
            let values =
                [(PRECOND.id(), preconditioner), (MAX_ITER.id(), most), (TOL.id(), "1e-14")];
            let reference = solved(&cpu, &with("cpu/pcg/serial", &values), &problem).unwrap();
            let ours = solved(&backend, &with("cuda/pcg/device", &values), &problem).unwrap();
            assert_eq!(
                ours.solve.iterations, reference.solve.iterations,
                "{preconditioner} {most}"
            );
            assert_eq!(ours.residuals.len(), reference.residuals.len());
            assert_near(&ours, &reference, preconditioner);
            let pairs = ours.x.iter().zip(&reference.x);
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{preconditioner} {most}: x is off by {off:e}");
        }
    }
}

#[test]
fn a_solve_is_stopped_between_iterations_and_can_be_made_again() {
    let backend = gpu!();
    let problem = problem(laplacian(300, 0), Given::default());
    for preconditioner in PRECONDITIONERS {
        let values = [(PRECOND.id(), preconditioner)];
        let configuration = with("cuda/pcg/device", &values);
        let mut prepared = ready(&backend, &configuration, &problem).unwrap();
        let cancel = AtomicBool::new(false);
        let at_once = |_: f64| cancel.store(true, Ordering::Relaxed);
        let stopped = prepared.output(&Watch::new(&cancel, &at_once)).wait().unwrap();
        assert!(stopped.is_none(), "{preconditioner}");
        let solution = output(&mut prepared).unwrap();
        let check = problem.check(&configuration, &solution);
        assert_eq!(check.verdict, Verdict::Pass, "{preconditioner}: {:?}", check.reason);
    }
}

#[test]
fn samples_are_solves_and_an_iteration_is_few_launches() {
    let backend = gpu!();
    let problem = problem(laplacian(40, 0), Given::default());
    let never = AtomicBool::new(false);
    let watch = Watch::cancelled_by(&never);
    for (preconditioner, format, launches) in
        [("none", "csr", 3), ("jacobi", "hll", 3), ("fsai", "csr", 5), ("fsai", "hll", 5)]
    {
        let values =
            [(PRECOND.id(), preconditioner), (FORMAT_A.id(), format), (FORMAT_G.id(), format)];
        let configuration = with("cuda/pcg/device", &values);
        let mut prepared = ready(&backend, &configuration, &problem).unwrap();
        let first = output(&mut prepared).unwrap();
        for temperature in [Temperature::Hot, Temperature::Cold] {
            let samples = prepared.sample(3, temperature, &watch).wait().unwrap();
            assert!(samples.len() == 3 && samples.iter().all(|&s| s > 1e-6), "{samples:?}");
        }
        let Output::Solution(last) = prepared.last_output().wait().unwrap() else {
            panic!("no solution")
        };
        let Output::Solution(first) = first else { panic!("no solution") };
        assert_eq!(first.x, last.x);
        let costs = prepared.costs();
        assert_eq!(costs.launches.len(), launches, "{preconditioner} in {format}");
        assert_eq!(costs.plan_s, last.solve.setup_s);
        let phases: Vec<_> = last.solve.phases.iter().map(|phase| phase.name.as_str()).collect();
        // All on the device.
        let copies = ["transfer", "to_host"];
        assert!(phases.iter().all(|name| !copies.contains(name)), "{phases:?}");
    }
}

#[test]
fn the_vendors_libraries_solve_as_the_processor_does() {
    let (backend, cpu) = (gpu!(), CpuBackend::new());
    for (name, a) in systems() {
        let problem = problem(a, Given::default());
        for (id, preconditioners) in [
            ("vendor/cusparse/pcg", &["none", "jacobi", "fsai"][..]),
            ("vendor/cusparse/pcg-transposed", &["fsai"]),
        ] {
            for preconditioner in preconditioners {
                let values = [(PRECOND.id(), *preconditioner), (POWER.id(), "1")];
                let of = |id| with(id, &values);
                let configuration = of(id);
                if let Availability::Missing(why) = backend.availability(configuration.kernel) {
                    skip!(Need::Cusparse, "{why}");
                }
                let what = format!("{name}: {id} with {preconditioner}");
                let reference = solved(&cpu, &of("cpu/pcg/serial"), &problem).unwrap();
                let ours = solved(&backend, &configuration, &problem).unwrap();
                assert_near(&ours, &reference, &what);
                let check = problem.check(&configuration, &Output::Solution(Box::new(ours)));
                assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
            }
        }
    }
}
