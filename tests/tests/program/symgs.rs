//! Symmetric Gauss–Seidel through the whole program: the command, and `bench --operation symgs`.

use std::collections::BTreeMap;
use std::path::Path;

use sparsescope_core::io::{AnyMatrix, Progress, open_matrix};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Operation, Run, Verdict};
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::Program;

use crate::common::{elements, on_cpu, open, program, real_matrices};

/// A system of three rows, its middle one coupled to both others.
fn three(p: &Program) {
    let a = "3 3 7\n1 1 2\n1 2 1\n2 1 1\n2 2 4\n2 3 2\n3 2 2\n3 3 8\n";
    p.write("a.mtx", format!("%%MatrixMarket matrix coordinate real general\n{a}"));
    p.write("b.txt", "4\n8\n16\n");
    p.write("x0.txt", "2\n2\n2\n");
}

const THREE: [&str; 6] = ["symgs", "a.mtx", "--b", "b.txt", "--x0", "x0.txt"];

#[test]
fn every_kernel_sweeps_three_rows_as_one_does_by_hand() {
    let p = program();
    three(&p);
    // Rows 1, 2, 3: (4 − 2)/2 = 1, (8 − 1 − 4)/4 = 0.75, (16 − 1.5)/8 = 1.8125; back: the last as it
    // is, (8 − 1 − 3.625)/4 = 0.84375, (4 − 0.84375)/2 = 1.578125.
    let rows = [1.578125, 0.84375, 1.8125];
    // Rows 1 and 3 have one colour, row 2 the other: (4 − 2)/2 = 1, (16 − 4)/8 = 1.5,
    // (8 − 1 − 3)/4 = 1; back: 1 as it is, (16 − 2)/8 = 1.75, (4 − 1)/2 = 1.5.
    let colors = [1.5, 1.0, 1.75];
    // The right-hand side is x: (2 − 2)/2 = 0, (2 − 0 − 4)/4 = −0.5, (2 + 1)/8 = 0.375; back:
    // (0.375 + 1)/8, (−0.5 − 0 − 0.34375)/4, (0 + 0.2109375)/2.
    let smoothed = [0.10546875, -0.2109375, 0.171875];
    // By colours: (2 − 2)/2 = 0, (2 − 4)/8 = −0.25, (2 − 0 + 0.5)/4 = 0.625; back:
    // (0.625 − 0 + 0.5)/4 = 0.28125, (−0.25 − 0.5625)/8, (0 − 0.28125)/2.
    let smoothed_by_color = [-0.140625, 0.28125, -0.1015625];
    for kernel in on_cpu(Operation::Symgs) {
        let (standard, smoother) = match kernel.exact {
            true => (rows, smoothed),
            false => (colors, smoothed_by_color),
        };
        for (mode, expected) in [("standard", standard), ("smoother", smoother)] {
            for precision in ["f64", "f32"] {
                let how = ["--kernel", kernel.id, "--mode", mode, "--precision", precision];
                p.succeed(&[&THREE[..], &how, &["-o", "x.mtx", "--force"]].concat());
                // All of these numbers are exact in f32.
                assert_eq!(elements(&p, "x.mtx"), expected, "{how:?}");
            }
        }
    }
}

#[test]
fn what_is_told_of_three_rows_is_what_one_finds_by_hand() {
    let p = program();
    three(&p);
    let with = |kernel: &str, more: &[&str]| {
        p.json(&[&THREE[..], &["--kernel", kernel, "--threads", "2", "--json"], more].concat())
    };
    let serial = with("cpu/symgs/serial", &[]);
    for (name, expected) in [("matrix", "a.mtx"), ("precision", "f64"), ("mode", "standard")] {
        assert_eq!(serial[name], expected);
    }
    for (name, expected) in [("rows", 3), ("nnz", 7), ("sweeps", 1), ("threads", 1)] {
        assert_eq!(serial[name], expected, "{name}");
    }
    assert_eq!(serial["check"]["verdict"], "pass");
    assert!(serial["seconds"].as_f64().unwrap() > 0.0);
    for name in ["levels", "colors", "expected"] {
        assert!(serial[name].is_null(), "{name}");
    }
    // b − A·x is (−2, −6, −4) before and (0, −0.578125, −0.1875) after; b is (4, 8, 16).
    let norm = |v: [f64; 3]| v.map(|v| v * v).iter().sum::<f64>().sqrt();
    let b = norm([4.0, 8.0, 16.0]);
    let expected = [norm([2.0, 6.0, 4.0]) / b, norm([0.0, 0.578125, 0.1875]) / b];
    for (found, expected) in
        [0, 1].map(|k| serial["residual"][k].as_f64().unwrap()).iter().zip(expected)
    {
        assert!((found - expected).abs() < 1e-15, "{found} {expected}");
    }
    // Each row waits for the one before; the outer ones have one colour.
    assert_eq!(with("cpu/symgs/levels", &[])["levels"], serde_json::json!([3, 3]));
    let colored = with("cpu/symgs/colored", &[]);
    assert_eq!((&colored["colors"], &colored["threads"]), (&2.into(), &2.into()));
    assert!(with("cpu/symgs/serial", &["--mode", "smoother"])["residual"].is_null());

    let text = p.succeed(&[&THREE[..], &["--kernel", "cpu/symgs/levels", "-o", "x.mtx"]].concat());
    for line in [
        "a.mtx: 3 rows, 7 nonzeros",
        "cpu/symgs/levels, f64, standard, ",
        "levels    3 ascending, 3 descending",
        "1 symmetric sweep in ",
        "residual  4.082e-1 before, 3.316e-2 after",
        "check     pass",
    ] {
        assert!(text.contains(line), "{line}:\n{text}");
    }
}

#[test]
fn sweeps_go_on_where_those_before_them_ended() {
    let p = program();
    p.succeed(&["generate", "random?m=300&row=6&dominant=1", "-o", "a.mtx"]);
    for kernel in on_cpu(Operation::Symgs) {
        for mode in ["standard", "smoother"] {
            for precision in ["f64", "f32"] {
                let how = ["symgs", "a.mtx", "--kernel", kernel.id, "--mode", mode];
                let how = [&how[..], &["--precision", precision, "--force"]].concat();
                p.succeed(&[&how[..], &["--sweeps", "3", "-o", "three.mtx"]].concat());
                p.succeed(&[&how[..], &["-o", "1.mtx"]].concat());
                p.succeed(&[&how[..], &["--x0", "1.mtx", "-o", "2.mtx"]].concat());
                p.succeed(&[&how[..], &["--x0", "2.mtx", "-o", "3.mtx"]].concat());
                assert_eq!(elements(&p, "3.mtx"), elements(&p, "three.mtx"), "{how:?}");
                assert_ne!(elements(&p, "2.mtx"), elements(&p, "three.mtx"), "{how:?}");
            }
        }
    }
}

#[test]
fn exact_kernels_give_the_same_file_for_any_number_of_threads_and_b_and_x_follow_the_seed() {
    let p = program();
    p.succeed(&["generate", "powerlaw?m=900&nnz=4000&max=200&dominant=1", "-o", "a.mtx"]);
    let with = |how: &[&str]| {
        p.succeed(&[&["symgs", "a.mtx", "-o", "x.mtx", "--force", "--sweeps", "2"], how].concat());
        std::fs::read(p.path("x.mtx")).unwrap()
    };
    let serial = with(&[]);
    for kernel in on_cpu(Operation::Symgs).filter(|k| k.exact && k.takes.threads) {
        for threads in ["1", "2", "5"] {
            let found = with(&["--kernel", kernel.id, "--threads", threads]);
            assert!(found == serial, "{} with {threads} threads", kernel.id);
        }
    }
    assert!(with(&["--seed", "7"]) == with(&["--seed", "7"]));
    assert!(with(&["--seed", "7"]) != serial);
}

#[test]
fn residuals_fall_from_sweep_to_sweep() {
    let p = program();
    for kernel in on_cpu(Operation::Symgs) {
        let how = ["symgs", "gen:stencil27?n=12", "--kernel", kernel.id, "--json", "--sweeps"];
        let mut before = f64::INFINITY;
        for sweeps in ["1", "2", "4", "8"] {
            let told = p.json(&[&how[..], &[sweeps]].concat());
            let after = told["residual"][1].as_f64().unwrap();
            assert!(after < 0.7 * before, "{} after {sweeps}: {after}", kernel.id);
            before = after;
        }
    }
    // One sweep solves a triangular system, up to rounding.
    let solved = p.json(&["symgs", "gen:kmer?m=5000", "--json"]);
    assert!(solved["residual"][1].as_f64().unwrap() < 1e-15, "{solved}");
}

#[test]
fn a_result_is_compared_with_an_expected_one_as_the_paper_does() {
    let p = program();
    three(&p);
    p.write("right.txt", "1.578125\n0.84375\n1.8125\n");
    p.write("near.txt", "1.578125\n0.8440\n1.8125\n");
    p.write("wrong.txt", "1.578125\n0.84575\n1.8\n");
    p.write("nan.txt", "nan\n0.84375\n1.8125\n");
    let with = |expected: &str, more: &[&str]| {
        p.run(&[&THREE[..], &["--expect", expected], more].concat())
    };
    for (expected, more) in [("right.txt", &["--tol", "0"][..]), ("near.txt", &[])] {
        let ran = with(expected, more);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.contains("100 % within ") && ran.out.contains(", 0 elements outside"));
    }
    assert_eq!(with("near.txt", &["--tol", "1e-4"]).code, Some(3));
    assert_eq!(with("nan.txt", &[]).code, Some(3));
    let ran = with("wrong.txt", &[]);
    assert_eq!(ran.code, Some(3));
    let line = "expected  33.3333 % within 1e-3, 2 elements outside; row 2: expected 8.4575e-1, found 8.4375e-1";
    assert!(ran.out.contains(line), "{}", ran.out);
    let sentence = "error: row 2: expected 8.4575e-1, found 8.4375e-1 (off by 2.000e-3); 2 of 3 rows differ by more than 1e-3";
    assert!(ran.err.contains(sentence), "{}", ran.err);
    let told = with("wrong.txt", &["--json", "-o", "x.mtx"]);
    let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
    let expected = &told["expected"];
    assert_eq!((&expected["wrong"], &expected["first"]["row"]), (&2.into(), &2.into()));
    assert_eq!(expected["first"]["expected"], 0.84575);
    assert!((expected["percent_right"].as_f64().unwrap() - 100.0 / 3.0).abs() < 1e-12);
    // The computed result passed its own check, and is written.
    assert_eq!(elements(&p, "x.mtx"), [1.578125, 0.84375, 1.8125]);
}

#[test]
fn what_cannot_be_swept_gets_one_sentence_and_leaves_nothing_behind() {
    let p = program();
    three(&p);
    let mm = |body: &str| format!("%%MatrixMarket matrix coordinate real general\n{body}");
    p.write("wide.mtx", mm("2 3 2\n1 1 1\n2 2 1\n"));
    p.write("missing.mtx", mm("3 3 3\n1 1 1\n2 1 1\n3 3 1\n"));
    p.write("zero.mtx", mm("3 3 3\n1 1 1\n2 2 1\n3 3 0\n"));
    p.write("tiny.mtx", mm("2 2 2\n1 1 1\n2 2 1e-60\n"));
    p.write("large.mtx", mm("2 2 2\n1 1 1\n2 2 1e60\n"));
    p.write("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 2\n");
    p.write("two.txt", "1\n2\n");
    let before = p.files();
    for (code, sentence, args) in [
        (1, "this one is 2 x 3", &["wide.mtx"][..]),
        (1, "cannot sweep missing.mtx", &["missing.mtx"]),
        (
            1,
            "row 1 (0-based) has no diagonal nonzero",
            &["missing.mtx", "--kernel", "cpu/symgs/levels"],
        ),
        (1, "row 2 (0-based) has a zero there", &["zero.mtx"]),
        (1, "row 1 (0-based) has a zero there", &["tiny.mtx", "--precision", "f32"]),
        (1, "row 1 has a value too large for f32", &["large.mtx", "--precision", "f32"]),
        (1, "only real matrices", &["complex.mtx"]),
        (2, "--b has 2 elements, but a.mtx has 3 rows", &["a.mtx", "--b", "two.txt"]),
        (2, "--x0 has 2 elements, but a.mtx has 3 rows", &["a.mtx", "--x0", "two.txt"]),
        (2, "--expect has 2 elements, but a.mtx has 3 rows", &["a.mtx", "--expect", "two.txt"]),
        (1, "nothing.mtx", &["nothing.mtx"]),
        (1, "no folder", &["a.mtx", "-o", "nowhere/x.mtx"]),
        (1, "--force", &["a.mtx", "-o", "b.txt"]),
        (2, "no kernel `cpu/symgs/fast`", &["a.mtx", "--kernel", "cpu/symgs/fast"]),
        (2, "`cpu/csr/serial` computes spmv, not symgs", &["a.mtx", "--kernel", "cpu/csr/serial"]),
        (2, "expected smoother or standard", &["a.mtx", "--mode", "soft"]),
        (2, "--sweeps", &["a.mtx", "--sweeps", "0"]),
        (2, "--tol", &["a.mtx", "--expect", "two.txt", "--tol", "-1"]),
        (2, "required arguments", &["a.mtx", "--tol", "1"]),
    ] {
        let output = if args.contains(&"-o") { &[][..] } else { &["-o", "x.mtx"] };
        let error = p.fail(code, &[&["symgs"], args, output].concat());
        assert!(error.contains(sentence), "{args:?}: {error}");
    }
    assert!(p.run(&["symgs", "a.mtx"]).err.contains("-o <FILE>"), "somewhere it has to go");
    assert_eq!(p.files(), before);
    assert_eq!(std::fs::read_to_string(p.path("b.txt")).unwrap(), "4\n8\n16\n");
}

/// The first row, from 0, of a matrix without a nonzero on the diagonal, and whether there is an explicit
/// zero.
fn first_bad_row(path: &Path) -> Option<(usize, bool)> {
    let file = open_matrix(path, MemoryLimit::unlimited(), Progress::none()).ok()?;
    let AnyMatrix::Real(a) = file.matrix else { return None };
    (0..a.rows()).find_map(|i| {
        let (col, val) = a.row(i);
        let entry = col.iter().position(|&c| c as usize == i).map(|at| val[at]);
        entry.is_none_or(|value| value == 0.0).then_some((i, entry.is_some()))
    })
}

#[test]
fn real_matrices_that_lack_diagonal_entries_are_refused_by_the_first_row_without() {
    let Some(folder) = real_matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let p = program();
    for name in
        ["cavity14.mtx.gz", "mhd4800a.mtx.gz", "tols340.mtx", "west0381.mtx", "NSR8K.mtx.gz"]
    {
        let path = folder.join(name);
        let (row, is_zero) = first_bad_row(&path).unwrap();
        let reason = if is_zero { "has a zero there" } else { "has no diagonal nonzero" };
        let path = path.to_string_lossy().into_owned();
        for kernel in on_cpu(Operation::Symgs) {
            let error = p.fail(1, &["symgs", &path, "--kernel", kernel.id, "-o", "x.mtx"]);
            assert!(error.contains(&format!("row {row} (0-based) {reason}")), "{name}: {error}");
        }
        let bench = ["bench", "--operation", "symgs", &path, "--runs", "1", "-q", "-o", "b.zip"];
        p.succeed(&[&bench[..], &["--threads", "1", "--force"]].concat());
        for run in open(&p, "b.zip").runs {
            assert_eq!(run.check.verdict, Verdict::Refused);
            let told = run.check.reason.unwrap();
            assert!(told.contains(&format!("row {row} (0-based)")), "{name}: {told}");
        }
    }
    assert!(!p.path("x.mtx").exists());
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_the_sweeps_that_are_shown_and_writes_nothing() {
    use std::io::BufRead as _;
    use std::process::Stdio;

    let p = program();
    let args = ["symgs", "gen:stencil27?n=30", "--sweeps", "100000", "-o", "x.mtx"];
    let mut child = p.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let said = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut interrupted = false;
    for line in said.lines() {
        let line = line.unwrap();
        if line.contains("100 000 symmetric sweeps") && !interrupted {
            crate::common::signal(&child, "-INT");
            interrupted = true;
        }
    }
    assert!(interrupted, "it never said that it sweeps");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(p.files().is_empty());
}

#[test]
fn bench_measures_every_kernel_in_both_modes_and_precisions() {
    let p = program();
    let args = ["bench", "--operation", "symgs", "gen:stencil7?n=8", "gen:kmer?m=900&near=20"];
    let how = ["--mode", "standard,smoother", "--precision", "f64,f32", "--threads", "1,2"];
    let runs = ["--runs", "3", "--warmup", "1", "--cold", "-q", "--all"];
    let table = p.succeed(&[&args[..], &how, &runs, &["-o", "b.zip", "--csv", "b.csv"]].concat());
    for word in ["cpu/symgs/levels f32 mode=smoother hot", "GFLOPS", "stencil7?n=8"] {
        assert!(table.contains(word), "{word}:\n{table}");
    }
    let bundle = open(&p, "b.zip");
    // Serial, and two kernels with 1 and 2 threads; two modes, two precisions, hot and cold.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (2, 2 * 5 * 2 * 2 * 2));
    let serial_medians: BTreeMap<_, f64> = bundle
        .runs
        .iter()
        .filter(|run| run.kernel == "cpu/symgs/serial")
        .map(|run| (like(run), run.figures.as_ref().unwrap().median_s))
        .collect();
    for run in &bundle.runs {
        let what = format!("{} {} {:?}", run.kernel, run.precision, run.params);
        assert_eq!(run.check.verdict, Verdict::Pass, "{what} {:?}", run.check.reason);
        assert_eq!((run.operation.as_str(), run.samples.len()), ("symgs", 3), "{what}");
        let matrix = bundle.matrices.iter().find(|m| m.record.id == run.matrix).unwrap();
        let work = run.work.unwrap();
        assert_eq!((work.flops, work.iterations), (4 * matrix.record.statistics.nnz, 1), "{what}");
        let figures = run.figures.as_ref().unwrap();
        let speedup = figures.speedup.unwrap() * figures.median_s / serial_medians[&like(run)];
        assert!((speedup - 1.0).abs() < 1e-12, "{what}");
    }
    let texts = sparsescope_tests::documents(&std::fs::read(p.path("b.zip")).unwrap());
    sparsescope_tests::follow_the_schema(&texts);
    let csv = std::fs::read_to_string(p.path("b.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + bundle.runs.len());
    assert!(csv.lines().skip(1).all(|line| line.contains(",symgs,")), "{csv}");
    let json = p.json(&[&args[..], &["--json", "--runs", "1", "--threads", "1", "-q"]].concat());
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 2 * on_cpu(Operation::Symgs).count());
    assert!(runs.iter().all(|run| run["operation"] == "symgs"));
}

/// What a run shares with the reference for its speed-up.
fn like(run: &Run) -> (String, String, String, bool) {
    let mode = run.params["mode"].clone();
    (run.matrix.clone(), run.precision.clone(), mode, run.hot)
}
