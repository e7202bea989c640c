//! Loads the library and its functions.

use std::ffi::{CStr, c_char, c_double, c_float, c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

use libloading::Library;

use super::places::{FOLDERS, MKL, Names, THREADS, folders};
use sparsescope_matrix::files::cause;

/// A sparse matrix handle of the library.
pub(crate) type Handle = *mut c_void;

/// `matrix_descr`: the kind of matrix.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Description {
    kind: c_int,
    mode: c_int,
    diagonal: c_int,
}

impl Description {
    /// A general matrix; the other two fields are ignored, but must be valid enum values.
    pub(super) const GENERAL: Self = Self { kind: 20, mode: 40, diagonal: 50 };
}

/// `SPARSE_OPERATION_NON_TRANSPOSE`.
pub(super) const AS_IT_IS: c_int = 10;

/// `SPARSE_OPERATION_TRANSPOSE`.
pub(super) const TRANSPOSED: c_int = 11;

/// `SPARSE_LAYOUT_ROW_MAJOR`.
pub(super) const BY_ROWS: c_int = 101;

/// `SPARSE_LAYOUT_COLUMN_MAJOR`.
pub(super) const BY_COLUMNS: c_int = 102;

/// Creates a matrix from CSR arrays, which it keeps reading: handle, base, rows, columns, starts and ends of
/// the rows, columns, values.
pub(crate) type Create<T> = unsafe extern "C" fn(
    *mut Handle,
    c_int,
    c_int,
    c_int,
    *const i32,
    *const i32,
    *const i32,
    *const T,
) -> c_int;

/// y = alpha·A·x + beta·y.
pub(crate) type Multiply<T> =
    unsafe extern "C" fn(c_int, T, Handle, Description, *const T, T, *mut T) -> c_int;

/// Y = alpha·A·X + beta·Y: operation, alpha, A, its description, layout, X, columns, leading dimension of X, beta,
/// Y, and its leading dimension.
pub(crate) type MultiplyBlock<T> = unsafe extern "C" fn(
    c_int,
    T,
    Handle,
    Description,
    c_int,
    *const T,
    c_int,
    c_int,
    T,
    *mut T,
    c_int,
) -> c_int;

/// oneMKL with the threads of Intel's OpenMP library and 32-bit integers (LP64).
pub(crate) struct Mkl {
    pub(super) create_f64: Create<c_double>,
    pub(super) create_f32: Create<c_float>,
    pub(super) multiply_f64: Multiply<c_double>,
    pub(super) multiply_f32: Multiply<c_float>,
    pub(super) multiply_block_f64: MultiplyBlock<c_double>,
    pub(super) multiply_block_f32: MultiplyBlock<c_float>,
    pub(super) hint: unsafe extern "C" fn(Handle, c_int, Description, c_int) -> c_int,
    pub(super) hint_block:
        unsafe extern "C" fn(Handle, c_int, Description, c_int, c_int, c_int) -> c_int,
    pub(super) optimize: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) destroy: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) set_threads: unsafe extern "C" fn(c_int) -> c_int,
    pub(super) set_block_time: unsafe extern "C" fn(c_int),
    pub(super) parallel:
        unsafe extern "C" fn(unsafe extern "C" fn(*mut c_void), *mut c_void, u32, u32),
    pub(super) thread_number: unsafe extern "C" fn() -> c_int,
    version: String,
    /// Never closed: OpenMP's threads run in it until the process ends.
    _libraries: [std::mem::ManuallyDrop<Library>; 2],
}

/// The library on this machine, loaded once; otherwise the reason why it is absent, in one sentence.
pub(crate) fn mkl() -> Result<&'static Mkl, &'static str> {
    static FOUND: OnceLock<Result<Mkl, String>> = OnceLock::new();
    FOUND.get_or_init(|| Mkl::load(&folders())).as_ref().map_err(String::as_str)
}

impl Mkl {
    /// The version that the library reports: `2026.2-Product Build 20260915`.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// Loads both libraries, searching these folders first.
    fn load(folders: &[PathBuf]) -> Result<Self, String> {
        let (library, path) = open(&MKL, folders)?;
        // The threading library usually lies in the same folder.
        let beside =
            path.parent().map(PathBuf::from).into_iter().filter(|p| p.components().count() > 0);
        let folders: Vec<PathBuf> = beside.chain(folders.iter().cloned()).collect();
        let (threads, _) = open(&THREADS, &folders).map_err(|why| {
            format!("oneMKL was found, but not the OpenMP library that it needs: {why}")
        })?;
        // SAFETY: the types are those of mkl_spblas.h, mkl_service.h and omp.h for 32-bit integers, which the
        // single dynamic library uses unless the process requests others; nothing here does. `GOMP_parallel`
        // has the type defined by GCC's OpenMP library.
        unsafe {
            // The threading layer must be set before any other call: Intel's, which is 0.
            type Layer = unsafe extern "C" fn(c_int) -> c_int;
            let layer: Layer = function(&library, c"MKL_Set_Threading_Layer")?;
            // So must the interface: LP64, which is 0.
            let interface: Layer = function(&library, c"MKL_Set_Interface_Layer")?;
            if layer(0) != 0 || interface(0) != 0 {
                let reason = "oneMKL cannot use Intel OpenMP threading and 32-bit integers";
                return Err(format!(
                    "{reason}: this process or MKL_THREADING_LAYER selects other layers"
                ));
            }
            // Use exactly the requested number of threads.
            let dynamic: unsafe extern "C" fn(c_int) = function(&library, c"MKL_Set_Dynamic")?;
            dynamic(0);
            let told: unsafe extern "C" fn(*mut c_char, c_int) =
                function(&library, c"MKL_Get_Version_String")?;
            let mut text = [0u8; 256];
            // One byte less than the buffer, so that the last one stays 0.
            told(text.as_mut_ptr().cast(), 255);
            let version = CStr::from_bytes_until_nul(&text).unwrap_or(c"").to_string_lossy();
            Ok(Self {
                create_f64: function(&library, c"mkl_sparse_d_create_csr")?,
                create_f32: function(&library, c"mkl_sparse_s_create_csr")?,
                multiply_f64: function(&library, c"mkl_sparse_d_mv")?,
                multiply_f32: function(&library, c"mkl_sparse_s_mv")?,
                multiply_block_f64: function(&library, c"mkl_sparse_d_mm")?,
                multiply_block_f32: function(&library, c"mkl_sparse_s_mm")?,
                hint: function(&library, c"mkl_sparse_set_mv_hint")?,
                hint_block: function(&library, c"mkl_sparse_set_mm_hint")?,
                optimize: function(&library, c"mkl_sparse_optimize")?,
                destroy: function(&library, c"mkl_sparse_destroy")?,
                set_threads: function(&library, c"MKL_Set_Num_Threads_Local")?,
                set_block_time: function(&threads, c"kmp_set_blocktime")?,
                parallel: function(&threads, c"GOMP_parallel")?,
                thread_number: function(&threads, c"omp_get_thread_num")?,
                version: number(&version),
                _libraries: [library, threads].map(std::mem::ManuallyDrop::new),
            })
        }
    }
}

/// The version part of the library's version string.
fn number(told: &str) -> String {
    let after = told.split_once("Version ").map_or(told, |(_, after)| after);
    after.split(" for ").next().unwrap_or(after).trim().to_owned()
}

fn open(names: &Names, folders: &[PathBuf]) -> Result<(Library, PathBuf), String> {
    let mut first_error = None;
    for candidate in names.candidates(folders) {
        // SAFETY: the initialisers of Intel's libraries have no preconditions; the caller checks that each
        // function is present.
        match unsafe { load(&candidate) } {
            Ok(library) => return Ok((library, candidate)),
            // The error of a file that exists but does not load is more useful than that of a name not found.
            Err(error) if candidate.components().count() > 1 => {
                let name = candidate.file_name().unwrap_or_default().to_string_lossy().into_owned();
                first_error.get_or_insert(format!("cannot load {name}: {}", cause(&error)));
            }
            Err(_) => {}
        }
    }
    let name = names.first();
    Err(first_error.unwrap_or_else(|| {
        format!("{name} was not found on the library path or in {FOLDERS}, MKLROOT or VIRTUAL_ENV")
    }))
}

/// # Safety
/// As [`Library::new`].
#[cfg(unix)]
unsafe fn load(path: &std::path::Path) -> Result<Library, libloading::Error> {
    use libloading::os::unix::{Library as Unix, RTLD_GLOBAL, RTLD_NOW};
    // Parts of the library that it loads itself need its symbols.
    // SAFETY: the caller's promise.
    unsafe { Unix::open(Some(path), RTLD_NOW | RTLD_GLOBAL) }.map(Library::from)
}

/// # Safety
/// As [`Library::new`].
#[cfg(not(unix))]
unsafe fn load(path: &std::path::Path) -> Result<Library, libloading::Error> {
    // SAFETY: the caller's promise.
    unsafe { Library::new(path) }
}

/// # Safety
/// `F` is the type of the function with this name.
unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Result<F, String> {
    // SAFETY: the caller's promise.
    let found = unsafe { library.get::<F>(name.to_bytes_with_nul()) };
    let missing = |_| format!("the oneMKL library has no function {}", name.to_string_lossy());
    found.map(|function| *function).map_err(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_what_stands_between_its_words() {
        let told = "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build 20260915 for \
                    Intel(R) 64 architecture applications";
        assert_eq!(number(told), "2026.2-Product Build 20260915");
        assert_eq!(number("another"), "another");
    }

    #[test]
    fn a_file_that_is_no_library_is_named() {
        if !cfg!(target_os = "linux") {
            return; // other systems have other names
        }
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("libmkl_rt.so.9"), b"no library").unwrap();
        // Another library that the loader finds by name is used instead.
        if let Err(why) = open(&MKL, &[folder.path().to_owned()]) {
            assert!(why.starts_with("cannot load libmkl_rt.so.9: "), "{why}");
            // In the words of glibc.
            assert!(!cfg!(target_env = "gnu") || why.contains("file too short"), "{why}");
        }
    }
}
