//! Launchers of the vendor's kernels, on the same arrays as ours.

use std::rc::Rc;

use sparsescope_core::matrix::{AnyFormat, RowPtr};

use super::operands::{Operands, wrong_format};
use super::ours;
use crate::arrays::{Arrays, Offsets};
use crate::buffer::{Buffer, Spent};
use crate::cusparse::{
    self, Algorithm, Cusparse, CusparseOp, Direction, OpAlgorithm, Planned, Product,
};
use crate::device::DeviceError;
use crate::launch::{Bound, Step, enqueue};
use crate::value::DeviceReal;

/// cuSPARSE's SpMV by one of its algorithms, on the matrix's format, or on that of its transpose.
pub(crate) fn bind<T: DeviceReal>(
    o: &Operands<'_, T>,
    library: Rc<Cusparse>,
    (direction, algorithm): (Direction, Algorithm),
) -> Result<Bound, DeviceError> {
    if is_empty(o) {
        return ours::beginning(o);
    }
    // Created here if our kernels use other offsets.
    let slices;
    let (mut workspace_bytes, mut spent) = (0, Spent::default());
    let (arrays, slots) = match o.format()? {
        (Arrays::Csr { row_ptr, slots }, _) => (cusparse::Arrays::Csr { row_ptr }, slots),
        (Arrays::Coo { row, slots }, _) => (cusparse::Arrays::Coo { row }, slots),
        (Arrays::Hll { offsets, slots, .. }, AnyFormat::Hll(a)) if a.is_plain() => {
            let shape = a.shape();
            // 32-bit offsets if they suffice, as for CSR.
            slices = match RowPtr::from_offsets(shape.offsets().to_vec()) {
                RowPtr::Wide(_) => Offsets::Wide(offsets.clone()),
                narrow => {
                    let narrow = Offsets::of(o.device, "the slice offsets", &narrow)?;
                    (workspace_bytes, spent) = (narrow.bytes(), narrow.spent());
                    narrow
                }
            };
            let slice = shape.hack_size();
            (cusparse::Arrays::Sell { offsets: &slices, slice }, slots)
        }
        _ => return Err(wrong_format(o)),
    };
    let operands = cusparse::Operands { nnz: o.nnz, arrays, slots, x: o.x, y: o.y };
    // SAFETY: formats are validated on construction: offsets ascend up to the number of slots, and
    // rows and columns are within the matrix; x and y have one element per column and row, or the
    // reverse if it is transposed.
    let product = unsafe {
        Product::directed(library, o.device, direction, algorithm, &operands, factors(o))?
    };
    workspace_bytes += product.workspace().bytes();
    spent = spent + product.workspace().spent();
    let steps = vec![Step::Call(Box::new(move |_| product.enqueue()))];
    Ok(Bound { workspace_bytes, spent, ..Bound::of(steps) })
}

/// cuSPARSE's SpMVOp by one of its algorithms, on CSR. It adds to `start`, not to y itself; without
/// it, to zeros.
pub(crate) fn bind_op<T: DeviceReal>(
    o: &Operands<'_, T>,
    op: Rc<CusparseOp>,
    algorithm: OpAlgorithm,
    start: Option<&Buffer<T>>,
) -> Result<Bound, DeviceError> {
    if is_empty(o) {
        return ours::beginning(o);
    }
    let (Arrays::Csr { row_ptr, slots }, _) = o.format()? else { return Err(wrong_format(o)) };
    let arrays = cusparse::Arrays::Csr { row_ptr };
    let operands = cusparse::Operands { nnz: o.nnz, arrays, slots, x: o.x, y: o.y };
    let (mut workspace_bytes, mut spent) = (0, Spent::default());
    let added = match start {
        Some(start) => start.clone(),
        None => {
            let zeros = Buffer::<T>::unset(o.device, "the vector that is added", o.rows)?;
            enqueue(o.device, &[Step::zero(&zeros)])?;
            (workspace_bytes, spent) = (zeros.bytes(), zeros.spent());
            zeros
        }
    };
    // SAFETY: as above; the added vector has one element per row.
    let product = unsafe { Planned::new(op, o.device, algorithm, &operands, (factors(o), added))? };
    workspace_bytes += product.workspace().bytes();
    spent = spent + product.workspace().spent();
    let steps = vec![Step::Call(Box::new(move |_| product.enqueue()))];
    Ok(Bound { workspace_bytes, spent, ..Bound::of(steps) })
}

/// alpha and beta as the library reads them.
fn factors<T: DeviceReal>(o: &Operands<'_, T>) -> [T; 2] {
    [o.scale.alpha, o.scale.beta].map(T::rounded)
}

/// Whether the library, which takes no empty operands, cannot be called; the product is zero then.
fn is_empty<T: DeviceReal>(o: &Operands<'_, T>) -> bool {
    o.rows == 0 || o.cols == 0 || o.nnz == 0
}
