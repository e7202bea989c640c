//! The file that starts the program, which the caller of the command line names: in Python it is a script, not
//! the file of the process.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Sets the file; the first call counts.
pub(super) fn set(program: PathBuf) {
    // A process runs one program.
    let _ = PROGRAM.set(program);
}

/// The file, if there is one.
pub(crate) fn file() -> Option<&'static Path> {
    PROGRAM.get().map(PathBuf::as_path).filter(|program| !program.as_os_str().is_empty())
}
