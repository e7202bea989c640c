//! What holds for the bundles of all versions.

use super::*;
use crate::examples::H200;

/// Each bundle, how many matrices or subjects it has, and how many pictures: those of the structure and of the levels,
/// and the histories of passed runs that solve.
const ALL: [(&[u8], usize, usize); 17] = [
    (GOLDEN, 2, 0),
    (GOLDEN_1_1, 2, 2),
    (GOLDEN_1_2, 5, 0),
    (GOLDEN_1_3, 5, 1),
    (GOLDEN_1_4, 4, 4 + 4 + 30),
    // Subjects with their runs, and the pictures of points.
    (GOLDEN_1_5, 3 * 2, 3),
    // The pictures of the structure, and the history of each run.
    (GOLDEN_1_6, 2, 2 + 60),
    // And the flagged systems.
    (GOLDEN_1_7, 2 * 2, 2),
    (GOLDEN_1_8, 2, 2),
    (GOLDEN_1_9, 2, 2),
    (GOLDEN_1_10, 2, 2),
    // And the history of each run.
    (GOLDEN_1_11, 2, 2 + 4),
    (GOLDEN_1_13, 2, 2),
    (GOLDEN_1_13_ENERGY, 2, 2),
    (GOLDEN_1_13_SPMM, 2, 2),
    (GOLDEN_1_13_TRANSPOSED, 2, 2),
    (H200, 30, 30),
];

#[test]
fn their_documents_follow_the_schema() {
    for (bundle, matrices, pictures) in ALL {
        let documents = sparsescope_tests::documents(bundle);
        assert_eq!(sparsescope_tests::follow_the_schema(&documents), 3 + matrices + pictures);
    }
}

#[test]
fn reading_and_writing_them_loses_nothing() {
    for (bytes, ..) in ALL {
        let bundle = Bundle::read(bytes, &Limits::default()).unwrap();
        let written = bundle.to_bytes().unwrap();
        assert_eq!(Bundle::read(&written, &Limits::default()).unwrap(), bundle);
    }
}

#[test]
fn only_a_higher_major_version_is_refused_and_the_version_needed_is_named() {
    assert!(Bundle::read(&with_schema(1, 99), &Limits::default()).is_ok());
    let error = Bundle::read(&with_schema(2, 0), &Limits::default()).unwrap_err().to_string();
    assert!(error.contains("schema 2"), "{error}");
}

/// The golden bundle with a different schema version in its manifest.
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
