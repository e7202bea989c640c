//! The C interface of a library, as `sparsescope_kernel.h` declares it.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::null_mut;

use libloading::Library;

use super::area::{Area, Places, Pointers};
use super::gpu::LibraryGpu;
use sparsescope_matrix::files::cause;
use sparsescope_model::kernel::DeviceKind;
use sparsescope_record::Operation;

/// The version of the interface. The second and the third version each added a number to the end of `struct
/// sparsescope_kernel`: the device and the operation. What an earlier one lacks is 0. The fourth one added
/// `sparsescope_solve`.
const VERSION: u32 = 4;

/// `struct sparsescope_csr`.
#[repr(C)]
struct CsrView {
    rows: u64,
    cols: u64,
    nonzeros: u64,
    row_ptr: *const u64,
    col: *const u32,
    val: *const f64,
    vectors: u64,
}

/// `struct sparsescope_kernel` of version 1.
#[repr(C)]
struct Described {
    version: u32,
    name: *const c_char,
    description: *const c_char,
}

type Describe = unsafe extern "C" fn() -> *const Described;
type Prepare = unsafe extern "C" fn(*const CsrView, u32, *mut *mut c_void) -> c_int;
type Apply = unsafe extern "C" fn(*mut c_void, *const f64, *mut f64, *mut c_void) -> c_int;
type Solve = unsafe extern "C" fn(
    *mut c_void,
    *const f64,
    *const f64,
    f64,
    u64,
    *mut f64,
    *mut u64,
    *mut c_void,
) -> c_int;
type Destroy = unsafe extern "C" fn(*mut c_void);

/// What `sparsescope_solve` returns if it did not reach the tolerance.
const NOT_CONVERGED: c_int = 1;

/// The function that computes.
enum Compute {
    Apply(Apply),
    Solve(Solve),
}

/// A loaded library.
pub(super) struct Loaded {
    prepare: Prepare,
    compute: Compute,
    destroy: Destroy,
    /// What it calls itself.
    pub(super) name: String,
    /// What it says about itself.
    pub(super) description: String,
    /// The device whose memory its pointers are to.
    pub(super) device: DeviceKind,
    /// What it computes.
    pub(super) operation: Operation,
    /// Never closed: its threads may run until the process ends.
    _library: ManuallyDrop<Library>,
}

impl Loaded {
    /// Loads a library and its functions; fails with a sentence.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        // SAFETY: the user named the library and wants it to run. This process exists to run it.
        let library = unsafe { Library::new(path) };
        let library = ManuallyDrop::new(library.map_err(|error| cause(&error))?);
        // SAFETY: the types are those of sparsescope_kernel.h.
        let (pointer, prepare, destroy) = unsafe {
            let describe: Describe = function(&library, c"sparsescope_describe")?;
            let prepare: Prepare = function(&library, c"sparsescope_prepare")?;
            let destroy: Destroy = function(&library, c"sparsescope_destroy")?;
            (describe(), prepare, destroy)
        };
        // SAFETY: the header says that `sparsescope_describe` returns a pointer to a static struct, or null.
        let described = unsafe { pointer.as_ref() };
        let described = described.ok_or("sparsescope_describe returned null")?;
        let version = described.version;
        if !(1..=VERSION).contains(&version) {
            return Err(format!("its interface has version {version}, expected 1 to {VERSION}"));
        }
        let since = |added: u32| match version >= added {
            // SAFETY: the versions 2 and 3 each added a number after the members of version 1.
            true => unsafe { pointer.add(1).cast::<u32>().add(added as usize - 2).read() },
            false => 0,
        };
        let device = match since(2) {
            0 => DeviceKind::Cpu,
            1 => DeviceKind::Cuda,
            found => return Err(format!("its device is {found}, expected 0 (CPU) or 1 (CUDA)")),
        };
        let operation = match since(3) {
            0 => Operation::Spmv,
            1 => Operation::Spmm,
            2 => Operation::Symgs,
            3 => Operation::Solve,
            found => {
                let expected =
                    "expected 0 (SpMV), 1 (SpMM), 2 (symmetric Gauss–Seidel) or 3 (solve)";
                return Err(format!("its operation is {found}, {expected}"));
            }
        };
        // SAFETY: the types are those of sparsescope_kernel.h.
        let compute = unsafe {
            match operation {
                Operation::Solve => Compute::Solve(function(&library, c"sparsescope_solve")?),
                _ => Compute::Apply(function(&library, c"sparsescope_apply")?),
            }
        };
        let (name, description) = (text(described.name), text(described.description));
        Ok(Self {
            prepare,
            compute,
            destroy,
            name,
            description,
            device,
            operation,
            _library: library,
        })
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
    x: *const f64,
    y: *mut f64,
    /// The tolerance and the maximum number of iterations of a solve.
    goal: (f64, u64),
    /// The iterations of the last solve, and whether it reached the tolerance.
    pub(super) solved: Cell<(u64, bool)>,
    /// The iterations of the longest solve. All solve the same system, except for the sign of b and x.
    longest: Cell<u64>,
    pub(super) area: Area,
    /// The GPU with copies of the arrays.
    pub(super) gpu: Option<Box<dyn LibraryGpu>>,
    /// The library may keep a pointer to it.
    matrix: Box<CsrView>,
}

impl<'l> Kernel<'l> {
    /// Prepares the matrix with these arrays, which are in the shared memory or on the GPU; the error is what the
    /// library returned.
    pub(super) fn prepare(
        library: &'l Loaded,
        (row_ptr, col, val, x, y): Pointers,
        (area, gpu): (Area, Option<Box<dyn LibraryGpu>>),
        threads: u32,
        goal: (f64, u64),
    ) -> Result<Self, c_int> {
        let &Places { rows, cols, nonzeros, vectors: [_, vectors], .. } = area.places();
        let [rows, cols, nonzeros, vectors] =
            [rows, cols, nonzeros, vectors].map(|size| size as u64);
        let matrix = Box::new(CsrView { rows, cols, nonzeros, row_ptr, col, val, vectors });
        let (mut handle, solved, longest) = (null_mut(), Cell::new((0, true)), Cell::new(0));
        // SAFETY: the pointers are to arrays of these sizes, which live as long as the kernel.
        match unsafe { (library.prepare)(&raw const *matrix, threads, &raw mut handle) } {
            0 => Ok(Self { library, handle, x, y, goal, solved, longest, area, gpu, matrix }),
            code => Err(code),
        }
    }

    /// Executes the kernel `times` times; fails with a sentence.
    pub(super) fn apply(&self, times: u32) -> Result<(), String> {
        let stream = self.gpu.as_ref().map_or(null_mut(), |gpu| gpu.stream());
        for _ in 0..times {
            match self.library.compute {
                Compute::Apply(apply) => {
                    // SAFETY: x and y have the sizes of the matrix; the handle is that of `prepare`.
                    let code = unsafe { apply(self.handle, self.x, self.y, stream) };
                    if code != 0 {
                        return Err(format!("sparsescope_apply returned {code}"));
                    }
                }
                Compute::Solve(solve) => self.solve(solve, stream)?,
            }
        }
        Ok(())
    }

    /// Solves once, and keeps what the library reports; fails with a sentence.
    fn solve(&self, solve: Solve, stream: *mut c_void) -> Result<(), String> {
        let &Self { handle, x: b, y: x, goal: (tolerance, most), ref matrix, .. } = self;
        let start = b.wrapping_add(matrix.rows as usize);
        let mut iterations = 0;
        // SAFETY: b, the initial x behind it and x have as many elements as the matrix has rows; the handle is that
        // of `prepare`.
        let code =
            unsafe { solve(handle, b, start, tolerance, most, x, &raw mut iterations, stream) };
        if ![0, NOT_CONVERGED].contains(&code) {
            return Err(format!("sparsescope_solve returned {code}"));
        }
        let longest = self.longest.get().max(iterations);
        if iterations < longest / 2 {
            return Err(format!(
                "it took {iterations} iterations after {longest} in an earlier call: every call \
                must start at x0"
            ));
        }
        self.longest.set(longest);
        self.solved.set((iterations, code == 0));
        Ok(())
    }
}

impl Drop for Kernel<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is that of `prepare` and is not used again.
        unsafe { (self.library.destroy)(self.handle) };
    }
}
