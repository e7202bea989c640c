//! A folder of bundles.

use std::path::{Path, PathBuf};

use anyhow::Context;
use sparsescope_core::order;

/// The bundles of a folder, by name.
pub(super) fn bundles_in(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read the folder {}", folder.display());
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        let is_bundle = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip"));
        paths.extend(is_bundle.then_some(path));
    }
    order::sort(&mut paths);
    Ok(paths)
}
