//! The web viewer that `cargo web` built: located at run time, never part of the program.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::program;

/// The environment variable that names the viewer's folder.
const VARIABLE: &str = "SPARSESCOPE_WEB";

/// Returns the viewer's folder: `$SPARSESCOPE_WEB`, else `web` beside the program, else `web/dist`.
pub(super) fn find() -> anyhow::Result<PathBuf> {
    if let Some(folder) = std::env::var_os(VARIABLE).filter(|folder| !folder.is_empty()) {
        let folder = PathBuf::from(folder);
        if !is_viewer(&folder) {
            bail!(
                "{VARIABLE} is set to {}, which has no index.html; `cargo web` builds the web viewer",
                folder.display()
            );
        }
        return Ok(folder);
    }
    let beside = program::file().and_then(|program| Some(program.parent()?.join("web")));
    let places = beside.into_iter().chain([PathBuf::from("web/dist")]);
    match places.into_iter().find(|place| is_viewer(place)) {
        Some(place) => Ok(place),
        None => bail!(
            "the web viewer is neither in the folder `web` next to the program nor in `web/dist`; \
             build it with `cargo web`, or set {VARIABLE} to its folder"
        ),
    }
}

fn is_viewer(folder: &Path) -> bool {
    folder.join("index.html").is_file()
}
