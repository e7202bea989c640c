//! Sweeps on a GPU: hard matrices, the check, and their reports.

use std::collections::BTreeSet;
use std::path::Path;

use sparsescope_core::experiment::{Groups, SymgsProblem, Temperature};
use sparsescope_core::gate::offenders;
use sparsescope_core::generate::{GeneratorSpec, generate};
use sparsescope_core::io::{AnyMatrix, Progress, open_matrix};
use sparsescope_core::kernel::parameters::MODE;
use sparsescope_core::symgs::{Diagonal, Mode, right_hand_side, serial, starting_vector};

use super::*;

mod zero_start;

fn ours() -> impl Iterator<Item = &'static KernelDescriptor> {
    kernels(Operation::Symgs).iter().filter(|k| k.id.starts_with("cuda/"))
}

fn vendors() -> &'static KernelDescriptor {
    kernels(Operation::Symgs).iter().find(|k| k.id.starts_with("vendor/")).unwrap()
}

pub(super) fn made(spec: &str) -> Csr {
    let spec = GeneratorSpec::parse(spec).unwrap();
    generate(&spec, MemoryLimit::unlimited(), &AtomicBool::new(false)).unwrap()
}

/// Rows with a slightly dominant diagonal, and nonzeros at the columns of `others`.
fn square(rows: usize, others: impl Fn(usize) -> Vec<usize>) -> Csr {
    let mut triplets = Vec::new();
    for i in 0..rows {
        let columns: BTreeSet<usize> =
            others(i).into_iter().filter(|&j| j != i && j < rows).collect();
        let share = 1.5 / (columns.len() + 1) as f64;
        for j in columns {
            triplets.push((i, j, share * (0.3 + ((i * 31 + j * 17) % 64) as f64 / 64.0)));
        }
        triplets.push((i, i, 1.0 + (i * 7 % 13) as f64 / 8.0));
    }
    Csr::from_triplets(rows, rows, &triplets).unwrap()
}

/// A pseudorandom number.
fn scattered(i: usize, j: usize) -> usize {
    let mut z = (i as u64) << 32 | (j as u64 + 1);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)) as usize
}

/// Matrices that break sweeps, named by what is unusual about them.
fn matrices() -> Vec<(String, Csr)> {
    let everyone = |n: usize| (0..n).collect::<Vec<_>>();
    let mut all: Vec<(String, Csr)> = Vec::new();
    let mut add = |name: &str, a: Csr| all.push((name.to_owned(), a));
    add("no rows", Csr::from_triplets(0, 0, &[]).unwrap());
    add("one row", square(1, |_| vec![]));
    add("diagonal only", square(1003, |_| vec![]));
    add("a full row", square(700, |i| if i == 300 { everyone(700) } else { vec![] }));
    add("a full column", square(700, |_| vec![300]));
    add(
        "a full first row and last column",
        square(999, |i| match i {
            0 => everyone(999),
            _ => vec![998],
        }),
    );
    add(
        "an arrow with a long last row",
        square(46_500, |i| match i {
            46_499 => everyone(46_500),
            _ => vec![46_499],
        }),
    );
    add(
        "an arrow with a long first row",
        square(5001, |i| match i {
            0 => everyone(5001),
            _ => vec![0],
        }),
    );
    add("a chain", square(3000, |i| vec![i.saturating_sub(1)]));
    add("a chain back", square(3000, |i| vec![i + 1]));
    add("two sides", square(2049, |i| vec![i.saturating_sub(1), i + 1]));
    add(
        "lower entries that nobody mirrors",
        square(4000, |i| (0..i % 9).map(|j| scattered(i, j) % (i + 1)).collect()),
    );
    add(
        "upper entries that nobody mirrors",
        square(4000, |i| (0..i % 9).map(|j| i + scattered(i, j) % 500).collect()),
    );
    for (rows, most) in [(60, 40), (997, 3), (5000, 12), (3001, 70)] {
        add(
            "no symmetry",
            square(rows, |i| {
                (0..scattered(i, 99) % most).map(|j| scattered(i, j) % rows).collect()
            }),
        );
    }
    add(
        "no symmetry within a band",
        square(6000, |i| (0..9).map(|j| (i + scattered(i, j) % 61).saturating_sub(30)).collect()),
    );
    add(
        "one row of 3000 among short ones",
        square(9000, |i| match i {
            4500 => (0..3000).map(|j| scattered(i, j) % 9000).collect(),
            _ => (0..3).map(|j| scattered(i, j) % 9000).collect(),
        }),
    );
    for spec in [
        "stencil7?n=12",
        "stencil27?n=9",
        "poisson2d?n=70",
        "kmer?m=100000",
        "kmer?m=20000&near=100",
        "kmer?m=3000&near=1&p=1000000",
        "random?m=5000&row=10&dominant=1",
        "fem-hex?n=5&dof=3&dominant=1",
    ] {
        add(spec, made(spec));
    }
    all
}

/// The suite matrices that are present, or a message that there are none.
fn real_matrices() -> Vec<(String, Csr)> {
    let Some(folder) = std::env::var_os("SPARSESCOPE_MATRICES") else {
        eprintln!("real matrices are left out: SPARSESCOPE_MATRICES names no folder");
        return Vec::new();
    };
    let names = [
        "xenon1",
        "cage10",
        "teko_nsjac",
        "teko_lsc_F_2",
        "c-62",
        "olm1000",
        "rdb450",
        "steam1",
        "mcca",
        "bcsstk16",
        "Dubcova1",
        "lap3d_40",
        "arrow",
    ];
    let open = |name: &&str| {
        let file = |ending: &str| Path::new(&folder).join(format!("{name}.{ending}"));
        let path = [file("mtx"), file("mtx.gz")].into_iter().find(|path| path.is_file());
        let Some(path) = path else {
            eprintln!("{name} is left out: it is not in the folder");
            return None;
        };
        match open_matrix(&path, MemoryLimit::unlimited(), Progress::none()).unwrap().matrix {
            AnyMatrix::Real(a) => Some(((*name).to_owned(), a)),
            AnyMatrix::Complex(_) => panic!("{name} is complex"),
        }
    };
    names.iter().filter_map(open).collect()
}

pub(super) fn problem(a: Csr) -> SymgsProblem {
    let (b, x) = (right_hand_side(a.rows(), 42), starting_vector(a.rows(), 42));
    SymgsProblem::new(Arc::new(a), b, x).unwrap()
}

fn configured(
    kernel: &'static KernelDescriptor,
    mode: Mode,
    precision: Precision,
) -> Configuration {
    let parameters = Parameters::default().with(MODE.id(), mode.as_str());
    Configuration { parameters, precision, ..Configuration::usual(kernel) }
}

/// Every mode and precision of a kernel.
fn all_of(kernel: &'static KernelDescriptor) -> impl Iterator<Item = Configuration> {
    let modes = Mode::ALL.into_iter().filter(move |mode| {
        kernel.allowed(MODE.id()).is_some_and(|allowed| allowed.contains(mode.as_str()))
    });
    modes.flat_map(move |mode| {
        kernel.precisions.iter().map(move |&precision| configured(kernel, mode, precision))
    })
}

/// Prepares, executes twice and checks both results.
fn pass(
    backend: &CudaBackend,
    configuration: &Configuration,
    problem: &dyn Problem,
    name: &str,
) -> BTreeSet<String> {
    let what = format!(
        "{} {:?} {}: {name}",
        configuration.kernel.id,
        configuration.precision,
        configuration.parameters.get(&MODE).as_str()
    );
    let prepared = backend.prepare(configuration, problem, MemoryLimit::unlimited());
    let mut prepared = prepared.unwrap_or_else(|error| panic!("{what}: {error}"));
    for _ in 0..2 {
        let output = output(&mut prepared).unwrap_or_else(|error| panic!("{what}: {error}"));
        let check = problem.check(configuration, &output);
        assert_eq!(check.verdict, Verdict::Pass, "{what}: {:?}", check.reason);
    }
    prepared.params().get("form").cloned().into_iter().collect()
}

/// The memory checks of `gpu-check.sh` run this test by name: they are slow.
#[test]
fn our_sweeps_pass_the_gate_on_small_matrices() {
    let backend = gpu!();
    let small = |(_, a): &(String, Csr)| a.rows() <= 1100;
    let mut few: Vec<_> = matrices().into_iter().filter(small).collect();
    few.extend([60, 200].map(|rows| ("a chain".to_owned(), square(rows, |i| vec![i / 2, i + 1]))));
    few.push(("few levels".to_owned(), made("kmer?m=1000")));
    for (name, a) in few {
        let problem = problem(a);
        for configuration in ours().flat_map(all_of) {
            pass(&backend, &configuration, &problem, &name);
        }
    }
}

#[test]
fn our_sweeps_pass_the_gate_on_matrices_that_break_sweeps() {
    let backend = gpu!();
    let mut forms = BTreeSet::new();
    for (name, a) in matrices() {
        let problem = problem(a);
        for configuration in ours().flat_map(all_of) {
            forms.extend(pass(&backend, &configuration, &problem, &name));
        }
    }
    // All forms were covered.
    assert!(forms.iter().eq(["rows", "slices", "threads"]), "{forms:?}");
}

#[test]
fn our_sweeps_pass_the_gate_on_real_matrices() {
    let backend = gpu!();
    for (name, a) in real_matrices() {
        let problem = problem(a);
        for configuration in ours().flat_map(all_of) {
            pass(&backend, &configuration, &problem, &name);
        }
    }
}

#[test]
fn vendors_sweeps_pass_the_gate_on_matrices_that_break_sweeps() {
    let backend = gpu!();
    if let Availability::Missing(why) = backend.availability(vendors()) {
        skip!(Need::Cusparse, "{why}");
    }
    for (name, a) in matrices().into_iter().chain(real_matrices()) {
        let problem = problem(a);
        for configuration in all_of(vendors()) {
            pass(&backend, &configuration, &problem, &name);
        }
    }
}

#[test]
fn exact_sweeps_keep_the_sign_of_zero() {
    let backend = gpu!();
    for spec in ["stencil27?n=9", "kmer?m=5000", "random?m=3000&row=10&dominant=1"] {
        let a = Arc::new(made(spec));
        let (mut b, mut x) = (right_hand_side(a.rows(), 1), starting_vector(a.rows(), 1));
        let n = a.rows();
        (x[n / 4], b[n / 4]) = (-0.0, -0.0);
        let problem = SymgsProblem::new(a, b, x).unwrap();
        for configuration in ours().filter(|k| k.exact).flat_map(all_of) {
            pass(&backend, &configuration, &problem, spec);
        }
    }
}

#[test]
fn sweeps_give_the_same_from_run_to_run() {
    let backend = gpu!();
    let problem = problem(made("random?m=20000&row=9&dominant=1"));
    for configuration in ours().filter(|k| k.deterministic).flat_map(all_of) {
        let mut prepared =
            backend.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
        let first = output(&mut prepared).unwrap();
        for _ in 0..5 {
            assert_eq!(output(&mut prepared).unwrap(), first, "{}", configuration.kernel.id);
        }
    }
}

#[test]
fn sweeps_are_timed_and_what_they_took_to_prepare_is_told_apart() {
    let backend = gpu!();
    let problem = problem(made("stencil27?n=20"));
    for kernel in ours() {
        let configuration = configured(kernel, Mode::Standard, Precision::F64);
        let mut prepared =
            backend.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
        let never = AtomicBool::new(false);
        for temperature in [Temperature::Hot, Temperature::Cold] {
            let samples =
                prepared.sample(3, temperature, &Watch::cancelled_by(&never)).wait().unwrap();
            assert!(samples.len() == 3 && samples.iter().all(|&s| s > 0.0), "{}", kernel.id);
        }
        let check = problem.check(&configuration, &prepared.last_output().wait().unwrap());
        assert_eq!(check.verdict, Verdict::Pass, "after timing, {}", kernel.id);
        let costs = prepared.costs();
        let is_planned = !kernel.id.contains("ready");
        assert_eq!(costs.plan_s > 0.0, is_planned, "{} {costs:?}", kernel.id);
        let is_converted = is_planned && kernel.id != "cuda/symgs/nodes";
        assert_eq!(costs.conversion_s > 0.0, is_converted, "{} {costs:?}", kernel.id);
        assert_eq!(costs.permute_s.is_some_and(|s| s > 0.0), is_converted, "{}", kernel.id);
    }
}

#[test]
fn passes_tell_how_many_blocks_they_launch_and_how_many_have_work() {
    let backend = gpu!();
    let a = made("stencil7?n=10");
    let (rows, levels) = (a.rows() as f64, 3.0 * 9.0 + 1.0);
    let problem = problem(a);
    for (id, is_listed) in [("cuda/symgs/ready-done", false), ("cuda/symgs/ready-compact", true)] {
        let kernel = ours().find(|k| k.id == id).unwrap();
        let configuration = configured(kernel, Mode::Standard, Precision::F64);
        let mut prepared =
            backend.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
        output(&mut prepared).unwrap();
        let told = prepared.told().unwrap();
        let [launched, with_work] = &told.series[..] else { panic!("{told:?}") };
        assert_eq!(
            (launched.name.as_str(), with_work.name.as_str()),
            ("blocks launched", "blocks with work")
        );
        // One pass per level, in either sweep; every row has work once in each.
        assert_eq!(launched.values.len() as f64, 2.0 * levels);
        assert_eq!(with_work.values.iter().sum::<f64>(), 2.0 * rows);
        match is_listed {
            true => assert_eq!(launched.values, with_work.values),
            false => assert!(launched.values.iter().all(|&blocks| blocks == rows)),
        }
    }
}

/// The student report counts 2.8 rows with an error above a thousandth on average, and at most 8;
/// its sums are not atomic.
#[test]
fn no_row_of_ten_runs_is_off_by_a_thousandth() {
    let backend = gpu!();
    let rows = 1_000_000;
    let a = made(&format!("kmer?m={rows}")).map(|v| v as f32);
    let diagonal = Diagonal::of(&a, MemoryLimit::unlimited()).unwrap();
    let start = starting_vector(rows, 42);
    let mut expected: Vec<f32> = start.iter().map(|&v| v as f32).collect();
    let zero = vec![0.0; rows];
    serial::symgs(&a, &diagonal, Mode::Smoother, &zero, &mut expected, 1);
    let problem = problem(made(&format!("kmer?m={rows}")));
    for kernel in ours().filter(|k| k.id != "cuda/symgs/colored") {
        let configuration = configured(kernel, Mode::Smoother, Precision::F32);
        let mut prepared =
            backend.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
        for run in 0..10 {
            let x = output(&mut prepared).unwrap().in_f64();
            let x: Vec<f32> = x.into_iter().map(|value| value as f32).collect();
            assert_eq!(offenders(&expected, &x), 0, "{} run {run}", kernel.id);
        }
    }
}

#[test]
fn several_sweeps_are_one_execution() {
    let backend = gpu!();
    let a = Arc::new(made("stencil27?n=8"));
    let (b, x) = (right_hand_side(a.rows(), 3), starting_vector(a.rows(), 3));
    let problem = SymgsProblem::with_sweeps(a, b, x, 4).unwrap();
    for configuration in ours().flat_map(all_of) {
        pass(&backend, &configuration, &problem, "four sweeps");
    }
}

#[test]
fn sweeps_tell_the_levels_and_colours_that_they_follow() {
    let backend = gpu!();
    let problem = problem(made("stencil27?n=10"));
    for kernel in ours() {
        let configuration = configured(kernel, Mode::Standard, Precision::F64);
        let prepared = backend.prepare(&configuration, &problem, MemoryLimit::unlimited()).unwrap();
        // x + 2y + 4z, and the corners of a cube.
        let expected = match kernel.id {
            // Each row is a node.
            "cuda/symgs/levels" | "cuda/symgs/sync-free" | "cuda/symgs/nodes" => {
                Some(Groups::Levels([64; 2]))
            }
            "cuda/symgs/colored" => Some(Groups::Colors(8)),
            _ => None,
        };
        assert_eq!(prepared.groups(), expected, "{}", kernel.id);
    }
}
