//! Several ranks of MPI against one process, and what becomes of all when one of them dies.
//!
//! `cargo test -p sparsescope-tests --features mpi --test ranks`
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sparsescope_core::bundle::{Bundle, Journal, Limits, journal_path};
use sparsescope_core::generate::{GeneratorSpec, generate};
use sparsescope_core::measure::{DEFAULT_SEED, integer_vector};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Verdict;
use sparsescope_tests::{Need, Program, Ran, skip};

const KERNELS: [&str; 3] = ["mpi/csr/halo", "mpi/csr/halo-overlap", "mpi/hll/halo-overlap"];

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_sparsescope-under-test"))
}

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

/// Of integers: more ranks than rows, and a row whose columns live on every rank, among them.
const OF_INTEGERS: [&str; 5] = [
    "gen:stencil27?n=6",
    "gen:stencil7?n=4&nz=9",
    "gen:stencil27?n=1",
    "gen:poisson2d?n=5",
    "gen:dense-row?m=40",
];

/// Of reals: rows that need no other rank, and rectangles.
const OF_REALS: [&str; 3] =
    ["gen:diagonal?m=30", "gen:random?m=60&n=17&row=5", "gen:random?m=11&n=200&row=40"];

/// Whether all entries are integers and every Σ|a_ij·x_j| is below 2⁵³, so that sums in any order have the same bits.
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
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
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
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let matrices = ["gen:stencil27?n=9", "gen:powerlaw?m=900&nnz=5000&max=80"];
    let common = ["--runs", "5", "--threads", "1", "-q", "-o"];
    let one = [&["bench", "--kernels", "cpu/csr/serial"], &matrices[..], &common, &["one.zip"]];
    program.succeed(&one.concat());
    let ran = run(&program, 3, &[&["bench"], &matrices[..], &common, &["three.zip"]].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("mpi/hll/halo-overlap with 3 ranks of 1 thread"), "{}", ran.out);
    assert_eq!(program.files(), ["one.zip", "three.zip"]);
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
        // What a rank receives are the elements of its halo.
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
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let cube = "gen:stencil7?n=30";
    let cases: [(&str, &[&str]); 4] = [
        ("runs in one process", &["spmv", cube, "-o", "y.mtx"]),
        ("--resume is for one process", &["bench", cube, "--resume", "b.zip"]),
        ("products only", &["bench", cube, "--operation", "solve", "-o", "b.zip"]),
        ("no mpi spmv kernel matches", &["bench", cube, "--kernels", "cpu/*", "-o", "b.zip"]),
    ];
    for (expected, args) in cases {
        let ran = run(&program, 3, args);
        assert_eq!((ran.code, errors(&ran).len()), (Some(2), 1), "{args:?}: {}", ran.err);
        assert!(errors(&ran)[0].contains(expected), "{args:?}: {}", ran.err);
    }
    let args = ["bench", cube, "--memory-limit", "10KiB", "-o", "b.zip", "-q"];
    let ran = run(&program, 3, &args);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(errors(&ran)[0].contains("more than the memory limit of 10240 bytes"), "{}", ran.err);
    assert_eq!(program.files(), [""; 0]);
}

/// Duplicates, one triangle, an empty line and a last line without an end.
#[test]
fn ranks_that_read_a_share_of_a_file_each_have_its_matrix() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let mut text =
        "%%MatrixMarket matrix coordinate integer symmetric\n% rows\n50 50 101\n".to_owned();
    for k in 1..=50 {
        text += &format!("{k} {k} {}\n", 2 * k);
    }
    text += "50 1 7\n\n50 1 8";
    for k in 2..=50 {
        text += &format!("\n{k} {} -1", k - 1);
    }
    program.write("a.mtx", &text);
    let with = ["--runs", "2", "--threads", "1", "-q", "-o"];
    let one = ["bench", "a.mtx", "--kernels", "cpu/csr/serial"];
    program.succeed(&[&one[..], &with, &["one.zip"]].concat());
    program.succeed(&["spmv", "a.mtx", "-o", "one.mtx"]);
    let record = |name: &str| {
        let bundle = Bundle::open(&program.path(name), &Limits::default()).unwrap();
        bundle.matrices[0].record.clone()
    };
    for ranks in [1, 3, 7] {
        let args = [&["bench", "a.mtx", "--force"], &with[..], &["ranks.zip"]].concat();
        let ran = run(&program, ranks, &args);
        assert_eq!(ran.code, Some(0), "{ranks} ranks: {}", ran.err);
        let (one, other) = (record("one.zip"), record("ranks.zip"));
        assert_eq!((&one.id, &one.sha256, one.source), (&other.id, &other.sha256, other.source));
        assert_eq!((&one.field, &one.symmetry), (&other.field, &other.symmetry));
        let args = ["spmv", "a.mtx", "--kernel", "mpi/csr/halo-overlap", "-o", "y.mtx", "--force"];
        assert_eq!(run(&program, ranks, &args).code, Some(0));
        let read = |name| std::fs::read(program.path(name)).unwrap();
        assert_eq!(read("y.mtx"), read("one.mtx"), "{ranks} ranks");
    }
    for (wrong, expected) in [
        (text.replace("17 17 34", "17 17 x"), "a.mtx: line 20: expected an integer, found \"x\""),
        (text.replace("101", "99"), "a.mtx: 99 entries are declared, but there are 101"),
    ] {
        program.write("a.mtx", &wrong);
        let args = ["spmv", "a.mtx", "--kernel", "mpi/csr/halo", "-o", "z.mtx"];
        let ran = run(&program, 3, &args);
        assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
        assert!(errors(&ran)[0].contains(expected), "{}", ran.err);
    }
    assert!(!program.path("z.mtx").exists());
}

/// The rank of a process that Open MPI has started, and the folder that it runs in.
#[cfg(target_os = "linux")]
fn process_of_rank(rank: &str, folder: &std::path::Path) -> Option<String> {
    let wanted = format!("OMPI_COMM_WORLD_RANK={rank}");
    let is_it = |process: &std::path::Path| {
        let environment = std::fs::read(process.join("environ")).unwrap_or_default();
        let here = std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd == folder);
        here && environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let found = processes.map(|entry| entry.path()).find(|process| is_it(process))?;
    Some(found.file_name()?.to_string_lossy().into_owned())
}

#[cfg(target_os = "linux")]
#[test]
fn a_rank_that_dies_ends_the_others_and_the_journal_stays() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let args = [
        "bench",
        "gen:stencil27?n=20",
        "gen:stencil27?n=24",
        "--runs",
        "20000",
        "--threads",
        "1",
        "-q",
        "-o",
        "b.zip",
    ];
    let mut command = program.ranks(3, &args);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = journal_path(&program.path("b.zip"));
    let folder = program.folder().canonicalize().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    let within = |child: &mut std::process::Child, what: &str| {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        assert!(child.try_wait().unwrap().is_none(), "the ranks ended before {what}");
        std::thread::sleep(Duration::from_millis(20));
    };
    while !journal.is_file() {
        within(&mut child, "the journal was begun");
    }
    let victim = loop {
        match process_of_rank("1", &folder) {
            Some(process) => break process,
            None => within(&mut child, "rank 1 was found"),
        }
    };
    assert!(Command::new("kill").args(["-9", &victim]).status().unwrap().success());
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < deadline, "the other ranks hang");
        std::thread::sleep(Duration::from_millis(20));
    }
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_ne!(ran.code, Some(0));
    assert!(ran.err.contains("exited on signal 9"), "{}", ran.err);
    let kept = Journal::recover(&journal, &Limits::default()).unwrap();
    assert!(!kept.complete && kept.environments.len() == 1);
    assert!(!program.path("b.zip").exists());
}
