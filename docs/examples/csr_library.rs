//! y = A x in CSR, one row after another, as a kernel library in Rust. sparsescope_kernel.h describes the functions.
//! rustc --edition 2021 -O --crate-type cdylib -o libcsr_rust.so csr_library.rs

use std::ffi::{c_char, c_int, c_void};

/// `struct sparsescope_csr`.
#[repr(C)]
pub struct Csr {
    rows: u64,
    cols: u64,
    nonzeros: u64,
    row_ptr: *const u64,
    col: *const u32,
    val: *const f64,
    vectors: u64,
}

/// `struct sparsescope_kernel`.
#[repr(C)]
pub struct Kernel {
    version: u32,
    name: *const c_char,
    description: *const c_char,
    device: u32,
    operation: u32,
}

// SAFETY: its texts are constants.
unsafe impl Sync for Kernel {}

#[no_mangle]
pub extern "C" fn sparsescope_describe() -> *const Kernel {
    static KERNEL: Kernel = Kernel {
        version: 4,
        name: c"rows".as_ptr(),
        description: c"row by row, in Rust".as_ptr(),
        device: 0,
        operation: 0,
    };
    &KERNEL
}

#[no_mangle]
pub unsafe extern "C" fn sparsescope_prepare(
    a: *const Csr,
    _threads: u32,
    handle: *mut *const Csr,
) -> c_int {
    // SAFETY: the pointer is valid; A stays where it is until `sparsescope_destroy`.
    unsafe { *handle = a };
    0
}

#[no_mangle]
pub unsafe extern "C" fn sparsescope_apply(
    a: *const Csr,
    x: *const f64,
    y: *mut f64,
    _stream: *mut c_void,
) -> c_int {
    // SAFETY: the handle is A, whose arrays have the sizes that it names, as x and y have.
    unsafe {
        let a = &*a;
        for row in 0..a.rows as usize {
            let terms = *a.row_ptr.add(row) as usize..*a.row_ptr.add(row + 1) as usize;
            *y.add(row) = terms.map(|k| *a.val.add(k) * *x.add(*a.col.add(k) as usize)).sum();
        }
    }
    0
}

#[no_mangle]
pub extern "C" fn sparsescope_destroy(_: *const Csr) {}
