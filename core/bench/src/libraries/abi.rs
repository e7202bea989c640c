//! The C interface of a library, as `sparsescope_kernel.h` declares it.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::null_mut;

use libloading::Library;

use super::area::{Area, Places};

/// The version of the interface.
const VERSION: u32 = 1;

/// `struct sparsescope_csr`.
#[repr(C)]
struct CsrView {
    rows: u64,
    cols: u64,
    nonzeros: u64,
    row_ptr: *const u64,
    col: *const u32,
    val: *const f64,
}

/// `struct sparsescope_kernel`.
#[repr(C)]
struct Described {
    version: u32,
    name: *const c_char,
    description: *const c_char,
}

type Describe = unsafe extern "C" fn() -> *const Described;
type Prepare = unsafe extern "C" fn(*const CsrView, u32, *mut *mut c_void) -> c_int;
type Apply = unsafe extern "C" fn(*mut c_void, *const f64, *mut f64, *mut c_void) -> c_int;
type Destroy = unsafe extern "C" fn(*mut c_void);

/// A loaded library.
pub(super) struct Loaded {
    prepare: Prepare,
    apply: Apply,
    destroy: Destroy,
    /// What it calls itself.
    pub(super) name: String,
    /// What it says about itself.
    pub(super) description: String,
    /// Never closed: its threads may run until the process ends.
    _library: ManuallyDrop<Library>,
}

impl Loaded {
    /// Loads a library and its functions; fails with a sentence.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: the user named the library and wants it to run. This process exists to run it.
        let library = unsafe { Library::new(path) };
        let library = ManuallyDrop::new(library.map_err(|error| error.to_string())?);
        // SAFETY: the types are those of sparsescope_kernel.h.
        let functions = unsafe {
            let describe: Describe = function(&library, c"sparsescope_describe")?;
            let prepare: Prepare = function(&library, c"sparsescope_prepare")?;
            let apply: Apply = function(&library, c"sparsescope_apply")?;
            let destroy: Destroy = function(&library, c"sparsescope_destroy")?;
            (describe(), prepare, apply, destroy)
        };
        let (described, prepare, apply, destroy) = functions;
        // SAFETY: the header says that `sparsescope_describe` returns a pointer to a static struct, or null.
        let described = unsafe { described.as_ref() };
        let described = described.ok_or("sparsescope_describe returned null")?;
        if described.version != VERSION {
            let found = described.version;
            return Err(format!("its interface has version {found}, expected {VERSION}"));
        }
        let (name, description) = (text(described.name), text(described.description));
        Ok(Self { prepare, apply, destroy, name, description, _library: library })
    }
}

/// A text of the library on one line; empty if there is none.
fn text(pointer: *const c_char) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: the header says that it is null or ends with a zero byte and is never freed.
    let text = unsafe { CStr::from_ptr(pointer) }.to_string_lossy();
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// # Safety
/// `F` is the type of the function with this name.
unsafe fn function<F: Copy>(library: &Library, name: &CStr) -> Result<F, String> {
    // SAFETY: the caller's promise.
    let found = unsafe { library.get::<F>(name.to_bytes_with_nul()) };
    let missing = |_| format!("it has no function {}", name.to_string_lossy());
    found.map(|function| *function).map_err(missing)
}

/// A kernel that is prepared for a matrix.
pub(super) struct Kernel<'l> {
    library: &'l Loaded,
    handle: *mut c_void,
    pub(super) area: Area,
    /// The library may keep a pointer to it.
    _matrix: Box<CsrView>,
}

impl<'l> Kernel<'l> {
    /// Prepares the matrix in the shared memory; the error is what the library returned.
    pub(super) fn prepare(library: &'l Loaded, area: Area, threads: u32) -> Result<Self, c_int> {
        let &Places { rows, cols, nonzeros, .. } = area.places();
        let [rows, cols, nonzeros] = [rows, cols, nonzeros].map(|size| size as u64);
        let (row_ptr, col, val, _, _) = area.pointers();
        let matrix = Box::new(CsrView { rows, cols, nonzeros, row_ptr, col, val });
        let mut handle = null_mut();
        // SAFETY: the pointers are to arrays of these sizes, which live as long as the kernel.
        match unsafe { (library.prepare)(&raw const *matrix, threads, &raw mut handle) } {
            0 => Ok(Self { library, handle, area, _matrix: matrix }),
            code => Err(code),
        }
    }

    /// Computes y = A·x once; the error is what the library returned.
    pub(super) fn apply(&self) -> Result<(), c_int> {
        let (.., x, y) = self.area.pointers();
        // SAFETY: x and y have the sizes of the matrix; the handle is that of `prepare`. The stream is null on
        // a CPU.
        match unsafe { (self.library.apply)(self.handle, x, y, null_mut()) } {
            0 => Ok(()),
            code => Err(code),
        }
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is that of `prepare` and is not used again.
        unsafe { (self.library.destroy)(self.handle) };
    }
}
