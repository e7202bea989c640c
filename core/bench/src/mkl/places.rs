//! Where oneMKL and its threading library may be installed.

use std::env;
use std::path::{Path, PathBuf};

/// Folders, separated as in `PATH`, that are searched for oneMKL before all others.
pub(super) const FOLDERS: &str = "SPARSESCOPE_MKL";

/// File name pattern of a library: what names begin with and what they contain.
pub(super) struct Names {
    start: &'static str,
    holds: &'static str,
    /// Names to pass to the system's loader.
    loaded: &'static [&'static str],
}

#[cfg(target_os = "windows")]
pub(super) const MKL: Names = Names {
    start: "mkl_rt.",
    holds: ".dll",
    loaded: &["mkl_rt.3.dll", "mkl_rt.2.dll", "mkl_rt.1.dll"],
};
#[cfg(target_os = "windows")]
pub(super) const THREADS: Names =
    Names { start: "libiomp5md.", holds: "dll", loaded: &["libiomp5md.dll"] };

#[cfg(target_os = "macos")]
pub(super) const MKL: Names = Names {
    start: "libmkl_rt.",
    holds: "dylib",
    loaded: &["libmkl_rt.2.dylib", "libmkl_rt.1.dylib"],
};
#[cfg(target_os = "macos")]
pub(super) const THREADS: Names =
    Names { start: "libiomp5.", holds: "dylib", loaded: &["libiomp5.dylib"] };

#[cfg(not(any(target_os = "windows", target_os = "macos")))]
pub(super) const MKL: Names = Names {
    start: "libmkl_rt.so",
    holds: "",
    loaded: &["libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"],
};
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
pub(super) const THREADS: Names =
    Names { start: "libiomp5.so", holds: "", loaded: &["libiomp5.so"] };

impl Names {
    /// The name of the library in messages.
    pub(super) fn first(&self) -> &'static str {
        self.loaded.first().copied().unwrap_or(self.start)
    }

    /// Every candidate: files in the folders, newest version first, then names for the loader.
    pub(super) fn candidates(&self, folders: &[PathBuf]) -> Vec<PathBuf> {
        let mut all: Vec<PathBuf> = folders.iter().flat_map(|folder| self.within(folder)).collect();
        all.extend(self.loaded.iter().map(PathBuf::from));
        all
    }

    fn within(&self, folder: &Path) -> Vec<PathBuf> {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut found: Vec<PathBuf> =
            files.map(|file| file.path()).filter(|path| self.fit(path)).collect();
        found.sort();
        found.reverse();
        found
    }

    fn fit(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with(self.start) && name.contains(self.holds) && path.is_file()
    }
}

/// The folders given by environment variables.
pub(super) fn folders() -> Vec<PathBuf> {
    let listed = env::var_os(FOLDERS);
    let mut all: Vec<PathBuf> = listed.iter().flat_map(env::split_paths).collect();
    let parts: &[&str] =
        if cfg!(windows) { &["Library/bin", "bin", "redist/intel64"] } else { &["lib"] };
    for root in ["MKLROOT", "VIRTUAL_ENV", "CONDA_PREFIX", "CMPLR_ROOT"] {
        let root = env::var_os(root).map(PathBuf::from);
        all.extend(root.iter().flat_map(|root| parts.iter().map(move |part| root.join(part))));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_by_name_the_newest_first_and_the_loader_is_asked_last() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = match cfg!(target_os = "linux") {
            true => ["libmkl_rt.so.2", "libmkl_rt.so.3"],
            false => return, // other systems have other names
        };
        for name in [old, new, "libmkl_core.so.3", "libmkl_rt.a"] {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let folders = [folder.path().join("none"), folder.path().to_owned()];
        let all = MKL.candidates(&folders);
        assert_eq!(all[..2], [folder.path().join(new), folder.path().join(old)]);
        assert!(all[2..].iter().all(|name| name.components().count() == 1));
        assert_eq!(THREADS.candidates(&folders), [PathBuf::from("libiomp5.so")]);
    }
}
