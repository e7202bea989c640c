//! Real files that are no part of the project, found through `SPARSESCOPE_MATRICES`.

use std::io::Write;
use std::path::PathBuf;

/// The folder of real matrices. Without it the test that asks prints a line past the harness and
/// ends, or fails when `SPARSESCOPE_REQUIRE` holds the word `matrices`.
pub(crate) fn matrices(test: &str) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("SPARSESCOPE_MATRICES").map(PathBuf::from) {
        assert!(folder.is_dir(), "SPARSESCOPE_MATRICES is no folder: {}", folder.display());
        return Some(folder);
    }
    let required = std::env::var("SPARSESCOPE_REQUIRE").unwrap_or_default();
    let why = "SPARSESCOPE_MATRICES names no folder of real matrices";
    assert!(!required.split(',').any(|need| need.trim() == "matrices"), "{test}: {why}");
    let line = format!("skipped {test}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error takes a line");
    None
}
