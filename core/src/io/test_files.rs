//! What tests read that is no part of the project: real files, found through `SPARSESCOPE_MATRICES`, and
//! points that the program `rbox` makes.

use std::io::Write;
use std::path::PathBuf;

use super::{IoError, Progress, points};
use crate::matrix::Points;
use crate::memory::MemoryLimit;

/// The folder of real matrices. Without it the test that asks prints a line past the harness and
/// ends, or fails when `SPARSESCOPE_REQUIRE` holds the word `matrices`.
pub(crate) fn matrices(test: &str) -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("SPARSESCOPE_MATRICES").map(PathBuf::from) {
        assert!(folder.is_dir(), "SPARSESCOPE_MATRICES is no folder: {}", folder.display());
        return Some(folder);
    }
    skipped(test, "matrices", "SPARSESCOPE_MATRICES names no folder of real matrices");
    None
}

/// The points that `rbox` makes when it is told this. Without it the same, and the word is `rbox`.
pub(crate) fn rbox(test: &str, arguments: &str) -> Option<Points> {
    match points::rbox(arguments, MemoryLimit::unlimited(), Progress::none()) {
        Err(IoError::Points(why)) if why.contains("is not installed") => {
            skipped(test, "rbox", &why);
            None
        }
        made => Some(made.expect("rbox makes points")),
    }
}

fn skipped(test: &str, need: &str, why: &str) {
    let required = std::env::var("SPARSESCOPE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|required| required.trim() == need), "{test}: {why}");
    let line = format!("skipped {test}: {why}\n");
    std::io::stderr().write_all(line.as_bytes()).expect("standard error takes a line");
}
