//! Bundles of the past open for ever.
//!
//! `golden/bundle-1.0.zip` was written by version 0.1.0 with
//! `bench 'gen:poisson2d?n=6' 'gen:dense-row?m=20' --runs 4 --warmup 1 --threads 1,2 --cold
//! --hack-size 8 --label golden`. It is never made anew: a new schema adds a file beside it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sparsescope_core::bundle::{Bundle, Limits, Source, Verdict};

const GOLDEN: &[u8] = include_bytes!("../golden/bundle-1.0.zip");

fn golden() -> Bundle {
    Bundle::read(GOLDEN, &Limits::default()).unwrap()
}

#[test]
fn a_bundle_of_schema_1_0_still_means_what_it_meant() {
    let bundle = golden();
    assert_eq!((bundle.label.as_deref(), bundle.complete), (Some("golden"), true));
    assert_eq!(bundle.created, "2026-11-21T05:41:53Z");
    let sizes: Vec<_> = bundle
        .matrices
        .iter()
        .map(|m| (m.record.name.as_str(), m.record.statistics.rows, m.record.statistics.nnz))
        .collect();
    // 5n² − 4n entries; 3m − 2 less the middle row's 3 plus its m.
    assert_eq!(sizes, [("poisson2d?n=6", 36, 156), ("dense-row?m=20", 20, 75)]);
    assert!(bundle.matrices.iter().all(|m| m.record.source == Source::Generated));
    assert!(bundle.matrices.iter().all(|m| m.files.contains_key("matrix.mtx")));
    // Five serial kernels once and six parallel ones with two thread counts, hot and cold, on two
    // matrices.
    assert_eq!(bundle.runs.len(), (5 + 6 * 2) * 2 * 2);
    for run in &bundle.runs {
        assert_eq!((run.check.verdict, run.samples.len()), (Verdict::Pass, 4));
        let hack_size = run.kernel.starts_with("cpu/hll/").then_some("8");
        assert_eq!(run.params.get("hack_size").map(String::as_str), hack_size);
        assert_eq!((run.backend.as_str(), run.precision.as_str()), ("cpu", "f64"));
        let mut sorted = run.samples.clone();
        sorted.sort_by(f64::total_cmp);
        let figures = run.figures.as_ref().unwrap();
        assert_eq!(figures.median_s, f64::midpoint(sorted[1], sorted[2]));
    }
    let machine = bundle.environment(&bundle.runs[0].environment).unwrap();
    assert_eq!((machine.cpu.model.as_str(), machine.cpu.logical), ("AMD EPYC", 2));
    assert_eq!(machine.bandwidth.len(), 2);
}

#[test]
fn its_documents_follow_the_schema() {
    let documents = sparsescope_tests::documents(GOLDEN);
    assert_eq!(sparsescope_tests::follow_the_schema(&documents), 3 + 2);
}

#[test]
fn reading_and_writing_it_loses_nothing() {
    let bundle = golden();
    let written = bundle.to_bytes().unwrap();
    assert_eq!(Bundle::read(&written, &Limits::default()).unwrap(), bundle);
}

#[test]
fn only_a_higher_major_version_is_refused_and_the_version_needed_is_named() {
    assert!(Bundle::read(&with_schema(1, 99), &Limits::default()).is_ok());
    let error = Bundle::read(&with_schema(2, 0), &Limits::default()).unwrap_err().to_string();
    assert!(error.contains("schema 2"), "{error}");
}

/// The golden bundle with another schema version in its manifest.
fn with_schema(major: u32, minor: u32) -> Vec<u8> {
    use std::io::{Cursor, Read, Write};
    let mut old = zip::ZipArchive::new(Cursor::new(GOLDEN)).unwrap();
    let mut new = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for k in 0..old.len() {
        let mut entry = old.by_index(k).unwrap();
        let name = entry.name().unwrap().into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        if name == "manifest.json" {
            let mut manifest: serde_json::Value = serde_json::from_slice(&content).unwrap();
            manifest["schema"] = serde_json::json!({ "major": major, "minor": minor });
            content = serde_json::to_vec(&manifest).unwrap();
        }
        new.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        new.write_all(&content).unwrap();
    }
    new.finish().unwrap().into_inner()
}
