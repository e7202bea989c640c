//! Comparing and merging bundles.

use sparsescope_core::record::{Figures, Verdict};
use sparsescope_tests::Program;

use crate::common::{open, program};

/// A measured bundle `name` of the given kernels on two small matrices.
pub(crate) fn bench(p: &Program, name: &str, kernels: &str) {
    p.succeed(&[
        "bench",
        "gen:poisson2d?n=9",
        "gen:diagonal?m=9",
        "--runs",
        "8",
        "--warmup",
        "0",
        "--no-report",
        "--threads",
        "1,2",
        "--kernels",
        kernels,
        "-q",
        "-o",
        name,
    ]);
}

#[test]
fn a_missing_bundle_is_named_once() {
    let error = program().fail(1, &["compare", "none.zip", "none.zip"]);
    assert!(error.starts_with("error: cannot open none.zip: "), "{error}");
    assert_eq!(error.matches("none.zip").count(), 1, "{error}");
}

/// Gives every run of a bundle times with a known ratio to `time`, and saves it.
pub(crate) fn with_times(p: &Program, from: &str, to: &str, time: f64, slow: &str, factor: f64) {
    let mut bundle = open(p, from);
    for (k, run) in bundle.runs.iter_mut().enumerate() {
        let time = if run.kernel == slow { time * factor } else { time };
        run.samples =
            (0..20).map(|s| time * (1.0 + f64::from((s * 7 + k as i32) % 20) * 1e-3)).collect();
        let nnz = bundle
            .matrices
            .iter()
            .find(|m| m.record.id == run.matrix)
            .unwrap()
            .record
            .statistics
            .nnz;
        run.figures =
            Figures::from_samples(&run.samples, 2.0 * nnz as f64, run.costs.minimal_bytes);
        (run.work, run.metric) = (None, None);
    }
    bundle.save(&p.path(to), true).unwrap();
}

#[test]
fn a_slower_kernel_is_found_and_fails_where_a_limit_is_set() {
    let p = program();
    bench(&p, "m.zip", "cpu/csr/{serial,nnz},cpu/coo/serial");
    assert_eq!(open(&p, "m.zip").runs.len(), 2 * 4, "braces are one pattern");
    with_times(&p, "m.zip", "a.zip", 1e-3, "none", 1.0);
    with_times(&p, "m.zip", "b.zip", 1e-3, "cpu/csr/nnz", 1.5);

    let found = p.json(&["compare", "a.zip", "b.zip", "--json"]);
    let runs = found["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &found["slower"], &found["faster"]), (8, &4.into(), &0.into()));
    for run in runs {
        let is_slow = run["kernel"] == "cpu/csr/nnz";
        let ratio = run["ratio"].as_f64().unwrap();
        let expected = if is_slow { 1.5 } else { 1.0 };
        assert!((ratio - expected).abs() < 0.01, "{run}");
        let (low, high) = (run["low"].as_f64().unwrap(), run["high"].as_f64().unwrap());
        assert!(low <= ratio && ratio <= high, "{run}");
        assert_eq!(run["change"] == "slower", is_slow, "{run}");
    }
    // Four of eight by 1.5.
    let mean = found["geometric_mean"]["ratio"].as_f64().unwrap();
    assert!((mean - 1.5f64.sqrt()).abs() < 0.01, "{mean}");
    assert_eq!(found, p.json(&["compare", "a.zip", "b.zip", "--json"]), "the same each time");

    let with = |a: &str, b: &str, limit: &str| p.run(&["compare", a, b, "--fail-above", limit]);
    let ran = with("a.zip", "b.zip", "1.2");
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.err.contains("error: 4 runs are slower than 1.2 x the time before: cpu/csr/nnz on"),
        "{}",
        ran.err
    );
    assert!(
        ran.out.contains("8 timed runs are in both: 0 faster, 4 slower, 4 unclear"),
        "{}",
        ran.out
    );
    assert_eq!(with("a.zip", "b.zip", "1.6").code, Some(0));
    assert_eq!(with("b.zip", "a.zip", "1.2").code, Some(0));
    assert_eq!(with("a.zip", "a.zip", "1.01").code, Some(0));
    assert!(p.run(&["compare", "b.zip", "a.zip"]).out.contains("4 faster, 0 slower"));
}

#[test]
fn a_wrong_result_is_a_regression_and_missing_runs_are_named() {
    let p = program();
    bench(&p, "a.zip", "cpu/csr/{serial,rows,nnz,merge}");
    let mut bundle = open(&p, "a.zip");
    bundle.runs.retain(|run| run.kernel != "cpu/csr/merge");
    let run = bundle.runs.iter_mut().find(|run| run.kernel == "cpu/csr/rows").unwrap();
    (run.samples, run.figures, run.metric) = (Vec::new(), None, None);
    run.check.verdict = Verdict::Fail;
    run.check.reason = Some("row 3 differs".into());
    bundle.environments[0].build.profile = "another".into();
    bundle.save(&p.path("b.zip"), true).unwrap();

    let ran = p.run(&["compare", "a.zip", "b.zip", "--fail-above", "1e9"]);
    assert_eq!(ran.code, Some(3));
    assert!(
        ran.err.contains("error: 1 run has a worse check result than before: cpu/csr/rows on"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("warning: the build profile differs"), "{}", ran.err);
    assert!(ran.out.contains("pass before, fail after (row 3 differs)"), "{}", ran.out);
    assert!(
        ran.out.contains("4 runs are in the first bundle only: cpu/csr/merge on"),
        "{}",
        ran.out
    );
    assert_eq!(
        p.run(&["compare", "a.zip", "b.zip"]).code,
        Some(0),
        "without a limit it only tells"
    );
    let json = p.json(&["compare", "a.zip", "b.zip", "--json"]);
    assert_eq!((json["only_before"].as_array().unwrap().len(), &json["wrong_now"]), (4, &1.into()));
    assert_eq!(json["verdicts"][0]["after"], "fail");
}

#[test]
fn bundles_with_nothing_in_common_cannot_be_judged() {
    let p = program();
    bench(&p, "a.zip", "cpu/csr/serial");
    let mut bundle = open(&p, "a.zip");
    for run in &mut bundle.runs {
        run.device = "Another CPU".into();
    }
    bundle.save(&p.path("b.zip"), true).unwrap();
    let ran = p.run(&["compare", "a.zip", "b.zip"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.err.contains("the second on Another CPU"), "{}", ran.err);
    let ran = p.run(&["compare", "a.zip", "b.zip", "--fail-above", "1.1"]);
    assert!(ran.code == Some(1) && ran.err.contains("has nothing to compare"), "{}", ran.err);
}

#[test]
fn a_sweep_in_two_parts_becomes_one_bundle() {
    let p = program();
    bench(&p, "a.zip", "cpu/csr/{serial,rows,nnz,merge}");
    bench(&p, "b.zip", "cpu/coo/serial,cpu/hll/*");
    let ran = p.run(&["merge", "a.zip", "b.zip", "-o", "c.zip"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let (a, b, c) = (open(&p, "a.zip"), open(&p, "b.zip"), open(&p, "c.zip"));
    assert_eq!(c.runs.len(), a.runs.len() + b.runs.len());
    assert_eq!((c.matrices.len(), c.environments.len(), c.complete), (2, 2, true));
    for run in &c.runs {
        let part = if run.kernel.starts_with("cpu/csr/") { &a } else { &b };
        let original = part
            .runs
            .iter()
            .find(|r| (&r.matrix, &r.kernel, r.threads) == (&run.matrix, &run.kernel, run.threads));
        assert_eq!(original.map(|r| &r.samples), Some(&run.samples));
        let measured_in = part.environments[0].clone();
        let named = c.environment(&run.environment).unwrap().clone();
        assert_eq!((named.bandwidth, named.noise), (measured_in.bandwidth, measured_in.noise));
    }
    // Merged bundles are compared, exported and follow the schema like measured ones.
    let texts = sparsescope_tests::documents(&std::fs::read(p.path("c.zip")).unwrap());
    assert_eq!(sparsescope_tests::follow_the_schema(&texts), 3 + 2 * 2);
    let same = p.json(&["compare", "a.zip", "c.zip", "--json"]);
    assert_eq!(
        (same["only_before"].as_array().unwrap().len(), same["slower"].clone()),
        (0, 0.into())
    );
    assert_eq!(p.files(), ["a.zip", "b.zip", "c.zip"]);
}

#[test]
fn runs_that_clash_are_named_and_the_last_one_counts_when_asked() {
    let p = program();
    bench(&p, "a.zip", "cpu/csr/{serial,rows,nnz,merge}");
    bench(&p, "b.zip", "cpu/csr/serial");
    let error = p.fail(1, &["merge", "a.zip", "b.zip", "-o", "c.zip"]);
    assert!(
        error.contains("2 runs differ")
            && error.contains("cpu/csr/serial on poisson2d?n=9, 1 thread"),
        "{error}"
    );
    assert!(error.contains("--prefer last"), "{error}");
    assert_eq!(p.files(), ["a.zip", "b.zip"]);
    p.succeed(&["merge", "a.zip", "b.zip", "-o", "c.zip", "--prefer", "last"]);
    let serial = |name: &str| {
        let runs = open(&p, name).runs;
        runs.into_iter().find(|run| run.kernel == "cpu/csr/serial").unwrap().samples
    };
    assert_eq!(serial("c.zip"), serial("b.zip"));
    assert_eq!(open(&p, "c.zip").runs.len(), open(&p, "a.zip").runs.len());
    let error = p.fail(1, &["merge", "a.zip", "b.zip", "-o", "c.zip"]);
    assert!(error.contains("--force"), "{error}");
    assert!(p.fail(2, &["merge", "a.zip", "-o", "d.zip"]).contains("two or more bundles"));
}
