//! SpMVOp, the library's SpMV with a plan for each matrix, which nvJitLink links for the device. It
//! is experimental: absent from older libraries, and with other arguments before version 12.8.

use std::ffi::{c_int, c_void};
use std::ptr::{self, from_ref};
use std::rc::Rc;

use libloading::Library;

use super::{Cusparse, Descriptor, Direction, Handle, Operands, check, matrix, pointer, vector};
use crate::buffer::{Buffer, Memory};
use crate::device::{Device, DeviceError, Doing};
use crate::library::{function_table, load, open};
use crate::value::DeviceReal;

function_table! {
    /// The functions of SpMVOp; each returns 0 on success.
    Functions {
        cusparseSpMVOp_bufferSize(
            Handle, c_int, Handle, Handle, Handle, Handle, c_int, c_int, *mut usize
        ) -> c_int;
        cusparseSpMVOp_createDescr(
            Handle, *mut Handle, c_int, Handle, Handle, Handle, Handle, c_int, c_int, *mut c_void
        ) -> c_int;
        cusparseSpMVOp_destroyDescr(Handle) -> c_int;
        cusparseSpMVOp_createPlan(Handle, Handle, *mut Handle, *const c_void, usize) -> c_int;
        cusparseSpMVOp_destroyPlan(Handle) -> c_int;
        cusparseSpMVOp(
            Handle, Handle, *const c_void, *const c_void, Handle, Handle, Handle
        ) -> c_int;
    }
}

/// The first version whose functions have the arguments above, as the library numbers them.
const OLDEST: c_int = 12_800;

/// An algorithm of SpMVOp; the library's enumeration value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpAlgorithm {
    Default = 0,
    First = 1,
    Second = 2,
}

/// The functions of SpMVOp.
pub(crate) struct CusparseOp {
    functions: Functions,
    library: Rc<Cusparse>,
    /// Found by its name when the library makes a plan.
    _linker: Library,
}

impl CusparseOp {
    /// Looks up the functions in the library and loads nvJitLink, or returns why there are none.
    pub(crate) fn start(library: Rc<Cusparse>) -> Result<Rc<Self>, String> {
        admit(library.number, &library.version)?;
        let in_file = |why: String| format!("{}: {why}", library.path.display());
        // It is already loaded.
        let functions = Functions::new(load(&library.path)?).map_err(in_file)?;
        // All libraries that have SpMVOp are built for CUDA 13.
        let names: &[&str] = match cfg!(windows) {
            false => &["libnvJitLink.so.13"],
            true => &["nvJitLink_130_0.dll"],
        };
        let linker = open(names, "nvjitlink");
        let (_linker, _) = linker.map_err(|why| format!("nvJitLink, for SpMVOp: {why}"))?;
        Ok(Rc::new(Self { functions, library, _linker }))
    }
}

/// Refuses libraries without SpMVOp as it is called here.
fn admit(number: c_int, version: &str) -> Result<(), String> {
    if number >= OLDEST {
        return Ok(());
    }
    Err(format!("SpMVOp needs cuSPARSE 12.8 or newer, found {version}"))
}

/// A planned SpMV: z ← α·A·x + β·y by one algorithm.
pub(crate) struct Planned<T: 'static> {
    plan: Descriptor,
    /// α and β, in host memory that does not move.
    factors: Box<[T; 2]>,
    _described: Descriptor,
    _matrix: Descriptor,
    x: Descriptor,
    y: Descriptor,
    z: Descriptor,
    workspace: Buffer<u8>,
    /// Owns what the other descriptors point to.
    _memory: Vec<Memory>,
    /// Last, so that it outlives the descriptors.
    op: Rc<CusparseOp>,
}

impl<T: DeviceReal> Planned<T> {
    /// Describes the operands, whose y is z, and makes the plan. `added` is y, which the library
    /// requires to be apart from z.
    ///
    /// # Safety
    /// As for [`Product::new`](super::Product::new); `added` must have one element per row.
    pub(crate) unsafe fn new(
        op: Rc<CusparseOp>,
        device: &Device,
        algorithm: OpAlgorithm,
        operands: &Operands<'_, T>,
        (factors, added): ([T; 2], Buffer<T>),
    ) -> Result<Self, DeviceError> {
        device.context().bind_to_thread().doing("make its context current")?;
        let (library, f) = (&op.library, &op.functions);
        let of_matrix = matrix(&library.functions, operands, Direction::Plain)?;
        let x = vector(&library.functions, operands.x)?;
        let y = vector(&library.functions, &added)?;
        let z = vector(&library.functions, operands.y)?;
        let (direction, algorithm) = (Direction::Plain as c_int, algorithm as c_int);
        let mut bytes = 0;
        // SAFETY: all descriptors and what they point to are alive.
        check("cusparseSpMVOp_bufferSize", unsafe {
            (f.cusparseSpMVOp_bufferSize)(
                library.handle,
                direction,
                of_matrix.handle,
                x.handle,
                y.handle,
                z.handle,
                T::DATA_TYPE,
                algorithm,
                &mut bytes,
            )
        })?;
        let workspace = Buffer::unset(device, "cuSPARSE's workspace", bytes)?;
        let mut handle = ptr::null_mut();
        // SAFETY: as above; the workspace is as large as the library requested; the caller
        // guarantees the indices in the arrays.
        check("cusparseSpMVOp_createDescr", unsafe {
            (f.cusparseSpMVOp_createDescr)(
                library.handle,
                &mut handle,
                direction,
                of_matrix.handle,
                x.handle,
                y.handle,
                z.handle,
                T::DATA_TYPE,
                algorithm,
                pointer(&workspace),
            )
        })?;
        let described = Descriptor { handle, destroy: f.cusparseSpMVOp_destroyDescr };
        let mut handle = ptr::null_mut();
        // SAFETY: the descriptor is alive; there is no code of ours to link.
        check("cusparseSpMVOp_createPlan", unsafe {
            let (code, bytes) = (ptr::null(), 0);
            (f.cusparseSpMVOp_createPlan)(
                library.handle,
                described.handle,
                &mut handle,
                code,
                bytes,
            )
        })?;
        let plan = Descriptor { handle, destroy: f.cusparseSpMVOp_destroyPlan };
        let (factors, _described, _matrix) = (Box::new(factors), described, of_matrix);
        let mut _memory = operands.memory();
        _memory.push(added.memory());
        Ok(Self { plan, factors, _described, _matrix, x, y, z, workspace, _memory, op })
    }

    /// Adds one SpMV to the stream.
    pub(crate) fn enqueue(&self) -> Result<(), DeviceError> {
        let [of_product, of_y] = &*self.factors;
        // SAFETY: the plan, the descriptors and what they point to are alive; the factors, in host
        // memory, are of the declared type; `new`'s caller guarantees the indices in the arrays.
        check("cusparseSpMVOp", unsafe {
            (self.op.functions.cusparseSpMVOp)(
                self.op.library.handle,
                self.plan.handle,
                from_ref(of_product).cast(),
                from_ref(of_y).cast(),
                self.x.handle,
                self.y.handle,
                self.z.handle,
            )
        })
    }

    /// The library's workspace.
    pub(crate) fn workspace(&self) -> &Buffer<u8> {
        &self.workspace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_with_other_arguments_is_refused_by_its_version() {
        assert_eq!((admit(12_801, "12.8.1"), admit(12_904, "12.9.4")), (Ok(()), Ok(())));
        let why = admit(12_710, "12.7.10").unwrap_err();
        assert_eq!(why, "SpMVOp needs cuSPARSE 12.8 or newer, found 12.7.10");
    }
}
