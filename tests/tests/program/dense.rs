//! Many small dense systems through the whole program: `bench --operation batched-dense`.

use sparsescope_core::bundle::{Bundle, SubjectFolder};
use sparsescope_core::dense::Flagged;
use sparsescope_core::kernel::KernelDescriptor;
use sparsescope_core::record::{Operation, Run, Verdict};
use sparsescope_tests::{Program, documents, follow_the_schema};

use crate::common::{on_cpu, open, program};

/// The batch of the bundle whose name begins with this.
fn batch<'b>(bundle: &'b Bundle, name: &str) -> &'b SubjectFolder {
    bundle.subjects.iter().find(|s| s.record.name.starts_with(name)).unwrap()
}

const HOW: [&str; 8] =
    ["--operation", "batched-dense", "--backend", "cpu", "--runs", "3", "--threads", "1,2"];

#[test]
fn bench_solves_every_batch_with_every_kernel_and_flags_what_is_not_positive_definite() {
    let p = program();
    let specs = ["gen:spd-batch?n=7&count=30&bad=10", "gen:spd-batch?n=20&count=9"];
    let rhs = ["--rhs", "last-unit,random", "-o", "out.zip"];
    let table = p.succeed(&[&["bench"], &specs[..], &HOW, &rhs].concat());
    let is_heading = |line: &str| line.contains("subject") && line.contains("GFLOPS");
    assert!(table.lines().any(is_heading), "{table}");
    let bundle = open(&p, "out.zip");
    assert!(bundle.matrices.is_empty() && bundle.complete);
    let kinds: Vec<_> =
        bundle.subjects.iter().map(|s| (s.folder.as_str(), s.record.kind.as_str())).collect();
    assert_eq!(kinds, [("dense", "batch"); 2]);
    let small = batch(&bundle, "spd-batch?n=7&");
    let flagged = |of: &SubjectFolder| Flagged::from_files(&of.files).unwrap();
    assert_eq!((flagged(small).systems, flagged(small).numbers), (30, vec![9, 19, 29]));
    let large = flagged(batch(&bundle, "spd-batch?n=20&"));
    assert_eq!((large.systems, large.flagged), (9, 0));
    let threads = |kernel: &KernelDescriptor| if kernel.takes.threads { 2 } else { 1 };
    assert_eq!(
        bundle.runs.len(),
        2 * 2 * on_cpu(Operation::BatchedDense).map(threads).sum::<usize>()
    );
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
        assert!(
            run.check.worst.unwrap() <= 1.0
                && ["last-unit", "random"].contains(&&*run.params["rhs"])
        );
        // n³/3 + 2n² for each system that has a solution.
        let [n, solved] = if run.matrix == small.record.id { [7, 27] } else { [20, 9] };
        let flops = run.work.unwrap().flops;
        assert_eq!(flops, (n * n * n + 6 * n * n) * solved / 3);
        let (metric, figures) = (run.metric.as_ref().unwrap(), run.figures.as_ref().unwrap());
        assert!((metric.value / (flops as f64 / figures.median_s / 1e9) - 1.0).abs() < 1e-9);
        // Another kernel may take exactly as long as the reference.
        let is_reference = run.kernel == "cpu/dense/gauss";
        let speedup = figures.speedup.unwrap();
        assert!(speedup > 0.0 && (!is_reference || speedup == 1.0), "{}: {speedup}", run.kernel);
    }
    let written = std::fs::read(p.path("out.zip")).unwrap();
    // Manifest, environment and runs; for each batch the subject, its runs and its flagged systems.
    assert_eq!(follow_the_schema(&documents(&written)), 3 + 2 * 3);
    p.succeed(&["export", "out.zip", "--report", "report.html"]);
    for chart in ["time-unknowns", "speedup-unknowns"] {
        let view = ["--view", "chart", "--chart", chart, "--state", "v1;operation=batched-dense"];
        p.succeed(&[&["export", "out.zip", "--table", "chart.csv", "--force"], &view[..]].concat());
        let table = std::fs::read_to_string(p.path("chart.csv")).unwrap();
        assert!(table.contains("cpu/dense/cholesky") && table.contains("unknowns"), "{table}");
    }
}

/// The configuration of a run, without its measurements.
fn of(run: &Run) -> (String, String, u32, Vec<(String, String)>) {
    let params = run.params.clone().into_iter().collect();
    (run.matrix.clone(), run.kernel.clone(), run.threads, params)
}

#[test]
fn a_measurement_that_was_stopped_goes_on_where_it_ended() {
    let p = program();
    let specs = ["gen:spd-batch?n=6&count=40&bad=7", "gen:spd-batch?n=12&count=20"];
    let whole = ["--rhs", "random", "-o", "whole.zip"];
    p.succeed(&[&["bench"], &specs[..], &HOW, &whole].concat());
    let all = open(&p, "whole.zip");
    // As if killed after half of the runs: the bundle keeps these and the plan.
    let mut half = all.clone();
    half.complete = false;
    half.runs.truncate(all.runs.len() / 2);
    half.subjects.retain(|s| half.runs.iter().any(|run| run.matrix == s.record.id));
    std::fs::write(p.path("half.zip"), half.to_bytes().unwrap()).unwrap();
    p.succeed(&["bench", "--resume", "half.zip"]);
    let resumed = open(&p, "half.zip");
    assert!(resumed.complete);
    let keys = |bundle: &Bundle| bundle.runs.iter().map(of).collect::<Vec<_>>();
    assert_eq!(keys(&resumed), keys(&all));
    assert_eq!(resumed.runs[..half.runs.len()], half.runs[..]);
    let flagged = Flagged::from_files(&batch(&resumed, "spd-batch?n=6&").files).unwrap();
    assert_eq!(flagged.numbers, [6, 13, 20, 27, 34]);
}

/// Runs the program where no batch can be had; returns what it says about the requested one.
fn refused(p: &Program, args: &[&str]) -> String {
    let ran = p.run(args);
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{}", ran.err);
    assert!(ran.err.contains("there is nothing to write"), "{}", ran.err);
    ran.err.lines().find(|line| line.starts_with("error:")).unwrap().to_owned()
}

#[test]
fn the_systems_of_a_matrixs_rows_are_one_batch_of_several_sizes() {
    let p = program();
    p.succeed(&["generate", "poisson2d?n=6", "-o", "grid.mtx"]);
    let specs = ["fsai?k=1:grid.mtx", "fsai?most=10:gen:poisson2d?n=6"];
    p.succeed(&[&["bench"], &specs[..], &HOW, &["-o", "rows.zip"]].concat());
    let bundle = open(&p, "rows.zip");
    let [file, made] = ["grid-fsai", "poisson2d"].map(|name| batch(&bundle, name));
    assert_eq!((file.record.name.as_str(), &file.record.generator), ("grid-fsai-k1", &None));
    assert_eq!(made.record.generator.as_deref(), Some("fsai?most=10:gen:poisson2d?n=6"));
    assert_eq!((file.record.sizes["systems"], file.record.sizes["unknowns at most"]), (36, 3));
    assert_eq!(made.record.sizes["systems"], 10);
    for run in &bundle.runs {
        assert_eq!(run.check.verdict, Verdict::Pass, "{} {:?}", run.kernel, run.check.reason);
        // One row alone, 10 with one neighbour before them, 25 with two: a third of 7, 32 and 81 each.
        let flops = if run.matrix == file.record.id { (7 + 10 * 32 + 25 * 81) / 3 } else { 0 };
        assert!(flops == 0 || run.work.unwrap().flops == flops);
    }
    let error = refused(&p, &[&["bench", "fsai:gen:random?m=60&row=3"], &HOW[..]].concat());
    assert!(error.contains("symmetric") || error.contains("diagonal"), "{error}");
}

#[test]
fn what_cannot_be_a_batch_is_told_in_a_sentence() {
    let p = program();
    let bench = |subject: &'static str| [&["bench", subject][..], &HOW].concat();
    let error = refused(&p, &bench("gen:spd-batch?n=500&count=4G"));
    assert!(error.contains("8000000000000000 bytes (8000000.0 GB)"), "{error}");
    let small = ["--memory-limit", "1k"];
    let error = refused(&p, &[&bench("gen:spd-batch?n=10&count=10")[..], &small].concat());
    assert!(error.contains("needs 8000 bytes"), "{error}");
    let error = p.fail(2, &bench("cant.mtx"));
    assert!(error.contains("is not a batch of systems"), "{error}");
    let error = p.fail(2, &bench("gen:spd-batch?n=0&count=4"));
    assert!(error.contains("n is `0`, expected an integer from 1 to 512"), "{error}");
    let error = p.fail(2, &[&["bench", "--suite", "mini"], &HOW[..]].concat());
    assert!(error.contains("the suites are: batches, thesis-batches"), "{error}");
    let error = p.fail(2, &[&bench("suite:spd-8")[..], &["--rhs", "ones"]].concat());
    assert!(error.contains("last-unit or random"), "{error}");
    let list = p.succeed(&["generate", "--list"]);
    for name in ["spd-batch?n=...&count=...", "thesis-batches", "spd-200"] {
        assert!(list.contains(name), "{name}");
    }
    // A batch has nothing of a sweep, and an SpMV nothing of a batch.
    let plan = p.succeed(&[&["bench", "--plan", "suite:spd-28"], &HOW[..]].concat());
    assert!(plan.contains("cpu/dense/gauss") && plan.contains("spd-28"), "{plan}");
}
