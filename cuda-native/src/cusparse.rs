//! cuSPARSE, loaded at run time: handles and descriptors that destroy themselves, SpMV, SpMM and
//! the triangular solve.

mod block;
mod op;
mod solve;

use std::ffi::{c_int, c_void};
use std::path::PathBuf;
use std::ptr::{self, from_ref};
use std::rc::Rc;

use cudarc::driver::DeviceRepr;

use crate::arrays::{Offsets, Slots};
use crate::buffer::{Buffer, Memory};
use crate::device::{Device, DeviceError, Doing};
use crate::library::{function_table, open};
use crate::value::DeviceReal;

pub(crate) use block::{Block, BlockAlgorithm, BlockProduct};
pub(crate) use op::{CusparseOp, OpAlgorithm, Planned};
pub(crate) use solve::{Solve, Triangle};

type Handle = *mut c_void;

function_table! {
    /// The cuSPARSE functions used; each returns 0 on success.
    Functions {
        cusparseCreate(*mut Handle) -> c_int;
        cusparseDestroy(Handle) -> c_int;
        cusparseGetVersion(Handle, *mut c_int) -> c_int;
        cusparseSetStream(Handle, *mut c_void) -> c_int;
        cusparseCreateDnVec(*mut Handle, i64, *mut c_void, c_int) -> c_int;
        cusparseDestroyDnVec(Handle) -> c_int;
        cusparseCreateCsr(
            *mut Handle, i64, i64, i64, *mut c_void, *mut c_void, *mut c_void, c_int, c_int,
            c_int, c_int
        ) -> c_int;
        cusparseCreateCoo(
            *mut Handle, i64, i64, i64, *mut c_void, *mut c_void, *mut c_void, c_int, c_int, c_int
        ) -> c_int;
        cusparseCreateSlicedEll(
            *mut Handle, i64, i64, i64, i64, i64, *mut c_void, *mut c_void, *mut c_void, c_int,
            c_int, c_int, c_int
        ) -> c_int;
        cusparseDestroySpMat(Handle) -> c_int;
        cusparseSpMV_bufferSize(
            Handle, c_int, *const c_void, Handle, Handle, *const c_void, Handle, c_int, c_int,
            *mut usize
        ) -> c_int;
        cusparseSpMV_preprocess(
            Handle, c_int, *const c_void, Handle, Handle, *const c_void, Handle, c_int, c_int,
            *mut c_void
        ) -> c_int;
        cusparseSpMV(
            Handle, c_int, *const c_void, Handle, Handle, *const c_void, Handle, c_int, c_int,
            *mut c_void
        ) -> c_int;
        cusparseCreateDnMat(*mut Handle, i64, i64, i64, *mut c_void, c_int, c_int) -> c_int;
        cusparseDestroyDnMat(Handle) -> c_int;
        cusparseSpMM_bufferSize(
            Handle, c_int, c_int, *const c_void, Handle, Handle, *const c_void, Handle, c_int,
            c_int, *mut usize
        ) -> c_int;
        cusparseSpMM_preprocess(
            Handle, c_int, c_int, *const c_void, Handle, Handle, *const c_void, Handle, c_int,
            c_int, *mut c_void
        ) -> c_int;
        cusparseSpMM(
            Handle, c_int, c_int, *const c_void, Handle, Handle, *const c_void, Handle, c_int,
            c_int, *mut c_void
        ) -> c_int;
        cusparseSpMatSetAttribute(Handle, c_int, *const c_void, usize) -> c_int;
        cusparseSpSV_createDescr(*mut Handle) -> c_int;
        cusparseSpSV_destroyDescr(Handle) -> c_int;
        cusparseSpSV_bufferSize(
            Handle, c_int, *const c_void, Handle, Handle, Handle, c_int, c_int, Handle, *mut usize
        ) -> c_int;
        cusparseSpSV_analysis(
            Handle, c_int, *const c_void, Handle, Handle, Handle, c_int, c_int, Handle, *mut c_void
        ) -> c_int;
        cusparseSpSV_solve(
            Handle, c_int, *const c_void, Handle, Handle, Handle, c_int, c_int, Handle
        ) -> c_int;
    }
}

// Values of the library's enumerations.
const INDEX_32I: c_int = 2;
const INDEX_64I: c_int = 3;
const BASE_ZERO: c_int = 0;

/// Whether a matrix is multiplied as it is or transposed; the library's enumeration value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Plain = 0,
    Transposed = 1,
}

/// An SpMV algorithm; the library's enumeration value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Coo1 = 1,
    Csr1 = 2,
    Csr2 = 3,
    Sell1 = 5,
}

/// The library, bound to a device's stream.
pub(crate) struct Cusparse {
    functions: Functions,
    handle: Handle,
    /// The file, or the name under which it was found.
    path: PathBuf,
    /// 12501 is 12.5.1.
    number: c_int,
    version: String,
}

impl Cusparse {
    /// Loads and initialises the library that fits the driver, or returns why it cannot.
    pub(crate) fn start(device: &Device) -> Result<Rc<Self>, String> {
        // CUDA 13 and CUDA 12 both ship library version 12.
        let names: &[&str] = match cfg!(windows) {
            false => &["libcusparse.so.12", "libcusparse.so"],
            true => &["cusparse64_12.dll"],
        };
        let (library, path) = open(names, "cusparse").map_err(|why| format!("cuSPARSE: {why}"))?;
        let in_file = |why: String| format!("{}: {why}", path.display());
        let functions = Functions::new(library).map_err(in_file)?;
        let bound = device.context().bind_to_thread().doing("make its context current");
        bound.map_err(|error| error.to_string())?;
        let mut handle = ptr::null_mut();
        // SAFETY: the device's context is current on this thread; the pointer is valid.
        check("cusparseCreate", unsafe { (functions.cusparseCreate)(&mut handle) })
            .map_err(|error| error.to_string())?;
        let mut made = Self { functions, handle, path, number: 0, version: String::new() };
        // SAFETY: the handle is open, the stream lives as long as the device.
        let status = unsafe {
            let stream = device.stream().cu_stream().cast();
            match (made.functions.cusparseSetStream)(handle, stream) {
                0 => (made.functions.cusparseGetVersion)(handle, &mut made.number),
                status => status,
            }
        };
        check("cusparseSetStream", status).map_err(|error| error.to_string())?;
        let number = made.number;
        made.version = format!("{}.{}.{}", number / 1000, number / 100 % 10, number % 100);
        Ok(Rc::new(made))
    }

    /// `12.5.1`.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }
}

impl Drop for Cusparse {
    fn drop(&mut self) {
        // SAFETY: the handle is open and closed only here.
        let _ = unsafe { (self.functions.cusparseDestroy)(self.handle) };
    }
}

fn check(call: &'static str, status: c_int) -> Result<(), DeviceError> {
    let status = match status {
        0 => return Ok(()),
        1 => "NOT_INITIALIZED".to_owned(),
        2 => "ALLOC_FAILED".to_owned(),
        3 => "INVALID_VALUE".to_owned(),
        4 => "ARCH_MISMATCH".to_owned(),
        6 => "EXECUTION_FAILED".to_owned(),
        7 => "INTERNAL_ERROR".to_owned(),
        10 => "NOT_SUPPORTED".to_owned(),
        11 => "INSUFFICIENT_RESOURCES".to_owned(),
        number => format!("status {number}"),
    };
    Err(DeviceError::Library { library: "cuSPARSE", call, status })
}

/// The arrays of a matrix, apart from columns and values; columns are 32-bit.
#[derive(Clone, Copy)]
pub(crate) enum Arrays<'a> {
    /// Row offsets.
    Csr { row_ptr: &'a Offsets },
    /// Row of each nonzero.
    Coo { row: &'a Buffer<u32> },
    /// Slices of `slice` rows, column-major within, with their offsets.
    Sell { offsets: &'a Offsets, slice: usize },
}

/// The operands of an SpMV: A with `nnz` nonzeros, as many columns as x and as many rows as y has
/// elements, or the reverse if it is transposed.
pub(crate) struct Operands<'a, T> {
    pub(crate) nnz: usize,
    pub(crate) arrays: Arrays<'a>,
    pub(crate) slots: &'a Slots<T>,
    pub(crate) x: &'a Buffer<T>,
    pub(crate) y: &'a Buffer<T>,
}

impl<T: DeviceReal> Operands<'_, T> {
    /// The owners of the memory of all of them.
    fn memory(&self) -> Vec<Memory> {
        let of_rows = match self.arrays {
            Arrays::Csr { row_ptr: offsets } | Arrays::Sell { offsets, .. } => offsets.memory(),
            Arrays::Coo { row } => row.memory(),
        };
        let Slots { col, val } = self.slots;
        vec![of_rows, col.memory(), val.memory(), self.x.memory(), self.y.memory()]
    }
}

/// A prepared SpMV: y ← α·A·x + β·y by one algorithm.
pub(crate) struct Product<T: 'static> {
    direction: Direction,
    algorithm: Algorithm,
    /// α and β, in host memory that does not move.
    factors: Box<[T; 2]>,
    matrix: Descriptor,
    x: Descriptor,
    y: Descriptor,
    workspace: Buffer<u8>,
    /// Owns what the descriptors point to.
    _memory: Vec<Memory>,
    /// Last, so that it outlives the descriptors.
    library: Rc<Cusparse>,
}

/// A descriptor of the library, destroyed when dropped.
struct Descriptor {
    handle: Handle,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: the descriptor is destroyed only here, and its library outlives it.
        let _ = unsafe { (self.destroy)(self.handle) };
    }
}

impl<T: DeviceReal> Product<T> {
    /// Describes the operands, allocates the workspace and runs the library's preprocessing;
    /// `factors` are α and β.
    ///
    /// # Safety
    /// The arrays must be those of such a matrix: offsets for each row or slice that ascend up to
    /// the number of slots, or a row for each slot; rows and columns within the matrix.
    pub(crate) unsafe fn new(
        library: Rc<Cusparse>,
        device: &Device,
        algorithm: Algorithm,
        operands: &Operands<'_, T>,
        factors: [T; 2],
    ) -> Result<Self, DeviceError> {
        let direction = Direction::Plain;
        // SAFETY: the caller's promise.
        unsafe { Self::directed(library, device, direction, algorithm, operands, factors) }
    }

    /// The same with A as it is or transposed.
    ///
    /// # Safety
    /// As for [`Product::new`].
    pub(crate) unsafe fn directed(
        library: Rc<Cusparse>,
        device: &Device,
        direction: Direction,
        algorithm: Algorithm,
        operands: &Operands<'_, T>,
        factors: [T; 2],
    ) -> Result<Self, DeviceError> {
        let factors = Box::new(factors);
        device.context().bind_to_thread().doing("make its context current")?;
        let [of_product, of_y] = &*factors;
        let matrix = matrix(&library.functions, operands, direction)?;
        let x = vector(&library.functions, operands.x)?;
        let y = vector(&library.functions, operands.y)?;
        let mut bytes = 0;
        let f = &library.functions;
        // SAFETY: all descriptors and what they point to are alive; the factors, in host memory,
        // are of the declared type.
        check("cusparseSpMV_bufferSize", unsafe {
            (f.cusparseSpMV_bufferSize)(
                library.handle,
                direction as c_int,
                from_ref(of_product).cast(),
                matrix.handle,
                x.handle,
                from_ref(of_y).cast(),
                y.handle,
                T::DATA_TYPE,
                algorithm as c_int,
                &mut bytes,
            )
        })?;
        let workspace = Buffer::unset(device, "cuSPARSE's workspace", bytes)?;
        let _memory = operands.memory();
        let made =
            Self { library, direction, algorithm, factors, matrix, x, y, workspace, _memory };
        made.call("cusparseSpMV_preprocess", made.library.functions.cusparseSpMV_preprocess)?;
        Ok(made)
    }

    /// Adds one SpMV to the stream.
    pub(crate) fn enqueue(&self) -> Result<(), DeviceError> {
        self.call("cusparseSpMV", self.library.functions.cusparseSpMV)
    }

    /// The library's workspace.
    pub(crate) fn workspace(&self) -> &Buffer<u8> {
        &self.workspace
    }

    fn call(&self, name: &'static str, function: SpMV) -> Result<(), DeviceError> {
        let [of_product, of_y] = &*self.factors;
        // SAFETY: all descriptors and what they point to are alive; the workspace is as large as
        // the library requested; the factors, in host memory, are of the declared type; `new`'s
        // caller guarantees the indices in the arrays.
        check(name, unsafe {
            function(
                self.library.handle,
                self.direction as c_int,
                from_ref(of_product).cast(),
                self.matrix.handle,
                self.x.handle,
                from_ref(of_y).cast(),
                self.y.handle,
                T::DATA_TYPE,
                self.algorithm as c_int,
                pointer(&self.workspace),
            )
        })
    }
}

type SpMV = unsafe extern "C" fn(
    Handle,
    c_int,
    *const c_void,
    Handle,
    Handle,
    *const c_void,
    Handle,
    c_int,
    c_int,
    *mut c_void,
) -> c_int;

fn pointer<T: DeviceRepr + 'static>(array: &Buffer<T>) -> *mut c_void {
    array.address() as *mut c_void
}

/// An array of offsets and the library's constant for its type.
fn offsets(offsets: &Offsets) -> (*mut c_void, c_int) {
    match offsets {
        Offsets::Narrow(offsets) => (pointer(offsets), INDEX_32I),
        Offsets::Wide(offsets) => (pointer(offsets), INDEX_64I),
    }
}

fn vector<T: DeviceReal>(f: &Functions, of: &Buffer<T>) -> Result<Descriptor, DeviceError> {
    let mut handle = ptr::null_mut();
    // SAFETY: the pointer is to that many elements on the device.
    check("cusparseCreateDnVec", unsafe {
        (f.cusparseCreateDnVec)(&mut handle, of.len() as i64, pointer(of), T::DATA_TYPE)
    })?;
    Ok(Descriptor { handle, destroy: f.cusparseDestroyDnVec })
}

fn matrix<T: DeviceReal>(
    f: &Functions,
    o: &Operands<'_, T>,
    direction: Direction,
) -> Result<Descriptor, DeviceError> {
    let mut handle = ptr::null_mut();
    let (rows, cols) = match direction {
        Direction::Plain => (o.y.len() as i64, o.x.len() as i64),
        Direction::Transposed => (o.x.len() as i64, o.y.len() as i64),
    };
    let nnz = o.nnz as i64;
    let (col, val) = (pointer(&o.slots.col), pointer(&o.slots.val));
    // SAFETY: the pointers are those of the format's arrays on the device; the library only stores
    // them here.
    let (call, status) = unsafe {
        match o.arrays {
            Arrays::Csr { row_ptr } => {
                let (row_ptr, width) = offsets(row_ptr);
                let status = (f.cusparseCreateCsr)(
                    &mut handle,
                    rows,
                    cols,
                    nnz,
                    row_ptr,
                    col,
                    val,
                    width,
                    INDEX_32I,
                    BASE_ZERO,
                    T::DATA_TYPE,
                );
                ("cusparseCreateCsr", status)
            }
            Arrays::Coo { row } => {
                let status = (f.cusparseCreateCoo)(
                    &mut handle,
                    rows,
                    cols,
                    nnz,
                    pointer(row),
                    col,
                    val,
                    INDEX_32I,
                    BASE_ZERO,
                    T::DATA_TYPE,
                );
                ("cusparseCreateCoo", status)
            }
            Arrays::Sell { offsets: slices, slice } => {
                let (slice, slots) = (slice as i64, o.slots.col.len() as i64);
                let (offsets, width) = offsets(slices);
                let status = (f.cusparseCreateSlicedEll)(
                    &mut handle,
                    rows,
                    cols,
                    nnz,
                    slots,
                    slice,
                    offsets,
                    col,
                    val,
                    width,
                    INDEX_32I,
                    BASE_ZERO,
                    T::DATA_TYPE,
                );
                ("cusparseCreateSlicedEll", status)
            }
        }
    };
    check(call, status)?;
    Ok(Descriptor { handle, destroy: f.cusparseDestroySpMat })
}
