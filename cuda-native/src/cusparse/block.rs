//! The library's SpMM: Y = A·X with X and Y stored by rows or by columns.

use std::ffi::{c_int, c_void};
use std::ptr::{self, from_ref};
use std::rc::Rc;

use sparsescope_core::matrix::Order;

use super::{BASE_ZERO, Cusparse, Descriptor, Direction, INDEX_32I, check, offsets, pointer};
use crate::arrays::{Offsets, Slots};
use crate::buffer::{Buffer, Memory};
use crate::device::{Device, DeviceError, Doing};
use crate::value::DeviceReal;

// Values of the library's enumerations.
const BY_COLUMNS: c_int = 1;
const BY_ROWS: c_int = 2;

/// An SpMM algorithm for CSR; the library's enumeration value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockAlgorithm {
    Csr1 = 4,
    Csr2 = 6,
    Csr3 = 12,
}

/// The operands of an SpMM: A in CSR or BSR with `rows` rows and `cols` columns, whose values may
/// have another type than X and Y, which have `columns`.
pub(crate) struct Block<'a, T, V = T> {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) columns: usize,
    pub(crate) row_ptr: &'a Offsets,
    pub(crate) slots: &'a Slots<V>,
    pub(crate) x: &'a Buffer<T>,
    pub(crate) y: &'a Buffer<T>,
}

/// A prepared SpMM.
pub(crate) struct BlockProduct<T: 'static> {
    algorithm: BlockAlgorithm,
    matrix: Descriptor,
    x: Descriptor,
    y: Descriptor,
    workspace: Buffer<u8>,
    /// 1 and 0, in host memory.
    factors: &'static [T; 2],
    /// Owns what the descriptors point to.
    _memory: Vec<Memory>,
    /// Last, so that it outlives the descriptors.
    library: Rc<Cusparse>,
}

impl<T: DeviceReal> BlockProduct<T> {
    /// Describes the operands, allocates the workspace and runs the library's preprocessing.
    ///
    /// # Safety
    /// The arrays must be those of such a matrix: ascending offsets up to the number of slots, and
    /// columns within the matrix; X has `columns` elements per column of A, and Y per row, in this
    /// order.
    pub(crate) unsafe fn new(
        library: Rc<Cusparse>,
        device: &Device,
        (algorithm, order): (BlockAlgorithm, Order),
        block: &Block<'_, T>,
    ) -> Result<Self, DeviceError> {
        device.context().bind_to_thread().doing("make its context current")?;
        let f = &library.functions;
        let Block { rows, cols, columns, row_ptr, slots, x: of_x, y: of_y } = *block;
        let _memory = vec![
            row_ptr.memory(),
            slots.col.memory(),
            slots.val.memory(),
            of_x.memory(),
            of_y.memory(),
        ];
        let mut handle = ptr::null_mut();
        let (starts, width) = offsets(row_ptr);
        // SAFETY: the pointers are those of CSR's arrays on the device.
        check("cusparseCreateCsr", unsafe {
            (f.cusparseCreateCsr)(
                &mut handle,
                rows as i64,
                cols as i64,
                slots.col.len() as i64,
                starts,
                pointer(&slots.col),
                pointer(&slots.val),
                width,
                INDEX_32I,
                BASE_ZERO,
                T::DATA_TYPE,
            )
        })?;
        let matrix = Descriptor { handle, destroy: f.cusparseDestroySpMat };
        let dense = |rows: usize, of: &Buffer<T>| {
            let mut handle = ptr::null_mut();
            let (rows, columns) = (rows as i64, columns as i64);
            let (apart, order) = match order {
                Order::RowMajor => (columns, BY_ROWS),
                Order::ColumnMajor => (rows, BY_COLUMNS),
            };
            // SAFETY: the pointer is to that many rows of that many elements on the device, stored
            // one after another or by columns.
            check("cusparseCreateDnMat", unsafe {
                let values = pointer(of);
                let data = T::DATA_TYPE;
                (f.cusparseCreateDnMat)(&mut handle, rows, columns, apart, values, data, order)
            })?;
            Ok::<_, DeviceError>(Descriptor { handle, destroy: f.cusparseDestroyDnMat })
        };
        let (x, y) = (dense(cols, of_x)?, dense(rows, of_y)?);
        let factors = T::FACTORS;
        let [one, zero] = factors;
        let plain = Direction::Plain as c_int;
        let mut bytes = 0;
        // SAFETY: all descriptors and what they point to are alive; the factors, in host memory,
        // are of the declared type.
        check("cusparseSpMM_bufferSize", unsafe {
            (f.cusparseSpMM_bufferSize)(
                library.handle,
                plain,
                plain,
                from_ref(one).cast(),
                matrix.handle,
                x.handle,
                from_ref(zero).cast(),
                y.handle,
                T::DATA_TYPE,
                algorithm as c_int,
                &mut bytes,
            )
        })?;
        let workspace = Buffer::unset(device, "cuSPARSE's workspace", bytes)?;
        let made = Self { algorithm, matrix, x, y, workspace, factors, _memory, library };
        made.call("cusparseSpMM_preprocess", made.library.functions.cusparseSpMM_preprocess)?;
        Ok(made)
    }

    /// Adds one SpMM to the stream.
    pub(crate) fn enqueue(&self) -> Result<(), DeviceError> {
        self.call("cusparseSpMM", self.library.functions.cusparseSpMM)
    }

    /// The library's workspace.
    pub(crate) fn workspace(&self) -> &Buffer<u8> {
        &self.workspace
    }

    fn call(&self, name: &'static str, function: SpMM) -> Result<(), DeviceError> {
        let [one, zero] = self.factors;
        let plain = Direction::Plain as c_int;
        // SAFETY: all descriptors and what they point to are alive; the workspace is as large as
        // the library requested; the factors, in host memory, are of the declared type; `new`'s
        // caller guarantees the indices in the arrays.
        check(name, unsafe {
            function(
                self.library.handle,
                plain,
                plain,
                from_ref(one).cast(),
                self.matrix.handle,
                self.x.handle,
                from_ref(zero).cast(),
                self.y.handle,
                T::DATA_TYPE,
                self.algorithm as c_int,
                pointer(&self.workspace),
            )
        })
    }
}

type SpMM = unsafe extern "C" fn(
    *mut c_void,
    c_int,
    c_int,
    *const c_void,
    *mut c_void,
    *mut c_void,
    *const c_void,
    *mut c_void,
    c_int,
    c_int,
    *mut c_void,
) -> c_int;
