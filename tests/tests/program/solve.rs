//! Conjugate gradients through the whole program: the command, and `bench --operation solve`.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;
use sparsescope_core::experiment::Key;
use sparsescope_core::record::{Better, Operation, Verdict};
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::Program;

use crate::common::{elements, on_cpu, open, program, python_imports};

const PRECONDITIONERS: [&str; 4] = ["none", "jacobi", "symgs", "fsai"];

/// Writes a matrix with these nonzeros, rows and columns from 1.
fn matrix(p: &Program, name: &str, rows: usize, entries: &[(usize, usize, f64)]) {
    let lines: Vec<String> = entries.iter().map(|(i, j, v)| format!("{i} {j} {v}\n")).collect();
    let size = format!("{rows} {rows} {}", entries.len());
    let header = "%%MatrixMarket matrix coordinate real general\n";
    p.write(name, format!("{header}{size}\n{}", lines.concat()));
}

fn number(told: &Value, name: &str) -> f64 {
    told[name].as_f64().expect(name)
}

#[test]
fn a_diagonal_is_solved_in_as_many_iterations_as_it_has_values_and_in_one_with_a_preconditioner() {
    let p = program();
    matrix(&p, "a.mtx", 4, &[(1, 1, 1.0), (2, 2, 2.0), (3, 3, 4.0), (4, 4, 2.0)]);
    for kernel in on_cpu(Operation::Solve) {
        for precond in PRECONDITIONERS {
            let how = ["solve", "a.mtx", "--kernel", kernel.id, "--precond", precond];
            let told = p.json(&[&how[..], &["--json", "-o", "x.mtx", "--force"]].concat());
            let expected = if precond == "none" { 3 } else { 1 };
            assert_eq!(told["iterations"], expected, "{how:?}");
            assert_eq!((&told["converged"], &told["ended"]), (&true.into(), &"converged".into()));
            // ‖A·1‖ = ‖(1, 2, 4, 2)‖ = 5.
            assert_eq!((number(&told, "b_norm"), number(&told, "initial_residual")), (5.0, 1.0));
            assert!(number(&told, "true_residual") <= 1e-10);
            assert!(elements(&p, "x.mtx").iter().all(|x| (x - 1.0).abs() < 1e-9));
            let entries = if precond == "fsai" { Value::from(4) } else { Value::Null };
            assert_eq!(told["nnz_g"], entries);
        }
    }
}

#[test]
fn what_is_told_is_what_was_found() {
    let p = program();
    let how = ["solve", "gen:poisson2d?n=20", "--power", "1", "--threads", "2"];
    let told = p.json(&[&how[..], &["--json", "--history", "h.csv"]].concat());
    for (name, expected) in [("rows", 400), ("nnz", 5 * 400 - 80), ("threads", 2)] {
        assert_eq!(told[name], expected, "{name}");
    }
    // The lower triangle of the five-point stencil has the diagonal and two neighbours.
    assert_eq!(told["nnz_g"], 400 + 2 * 380);
    for (name, expected) in [("precond", "fsai"), ("power", "1"), ("b", "a1"), ("x0", "zero")] {
        assert_eq!(told["params"][name], expected, "{name}");
    }
    assert!(told["params"]["steps"].is_null() && told["params"]["merge_block"].is_null());
    let phases: f64 =
        told["phases"].as_object().unwrap().values().map(|s| s.as_f64().unwrap()).sum();
    let [setup, solve] = ["setup_seconds", "solve_seconds"].map(|name| number(&told, name));
    assert!(0.0 < phases && phases <= setup && solve > 0.0, "{phases} {setup} {solve}");
    let history = std::fs::read_to_string(p.path("h.csv")).unwrap();
    let lines: Vec<&str> = history.lines().collect();
    let iterations = told["iterations"].as_u64().unwrap() as usize;
    assert_eq!((lines[0], lines.len()), ("iteration,relative_residual", iterations + 2));
    assert_eq!(lines[1], "0,1e0");
    let last: f64 = lines.last().unwrap().split(',').nth(1).unwrap().parse().unwrap();
    assert_eq!(last, number(&told, "residual"));
    // The eigenvalues of G·A·Gᵀ are positive, and their mean is 1, as its diagonal is 1.
    let ritz: Vec<f64> =
        told["ritz"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert!(ritz[0] > 0.0 && ritz[0] < 1.0 && *ritz.last().unwrap() > 1.0 && ritz.is_sorted());
    let condition = number(&told["spectrum"], "condition");
    assert!((condition / (ritz.last().unwrap() / ritz[0]) - 1.0).abs() < 1e-9, "{condition}");

    let text = p.succeed(&how);
    for line in [
        "gen:poisson2d?n=20: 400 rows, 1 920 nonzeros",
        "cpu/pcg/threads, 2 threads",
        "precond=fsai",
        "setup  ",
        "  values ",
        "nonzeros   G 1 160, 0.604 times those of A",
        " iterations in ",
        "residual   1.000e0 before, ",
        "condition  at least ",
        "ended      converged",
        "check      pass",
    ] {
        assert!(text.contains(line), "{line}:\n{text}");
    }
}

#[test]
fn files_stand_in_the_place_of_g_its_pattern_and_the_vectors() {
    let p = program();
    p.succeed(&["generate", "poisson2d?n=12", "-o", "a.mtx"]);
    let solve = |more: &[&str]| p.json(&[&["solve", "a.mtx", "--json", "--force"], more].concat());
    let made = solve(&["--power", "2", "--write-g", "g.mtx", "-o", "x.mtx"]);
    let read = solve(&["--read-g", "g.mtx"]);
    assert_eq!((&read["iterations"], &read["nnz_g"]), (&made["iterations"], &made["nnz_g"]));
    // The pattern of A is that of its first power.
    let [of_a, first] = [&["--pattern", "a.mtx"][..], &["--power", "1"]].map(solve);
    assert_eq!((&of_a["nnz_g"], &of_a["iterations"]), (&first["nnz_g"], &first["iterations"]));
    assert_eq!(of_a["params"]["pattern"], "file");
    assert_eq!(solve(&["--x0", "x.mtx", "--tol", "1e-8"])["iterations"], 0);
    let ones = "1\n".repeat(144);
    p.write("b.txt", ones);
    let [file, word] = [&["--b", "b.txt"][..], &["--b", "ones"]].map(solve);
    assert_eq!((&file["b_norm"], &file["iterations"]), (&12.0.into(), &word["iterations"]));
    p.write("zero.txt", "0\n".repeat(144));
    let zero = solve(&["--b", "zero.txt", "-o", "x.mtx"]);
    assert_eq!((&zero["iterations"], &zero["converged"]), (&0.into(), &true.into()));
    assert!(elements(&p, "x.mtx").iter().all(|&x| x == 0.0));
    // Half of A has the same pattern and needs equally many iterations.
    let text = std::fs::read_to_string(p.path("a.mtx")).unwrap();
    p.write("h.mtx", text.replace(" 4.0\n", " 2.0\n").replace(" -1.0\n", " -0.5\n"));
    let both = solve(&["h.mtx", "--reuse-pattern"]);
    let [first, second] = [&both[0], &both[1]];
    for name in ["iterations", "nnz_g", "rows"] {
        assert_eq!((&first[name], &second[name]), (&made[name], &made[name]), "{name}");
    }
    assert_eq!(number(second, "b_norm") * 2.0, number(first, "b_norm"));
    let has_pattern = [first, second].map(|told| told["phases"].get("pattern").is_some());
    assert_eq!(has_pattern, [true, false]);
    for format in ["hyb", "hll"] {
        let other = solve(&["--format", format]);
        assert_eq!(other["params"]["format_g"], format);
        let [found, made] = [&other, &made].map(|told| number(told, "iterations"));
        assert!((found - made).abs() <= 1.0, "{format}: {found} {made}");
    }
}

#[test]
fn what_cannot_be_solved_is_refused_in_a_sentence_and_nothing_is_written() {
    let p = program();
    matrix(&p, "unsymmetric.mtx", 2, &[(1, 1, 2.0), (1, 2, 1.0), (2, 2, 2.0)]);
    matrix(&p, "negative.mtx", 2, &[(1, 1, 2.0), (2, 2, -1.0)]);
    matrix(&p, "indefinite.mtx", 2, &[(1, 1, 1.0), (1, 2, 2.0), (2, 1, 2.0), (2, 2, 1.0)]);
    p.write("nan.txt", "1\nnan\n");
    let plain = ["--precond", "none", "--b", "ones"];
    for (file, more, expected) in [
        ("unsymmetric.mtx", &[][..], "symmetric"),
        ("negative.mtx", &[], "diagonal"),
        ("indefinite.mtx", &[], "not positive definite"),
        ("indefinite.mtx", &["--precond", "none", "--b", "e.txt"], "not positive definite"),
        ("indefinite.mtx", &["--precond", "none", "--b", "nan.txt"], "not finite"),
    ] {
        p.write("e.txt", "1\n-1\n");
        let error = p.fail(1, &[&["solve", file, "-o", "x.mtx"], more].concat());
        assert!(error.contains(expected), "{file} {more:?}: {error}");
        assert!(!p.path("x.mtx").exists());
    }
    matrix(&p, "a.mtx", 2, &[(1, 1, 2.0), (2, 2, 1.0)]);
    let usage = |more: &[&str]| p.fail(2, &[&["solve", "a.mtx"], more].concat());
    assert!(usage(&["--power", "1,2"]).contains("bench --operation solve"));
    assert!(
        usage(&["--precond", "jacobi", "--write-g", "g.mtx"])
            .contains("apply only to --precond fsai")
    );
    assert!(usage(&["a.mtx"]).contains("--reuse-pattern"));
    assert!(usage(&["--b", "-", "--x0", "-"]).contains("only one of --b and --x0 can be -"));
    assert!(usage(&["--kernel", "cpu/csr/serial"]).contains("computes spmv, not solve"));
    assert_eq!(p.run(&["solve", "a.mtx", "--merge", "0.5"]).code, Some(2));
    let error = p.fail(1, &["solve", "a.mtx", "--read-g", "indefinite.mtx"]);
    assert!(error.contains("factor"), "{error}");
    p.write("x.mtx", "mine");
    let error = p.fail(1, &[&["solve", "a.mtx", "-o", "x.mtx"], &plain[..]].concat());
    assert!(error.contains("--force"), "{error}");
}

#[test]
fn a_laplacian_is_refused_with_ones_solved_in_its_range_and_zero_is_solved_by_zero() {
    let p = program();
    // A path of three nodes: its rows add up to 0.
    let edges = [(1, 1, 1.0), (1, 2, -1.0), (2, 1, -1.0), (2, 2, 2.0), (2, 3, -1.0)];
    let path = [&edges[..], &[(3, 2, -1.0), (3, 3, 1.0)]].concat();
    matrix(&p, "path.mtx", 3, &path);
    let how = ["solve", "path.mtx", "--precond", "none"];
    let error = p.fail(1, &[&how[..], &["-o", "x.mtx"]].concat());
    assert!(
        error.contains("b = A·1 is zero up to rounding") && error.contains("--b range"),
        "{error}"
    );
    let told = p.json(&[&how[..], &["--b", "range:7", "--json"]].concat());
    assert_eq!((&told["iterations"], &told["params"]["b"]), (&2.into(), &"range:7".into()));
    let bench = ["bench", "path.mtx", "--operation", "solve", "--kernels", "cpu/pcg/serial"];
    let lists = ["--precond", "none", "--b", "a1,range", "--runs", "2", "-o", "b.zip"];
    let table = p.succeed(&[&bench[..], &lists].concat());
    assert!(table.contains("1 passed the check, 1 skipped"), "{table}");
    let bundle = open(&p, "b.zip");
    let of = |verdict| bundle.runs.iter().find(|run| run.check.verdict == verdict).unwrap();
    assert!(of(Verdict::Refused).samples.is_empty() && of(Verdict::Pass).ranks());
    assert_eq!(of(Verdict::Pass).params["b"], "range:42");

    p.write("zero.txt", "0\n0\n0\n");
    let text = p.succeed(&[&how[..], &["--b", "zero.txt"]].concat());
    assert!(text.contains("ended      b is zero, so x = 0"), "{text}");
    assert!(text.contains("solve      0 iterations in ") && !text.contains(" each"), "{text}");
    assert!(!text.contains("relative to b"), "{text}");
    let told = p.json(&[&how[..], &["--b", "zero.txt", "--json"]].concat());
    assert!(told["iteration_seconds"].is_null(), "{told}");
}

#[test]
fn a_solve_is_limited_where_rounding_hides_its_tolerance_and_undecided_where_it_hides_b() {
    let p = program();
    // Constant vectors are the null space of this Laplacian: a distant start only costs digits of x.
    let edges = [(1, 1, 1.0), (1, 2, -1.0), (2, 1, -1.0), (2, 2, 2.0), (2, 3, -1.0)];
    let path = [&edges[..], &[(3, 2, -1.0), (3, 3, 1.0)]].concat();
    matrix(&p, "path.mtx", 3, &path);
    p.write("b.txt", "0.3\n0.4\n-0.7\n");
    let from = |start: &str| {
        p.write("x0.txt", format!("{start}\n").repeat(3));
        let how = ["solve", "path.mtx", "--precond", "none", "--b", "b.txt", "--x0", "x0.txt"];
        let ran = p.run(&[&how[..], &["--json", "-o", "x.mtx", "--force"]].concat());
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        (ran, told)
    };
    let (ran, told) = from("0");
    assert_eq!((ran.code, &told["check"]["verdict"]), (Some(0), &"pass".into()));
    assert!(told["check"]["limited_by_rounding"].is_null(), "{told}");
    // Numbers around 1e9 have a resolution of 1.2e-7, and those around 1e15 of 0.125.
    let (ran, told) = from("1e9");
    assert_eq!((ran.code, &told["check"]["verdict"]), (Some(0), &"pass".into()), "{}", ran.err);
    assert_eq!(told["check"]["limited_by_rounding"], true, "{told}");
    let reason = told["check"]["reason"].as_str().unwrap();
    assert!(reason.contains("tolerance 1e-10") && reason.contains("the backward error is"));
    std::fs::remove_file(p.path("x.mtx")).unwrap();
    let (ran, told) = from("1e15");
    assert_eq!((ran.code, &told["check"]["verdict"]), (Some(3), &"refused".into()), "{}", ran.err);
    assert_eq!(told["check"]["undecided"], true, "{told}");
    assert!(told["solve_seconds"].is_null() && told["iteration_seconds"].is_null(), "{told}");
    assert!(ran.err.contains("cpu/pcg/threads could not be verified: rounding alone explains"));
    assert!(!p.path("x.mtx").exists());
}

#[test]
fn what_does_not_converge_says_so_and_leaves_its_history_and_no_solution() {
    let p = program();
    let how = ["solve", "gen:poisson2d?n=30", "--precond", "none", "--max-iter", "7"];
    let ran = p.run(&[&how[..], &["--json", "-o", "x.mtx", "--history", "h.csv"]].concat());
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("error: not converged after 7 iterations"), "{}", ran.err);
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&told["converged"], &told["ended"]), (&false.into(), &"not converged".into()));
    assert_eq!(p.files(), ["h.csv"]);
    assert_eq!(std::fs::read_to_string(p.path("h.csv")).unwrap().lines().count(), 1 + 8);
    // Nor is it a wrong result in a bench.
    let bench =
        ["bench", "gen:poisson2d?n=30", "--operation", "solve", "--kernels", "cpu/pcg/serial"];
    let lists = ["--precond", "none,fsai", "--max-iter", "7,1000", "--runs", "2", "-o", "b.zip"];
    let table = p.succeed(&[&bench[..], &lists].concat());
    assert!(table.contains("x cpu/pcg/serial on poisson2d?n=30: not converged after 7"), "{table}");
    let bundle = open(&p, "b.zip");
    let verdicts: Vec<Verdict> = bundle.runs.iter().map(|run| run.check.verdict).collect();
    assert_eq!(verdicts.iter().filter(|v| **v == Verdict::Fail).count(), 2, "{verdicts:?}");
    for run in bundle.runs.iter().filter(|run| run.check.verdict == Verdict::Fail) {
        let solve = run.solve.as_ref().unwrap();
        assert_eq!((solve.iterations, solve.converged, run.samples.len()), (7, false, 0));
        assert_eq!(run.history.as_ref().unwrap().series[0].values.len(), 8);
    }
}

#[test]
fn bench_multiplies_lists_only_where_they_have_an_effect_and_its_runs_tell_of_set_up_and_solve() {
    let p = program();
    let what = ["bench", "gen:poisson2d?n=16", "--operation", "solve", "--threads", "1,2"];
    let lists = ["--precond", "none,jacobi,fsai", "--power", "1,2", "--tol", "1e-6,1e-10"];
    let more = ["--merge-block", "8192,all", "--runs", "2", "--backend", "cpu"];
    let all = [&what[..], &lists, &more].concat();
    let plan = p.succeed(&[&all[..], &["--plan"]].concat());
    // Serial once and threads twice; fsai with two powers, the others without: a merge block of rows has no
    // effect without merging.
    let runs = 3 * (1 + 1 + 2) * 2;
    assert!(plan.contains(&format!("{runs} runs of 2 samples")), "{plan}");
    let table = p.succeed(&[&all[..], &["-o", "b.zip"]].concat());
    assert!(table.contains(&format!("{runs} runs on 1 matrix: {runs} passed")), "{table}");
    let bundle = open(&p, "b.zip");
    assert_eq!(bundle.runs.len(), runs);
    let mut settings = BTreeSet::new();
    for run in &bundle.runs {
        let (solve, history) = (run.solve.as_ref().unwrap(), run.history.as_ref().unwrap());
        assert_eq!(run.work.unwrap().iterations, solve.iterations);
        let tolerance: f64 = run.params["tol"].parse().unwrap();
        assert!(solve.converged && solve.true_residual.unwrap() <= 1.1 * tolerance + 1e-13);
        assert_eq!((solve.tolerance, history.step.as_str()), (tolerance, "iteration"));
        assert_eq!(history.series[0].values.len() as u64, solve.iterations + 1);
        let is_fsai = run.params["precond"] == "fsai";
        assert_eq!((solve.sizes.is_some(), run.params.contains_key("power")), (is_fsai, is_fsai));
        let metric = run.metric.as_ref().unwrap();
        assert_eq!((metric.unit.as_str(), metric.better), ("ms", Better::Less));
        assert_eq!(run.costs.plan_s, solve.setup_s);
        assert!(run.figures.as_ref().unwrap().speedup.is_some());
        settings.insert(Key::of(run));
    }
    assert_eq!(settings.len(), runs);

    // Continuing measures what is missing, and nothing else.
    let mut begun = bundle.clone();
    begun.complete = false;
    begun.runs.retain(|run| run.threads == 1 && run.params["precond"] != "jacobi");
    begun.save(&p.path("b.zip"), true).unwrap();
    p.succeed(&["bench", "--resume", "b.zip", "-q"]);
    let after = open(&p, "b.zip");
    assert_eq!(after.runs.iter().map(Key::of).collect::<BTreeSet<_>>(), settings);
    for run in &begun.runs {
        assert!(after.runs.iter().any(|kept| kept == run), "{:?}", run.asked);
    }
    for (wrong, expected) in [
        (["--precond", "ilu"], "none or jacobi or symgs or fsai"),
        (["--merge", "0.9"], "a number of at least 1, or off"),
        (["--tol", "0"], "a number greater than 0"),
    ] {
        let error = p.run(&[&what[..], &wrong].concat());
        assert!(error.code == Some(2) && error.err.contains(expected), "{}", error.err);
    }
    let error = p.fail(2, &["bench", "gen:diagonal?m=9", "--backend", "cpu", "--precond", "none"]);
    assert!(error.contains("no selected kernel takes precond none"), "{error}");
}

#[test]
fn scipy_takes_as_many_iterations_with_the_same_preconditioner() {
    if !python_imports("scipy.sparse.linalg") {
        skip!(Need::Scipy, "python3 cannot import scipy");
    }
    let p = program();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/python/check_solve.py");
    for spec in ["poisson2d?n=40", "stencil27?n=10", "fem-hex?n=5&dof=3&dominant=1"] {
        p.succeed(&["generate", spec, "-o", "a.mtx", "--force"]);
        for precond in PRECONDITIONERS {
            for kernel in on_cpu(Operation::Solve) {
                let mut how = vec!["solve", "a.mtx", "--kernel", kernel.id, "--precond", precond];
                how.extend(["--b", "ones", "--json", "--force", "-o", "x.mtx"]);
                if precond == "fsai" {
                    how.extend(["--write-g", "g.mtx"]);
                }
                let told = p.json(&how);
                let iterations = told["iterations"].to_string();
                let checked = Command::new("python3")
                    .args([script, "a.mtx", precond, "g.mtx", "x.mtx", &iterations])
                    .current_dir(p.folder())
                    .output()
                    .unwrap();
                let error = String::from_utf8_lossy(&checked.stderr);
                assert!(checked.status.success(), "{spec} {precond} {}: {error}", kernel.id);
            }
        }
    }
}

#[test]
fn a_right_hand_side_is_taken_from_a_column_an_archive_or_the_file_of_the_matrix() {
    let p = program();
    // A = [2 -1 0; -1 2 0; 0 0 1]: A x = (1, 0, 3) for x = (2/3, 1/3, 3), A x = (0, 1, 2) for (1/3, 2/3, 2).
    let sizes = "3 3 5\n1 1 2\n1 2 -1\n2 1 -1\n2 2 2\n3 3 1\n";
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    let array = "%%MatrixMarket matrix array real general\n";
    p.write("a.mtx", format!("{banner}{sizes}"));
    p.write("b2.mtx", format!("{array}3 2\n1\n0\n3\n0\n1\n2\n"));
    p.write("amgx.mtx", format!("{banner}%%NVAMG 1 1 sorted rhs\n{sizes}1\n0\n3\n"));
    p.write("two.mtx", format!("{banner}{sizes}{array}3 1\n1\n0\n3\n"));
    let (first, second) = ([2.0 / 3.0, 1.0 / 3.0, 3.0], [1.0 / 3.0, 2.0 / 3.0, 2.0]);
    for (how, expected) in [
        (&["a.mtx", "--b", "b2.mtx", "--b-column", "1"][..], first),
        (&["a.mtx", "--b", "b2.mtx", "--b-column", "2"], second),
        (&["amgx.mtx", "--b", "archive"], first),
        (&["amgx.mtx", "--b", "amgx.mtx"], first),
        (&["two.mtx", "--b", "archive"], first),
        (&["two.mtx", "--b", "archive", "--x0", "b2.mtx", "--x0-column", "2"], first),
    ] {
        p.succeed(
            &[&["solve"][..], how, &["--precond", "jacobi", "-o", "x.mtx", "--force"]].concat(),
        );
        let x = elements(&p, "x.mtx");
        assert!(x.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-9), "{how:?}: {x:?}");
    }
    // A sweep over the solution changes nothing.
    p.succeed(&[
        "symgs", "amgx.mtx", "--b", "archive", "--x0", "x.mtx", "--expect", "x.mtx", "--tol",
        "1e-9",
    ]);
    let several = p.fail(1, &["solve", "a.mtx", "--b", "b2.mtx"]);
    assert_eq!(
        several,
        "error: b2.mtx: expected a vector, found a 3 x 2 matrix: choose one of its 2 columns with --b-column"
    );
    let none = p.fail(1, &["solve", "a.mtx", "--b", "b2.mtx", "--b-column", "3"]);
    assert_eq!(none, "error: b2.mtx: expected a column from 1 to 2, found 3");
    let alone = p.fail(1, &["solve", "a.mtx", "--b", "archive"]);
    assert!(alone.contains("a.mtx: expected a right-hand side with the matrix"), "{alone}");
    let start = p.fail(1, &["solve", "amgx.mtx", "--x0", "archive"]);
    assert!(start.contains("expected an initial guess with the matrix"), "{start}");
    let made = p.fail(2, &["solve", "gen:poisson2d?n=3", "--b", "archive"]);
    assert!(made.contains("--b archive needs a matrix from a file"), "{made}");
    let word = p.fail(2, &["solve", "a.mtx", "--b", "ones", "--b-column", "1"]);
    assert!(word.contains("--b-column needs --b FILE or --b archive, found --b ones"), "{word}");
    p.fail(2, &["solve", "a.mtx", "--b-column", "1"]);
}
