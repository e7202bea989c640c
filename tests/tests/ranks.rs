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
    let on_gpus = ["bench", cube, "--kernels", "nccl/*/*", "--backend", "cpu", "-o", "b.zip"];
    let cases: [(&str, &[&str]); 9] = [
        ("is not what several ranks run here", &["spmv", cube, "-o", "y.mtx"]),
        ("--until is for one process", &["bench", cube, "--until", "1%"]),
        ("products and solves only", &["bench", cube, "--operation", "symgs", "-o", "b.zip"]),
        ("--read-g is for one process", &["solve", cube, "--read-g", "g.mtx"]),
        ("mpi/pcg/halo-overlap takes no merge", &["solve", cube, "--merge", "1"]),
        ("precond cannot be symgs", &["solve", cube, "--precond", "symgs"]),
        ("no mpi spmv kernel matches", &["bench", cube, "--kernels", "cpu/*", "-o", "b.zip"]),
        ("--gpus is 3 or left out", &["bench", cube, "--gpus", "2", "-o", "b.zip"]),
        ("--backend cpu takes none", &on_gpus),
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

/// So many ranks with a GPU each, as far as the machine has them.
fn run_on_gpus(program: &Program, ranks: usize, args: &[&str]) -> Ran {
    Ran::of(program.ranks(ranks, args).env_remove("SPARSESCOPE_GPU").output().unwrap())
}

/// The numbers of ranks that find a GPU each, or why not even two do.
fn ranks_with_gpus(program: &Program) -> Result<Vec<usize>, String> {
    let product = ["spmv", "gen:poisson2d?n=9", "--kernel", "nccl/csr/halo-overlap"];
    let args = [&product[..], &["-o", "y.mtx", "--force"]].concat();
    let mut found = Vec::new();
    for ranks in [2, 4] {
        match run_on_gpus(program, ranks, &args) {
            ran if ran.code == Some(0) => found.push(ranks),
            ran if found.is_empty() => return Err(ran.err),
            _ => {}
        }
    }
    Ok(found)
}

#[test]
fn ranks_with_a_gpu_each_compute_the_products_and_solutions_of_one_process() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let counts = match ranks_with_gpus(&program) {
        Ok(counts) => counts,
        Err(why) => skip!(Need::Nccl, "{why}"),
    };
    let read = |name: &str| std::fs::read(program.path(name)).unwrap();
    for matrix in OF_INTEGERS.iter().chain(&OF_REALS) {
        program.succeed(&["spmv", matrix, "-o", "one.mtx", "--force"]);
        for kernel in ["nccl/csr/halo-overlap", "nccl/hll/halo-overlap"] {
            for &ranks in &counts {
                let compared = ["--expect", "one.mtx", "--tol", "1e-12", "-o", "y.mtx", "--force"];
                let args = [&["spmv", matrix, "--kernel", kernel], &compared[..]].concat();
                let ran = run_on_gpus(&program, ranks, &args);
                let what = format!("{matrix}, {kernel}, {ranks} ranks");
                assert_eq!(ran.code, Some(0), "{what}: {}", ran.err);
                let is_exact = OF_INTEGERS.contains(matrix);
                assert!(!is_exact || read("y.mtx") == read("one.mtx"), "{what}");
            }
        }
    }
    for matrix in ["gen:fem-hex?n=6&dof=3", "gen:poisson2d?n=30", "gen:stencil27?n=1"] {
        for with in [["--precond", "none"], ["--precond", "jacobi"]] {
            let one = ["solve", matrix, with[0], with[1], "--kernel", "cpu/pcg/serial", "--json"];
            let one = solved(&Ran::of(program.command(&one).output().unwrap()));
            for &ranks in &counts {
                let kernel = ["--kernel", "nccl/pcg/halo-overlap", "--json"];
                let args = [&["solve", matrix], &with[..], &kernel].concat();
                let several = solved(&run_on_gpus(&program, ranks, &args));
                let [a, b] = [&one, &several].map(|of| of["iterations"].as_u64().unwrap());
                assert!(a.abs_diff(b) <= 1 + a / 100, "{matrix}, {with:?}, {ranks}: {a}, {b}");
            }
        }
    }
    let most = counts.last().copied().unwrap_or_default();
    for (operation, kernels) in [("spmv", 2), ("solve", 1)] {
        let asked = ["--operation", operation, "--backend", "cuda", "--runs", "5", "-q"];
        let asked = [&asked[..], if operation == "solve" { &["--precond", "jacobi"] } else { &[] }];
        let asked = asked.concat();
        let args = [&["bench", "gen:stencil27?n=20"], &asked[..], &["-o", "b.zip", "--force"]];
        let ran = run_on_gpus(&program, most, &args.concat());
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let bundle = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
        assert_eq!(bundle.runs.len(), kernels);
        for run in &bundle.runs {
            assert_eq!(run.check.verdict, Verdict::Pass, "{}: {:?}", run.kernel, run.check.reason);
            assert_eq!((run.samples.len(), &run.params["ranks"]), (5, &most.to_string()));
            let shared = run.distributed.as_ref().unwrap();
            assert_eq!((shared.transport.as_str(), shared.ranks.len()), ("nccl", most));
            assert!(bundle.environments[0].gpus.iter().any(|gpu| gpu.model == run.device));
        }
    }
    // More ranks than any machine has GPUs.
    let args =
        [&["spmv", "gen:poisson2d?n=9", "--kernel", "nccl/csr/halo-overlap"], &["-o", "y.mtx"][..]]
            .concat();
    let ran = run_on_gpus(&program, 17, &args);
    assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
}

/// What `solve` says of a system.
fn solved(ran: &Ran) -> serde_json::Value {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

/// Preconditioners, and entries of G that they have in one process: the same rows by whomever they are found.
const PRECONDITIONERS: [&[&str]; 5] = [
    &["--precond", "none"],
    &["--precond", "jacobi", "--b", "ones"],
    &["--power", "1", "--x0", "precond"],
    &["--power", "2", "--format", "hll", "--b", "range:3"],
    &["--pattern", "power", "--power", "2", "--prefilter", "1e-4", "--postfilter", "1e-3"],
];

#[test]
fn solves_of_any_number_of_ranks_take_the_iterations_of_one_process() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    // The last has fewer rows than ranks.
    for matrix in ["gen:fem-hex?n=6&dof=3", "gen:poisson2d?n=30", "gen:stencil27?n=1"] {
        for (k, with) in PRECONDITIONERS.into_iter().enumerate() {
            let kernel = ["--kernel", "cpu/pcg/serial", "--json", "-o", "one.mtx", "--force"];
            let one = [&["solve", matrix], with, &kernel].concat();
            let one = solved(&Ran::of(program.command(&one).output().unwrap()));
            let iterations = one["iterations"].as_u64().unwrap();
            let ranks = [1, 2, 3, 4, 7];
            for ranks in [ranks[k], ranks[(k + 2) % 5]] {
                let x = ["--json", "-o", "x.mtx", "--force"];
                let several = run(&program, ranks, &[&["solve", matrix], with, &x].concat());
                let what = format!("{matrix}, {with:?}, {ranks} ranks");
                let several = solved(&several);
                let found = several["iterations"].as_u64().unwrap();
                // As between backends: 1 below 100, else 1 %.
                assert!(found.abs_diff(iterations) <= 1 + iterations / 100, "{what}: {found}");
                for same in ["nnz", "nnz_g", "sizes", "tolerance"] {
                    assert_eq!(one[same], several[same], "{what}: {same}");
                }
                let [a, b] = [&one, &several].map(|of| of["b_norm"].as_f64().unwrap());
                assert!((a - b).abs() <= 1e-14 * a, "{what}: {a} {b}");
                let (read, x) = (|name| numbers(&program, name), "x.mtx");
                let largest = read("one.mtx").into_iter().map(f64::abs).fold(0.0, f64::max);
                for (a, b) in read("one.mtx").into_iter().zip(read(x)) {
                    assert!((a - b).abs() < 1e-6 * largest, "{what}: {a} {b}");
                }
            }
        }
    }
}

/// The numbers of a vector's file.
fn numbers(program: &Program, name: &str) -> Vec<f64> {
    let text = std::fs::read_to_string(program.path(name)).unwrap();
    let lines = text.lines().filter(|line| !line.starts_with('%')).skip(1);
    lines.map(|line| line.trim().parse().unwrap()).collect()
}

#[test]
fn iterations_with_fewer_reductions_solve_the_system_too() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    // More than 50 iterations, after which the pipelined one computes its vectors anew.
    for (with, ranks) in [(&["--precond", "none"][..], 3), (&["--power", "2"], 2)] {
        let classic = [&["solve", "gen:poisson2d?n=60", "--json"], with].concat();
        let one = solved(&run(&program, ranks, &classic));
        let iterations = one["iterations"].as_u64().unwrap();
        for cg in ["single", "pipelined"] {
            let other = solved(&run(&program, ranks, &[&classic[..], &["--cg", cg]].concat()));
            assert_eq!(other["params"]["cg"], cg);
            let found = other["iterations"].as_u64().unwrap();
            assert!(
                found > 50 && found.abs_diff(iterations) <= 2 + iterations / 20,
                "{cg}: {found}"
            );
            // The truth, not what the recurrence says.
            assert!(other["true_residual"].as_f64().unwrap() <= 1.1e-10 + 1e-12, "{cg}: {other}");
            assert_eq!(other["check"]["verdict"], "pass");
        }
    }
    let refused = Ran::of(
        program.command(&["solve", "gen:poisson2d?n=9", "--cg", "single"]).output().unwrap(),
    );
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("--cg is for several ranks"), "{}", refused.err);
}

#[test]
fn solves_are_measured_with_what_an_iteration_sends_and_sums() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let solve = ["bench", "gen:stencil27?n=8", "--operation", "solve", "--precond", "jacobi,fsai"];
    let with = ["--power", "1", "--cg", "classic,pipelined", "--runs", "3", "-q", "-o", "b.zip"];
    let ran = run(&program, 3, &[&solve[..], &with].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert!(ran.out.contains("messages an iteration"), "{}", ran.out);
    let bundle = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
    assert_eq!((bundle.complete, bundle.runs.len()), (true, 4));
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{:?}", run.check.reason);
        let (shared, solve) = (run.distributed.as_ref().unwrap(), run.solve.as_ref().unwrap());
        let has_factor = run.params["precond"] == "fsai";
        let is_classic = run.params["cg"] == "classic";
        assert_eq!(shared.reductions, Some(if is_classic { 2 } else { 1 }));
        // A cube in three slabs: planes of 64 from each neighbour for A; those before it for G, and those after it
        // for its transpose.
        assert_eq!(shared.pairs.len(), 4);
        let planes = if has_factor { 2 } else { 1 };
        assert_eq!(shared.messages(), 4 * planes);
        let halos: u64 = shared.ranks.iter().map(|rank| 8 * rank.halo).sum();
        assert_eq!(shared.bytes(), halos * planes);
        assert_eq!(solve.sizes.is_some(), has_factor);
        assert!(solve.iterations > 3 && run.history.is_some() && run.work.is_some());
        assert_eq!(run.samples.len(), 3);
    }
}

#[test]
fn a_solve_that_is_stopped_in_a_later_sample_keeps_those_before_it() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let solve = ["bench", "gen:poisson2d?n=60", "--operation", "solve", "--precond", "none"];
    let with = ["--runs", "100000", "--threads", "1", "--time-limit", "8s", "-q", "-o", "b.zip"];
    let ran = run(&program, 2, &[&solve[..], &with].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let bundle = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
    assert_eq!((bundle.complete, bundle.runs.len()), (false, 1));
    let stopped = &bundle.runs[0];
    assert_eq!(stopped.check.verdict, Verdict::Pass, "{:?}", stopped.check.reason);
    assert!(stopped.cut_short && (1..100_000).contains(&stopped.samples.len()));
}

#[test]
fn what_cannot_be_solved_is_told_by_the_row_that_one_process_names() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let head = "%%MatrixMarket matrix coordinate real general\n8 8 ";
    let diagonal: String = (1..=8).map(|i| format!("{i} {i} 2\n")).collect();
    let beside: String = (1..8).map(|i| format!("{i} {} -1\n{} {i} -1\n", i + 1, i + 1)).collect();
    let ends = diagonal.replace("1 1 2", "1 1 1").replace("8 8 2", "8 8 1");
    let cases = [
        // The Laplacian of a path: no rank alone sees that its rows add up to zero.
        (format!("{head}22\n{ends}{beside}"), "b = A·1 is zero up to rounding"),
        // The pair lies with two ranks.
        (format!("{head}10\n{diagonal}1 8 1\n8 1 1.5\n"), "row 0 (0-based) has 1 in column 7"),
        (
            format!("{head}9\n{diagonal}7 2 1\n"),
            "row 6 (0-based) has 1 in column 1 where row 1 has 0",
        ),
        (format!("{head}8\n{}", diagonal.replace("6 6 2", "6 6 -2")), "row 5 (0-based) has -2"),
        (format!("{head}7\n{}", diagonal.replace("4 4 2\n", "")), "row 3 (0-based) has no entry"),
        (
            format!("{head}10\n{diagonal}2 7 3\n7 2 3\n"),
            "not positive definite on the pattern of row 6 (0-based, 2 entries)",
        ),
    ];
    for (text, sentence) in cases {
        program.write("a.mtx", &text);
        let ran = run(&program, 3, &["solve", "a.mtx", "--power", "1"]);
        assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{sentence}: {}", ran.err);
        assert!(errors(&ran)[0].contains(sentence), "{sentence}: {}", ran.err);
    }
}

#[test]
fn rows_numbered_anew_by_a_rule_or_a_partition_file_give_the_same_matrix_and_solution() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    program.succeed(&["generate", "gen:fem-hex?n=5&dof=3", "-o", "a.mtx"]);
    let rows = 5 * 5 * 5 * 3;
    let open = |name: &str| Bundle::open(&program.path(name), &Limits::default()).unwrap();
    let with = ["--runs", "2", "--threads", "1", "-q", "--force", "-o"];
    for matrix in ["gen:fem-hex?n=5&dof=3", "a.mtx"] {
        let one = ["bench", matrix, "--reorder", "rcm", "--kernels", "cpu/csr/serial"];
        program.succeed(&[&one[..], &with, &["one.zip"]].concat());
        let several = [&["bench", matrix, "--reorder", "rcm"], &with[..], &["b.zip"]].concat();
        let ran = run(&program, 3, &several);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let (one, several) = (open("one.zip"), open("b.zip"));
        let [one, other] = [&one, &several].map(|bundle| &bundle.matrices[0].record);
        assert_eq!(
            (&one.id, &one.sha256, &one.reordered),
            (&other.id, &other.sha256, &other.reordered)
        );
        assert!(several.runs.iter().all(|run| run.check.verdict == Verdict::Pass));

        // Every third row is rank 2's; rank 1 has none.
        let ranks: String = (0..rows).map(|row| if row % 3 == 0 { "2\n" } else { "0\n" }).collect();
        program.write("ranks.txt", &ranks);
        let args = [&["bench", matrix, "--partition", "ranks.txt"], &with[..], &["b.zip"]].concat();
        let ran = run(&program, 3, &args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        let several = open("b.zip");
        let record = &several.matrices[0].record;
        let reordered = record.reordered.as_ref().unwrap();
        assert_eq!(
            (reordered.by.as_str(), reordered.profile),
            ("partition", one.reordered.as_ref().unwrap().profile)
        );
        for run in &several.runs {
            assert_eq!(run.check.verdict, Verdict::Pass, "{:?}", run.check.reason);
            let shared = run.distributed.as_ref().unwrap();
            let of_ranks: Vec<u64> = shared.ranks.iter().map(|rank| rank.rows).collect();
            assert_eq!((shared.partition.as_str(), of_ranks), ("file", vec![250, 0, 125]));
        }
        // The solution comes back in the order of the file.
        let solve = ["solve", matrix, "--power", "1", "--b", "ones", "--json", "--force", "-o"];
        let one = solved(&Ran::of(
            program.command(&[&solve[..], &["one.mtx"]].concat()).output().unwrap(),
        ));
        let args = [&solve[..], &["x.mtx", "--partition", "ranks.txt"]].concat();
        let other = solved(&run(&program, 3, &args));
        assert_eq!(one["check"]["verdict"], other["check"]["verdict"]);
        let (a, b) = (numbers(&program, "one.mtx"), numbers(&program, "x.mtx"));
        let largest = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-7 * largest));
    }
    // A permutation that was written once gives the matrix that the rule gives, and no rank needs it whole.
    program.succeed(&["info", "a.mtx", "--reorder", "rcm", "--write-permutation", "rcm.txt"]);
    let args = [&["bench", "a.mtx", "--permutation", "rcm.txt"], &with[..], &["b.zip"]].concat();
    let ran = run(&program, 3, &args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let [one, other] = ["one.zip", "b.zip"].map(|name| open(name).matrices[0].record.clone());
    assert_eq!(one.sha256, other.sha256);
    assert_eq!(other.reordered.unwrap().by, "permutation");
    program.write("ranks.txt", "0\n1\n");
    let args = ["bench", "a.mtx", "--partition", "ranks.txt", "-o", "c.zip", "-q"];
    let ran = run(&program, 2, &args);
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("ranks.txt: the partition file: 2 lines for 375 rows"), "{}", ran.err);
    let told = program.fail(2, &args);
    assert!(told.contains("--partition is for several ranks"), "{told}");
}

#[test]
fn a_compressed_file_is_read_by_one_rank_and_is_the_same_matrix() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    program.succeed(&["generate", "gen:powerlaw?m=900&nnz=5000&max=80", "-o", "a.mtx"]);
    program.succeed(&["generate", "gen:powerlaw?m=900&nnz=5000&max=80", "-o", "a.mtx.gz"]);
    let record = |name: &str| {
        let bundle = Bundle::open(&program.path(name), &Limits::default()).unwrap();
        bundle.matrices[0].record.clone()
    };
    for ranks in [1, 4, 7] {
        let args = ["--runs", "2", "--threads", "1", "-q", "--force", "-o"];
        let plain = run(&program, ranks, &[&["bench", "a.mtx"], &args[..], &["a.zip"]].concat());
        let packed =
            run(&program, ranks, &[&["bench", "a.mtx.gz"], &args[..], &["b.zip"]].concat());
        assert_eq!((plain.code, packed.code), (Some(0), Some(0)), "{}{}", plain.err, packed.err);
        assert!(
            packed.err.contains("rank 0: it is compressed: this rank reads it"),
            "{}",
            packed.err
        );
        assert_eq!(record("a.zip").sha256, record("b.zip").sha256);
    }
    let text = std::fs::read_to_string(program.path("a.mtx")).unwrap();
    let lines = text.lines().count();
    let wrong: String = text
        .lines()
        .zip(1..)
        .map(
            |(line, number)| {
                if number == lines - 9 { "1 x 3\n".to_owned() } else { format!("{line}\n") }
            },
        )
        .collect();
    program.write("wrong.mtx", &wrong);
    assert!(Command::new("gzip").arg(program.path("wrong.mtx")).status().unwrap().success());
    let ran = run(&program, 4, &["bench", "wrong.mtx.gz", "-q", "-o", "c.zip"]);
    let expected = format!("wrong.mtx.gz: line {}: expected a column index", lines - 9);
    assert!(ran.err.contains(&expected), "{}", ran.err);
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

/// Three ranks of a bench, of which one is killed once the journal of `b.zip` says so.
#[cfg(target_os = "linux")]
fn with_a_rank_killed(program: &Program, args: &[&str], until: impl Fn(&str) -> bool) -> Ran {
    let mut command = program.ranks(3, &[args, &["-q", "-o", "b.zip"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let journal = journal_path(&program.path("b.zip"));
    let folder = program.folder().canonicalize().unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    let within = |child: &mut std::process::Child, what: &str| {
        assert!(Instant::now() < deadline, "waited too long until {what}");
        assert!(child.try_wait().unwrap().is_none(), "the ranks ended before {what}");
        std::thread::sleep(Duration::from_millis(20));
    };
    while !std::fs::read_to_string(&journal).is_ok_and(|text| until(&text)) {
        within(&mut child, "the journal was so far");
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
    assert!(!program.path("b.zip").exists());
    ran
}

#[cfg(target_os = "linux")]
#[test]
fn a_rank_that_dies_ends_the_others_and_the_journal_stays() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let matrices = ["bench", "gen:stencil27?n=20", "gen:stencil27?n=24"];
    let args = [&matrices[..], &["--runs", "20000", "--threads", "1"]].concat();
    with_a_rank_killed(&program, &args, |journal| !journal.is_empty());
    let journal = journal_path(&program.path("b.zip"));
    let kept = Journal::recover(&journal, &Limits::default()).unwrap();
    assert!(!kept.complete && kept.environments.len() == 1);
}

#[cfg(target_os = "linux")]
#[test]
fn what_ranks_began_as_many_continue() {
    if !has_mpirun() {
        skip!(Need::Mpi, "mpirun of Open MPI is not here");
    }
    let program = program();
    let matrices = ["bench", "gen:stencil27?n=9", "gen:stencil27?n=20"];
    let args = [&matrices[..], &["--runs", "1500", "--label", "two cubes"]].concat();
    // The runs of the first matrix are there.
    let has_three = |journal: &str| journal.matches("\"samples\":[").count() >= 3;
    with_a_rank_killed(&program, &args, has_three);
    let journal = journal_path(&program.path("b.zip"));
    let begun = Journal::recover(&journal, &Limits::default()).unwrap();
    assert_eq!(begun.runs.len(), 3);

    for (ranks, expected) in [(1, "begun by 3 ranks"), (2, "begun by 3 ranks")] {
        let ran = match ranks {
            1 => program.run(&["bench", "--resume", "b.zip"]),
            ranks => run(&program, ranks, &["bench", "--resume", "b.zip"]),
        };
        assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
        assert!(errors(&ran)[0].contains(expected), "{}", ran.err);
    }
    let ran = run(&program, 3, &["bench", "--resume", "b.zip", "-q"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let whole = Bundle::open(&program.path("b.zip"), &Limits::default()).unwrap();
    assert_eq!((whole.complete, whole.runs.len(), whole.matrices.len()), (true, 6, 2));
    assert_eq!((whole.environments.len(), whole.label.as_deref()), (2, Some("two cubes")));
    for run in &whole.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{}: {:?}", run.kernel, run.check.reason);
        let kept = begun
            .runs
            .iter()
            .find(|kept| (&kept.matrix, &kept.kernel) == (&run.matrix, &run.kernel));
        match kept {
            Some(kept) => assert_eq!(kept.samples, run.samples, "{}", run.kernel),
            None => assert_eq!(run.samples.len(), 1500),
        }
    }
    let ran = run(&program, 3, &["bench", "--resume", "b.zip"]);
    assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
    assert!(errors(&ran)[0].contains("nothing to continue"), "{}", ran.err);
    // A file that is not there leaves a bundle of one process incomplete.
    let one = ["bench", "gen:diagonal?m=9", "absent.mtx", "--kernels", "cpu/csr/*", "-q"];
    program.run(&[&one[..], &["--runs", "3", "-o", "one.zip"]].concat());
    let ran = run(&program, 3, &["bench", "--resume", "one.zip", "absent.mtx"]);
    assert_eq!((ran.code, errors(&ran).len()), (Some(1), 1), "{}", ran.err);
    assert!(errors(&ran)[0].contains("begun by one process"), "{}", ran.err);
}
