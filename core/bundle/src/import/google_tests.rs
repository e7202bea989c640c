//! How Google Benchmark's entries are imported, and what is refused.

use std::collections::BTreeMap;

use crate::{Bundle, BundleError, Limits};
use sparsescope_record::{Run, Source, Verdict};

const FILE: &str = include_str!("../../../../tests/golden/google-benchmark.json");
const WHEN: &str = "2026-02-01T12:00:00Z";

fn read(text: &str) -> Result<Bundle, BundleError> {
    Bundle::read_any("a.json", text.as_bytes(), WHEN.into(), &Limits::default())
}

fn of<'a>(bundle: &'a Bundle, matrix: &str, verdict: Verdict) -> &'a Run {
    let named = |run: &&Run| bundle.matrix(&run.matrix).unwrap().record.name == matrix;
    bundle.runs.iter().filter(named).find(|run| run.check.verdict == verdict).unwrap()
}

fn params(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

#[test]
fn repetitions_of_a_name_are_the_samples_of_one_run_and_aggregates_are_none() {
    let bundle = read(FILE).unwrap();
    let csr = of(&bundle, "five", Verdict::Pass);
    assert_eq!(csr.kernel, "vendor/google-benchmark/bm_spmv_csr_double");
    let expected = [4e-6, 2e-6, 3e-6];
    assert!(csr.samples.iter().zip(expected).all(|(found, wanted)| (found - wanted).abs() < 1e-18));
    assert_eq!((csr.samples.len(), csr.repetitions, csr.threads), (3, 1000, 2));
    assert_eq!((csr.backend.as_str(), csr.precision.as_str(), csr.hot), ("cpu", "f64", true));
    assert_eq!(csr.check.by.as_deref(), Some("Google Benchmark"));
    assert_eq!(csr.params, params(&[("check", "none"), ("chunk", "64")]));
    // 2·10 operations in 3 µs.
    let metric = csr.metric.as_ref().unwrap();
    assert!((metric.value - 20.0 / 3e3).abs() < 1e-12, "{metric:?}");
}

#[test]
fn a_matrix_is_told_by_a_path_or_by_its_size_alone() {
    let bundle = read(FILE).unwrap();
    let names: Vec<_> =
        bundle.matrices.iter().map(|m| (m.record.name.as_str(), m.record.source)).collect();
    let expected =
        [("five", Source::Real), ("wide", Source::Real), ("7 x 9 with 20", Source::Generated)];
    assert_eq!(names, expected);
    let wide = of(&bundle, "wide", Verdict::Pass);
    assert_eq!(
        (wide.kernel.as_str(), wide.samples.as_slice()),
        ("vendor/google-benchmark/ell_float", [5e-4].as_slice())
    );
    assert_eq!((wide.precision.as_str(), wide.check.rel_err), ("f32", Some(1e-7)));
    assert_eq!(wide.params, params(&[("operation", "assumed"), ("time", "averaged")]));
    let size = &bundle.matrices[1].record.statistics;
    assert_eq!((size.rows, size.cols, size.nnz), (4, 1000, 2000));
}

#[test]
fn an_error_leaves_a_run_without_times_and_what_names_no_matrix_is_told() {
    let bundle = read(FILE).unwrap();
    let failed = of(&bundle, "five", Verdict::Unsupported);
    let reason = failed.check.reason.as_deref();
    assert_eq!(reason, Some("the benchmark ended with an error: chunk of \"0\" rows"));
    assert!(failed.samples.is_empty());
    let left_out: Vec<&str> = bundle.left_out().collect();
    let expected = "2 of 6 runs not imported: 1 without a matrix name or size \
        (BM_SpMV_csr<double>/1024); 1 of an operation other than SpMV (y = A·x) \
        (BM_SpMM/matrix:five)";
    assert_eq!(left_out, [expected]);
    assert_eq!(bundle.runs.len(), 4);
}

#[test]
fn the_machine_is_told_and_its_name_is_not() {
    let bundle = read(FILE).unwrap();
    let cpu = &bundle.environments[0].cpu;
    assert_eq!((cpu.logical, cpu.caches.len(), cpu.caches[0].bytes), (8, 2, 32768));
    assert_eq!(bundle.producer.version, "v1.9.4");
    assert!(!format!("{bundle:?}").contains("unnamed"));
}

#[test]
fn what_is_read_is_a_bundle_that_is_written_and_read_again() {
    let bundle = read(FILE).unwrap();
    let bytes = bundle.to_bytes().unwrap();
    assert_eq!(Bundle::read(&bytes, &Limits::default()).unwrap(), bundle);
}

/// One entry of a benchmark on a matrix, with additional fields.
fn entry(name: &str, fields: &str) -> String {
    format!(
        "{{\"benchmarks\": [{{\"name\": \"{name}\", \"run_type\": \"iteration\", \"real_time\": 5{fields}}}]}}"
    )
}

#[test]
fn names_are_taken_apart_at_keys_paths_and_what_the_library_adds() {
    let kernel_and_matrix = |name: &str| {
        let bundle = read(&entry(name, "")).unwrap();
        let run = &bundle.runs[0];
        let kernel = run.kernel.strip_prefix("vendor/google-benchmark/").unwrap().to_owned();
        (kernel, bundle.matrices[0].record.name.clone())
    };
    for (name, kernel) in [
        ("spmv/matrix:/data/mm/cant.mtx.gz/iterations:5/manual_time", "spmv"),
        ("spmv//data/mm/cant.mtx/csr", "spmv_csr"),
        ("spmv/csr/cant.tar.gz", "spmv_csr"),
        ("spmv<ns::Csr<int>>/mtx:cant", "spmv_ns__csr_int"),
        ("spmv/Matrix_Name:cant/8", "spmv_8"),
    ] {
        assert_eq!(kernel_and_matrix(name), (kernel.into(), "cant".into()), "{name}");
    }
    let labelled = read(&entry("spmv", ", \"label\": \"some/cant.mtx\"")).unwrap();
    assert_eq!(labelled.matrices[0].record.name, "cant");
}

#[test]
fn entries_of_before_run_types_are_told_apart_by_their_names() {
    let old = r#"{"benchmarks": [
        {"name": "spmv/mtx:a", "iterations": 7, "real_time": 3, "cpu_time": 3, "time_unit": "ns"},
        {"name": "spmv/mtx:a", "iterations": 7, "real_time": 5, "cpu_time": 3, "time_unit": "ns"},
        {"name": "spmv/mtx:a_mean", "iterations": 7, "real_time": 4, "cpu_time": 3},
        {"name": "spmv/mtx:a_BigO", "big_o": "N", "rms": 1},
        {"name": "spmv/mtx:b_median", "iterations": 7, "real_time": 4, "cpu_time": 3}]}"#;
    let bundle = read(old).unwrap();
    assert_eq!((bundle.runs.len(), bundle.runs[0].samples.len()), (1, 2));
    let left_out = bundle.left_out().next().unwrap();
    assert!(left_out.starts_with("1 of 2 runs not imported: 1 with aggregates"), "{left_out}");
}

#[test]
fn what_is_no_result_is_refused_in_one_sentence() {
    let unit = entry("spmv/mtx:a", ", \"time_unit\": \"days\"");
    let other = entry("copy", "");
    let places = entry("spmv/mtx:a", ", \"rows\": 2, \"cols\": 2, \"nnz\": 5");
    let cases = [
        ("{\"benchmarks\": [", "EOF while parsing"),
        ("{\"benchmarks\": {}}", "`benchmarks` is not a list"),
        ("{\"benchmarks\": []}", "it contains no measurements"),
        ("{\"benchmarks\": [1]}", "`benchmarks[0]` is not an object"),
        ("{\"benchmarks\": [{}]}", "`benchmarks[0]` has no `name`"),
        (&unit, "`benchmarks[0]` has the time unit `days`, expected ns, us, ms or s"),
        (&other, "1 of 1 run not imported: 1 without a matrix name"),
        (&places, "1 of 1 run not imported: 1 of a matrix with more nonzeros than rows"),
    ];
    for (text, expected) in cases {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with("cannot import results of Google Benchmark: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let limits = Limits { document_bytes: 100, ..Limits::default() };
    let error = Bundle::read_any("a", FILE.as_bytes(), WHEN.into(), &limits).unwrap_err();
    assert!(error.to_string().contains("more than the limit of 100"), "{error}");
    let limits = Limits { entries: 3, ..Limits::default() };
    let error = Bundle::read_any("a", FILE.as_bytes(), WHEN.into(), &limits).unwrap_err();
    assert!(error.to_string().contains("benchmarks, more than the limit of 3"), "{error}");
    // No SpMV takes a million years.
    let long = entry("spmv/mtx:a", "e300");
    assert!(read(&long).unwrap_err().to_string().contains("more than 1e9"));
}

#[test]
fn many_names_are_counted_and_a_few_listed() {
    let names: Vec<String> =
        (0..9).map(|k| format!(r#"{{"name": "copy/{k}", "real_time": 5}}"#)).collect();
    let error =
        read(&format!("{{\"benchmarks\": [{}]}}", names.join(","))).unwrap_err().to_string();
    assert!(error.contains("9 of 9 runs not imported: 9 without"), "{error}");
    assert!(error.ends_with("(copy/0, copy/1, copy/2, copy/3, copy/4 and 4 more)"), "{error}");
}
