//! y = A x in CSR, one row after another, as a kernel library in Rust.
//! rustc --edition 2021 -O --crate-type cdylib -o libcsr_rust.so csr_library.rs

use std::ffi::{c_char, c_int, c_void};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// `struct sparsescope_csr`.
#[repr(C)]
pub struct Csr {
    rows: u64,
    cols: u64,
    nonzeros: u64,
    row_ptr: *const u64,
    col: *const u32,
    val: *const f64,
}

/// `struct sparsescope_kernel`.
#[repr(C)]
pub struct Kernel {
    version: u32,
    name: *const c_char,
    description: *const c_char,
}

// SAFETY: its texts are constants.
unsafe impl Sync for Kernel {}

static KERNEL: Kernel =
    Kernel { version: 1, name: c"rows".as_ptr(), description: c"row by row, in Rust".as_ptr() };

#[no_mangle]
pub extern "C" fn sparsescope_describe() -> *const Kernel {
    &KERNEL
}

/// The arrays of A.
struct Prepared {
    row_ptr: &'static [u64],
    col: &'static [u32],
    val: &'static [f64],
    cols: usize,
}

/// # Safety
/// As sparsescope_kernel.h says.
#[no_mangle]
pub unsafe extern "C" fn sparsescope_prepare(
    a: *const Csr,
    _threads: u32,
    handle: *mut *mut c_void,
) -> c_int {
    // SAFETY: the arrays have these lengths and live until `sparsescope_destroy`.
    unsafe {
        let a = &*a;
        let nonzeros = a.nonzeros as usize;
        let prepared = Prepared {
            row_ptr: from_raw_parts(a.row_ptr, a.rows as usize + 1),
            col: from_raw_parts(a.col, nonzeros),
            val: from_raw_parts(a.val, nonzeros),
            cols: a.cols as usize,
        };
        *handle = Box::into_raw(Box::new(prepared)).cast();
    }
    0
}

/// # Safety
/// As sparsescope_kernel.h says.
#[no_mangle]
pub unsafe extern "C" fn sparsescope_apply(
    handle: *mut c_void,
    x: *const f64,
    y: *mut f64,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: the handle is that of `sparsescope_prepare`, and x and y have the sizes of A.
    let (a, x, y) = unsafe {
        let a = &*handle.cast::<Prepared>();
        (a, from_raw_parts(x, a.cols), from_raw_parts_mut(y, a.row_ptr.len() - 1))
    };
    for (y, ends) in y.iter_mut().zip(a.row_ptr.windows(2)) {
        let row = ends[0] as usize..ends[1] as usize;
        let terms = a.col[row.clone()].iter().zip(&a.val[row]);
        *y = terms.map(|(&col, val)| val * x[col as usize]).sum();
    }
    0
}

/// # Safety
/// As sparsescope_kernel.h says.
#[no_mangle]
pub unsafe extern "C" fn sparsescope_destroy(handle: *mut c_void) {
    // SAFETY: the handle is that of `sparsescope_prepare` and is not used again.
    drop(unsafe { Box::from_raw(handle.cast::<Prepared>()) });
}
