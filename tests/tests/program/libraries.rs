//! Kernel libraries (`--kernel-library`): each fault of a library ends its run with a reason, and no other run.

mod examples;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sparsescope_core::record::{Run, Verdict};
use sparsescope_tests::{Killed, Program};

use crate::common::{open, program, signal};

const FAULTY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/libraries/faulty.c");
const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/examples");

/// Builds a library into the program's folder.
fn build(p: &Program, source: &str, name: &str, defines: &[&str]) {
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-pthread", "-I", EXAMPLES]);
    compiler.args(defines).arg("-o").arg(p.path(name)).arg(source);
    assert!(compiler.status().expect("there is a C compiler").success(), "{name}");
}

/// Builds a library with this fault; returns the name of its file.
fn faulty(p: &Program, fault: &str) -> String {
    let name = format!("lib{}.so", fault.to_lowercase());
    build(p, FAULTY, &name, &[&format!("-DFAULT={fault}")]);
    name
}

/// The same for another operation.
fn faulty_of(p: &Program, operation: &str, fault: &str) -> String {
    let name = format!("lib{}.so", fault.to_lowercase());
    let fault = format!("-DFAULT={fault}");
    let operation = format!("-DOPERATION=SPARSESCOPE_{operation}");
    build(p, FAULTY, &name, &[&fault, &operation]);
    name
}

/// The arguments of a measurement of these libraries beside a kernel of ours.
fn bench<'a>(libraries: &[&'a str]) -> Vec<&'a str> {
    let bench = ["bench", "gen:poisson2d?n=30", "--kernels", "cpu/csr/serial", "--threads", "1"];
    let how = ["--runs", "20", "--no-report", "--library-limit", "2s", "-q", "-o", "b.zip"];
    let named = libraries.iter().flat_map(|library| ["--kernel-library", *library]);
    bench.into_iter().chain(how).chain(named).collect()
}

fn reason(run: &Run) -> &str {
    run.check.reason.as_deref().unwrap_or_default()
}

#[test]
fn right_and_faulty_libraries_are_told_apart() {
    const FAULTS: [(&str, Verdict, &str); 11] = [
        ("ZEROS", Verdict::Fail, "rows are wrong"),
        ("WRONG_IF_REPEATED", Verdict::Fail, "rows are wrong"),
        ("WRONG_ONCE", Verdict::Fail, "rows are wrong"),
        ("PAST_Y", Verdict::Fail, "it wrote outside y"),
        ("KEEPS_Y", Verdict::Fail, "rows are wrong"),
        ("WRITES_NOTHING", Verdict::Fail, "rows are wrong"),
        ("CHANGES_X", Verdict::Fail, "it changed x"),
        ("LATE", Verdict::Fail, "rows are wrong"),
        ("CRASHES", Verdict::Fail, "it crashed while it prepared the matrix"),
        ("HANGS", Verdict::Fail, "it did not answer within 2 s while it computed"),
        ("REFUSES", Verdict::Refused, "sparsescope_prepare returned 7"),
    ];
    let p = program();
    let right = [
        "RIGHT",
        "OLD_VERSION",
        "SECOND_VERSION",
        "THIRD_VERSION",
        "PRINTS",
        "SLEEPS_ONCE",
        "SLOW_TO_PREPARE",
    ];
    let faults = right.into_iter().chain(FAULTS.map(|(fault, ..)| fault));
    let libraries: Vec<String> = faults.map(|fault| faulty(&p, fault)).collect();
    let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
    let ran = p.run(&bench(&libraries));
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let bundle = open(&p, "b.zip");
    let run = |fault: &str| {
        let id = format!("user/{}/product", fault.to_lowercase());
        bundle.runs.iter().find(|run| run.kernel == id).unwrap()
    };
    for (fault, verdict, expected) in FAULTS {
        let run = run(fault);
        assert_eq!(run.check.verdict, verdict, "{fault}: {}", reason(run));
        assert!(reason(run).contains(expected), "{fault}: {}", reason(run));
        assert!(run.samples.is_empty() && run.figures.is_none(), "{fault}");
    }
    // What has no result has no wrong one.
    let line = "KERNEL FAILED: 1 x user/crashes/product on poisson2d?n=30: it crashed";
    assert!(ran.out.contains(line), "{}", ran.out);
    let crashed = run("CRASHES").failure().unwrap();
    assert!(crashed.starts_with("it crashed while it prepared the matrix: "), "{crashed}");
    for fault in right {
        let run = run(fault);
        assert_eq!(run.check.verdict, Verdict::Pass, "{fault}: {}", reason(run));
        assert_eq!(run.samples.len(), 20, "{fault}");
    }
    // One slow execution is a sample, and does not move the median.
    let [slept, right] = ["SLEEPS_ONCE", "RIGHT"].map(|fault| run(fault).figures.clone().unwrap());
    assert!(slept.max_s > 10.0 * slept.median_s, "{slept:?}");
    assert!(slept.median_s < 10.0 * right.median_s, "{slept:?}, {right:?}");
    // What it does in its setup counts there.
    let [slow, quick] = ["SLOW_TO_PREPARE", "RIGHT"].map(run);
    assert!(slow.costs.plan_s >= 0.05 && quick.costs.plan_s < slow.costs.plan_s);
    assert!(slow.figures.as_ref().unwrap().median_s < 0.01);
    // Our kernel is beside them, whatever they did.
    let serial = bundle.runs.iter().find(|run| run.kernel == "cpu/csr/serial").unwrap();
    assert_eq!(serial.check.verdict, Verdict::Pass);
}

/// The arguments of a measurement of SpMM with these numbers of columns.
fn bench_spmm<'a>(libraries: &[&'a str], vectors: &'a str) -> Vec<&'a str> {
    let mut args = bench(libraries);
    let kernel = args.iter().position(|word| *word == "cpu/csr/serial").unwrap();
    args[kernel] = "cpu/spmm/serial";
    args.extend(["--operation", "spmm", "--vectors", vectors]);
    args
}

#[test]
fn right_and_faulty_libraries_of_spmm_are_told_apart() {
    const FAULTS: [(&str, &str); 7] = [
        ("ZEROS", "column 0: "),
        ("WRONG_ONCE", "column 0: "),
        ("ONE_COLUMN", "column 1: "),
        ("PAST_Y", "it wrote outside y"),
        ("KEEPS_Y", "column 0: "),
        ("WRITES_NOTHING", "column 0: "),
        ("CHANGES_X", "it changed x"),
    ];
    let p = program();
    let faults = FAULTS.map(|(fault, _)| fault).into_iter().chain(["RIGHT"]);
    let libraries: Vec<String> = faults.map(|fault| faulty_of(&p, "SPMM", fault)).collect();
    let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
    let ran = p.run(&bench_spmm(&libraries, "3"));
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let bundle = open(&p, "b.zip");
    let run = |id: &str| bundle.runs.iter().find(|run| run.kernel == id).unwrap();
    for (fault, expected) in FAULTS {
        let run = run(&format!("user/{}/product", fault.to_lowercase()));
        assert_eq!(run.check.verdict, Verdict::Fail, "{fault}: {}", reason(run));
        assert!(reason(run).contains(expected), "{fault}: {}", reason(run));
        assert!(run.samples.is_empty() && run.figures.is_none(), "{fault}");
    }
    let [right, ours] = ["user/right/product", "cpu/spmm/serial"].map(run);
    for run in [right, ours] {
        assert_eq!(run.check.verdict, Verdict::Pass, "{}: {}", run.kernel, reason(run));
        assert_eq!((run.operation.as_str(), run.samples.len()), ("spmm", 20), "{}", run.kernel);
        assert_eq!(run.params["vectors"], "3", "{}", run.kernel);
    }
    // The same work and the same arrays.
    assert_eq!(right.work, ours.work);
    assert_eq!(right.costs.minimal_bytes, ours.costs.minimal_bytes);
}

#[test]
fn right_and_faulty_libraries_of_symmetric_gauss_seidel_are_told_apart() {
    const FAULTS: [(&str, &str); 7] = [
        ("ZEROS", "rows are wrong"),
        ("WRONG_ONCE", "rows are wrong"),
        ("ASCENDING_ONLY", "rows are wrong"),
        ("PAST_Y", "it wrote outside y"),
        ("KEEPS_Y", "rows are wrong"),
        ("WRITES_NOTHING", "rows are wrong"),
        ("CHANGES_X", "it changed x"),
    ];
    let p = program();
    let faults = FAULTS.map(|(fault, _)| fault).into_iter().chain(["RIGHT"]);
    let libraries: Vec<String> = faults.map(|fault| faulty_of(&p, "SYMGS", fault)).collect();
    let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
    let mut args = bench(&libraries);
    let kernel = args.iter().position(|word| *word == "cpu/csr/serial").unwrap();
    args[kernel] = "cpu/symgs/serial";
    args.extend(["--operation", "symgs", "--mode", "standard,smoother"]);
    let ran = p.run(&args);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let bundle = open(&p, "b.zip");
    let run = |id: &str, mode: Option<&str>| {
        let is_it =
            |run: &&Run| run.kernel == id && run.asked.get("mode").map(String::as_str) == mode;
        bundle.runs.iter().find(is_it).unwrap()
    };
    for (fault, expected) in FAULTS {
        let run = run(&format!("user/{}/product", fault.to_lowercase()), None);
        assert_eq!(run.check.verdict, Verdict::Fail, "{fault}: {}", reason(run));
        assert!(reason(run).contains(expected), "{fault}: {}", reason(run));
        assert!(run.samples.is_empty() && run.figures.is_none(), "{fault}");
    }
    let [right, ours] = ["user/right/product", "cpu/symgs/serial"].map(|id| run(id, None));
    for run in [right, ours] {
        assert_eq!(run.check.verdict, Verdict::Pass, "{}: {}", run.kernel, reason(run));
        assert_eq!(run.params["mode"], "standard", "{}", run.kernel);
    }
    assert_eq!(right.work, ours.work);
    assert_eq!(right.costs.minimal_bytes, ours.costs.minimal_bytes);
    let smoother = run("user/right/product", Some("smoother"));
    assert_eq!(smoother.check.verdict, Verdict::Unsupported);
    assert_eq!(reason(smoother), "mode cannot be smoother: expected standard");
}

/// The arguments of a measurement of these solvers beside ours with the Jacobi preconditioner.
fn bench_solve<'a>(libraries: &[&'a str]) -> Vec<&'a str> {
    let mut args = bench(libraries);
    args[1] = "gen:poisson2d?n=12";
    let kernel = args.iter().position(|word| *word == "cpu/csr/serial").unwrap();
    args[kernel] = "cpu/pcg/serial";
    args.extend(["--operation", "solve", "--precond", "jacobi"]);
    args
}

#[test]
fn right_and_faulty_solvers_are_told_apart_by_the_residual_of_x() {
    const FAULTS: [(&str, &str); 9] = [
        ("UNCHANGED", "the true relative residual is 1.000e0, tolerance 1e-10"),
        ("WRONG_ONCE", "the true relative residual is 1.000e0, tolerance 1e-10"),
        ("LOOSE", "the true relative residual is "),
        ("KEEPS_Y", "the true relative residual is 2.000e0, tolerance 1e-10"),
        ("WRITES_NOTHING", "row 0 of the solution is NaN"),
        ("PAST_Y", "it wrote outside x"),
        ("CHANGES_X", "it changed b or x0"),
        ("COUNTS_WRONG", "it reports 10001 iterations, expected at most 10000"),
        ("STARTS_AT_LAST", "it took 0 iterations after "),
    ];
    let p = program();
    let faults = FAULTS.map(|(fault, _)| fault).into_iter().chain(["RIGHT"]);
    let libraries: Vec<String> = faults.map(|fault| faulty_of(&p, "SOLVE", fault)).collect();
    let libraries: Vec<&str> = libraries.iter().map(String::as_str).collect();
    let ran = p.run(&bench_solve(&libraries));
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    let bundle = open(&p, "b.zip");
    let run = |id: &str| bundle.runs.iter().find(|run| run.kernel == id).unwrap();
    for (fault, expected) in FAULTS {
        let run = run(&format!("user/{}/product", fault.to_lowercase()));
        assert_eq!(run.check.verdict, Verdict::Fail, "{fault}: {}", reason(run));
        assert!(reason(run).contains(expected), "{fault}: {}", reason(run));
        assert!(run.samples.is_empty() && run.figures.is_none(), "{fault}");
    }
    let right = run("user/right/product");
    assert_eq!(
        (right.check.verdict, right.samples.len()),
        (Verdict::Pass, 20),
        "{}",
        reason(right)
    );
    let solve = right.solve.as_ref().unwrap();
    assert!(solve.converged && solve.true_residual.is_some_and(|residual| residual <= 1.1e-10));
    assert_eq!((solve.initial_residual, solve.residual), (None, None), "it reports none");
    assert_eq!((right.work.unwrap().iterations, &right.history), (solve.iterations, &None));
    assert_eq!(solve.setup_s, right.costs.plan_s);
    let params = ["b=a1", "max_iter=10000", "tol=1e-10", "x0=zero"];
    let found = right.params.iter().map(|(name, value)| format!("{name}={value}"));
    assert!(found.eq(params), "{:?}", right.params);
    assert_eq!(run("cpu/pcg/serial").check.verdict, Verdict::Pass);
}

#[test]
fn a_solver_that_does_not_converge_fails_and_one_that_cannot_start_elsewhere_is_unsupported() {
    let p = program();
    let right = faulty_of(&p, "SOLVE", "RIGHT");
    let few = [&bench_solve(&[&right])[..], &["--max-iter", "5", "--x0", "zero,precond"]].concat();
    // As with our own kernels, a solve that needs more iterations is no error.
    p.succeed(&few);
    let bundle = open(&p, "b.zip");
    let run = |start: Option<&str>| {
        let is_it = |run: &&Run| {
            run.kernel == "user/right/product" && run.asked.get("x0").map(String::as_str) == start
        };
        bundle.runs.iter().find(is_it).unwrap()
    };
    let from_zero = run(None);
    assert_eq!(from_zero.check.verdict, Verdict::Fail);
    let sentence = "not converged after 5 iterations: relative residual ";
    assert!(reason(from_zero).starts_with(sentence), "{}", reason(from_zero));
    let elsewhere = run(Some("precond"));
    assert_eq!(elsewhere.check.verdict, Verdict::Unsupported);
    assert_eq!(reason(elsewhere), "x0 cannot be precond: expected zero");
}

#[test]
fn the_example_of_conjugate_gradients_takes_as_many_iterations_as_ours() {
    let p = program();
    build(&p, &format!("{EXAMPLES}/cg_library.c"), "libcg.so", &[]);
    let error = p.fail(2, &bench(&["libcg.so"]));
    assert!(error.contains("libcg.so computes solve, but the operation is spmv"), "{error}");
    p.succeed(&[&bench_solve(&["libcg.so"])[..], &["--b", "range:7", "--tol", "1e-8"]].concat());
    let bundle = open(&p, "b.zip");
    let [example, ours] = ["user/cg/jacobi", "cpu/pcg/serial"].map(|id| {
        let run = bundle.runs.iter().find(|run| run.kernel == id).unwrap();
        assert_eq!(run.check.verdict, Verdict::Pass, "{id}: {}", reason(run));
        run.solve.as_ref().unwrap().iterations
    });
    assert!(ours > 10 && example.abs_diff(ours) <= 1, "{example}, ours {ours}");
}

#[test]
fn a_library_computes_only_the_product_itself() {
    let p = program();
    let right = faulty(&p, "RIGHT");
    p.succeed(&[&bench(&[&right])[..], &["--op", "n,t"]].concat());
    let bundle = open(&p, "b.zip");
    let verdict = |op: Option<&str>| {
        let is_it = |run: &&Run| {
            run.kernel == "user/right/product" && run.asked.get("op").map(String::as_str) == op
        };
        bundle.runs.iter().find(is_it).map(|run| (run.check.verdict, reason(run)))
    };
    assert_eq!(verdict(None), Some((Verdict::Pass, "")));
    assert_eq!(verdict(Some("t")), Some((Verdict::Unsupported, "op cannot be t: expected n")));
}

#[test]
fn a_library_that_hangs_ends_with_the_process_that_measures_it() {
    let p = program();
    let library = p.path(&faulty(&p, "HANGS")).display().to_string();
    // More than a matrix with one row takes.
    p.write("area", [0u8; 1 << 16]);
    let mut host = p.command(&["host-kernel-library", &library, "area", "token "]);
    let host = host.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut host = Killed(host);
    let mut commands = host.0.stdin.take().unwrap();
    let mut replies = BufReader::new(host.0.stdout.take().unwrap()).lines();
    let mut reply = |word: &str| replies.any(|line| line.unwrap().starts_with(word));
    assert!(reply("token ready"));
    commands.write_all(b"prepare 1 1 1 1 1 1 0 0 0\nrun 0 1\n").unwrap();
    assert!(reply("token prepared"));
    // As the system does for a process that was killed.
    drop(commands);
    let start = Instant::now();
    let ended = loop {
        match host.0.try_wait().unwrap() {
            None if start.elapsed() < Duration::from_secs(60) => std::thread::yield_now(),
            ended => break ended,
        }
    };
    assert_eq!(ended.and_then(|status| status.code()), Some(1));
}

#[test]
fn a_library_for_cuda_needs_a_gpu_and_says_so() {
    let p = program();
    let library = faulty(&p, "ON_CUDA");
    p.succeed(&bench(&[&library]));
    let bundle = open(&p, "b.zip");
    let run = bundle.runs.iter().find(|run| run.kernel == "user/on_cuda/product").unwrap();
    assert_eq!((run.check.verdict, run.backend.as_str()), (Verdict::Unsupported, "cuda"));
    assert_eq!(reason(run), "GPUs are turned off by SPARSESCOPE_GPU=off");
    assert_eq!(run.source.as_ref().map(|source| source.file.as_str()), Some(library.as_str()));
    let error = p.fail(2, &[&bench(&[&library])[..], &["--backend", "cpu"]].concat());
    let sentence = format!("{library} runs on cuda, but --backend excludes cuda");
    assert!(error.contains(&sentence), "{error}");
    // Its process, too, must be told apart from one with a GPU.
    p.write("area", [0u8; 1 << 16]);
    let path = p.path(&library).display().to_string();
    let mut host = p.command(&["host-kernel-library", &path, "area", "token "]);
    let host = host.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut host = Killed(host);
    let mut commands = host.0.stdin.take().unwrap();
    let mut replies = BufReader::new(host.0.stdout.take().unwrap()).lines();
    commands.write_all(b"prepare 1 1 1 1 1 1 0 0 0\n").unwrap();
    let refused = "token failed refused GPUs are turned off by SPARSESCOPE_GPU=off";
    assert!(replies.any(|line| line.unwrap() == refused));
}

/// Starts a bench of our kernel and then this library, and interrupts it once the library hangs; returns the exit
/// code and the output.
fn interrupted(p: &Program, library: &str) -> (Option<i32>, String) {
    let mut args = bench(&[library]);
    let limit = args.iter().position(|word| *word == "2s").unwrap();
    args[limit] = "1h";
    let bench = p.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut bench = Killed(bench);
    let mut said = BufReader::new(bench.0.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap() == "it hangs"), "it never hung");
    signal(&bench.0, "-INT");
    // Its process has the other end of this pipe: the output ends when both have ended.
    said.for_each(drop);
    let mut out = String::new();
    bench.0.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (bench.0.wait().unwrap().code(), out)
}

#[test]
fn ctrl_c_ends_a_library_that_hangs_while_it_is_loaded_or_prepared() {
    let p = program();
    let library = faulty(&p, "HANGS_LOADED");
    assert_eq!(interrupted(&p, &library), (Some(130), String::new()));
    assert!(!p.path("b.zip").exists(), "nothing was measured");
    let library = faulty(&p, "HANGS_PREPARING");
    let (code, out) = interrupted(&p, &library);
    assert_eq!(code, Some(130), "{out}");
    let resume =
        "Resume: `sparsescope bench --resume b.zip --kernel-library libhangs_preparing.so`";
    assert!(out.contains(resume), "{out}");
    let bundle = open(&p, "b.zip");
    assert!(!bundle.complete);
    assert!(bundle.runs.iter().all(|run| !run.kernel.starts_with("user/")), "it did not run");
}

#[test]
fn a_measurement_continues_with_the_same_library_only() {
    let p = program();
    let right = faulty(&p, "RIGHT");
    p.succeed(&bench(&[&right]));
    let mut bundle = open(&p, "b.zip");
    bundle.complete = false;
    bundle.runs.retain(|run| run.kernel == "cpu/csr/serial");
    bundle.save(&p.path("b.zip"), true).unwrap();
    let resume = ["bench", "--resume", "b.zip", "--no-report", "--kernel-library", right.as_str()];
    let error = p.fail(2, &resume[..4]);
    assert!(error.contains("pass the file libright.so again with --kernel-library"), "{error}");
    // Another version is refused, even before the first run of the library.
    let begun = sparsescope_core::matrix::sha256(&std::fs::read(p.path(&right)).unwrap());
    build(&p, FAULTY, &right, &["-DFAULT=SLOW_TO_PREPARE"]);
    let error = p.fail(2, &resume);
    let sentence = format!(
        "libright.so differs from the file that the bundle was started with (SHA-256: expected {}…",
        &begun[..8]
    );
    assert!(error.contains(&sentence), "{error}");
    build(&p, FAULTY, &right, &["-DFAULT=RIGHT"]);
    let other = faulty(&p, "PRINTS");
    let error = p.fail(2, &[&resume[..], &["--kernel-library", &other]].concat());
    assert!(error.contains("the bundle was started without libprints.so"), "{error}");
    assert_eq!(p.run(&resume).code, Some(0));
    let whole = open(&p, "b.zip");
    assert!(whole.complete && whole.runs.len() == 2);
}

#[test]
fn a_measurement_continues_with_the_limit_that_it_was_started_with() {
    let p = program();
    let library = faulty(&p, "HANGS");
    assert_eq!(p.run(&bench(&[&library])).code, Some(3));
    let mut bundle = open(&p, "b.zip");
    assert_eq!(bundle.plan.as_ref().unwrap()["library_limit_s"], 2.0);
    bundle.complete = false;
    bundle.runs.retain(|run| run.kernel == "cpu/csr/serial");
    bundle.save(&p.path("b.zip"), true).unwrap();
    let resume =
        ["bench", "--resume", "b.zip", "--no-report", "--kernel-library", library.as_str()];
    let resumed = |limit: &[&str], sentence: &str| {
        assert_eq!(p.run(&[&resume[..], limit].concat()).code, Some(3));
        let whole = open(&p, "b.zip");
        let run = whole.runs.iter().find(|run| run.kernel == "user/hangs/product").unwrap();
        assert!(reason(run).contains(sentence), "{}", reason(run));
        bundle.save(&p.path("b.zip"), true).unwrap();
    };
    resumed(&[], "it did not answer within 2 s while it computed");
    resumed(&["--library-limit", "1s"], "it did not answer within 1 s while it computed");
    bundle.plan.as_mut().unwrap()["library_limit_s"] = serde_json::json!(-1.0);
    bundle.save(&p.path("b.zip"), true).unwrap();
    assert!(p.fail(1, &resume).contains("the bundle's plan has a wrong limit"));
}

#[test]
fn what_is_no_such_library_is_an_error_before_anything_is_measured() {
    let p = program();
    let other = faulty(&p, "OTHER_VERSION");
    let error = p.fail(1, &bench(&[&other]));
    assert!(error.contains("its interface has version 99, expected 1 to 4"), "{error}");
    let other = faulty(&p, "OTHER_DEVICE");
    let error = p.fail(1, &bench(&[&other]));
    assert!(error.contains("its device is 7, expected 0 (CPU) or 1 (CUDA)"), "{error}");
    let other = faulty(&p, "OTHER_OPERATION");
    let error = p.fail(1, &bench(&[&other]));
    let sentence = "its operation is 7, expected 0 (SpMV), 1 (SpMM), 2 (symmetric Gauss–Seidel) or \
        3 (solve)";
    assert!(error.contains(sentence), "{error}");
    p.write("text.so", "no library");
    let error = p.fail(1, &bench(&["text.so"]));
    // With what the system says.
    assert!(error.starts_with("error: text.so: cannot load it: "), "{error}");
    assert!(error.contains("file too short"), "{error}");
    assert!(p.fail(1, &bench(&["none.so"])).starts_with("error: none.so: "));
    let right = faulty(&p, "RIGHT");
    let twice = p.fail(2, &bench(&[&right, &right]));
    let sentence =
        "libright.so and libright.so both define user/right/product: rename one of the files";
    assert!(twice.contains(sentence), "{twice}");
    let cuda = include_str!("../../../docs/examples/my-csr.cu").replace("two_sums", "product");
    p.write("right.cu", cuda);
    let both = p.fail(2, &[&bench(&[&right])[..], &["--kernel-file", "right.cu"]].concat());
    assert!(both.contains("right.cu and libright.so both define user/right/product"), "{both}");
    let solve = [&bench(&[&right])[..], &["--operation", "solve"]].concat();
    let sentence = "libright.so computes spmv, but the operation is solve";
    assert!(p.fail(2, &solve).contains(sentence));
    assert!(!p.path("b.zip").exists());
}
