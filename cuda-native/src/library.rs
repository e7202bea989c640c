//! Run-time library loading: search paths and function tables.

use std::env;
use std::path::{Path, PathBuf};

use libloading::Library;
use sparsescope_core::files::cause;

/// Folders, separated as in `PATH`, that are searched first for CUDA libraries.
pub const LIBRARY_FOLDERS: &str = "SPARSESCOPE_CUDA_LIBRARIES";

/// Opens the first of `names` that loads: from the folders of [`LIBRARY_FOLDERS`], then through the
/// system's loader, then from the usual places of toolkits and Python packages. On failure the
/// error lists what was tried.
pub(crate) fn open(names: &[&str], package: &str) -> Result<(Library, PathBuf), String> {
    let mut first_error = None;
    for candidate in candidates(names, package) {
        let by_name = candidate.components().count() == 1;
        if !by_name && !candidate.is_file() {
            continue;
        }
        match load(&candidate) {
            Ok(library) => return Ok((library, candidate)),
            // A file that exists but does not load is more informative than a name that is not
            // found.
            Err(error) if !by_name => {
                first_error.get_or_insert(error);
            }
            Err(_) => {}
        }
    }
    let looked_for = names.join(" or ");
    Err(match first_error {
        Some(error) => error,
        None => format!("{looked_for} was not found on the library path or in {LIBRARY_FOLDERS}"),
    })
}

/// Loads one of NVIDIA's libraries; the error has the system's reason.
pub(crate) fn load(path: &Path) -> Result<Library, String> {
    // SAFETY: NVIDIA's libraries have no initialisers with preconditions; the function table checks
    // that each symbol is present.
    let library = unsafe { Library::new(path) };
    library.map_err(|error| format!("cannot load {}: {}", path.display(), cause(&error)))
}

/// Every place to try, in order.
fn candidates(names: &[&str], package: &str) -> Vec<PathBuf> {
    let listed = env::var_os(LIBRARY_FOLDERS);
    let listed: Vec<PathBuf> = listed.iter().flat_map(env::split_paths).collect();
    let known = toolkit_folders().chain(python_folders(package)).collect::<Vec<_>>();
    let within = |folders: &[PathBuf]| -> Vec<PathBuf> {
        let all = names.iter().flat_map(|name| folders.iter().map(move |f| f.join(name)));
        all.collect()
    };
    let mut all = within(&listed);
    all.extend(names.iter().map(PathBuf::from));
    all.extend(within(&known));
    all
}

/// Library folders of CUDA toolkits.
fn toolkit_folders() -> impl Iterator<Item = PathBuf> {
    let named = ["CUDA_PATH", "CUDA_HOME", "CONDA_PREFIX"].into_iter().filter_map(env::var_os);
    let usual = ["/usr/local/cuda", "/opt/cuda"].map(Into::into);
    let roots = named.chain(usual).map(PathBuf::from);
    let folders: &[&str] =
        if cfg!(windows) { &["bin", "bin/x64", "Library/bin"] } else { &["lib64", "lib"] };
    roots.flat_map(|root| folders.iter().map(move |folder| root.join(folder)))
}

/// Folders of NVIDIA's Python packages in the active virtual environment: `nvidia/cu13/lib` for
/// CUDA 13, `nvidia/<package>/lib` for CUDA 12.
fn python_folders(package: &str) -> Vec<PathBuf> {
    let Some(root) = env::var_os("VIRTUAL_ENV").map(PathBuf::from) else { return Vec::new() };
    let library = if cfg!(windows) { "bin" } else { "lib" };
    let sites: Vec<PathBuf> = if cfg!(windows) {
        vec![root.join("Lib/site-packages")]
    } else {
        let versions = std::fs::read_dir(root.join("lib")).into_iter().flatten().flatten();
        versions.map(|entry| entry.path().join("site-packages")).collect()
    };
    let folders = |site: &Path| {
        [site.join("nvidia/cu13").join(library), site.join("nvidia").join(package).join(library)]
    };
    sites.iter().flat_map(|site| folders(site)).collect()
}

/// Declares a table of a library's functions, all looked up when it is loaded.
macro_rules! function_table {
    ($(#[$doc:meta])* $name:ident { $($function:ident($($argument:ty),*) -> $answer:ty;)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case, reason = "the fields have the library's own names")]
        pub(crate) struct $name {
            $(pub(crate) $function: unsafe extern "C" fn($($argument),*) -> $answer,)*
            /// Keeps the functions above valid.
            _library: libloading::Library,
        }

        impl $name {
            /// Looks up every function; the error names the first missing one.
            #[allow(non_snake_case, reason = "the variables have the functions' own names")]
            fn new(library: libloading::Library) -> Result<Self, String> {
                $(
                    // SAFETY: the signature is that of the library's header.
                    let $function = *unsafe {
                        library.get::<unsafe extern "C" fn($($argument),*) -> $answer>(
                            concat!(stringify!($function), "\0").as_bytes(),
                        )
                    }
                    .map_err(|_| concat!("missing function ", stringify!($function)).to_owned())?;
                )*
                Ok(Self { $($function,)* _library: library })
            }
        }
    };
}
pub(crate) use function_table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_nowhere_is_named_with_the_variable_that_helps() {
        let error = open(&["libsparsescope-none.so.1"], "none").err().unwrap();
        assert!(error.contains("libsparsescope-none.so.1") && error.contains(LIBRARY_FOLDERS));
    }

    #[test]
    fn a_file_that_is_no_library_is_named_with_what_the_system_says() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libcudart.so");
        std::fs::write(&path, "no library").unwrap();
        let error = load(&path).err().unwrap();
        assert!(error.starts_with(&format!("cannot load {}: ", path.display())), "{error}");
        // In the words of glibc.
        let is_glibc = cfg!(all(target_os = "linux", target_env = "gnu"));
        assert!(!is_glibc || error.ends_with("file too short"), "{error}");
    }
}
