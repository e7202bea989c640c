//! Results in all past formats of the benchmark: how they are imported, and what is refused.

use crate::is_known_by_name;
use sparsescope_record::MatrixRecord;
use std::collections::BTreeMap;

use crate::{Bundle, BundleError, Limits, sample};
use sparsescope_record::{Run, Source, Verdict};

const SECONDS: &str = include_str!("../../../../tests/golden/ginkgo-seconds.json");
const NANOSECONDS: &str = include_str!("../../../../tests/golden/ginkgo-nanoseconds.json");
const PLAIN: &str = include_str!("../../../../tests/golden/ginkgo-plain.json");
const VARIANTS: &str = include_str!("../../../../tests/golden/ginkgo-variants.json");
const WHEN: &str = "2026-02-01T12:00:00Z";

fn read(file: &str, text: &str) -> Result<Bundle, BundleError> {
    Bundle::read_any(file, text.as_bytes(), WHEN.into(), &Limits::default())
}

fn of<'a>(bundle: &'a Bundle, kernel: &str) -> &'a Run {
    bundle.runs.iter().find(|run| run.kernel == kernel).unwrap()
}

#[test]
fn a_time_with_a_small_error_is_taken_over_and_rated_by_our_definition() {
    let bundle = read("data/V100_SXM2/cuda/SuiteSparse/Nobody/five.json", SECONDS).unwrap();
    let record = &bundle.matrices[0].record;
    assert_eq!((record.name.as_str(), record.source), ("five", Source::Real));
    let rows = &record.statistics.row;
    assert_eq!((rows.min, rows.median, rows.max, rows.mean, rows.stddev), (2, 2, 2, 2.0, 0.5));
    let csr = of(&bundle, "vendor/ginkgo/csr");
    assert_eq!((csr.backend.as_str(), csr.device.as_str()), ("cuda", "V100_SXM2"));
    assert_eq!((csr.check.verdict, csr.check.rel_err), (Verdict::Pass, Some(1.5e-16)));
    assert_eq!(csr.check.by.as_deref(), Some("Ginkgo"));
    assert_eq!((csr.samples.as_slice(), csr.repetitions), ([2e-6].as_slice(), 2500));
    assert_eq!(csr.params, BTreeMap::from([("time".into(), "averaged".into())]));
    // 2·10 operations in 2 µs; 144 bytes and two vectors of 5 doubles.
    let figures = csr.figures.as_ref().unwrap();
    assert!((figures.gflops - 0.01).abs() < 1e-15, "{}", figures.gflops);
    assert_eq!(csr.costs.minimal_bytes, 224);
    // The second entry of the matrix repeats the measurement.
    assert_eq!((bundle.matrices.len(), bundle.runs.len()), (1, 5));
}

#[test]
fn nothing_else_has_a_time_and_each_says_why() {
    let bundle = read("a.json", SECONDS).unwrap();
    let cases = [
        ("ell", Verdict::Unsupported, "Ginkgo did not complete it: out of memory"),
        ("sellp", Verdict::Fail, "Ginkgo recorded a relative error of 2.5e-1, more than 1e-12"),
        (
            "cusparse_csr",
            Verdict::Unsupported,
            "its result was not checked: the file records no error",
        ),
    ];
    for (format, verdict, reason) in cases {
        let run = of(&bundle, &format!("vendor/ginkgo/{format}"));
        assert_eq!(run.check.verdict, verdict);
        assert!(run.check.reason.as_ref().unwrap().starts_with(reason), "{:?}", run.check);
        assert!(run.samples.is_empty() && run.figures.is_none());
    }
    assert_eq!(bundle.runs[0].device, "not recorded");
}

#[test]
fn old_times_are_nanoseconds_and_the_bytes_of_coo_tell_the_precision() {
    let bundle = read("wide.json", NANOSECONDS).unwrap();
    let coo = of(&bundle, "vendor/ginkgo/coo");
    assert_eq!((coo.precision.as_str(), coo.check.verdict), ("f32", Verdict::Pass));
    let [sample] = coo.samples[..] else { panic!("{coo:?}") };
    assert!((sample - 17.7858e-6).abs() < 1e-18);
    assert_eq!(coo.params["unit"], "ns");
    let failed = of(&bundle, "vendor/ginkgo/cusp_csr");
    assert_eq!(failed.check.verdict, Verdict::Fail);
    let sizes = &bundle.matrices[0].record.statistics;
    assert_eq!((sizes.rows, sizes.cols, sizes.nnz), (4, 1000, 2000));
}

#[test]
fn matrices_are_named_by_file_by_stencil_and_by_their_new_numbering() {
    let bundle = read("a.json", PLAIN).unwrap();
    let found: Vec<_> = bundle
        .matrices
        .iter()
        .map(|m| (m.record.name.as_str(), m.record.source, m.record.statistics.rows))
        .collect();
    let expected = [
        ("seven", Source::Real, 7),
        ("stencil 7pt 125", Source::Generated, 125),
        ("stencil 7pt 100 (amd)", Source::Generated, 125),
    ];
    assert_eq!(found, expected);
    // Half a year passed between the switch to seconds and the addition of repetitions.
    assert_eq!(bundle.runs[0].samples, [0.5]);
    assert_eq!(bundle.runs[0].params["precision"], "assumed");
}

#[test]
fn cases_tell_their_format_in_a_variant_or_beside_spmv() {
    let bundle = read("a.json", VARIANTS).unwrap();
    let named = |run: &Run| bundle.matrix(&run.matrix).unwrap().record.name.clone();
    let found: Vec<_> = bundle.runs.iter().map(|run| (named(run), run.kernel.as_str())).collect();
    let expected = [
        ("seven", "vendor/ginkgo/coo"),
        ("seven (amd)", "vendor/ginkgo/csr"),
        ("stencil 7pt 100", "vendor/ginkgo/coo"),
        ("stencil 7pt 100", "vendor/ginkgo/csr"),
    ];
    assert_eq!(found, expected.map(|(matrix, kernel)| (matrix.to_owned(), kernel)));
    // COO of another entry shows the precision of the same matrix.
    assert!(
        bundle
            .runs
            .iter()
            .all(|run| run.precision == "f64" && !run.params.contains_key("precision"))
    );
    assert!(bundle.runs.iter().all(|run| run.check.verdict == Verdict::Pass));
    let source = |k: usize| bundle.matrices[k].record.source;
    assert_eq!((bundle.matrices.len(), source(1), source(2)), (3, Source::Real, Source::Generated));
}

#[test]
fn what_is_read_is_a_bundle_that_is_written_and_read_again() {
    for text in [SECONDS, NANOSECONDS, PLAIN, VARIANTS] {
        let bundle = read("A100/hip/x.json", text).unwrap();
        let bytes = bundle.to_bytes().unwrap();
        assert_eq!(Bundle::read(&bytes, &Limits::default()).unwrap(), bundle);
        assert_eq!(Bundle::read_any("x", &bytes, WHEN.into(), &Limits::default()).unwrap(), bundle);
    }
}

#[test]
fn a_matrix_known_by_name_becomes_ours_of_equal_name_and_size_and_no_other() {
    let mut ours = sample::bundle().matrices[0].record.clone();
    ours.source = Source::Real;
    ours.reordered = None;
    assert!(!is_known_by_name(&ours));
    let recognised = |known: &MatrixRecord| {
        let mut bundle = read("a.json", SECONDS).unwrap();
        assert!(is_known_by_name(&bundle.matrices[0].record));
        let count = bundle.recognise(std::iter::once(known));
        bundle.to_bytes().unwrap();
        (count, bundle.matrices[0].record.sha256 == known.sha256)
    };
    assert_eq!(recognised(&ours), (1, true));
    let changes: [fn(&mut MatrixRecord); 4] = [
        |record| record.source = Source::StandIn,
        |record| record.name.push('x'),
        |record| record.statistics.nnz += 1,
        |record| record.statistics.cols += 1,
    ];
    for change in changes {
        let mut other = ours.clone();
        change(&mut other);
        assert_eq!(recognised(&other), (0, false));
    }
}

#[test]
fn what_is_no_result_is_refused_in_one_sentence() {
    let cases = [
        ("[", "EOF while parsing"),
        ("[]", "no entry has `spmv` results for a format"),
        (r#"{"filename": "a.mtx"}"#, "no entry has `spmv` results for a format"),
        (
            r#"[1, {"filename": "a.mtx", "spmv": {"csr": {}}}]"#,
            "entry 2 (a) does not give the rows",
        ),
        (r#"{"rows": 2, "nnz": 1, "spmv": {"csr": {}}}"#, "entry 1 names no matrix"),
        (
            r#"{"filename": "a.mtx", "rows": 2, "nnz": 5, "spmv": {"a": {}}}"#,
            "5 nonzeros, too many for 2 x 2",
        ),
        (
            r#"{"filename": "a", "rows": 2, "nnz": 2, "spmv": {"coo": {"storage": 48}}}"#,
            "the matrix a is complex",
        ),
    ];
    for (text, expected) in cases {
        let error = read("a.json", text).unwrap_err().to_string();
        assert!(error.starts_with("cannot import results of Ginkgo's SpMV benchmark: "), "{error}");
        assert!(error.contains(expected), "{error}");
    }
    let limits = Limits { document_bytes: 100, ..Limits::default() };
    let error = Bundle::read_any("a", SECONDS.as_bytes(), WHEN.into(), &limits).unwrap_err();
    assert!(error.to_string().contains("more than the limit of 100"), "{error}");
}
