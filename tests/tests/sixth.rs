//! An operation other than SpMV, in place, on a subject that is not a matrix, through the whole program: a
//! failure here shows code that assumes an operation instead of asking for it.
//!
//! `cargo test -p sparsescope-tests --features proof --test sixth`
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Stdio;

use sparsescope_core::bundle::{Bundle, Journal, Limits, journal_path};
use sparsescope_core::experiment::Key;
use sparsescope_core::record::{Better, Run, Verdict};
use sparsescope_tests::Program;

fn program() -> Program {
    Program::new(env!("CARGO_BIN_EXE_sparsescope-under-test"))
}

/// Two vectors, each by a serial kernel and by one with 1 and 2 threads.
const INCREMENT: [&str; 8] =
    ["bench", "--operation", "increment", "--warmup", "1", "--threads", "1,2", "-q"];

fn bench(program: &Program, more: &[&str]) -> String {
    program.succeed(&[&INCREMENT[..], &["--runs", "4"], more].concat())
}

fn open(program: &Program, name: &str) -> Bundle {
    Bundle::open(&program.path(name), &Limits::default()).unwrap()
}

#[test]
fn its_runs_pass_their_check_and_are_rated_in_their_own_unit() {
    let program = program();
    let table = bench(&program, &["--cold", "--all", "-o", "b.zip"]);
    // Hot and cold.
    let bundle = open(&program, "b.zip");
    assert_eq!((bundle.matrices.len(), bundle.subjects.len(), bundle.runs.len()), (0, 2, 12));
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{}: {:?}", run.kernel, run.check.reason);
        assert_eq!((run.operation.as_str(), run.samples.len()), ("increment", 4));
        assert_eq!(run.costs.clock_s.is_some(), run.hot, "the clock is in what is timed alone");
        let (metric, work) = (run.metric.as_ref().unwrap(), run.work.unwrap());
        assert_eq!((metric.unit.as_str(), metric.better), ("ns", Better::Less));
        let median = run.figures.as_ref().unwrap().median_s;
        assert!((metric.value * work.flops as f64 / 1e9 / median - 1.0).abs() < 1e-9);
    }
    let serial = |run: &&Run| run.kernel == "cpu/increment/serial";
    let speedups =
        bundle.runs.iter().filter(serial).map(|run| run.figures.as_ref().unwrap().speedup);
    assert!(speedups.eq([Some(1.0); 4]), "the reference is the operation's own");
    for word in ["vector?n=100000", "cpu/increment/parts", " ns ", "100 000 elements"] {
        assert!(table.contains(word), "{word} in:\n{table}");
    }
    assert!(!table.contains("GFLOPS") && !table.contains("cpu/csr"), "{table}");
    let csv = program.succeed(&["export", "b.zip", "--csv", "-"]);
    assert_eq!(csv.lines().count(), 13);
    assert!(csv.lines().skip(1).all(|line| line.ends_with(",ns")), "{csv}");
}

#[test]
fn killed_it_is_continued_to_the_runs_of_an_uninterrupted_sweep() {
    let program = program();
    bench(&program, &["-o", "whole.zip"]);
    let whole = open(&program, "whole.zip");
    // The journal of a bench that was killed after its third run.
    let mut part = whole.clone();
    let lost: Vec<Key> = part.runs.drain(3..).map(|run| Key::of(&run)).collect();
    part.complete = false;
    let path = program.path("part.zip");
    drop(Journal::create(&path, &part, false).unwrap());
    assert!(journal_path(&path).is_file() && !lost.is_empty());
    program.succeed(&["bench", "-q", "--resume", "part.zip"]);
    let resumed = open(&program, "part.zip");
    let keys = |bundle: &Bundle| {
        let mut keys: Vec<_> =
            bundle.runs.iter().map(|run| (run.matrix.clone(), Key::of(run))).collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(&resumed), keys(&whole));
    assert!(resumed.complete);
    for before in &part.runs {
        assert!(resumed.runs.iter().any(|run| run.samples == before.samples));
    }
}

#[cfg(unix)]
#[test]
fn a_kill_at_any_moment_leaves_what_was_measured() {
    for milliseconds in [700, 1500, 2500] {
        let program = program();
        let args = [&INCREMENT[..], &["--runs", "400", "-o", "b.zip"]].concat();
        let mut command = program.command(&args);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        child.kill().unwrap();
        child.wait().unwrap();
        let journal = journal_path(&program.path("b.zip"));
        if journal.is_file() {
            let kept = Journal::recover(&journal, &Limits::default()).unwrap();
            assert!(kept.runs.iter().all(|run| run.check.verdict == Verdict::Pass));
            program.succeed(&["bench", "-q", "--resume", "b.zip"]);
            assert_eq!(open(&program, "b.zip").runs.len(), 6);
        }
    }
}

#[test]
fn it_merges_with_products_and_compares_with_itself() {
    let program = program();
    bench(&program, &["-o", "a.zip"]);
    program.succeed(&[
        "bench",
        "gen:diagonal?m=500",
        "--runs",
        "2",
        "--threads",
        "1",
        "--kernels",
        "cpu/csr/{serial,rows,nnz,merge}",
        "-q",
        "-o",
        "b.zip",
    ]);
    program.succeed(&["merge", "a.zip", "b.zip", "a.zip", "-o", "both.zip"]);
    let (one, both) = (open(&program, "a.zip"), open(&program, "both.zip"));
    assert_eq!((both.matrices.len(), both.subjects.len()), (1, 2));
    assert!(both.runs.len() > one.runs.len());
    let compared = program.json(&["compare", "a.zip", "both.zip", "--json", "--all"]);
    let runs = compared["runs"].as_array().unwrap();
    assert_eq!(runs.len(), one.runs.len());
    assert!(runs.iter().all(|run| run["ratio"] == 1.0), "{runs:?}");
}

#[test]
fn tables_charts_and_report_take_its_rate_unit_and_direction_from_the_runs() {
    let program = program();
    bench(&program, &["--cold", "--all", "-o", "b.zip"]);
    let bundle = open(&program, "b.zip");
    let rate = |run: &Run| run.metric.as_ref().unwrap().value;

    // The table of runs: the column of rates is in nanoseconds, the smallest is the best.
    let table = program.succeed(&["export", "b.zip", "--table", "-", "--view", "runs"]);
    let header: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    assert!(header.contains(&"ns") && !header.contains(&"gflops"), "{header:?}");
    assert_eq!(table.lines().count(), 1 + bundle.runs.len());

    // The chart of kernels: for each vector the run with the least time per element.
    let args = ["export", "b.zip", "--chart", "kernels", "--table", "-"];
    let chart = program.succeed(&args);
    let lines: Vec<Vec<&str>> =
        chart.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert!(!lines.is_empty());
    for subject in &bundle.subjects {
        for kernel in ["cpu/increment/serial", "cpu/increment/parts"] {
            let of = bundle
                .runs
                .iter()
                .filter(|run| run.matrix == subject.record.id && run.kernel == kernel && run.hot);
            let best = of.map(rate).fold(f64::INFINITY, f64::min);
            let is_it = |line: &&Vec<&str>| {
                line.contains(&subject.record.name.as_str()) && line.contains(&kernel)
            };
            let found: Vec<_> = lines.iter().filter(is_it).collect();
            assert_eq!(found.len(), 1, "{chart}");
            let drawn: f64 = found[0].iter().rev().find_map(|cell| cell.parse().ok()).unwrap();
            assert!((drawn / best - 1.0).abs() < 1e-9, "{drawn} is not {best}");
        }
    }
    let all = program.succeed(&["export", "b.zip", "--svg", "figures"]);
    assert!(all.is_empty() || !all.contains("error"), "{all}");
    let svg = std::fs::read_to_string(program.path("figures/kernels.svg")).unwrap();
    assert!(svg.contains("time per element, ns (lower is better") && !svg.contains("GFLOPS"));
    assert!(!program.path("figures/roofline.svg").exists(), "a chart for products only");
    let sentence =
        program.fail(2, &["export", "b.zip", "--chart", "roofline", "--svg", "roofline.svg"]);
    assert!(sentence.contains("there is no increment chart roofline"), "{sentence}");

    // The report: the fastest kernel on each vector, in the operation's own terms.
    program.succeed(&["export", "b.zip", "--report", "report.html"]);
    let report = std::fs::read_to_string(program.path("report.html")).unwrap();
    for words in ["vector?n=100000", "cpu/increment/serial", "time per element, ns"] {
        assert!(report.contains(words), "{words}");
    }
    assert!(!report.contains("GFLOPS") && !report.contains("cpu/csr/serial"));
}

#[test]
fn it_is_refused_what_it_cannot_take_with_a_sentence() {
    let program = program();
    let args = ["bench", "--operation", "increment", "gen:stencil7?n=3", "-o", "b.zip"];
    let sentence = program.fail(1, &args);
    assert!(sentence.contains("cannot be incremented"), "{sentence}");
    let args = ["bench", "--operation", "increment", "--sigma", "64", "-o", "b.zip"];
    let sentence = program.fail(2, &args);
    assert!(sentence.contains("no selected kernel takes sigma 64"), "{sentence}");
    assert_eq!(program.files(), Vec::<String>::new());
}
