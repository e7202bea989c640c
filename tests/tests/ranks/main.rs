//! Several MPI ranks against one process, and what happens to all when one of them dies.
//!
//! `cargo test -p sparsescope-tests --features mpi --test ranks`
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::process::Command;

use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::generate::{GeneratorSpec, generate};
use sparsescope_core::measure::{DEFAULT_SEED, integer_vector};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Verdict;
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::{Program, Ran};

/// The program in its own folder, or a skip if there is no `mpirun`.
macro_rules! program {
    () => {{
        if !has_mpirun() {
            skip!(Need::Mpi, "mpirun of Open MPI is not here");
        }
        Program::new(env!("CARGO_BIN_EXE_sparsescope-under-test"))
    }};
}

#[cfg(target_os = "linux")]
mod deaths;
mod files;
mod gpus;
mod parting;
mod solves;

const KERNELS: [&str; 3] = ["mpi/csr/halo", "mpi/csr/halo-overlap", "mpi/hll/halo-overlap"];

fn has_mpirun() -> bool {
    let found = Command::new("mpirun").arg("--version").output();
    found.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("Open MPI"))
}

fn run(program: &Program, ranks: usize, args: &[&str]) -> Ran {
    Ran::of(program.ranks(ranks, args).output().unwrap())
}

fn errors(ran: &Ran) -> Vec<&str> {
    ran.err.lines().filter(|line| line.starts_with("error:")).collect()
}

/// The report of `solve`.
fn solved(ran: &Ran) -> serde_json::Value {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// The numbers in a vector file.
fn numbers(program: &Program, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(program.path(name)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('%')).skip(1);
    lines.map(|line| line.trim().parse().unwrap()).collect()
}

/// Integer matrices: with more ranks than rows, and with a row whose columns are on every rank, among them.
const OF_INTEGERS: [&str; 5] = [
    "gen:stencil27?n=6",
    "gen:stencil7?n=4&nz=9",
    "gen:stencil27?n=1",
    "gen:poisson2d?n=5",
    "gen:dense-row?m=40",
];

/// Real matrices: rows that need no other rank, and rectangles.
const OF_REALS: [&str; 3] =
    ["gen:diagonal?m=30", "gen:random?m=60&n=17&row=5", "gen:random?m=11&n=200&row=40"];

/// Whether all nonzeros are integers and every Σ|a_ij·x_j| is below 2⁵³, so that sums in any order have the
/// same bits.
fn sums_are_exact(matrix: &str) -> bool {
    let spec = GeneratorSpec::parse(matrix.strip_prefix("gen:").unwrap()).unwrap();
    let a = generate(&spec, MemoryLimit::unlimited(), &false.into()).unwrap();
    let x = integer_vector(a.cols(), DEFAULT_SEED);
    (0..a.rows()).all(|i| {
        let (col, val) = a.row(i);
        let size: f64 = col.iter().zip(val).map(|(&c, v)| (v * x[c as usize]).abs()).sum();
        val.iter().all(|v| v.fract() == 0.0) && size < 2f64.powi(53)
    })
}

#[test]
fn any_number_of_ranks_computes_the_product_of_one_process() {
    let program = program!();
    for (m, matrix) in OF_INTEGERS.iter().chain(&OF_REALS).enumerate() {
        program.succeed(&["spmv", matrix, "-o", "one.mtx", "--force"]);
        let is_exact = OF_INTEGERS.contains(matrix);
        assert_eq!(sums_are_exact(matrix), is_exact, "{matrix}");
        for (k, ranks) in [1, 2, 3, 4, 7].into_iter().enumerate() {
            let kernel = KERNELS[(m + k) % 3];
            let args = [
                "spmv",
                matrix,
                "--kernel",
                kernel,
                "--expect",
                "one.mtx",
                "--tol",
                "1e-12",
                "-o",
                "y.mtx",
                "--force",
                "--threads",
                if ranks == 2 { "2" } else { "1" },
            ];
            let ran = run(&program, ranks, &args);
            assert_eq!(ran.code, Some(0), "{matrix}, {kernel}, {ranks} ranks: {}", ran.err);
            let read = |name| std::fs::read(program.path(name)).unwrap();
            assert!(
                !is_exact || read("y.mtx") == read("one.mtx"),
                "{matrix}, {kernel}, {ranks} ranks"
            );
        }
    }
}

#[test]
fn one_bundle_has_the_matrix_of_one_process_and_what_each_rank_did() {
    let program = program!();
    let matrices = ["gen:stencil27?n=9", "gen:powerlaw?m=900&nnz=5000&max=80"];
    let common = ["--runs", "5", "--threads", "1", "-q", "-v", "-o"];
    let one = [&["bench", "--kernels", "cpu/csr/serial"], &matrices[..], &common, &["one.zip"]];
    program.succeed(&one.concat());
    let ran = run(&program, 3, &[&["bench"], &matrices[..], &common, &["three.zip"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(
        ran.out.contains("mpi/hll/halo-overlap on stencil27?n=9 with 3 ranks of 1 thread"),
        "{}",
        ran.out
    );
    assert_eq!(program.files(), ["one.html", "one.zip", "three.html", "three.zip"]);
    let open = |name: &str| Bundle::open(&program.path(name), &Limits::default()).unwrap();
    let (one, three) = (open("one.zip"), open("three.zip"));
    for (one, three) in one.matrices.iter().zip(&three.matrices) {
        let (one, three) = (&one.record, &three.record);
        assert_eq!(
            (&one.id, &one.sha256, &one.generator),
            (&three.id, &three.sha256, &three.generator)
        );
        let (a, b) = (&one.statistics, &three.statistics);
        assert_eq!((a.rows, a.nnz, &a.row, a.profile), (b.rows, b.nnz, &b.row, b.profile));
        assert_eq!((a.lower_bandwidth, a.upper_bandwidth), (b.lower_bandwidth, b.upper_bandwidth));
        assert_eq!((a.diagonal, &a.nnz_class), (b.diagonal, &b.nnz_class));
    }
    assert_eq!((three.complete, three.runs.len()), (true, 6));
    for run in &three.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{}: {:?}", run.kernel, run.check.reason);
        assert_eq!((run.samples.len(), run.threads, run.params["ranks"].as_str()), (5, 3, "3"));
        let shared = run.distributed.as_ref().unwrap();
        assert_eq!((shared.transport.as_str(), shared.ranks.len(), shared.threads), ("mpi", 3, 1));
        let nnz = three.matrices.iter().find(|m| m.record.id == run.matrix).unwrap();
        let entries: u64 = shared.ranks.iter().map(|rank| rank.entries).sum();
        assert_eq!(entries, nnz.record.statistics.nnz);
        // A rank receives the elements of its halo.
        for (to, rank) in (0u32..).zip(&shared.ranks) {
            let comes: u64 = shared.pairs.iter().filter(|p| p.to == to).map(|p| p.bytes).sum();
            assert_eq!(comes, 8 * rank.halo);
            assert!(rank.computing_s > 0.0);
        }
        assert!(shared.links.iter().all(|link| link.bandwidth > 0.0));
    }
    // The slabs of a cube: two layers of 81 points between neighbours.
    let cube = three.runs[0].distributed.as_ref().unwrap();
    let halo: Vec<u64> = cube.ranks.iter().map(|rank| rank.halo).collect();
    assert!(halo[1] > halo[0] && cube.pairs.len() == 4, "{halo:?}");
}

#[test]
fn an_error_is_told_once_and_leaves_nothing() {
    const HALO: &str = "mpi/csr/halo";
    let program = program!();
    let cube = "gen:stencil7?n=30";
    let on_gpus = ["bench", cube, "--kernels", "nccl/*/*", "--backend", "cpu", "-o", "b.zip"];
    let cases: [(&str, &[&str]); 11] = [
        ("does not run on several ranks here", &["spmv", cube, "-o", "y.mtx"]),
        ("--x works with one process only", &["bench", cube, "--x", "x.mtx"]),
        (
            "--y works with one process only",
            &["spmv", cube, "--kernel", HALO, "-o", "y.mtx", "--y", "x.mtx"],
        ),
        ("--kernel-file works with one process only", &["bench", cube, "--kernel-file", "k.cu"]),
        (
            "only spmv and solve run on several ranks",
            &["bench", cube, "--operation", "symgs", "-o", "b.zip"],
        ),
        ("--read-g works with one process only", &["solve", cube, "--read-g", "g.mtx"]),
        ("mpi/pcg/halo-overlap has no parameter merge", &["solve", cube, "--merge", "1"]),
        ("precond cannot be symgs", &["solve", cube, "--precond", "symgs"]),
        ("no mpi spmv kernel matches", &["bench", cube, "--kernels", "cpu/*", "-o", "b.zip"]),
        ("expected --gpus 3 or no --gpus", &["bench", cube, "--gpus", "2", "-o", "b.zip"]),
        ("--backend excludes cuda", &on_gpus),
    ];
    for (expected, args) in cases {
        let ran = run(&program, 3, args);
        assert_eq!((ran.code, errors(&ran).len()), (Some(2), 1), "{args:?}: {}", ran.err);
        assert!(errors(&ran)[0].contains(expected), "{args:?}: {}", ran.err);
    }
    for (expected, option) in
        [("op cannot be t", ["--op", "t"]), ("takes no scale", ["--scale", "2"])]
    {
        let args = [&["spmv", cube, "--kernel", HALO, "-o", "y.mtx"][..], &option].concat();
        let ran = run(&program, 3, &args);
        assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{args:?}: {}", ran.err);
        assert!(errors(&ran)[0].contains(expected), "{args:?}: {}", ran.err);
    }
    let args = ["bench", cube, "--memory-limit", "10KiB", "-o", "b.zip", "-q"];
    let ran = run(&program, 3, &args);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(errors(&ran)[0].contains("more than the memory limit of 10240 bytes"), "{}", ran.err);
    let cases: [&[&str]; 4] = [
        &["bench", cube, "--kernels", "nccl/*/*", "-o", "b.zip"],
        &["bench", cube, "--backend", "cuda", "-o", "b.zip"],
        &["spmv", cube, "--kernel", "nccl/csr/halo-overlap", "-o", "y.mtx"],
        &["solve", cube, "--kernel", "nccl/pcg/halo-overlap", "-o", "x.mtx"],
    ];
    for args in cases {
        let ran = run(&program, 3, args);
        assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{args:?}: {}", ran.err);
        assert!(
            errors(&ran)[0].contains("turned off by SPARSESCOPE_GPU=off"),
            "{args:?}: {}",
            ran.err
        );
    }
    assert_eq!(program.files(), [""; 0]);
}
