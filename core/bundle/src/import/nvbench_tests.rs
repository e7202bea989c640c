//! How nvbench's states are imported, and what is refused.

use std::collections::BTreeMap;

use crate::{Bundle, BundleError, Limits, sample};
use sparsescope_record::{MatrixRecord, Run, Source, Verdict};

const FILE: &str = include_str!("../../../../tests/golden/nvbench.json");
const WHEN: &str = "2026-02-01T12:00:00Z";

fn read(text: &str) -> Result<Bundle, BundleError> {
    Bundle::read_any("a.json", text.as_bytes(), WHEN.into(), &Limits::default())
}

fn on<'a>(bundle: &'a Bundle, matrix: &str) -> Vec<&'a Run> {
    let named = |run: &&Run| bundle.matrix(&run.matrix).unwrap().record.name == matrix;
    bundle.runs.iter().filter(named).collect()
}

#[test]
fn a_state_becomes_a_run_after_flushes_and_one_with_warm_caches() {
    let bundle = read(FILE).unwrap();
    let [cold, warm] = on(&bundle, "five")[..] else { panic!("two runs on five") };
    for run in [cold, warm] {
        assert_eq!(run.kernel, "vendor/nvbench/csr_spmv");
        assert_eq!((run.backend.as_str(), run.device.as_str()), ("cuda", "NVIDIA Something else"));
        assert_eq!((run.precision.as_str(), run.check.verdict), ("f64", Verdict::Pass));
        assert_eq!((run.check.by.as_deref(), run.check.rel_err), (Some("nvbench"), None));
        let expected = [("BlockSize", "128"), ("check", "none"), ("time", "averaged")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(run.params, BTreeMap::from(expected));
    }
    assert_eq!(
        (cold.hot, cold.samples.as_slice(), cold.repetitions),
        (false, [5e-6].as_slice(), 7296)
    );
    assert_eq!(
        (warm.hot, warm.samples.as_slice(), warm.repetitions),
        (true, [2.5e-6].as_slice(), 20_000)
    );
    // 2·10 operations in 5 µs. The rows that are bytes are not rows.
    assert!((cold.metric.as_ref().unwrap().value - 4e-3).abs() < 1e-15);
    let size = &bundle.matrices[0].record.statistics;
    assert_eq!((size.rows, size.cols, size.nnz), (0, 0, 10));
}

#[test]
fn what_was_skipped_has_no_time_and_what_cannot_be_taken_over_is_told() {
    let bundle = read(FILE).unwrap();
    let [timed, skipped] = on(&bundle, "cant")[..] else { panic!("two runs on cant") };
    assert_eq!((timed.precision.as_str(), timed.figures.is_some()), ("f32", true));
    assert_eq!((skipped.check.verdict, skipped.samples.len()), (Verdict::Unsupported, 0));
    assert_eq!(skipped.check.reason.as_deref(), Some("nvbench skipped it: no whole warps"));
    let expected = "2 of 5 runs not imported: 1 without a matrix name or size \
        (copy Device=0); 1 in a precision other than f64 and f32 (csr_spmv Device=0 \
        T=F16 Matrix=cant BlockSize=64)";
    assert_eq!(bundle.left_out().collect::<Vec<_>>(), [expected]);
}

#[test]
fn a_rate_follows_once_the_matrix_of_a_name_is_known_and_is_told_no_earlier() {
    let mut ours = sample::bundle().matrices[0].record.clone();
    (ours.name, ours.source, ours.reordered) = ("cant".into(), Source::Real, None);
    let rated = |known: &[MatrixRecord]| {
        let mut bundle = read(FILE).unwrap();
        assert_eq!(on(&bundle, "cant")[0].metric, None);
        let count = bundle.recognise(known.iter());
        // It can be written, and reads back unchanged.
        let bytes = bundle.to_bytes().unwrap();
        assert_eq!(Bundle::read(&bytes, &Limits::default()).unwrap(), bundle);
        (count, on(&bundle, "cant")[0].metric.as_ref().map(|metric| metric.value))
    };
    let (count, rate) = rated(&[ours.clone(), ours.clone()]);
    // 2·10 operations in 10 µs.
    assert!(count == 1 && (rate.unwrap() - 2e-3).abs() < 1e-15, "{count}, {rate:?}");
    let mut other = ours.clone();
    other.statistics.nnz += 1;
    other.sha256 = "0123".repeat(16);
    assert_eq!(rated(&[ours, other]), (0, None), "two matrices of the name");
}

#[test]
fn what_is_read_is_a_bundle_that_is_written_and_read_again() {
    let bundle = read(FILE).unwrap();
    let bytes = bundle.to_bytes().unwrap();
    assert_eq!(Bundle::read(&bytes, &Limits::default()).unwrap(), bundle);
}

#[test]
fn what_is_no_result_is_refused_in_one_sentence() {
    let cases = [
        (r#"{"benchmarks": [{"states": ["#, "EOF while parsing"),
        (r#"{"benchmarks": 1, "states": 1}"#, "`benchmarks` is not a list"),
        (r#"{"benchmarks": [{"states": []}]}"#, "`benchmarks[0]` has no `name`"),
        (
            r#"{"benchmarks": [{"name": "a", "states": 1}]}"#,
            "`benchmarks[0]` (a) has no `states` list",
        ),
        (r#"{"benchmarks": [{"name": "a", "states": []}]}"#, "it contains no measurements"),
        (r#"{"benchmarks": [{"name": "a", "states": [{}]}]}"#, "1 without a matrix name"),
    ];
    for (text, expected) in cases {
        let error = read(text).unwrap_err().to_string();
        assert!(error.starts_with("cannot import results of nvbench: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let limits = Limits { entries: 3, ..Limits::default() };
    let error = Bundle::read_any("a", FILE.as_bytes(), WHEN.into(), &limits).unwrap_err();
    assert!(error.to_string().contains("states, more than the limit of 3"), "{error}");
}
