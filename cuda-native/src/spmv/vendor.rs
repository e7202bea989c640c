//! Launchers of the vendor's kernels, on the same arrays as ours.

use std::rc::Rc;

use sparsescope_core::matrix::AnyFormat;

use super::{Bound, Operands, wrong_format};
use crate::buffer::Buffer;
use crate::cusparse::{self, Algorithm, Cusparse, Product};
use crate::device::DeviceError;
use crate::launch::Step;
use crate::upload::Arrays;

/// Bytes of a value.
const REAL: usize = size_of::<f64>();

/// cuSPARSE's product by one of its algorithms, on the format that the matrix is in.
pub(super) fn bind(
    o: &Operands<'_>,
    library: Rc<Cusparse>,
    algorithm: Algorithm,
) -> Result<Bound, DeviceError> {
    if o.rows == 0 || o.cols == 0 || o.nnz == 0 {
        // The library takes no empty operands; y is zero then.
        let zero = Step::zero(o.y, o.rows * REAL);
        return Ok(Bound::steps(vec![zero]));
    }
    let mut keep: Vec<Box<dyn std::any::Any>> = Vec::new();
    let mut workspace_bytes = 0;
    let (arrays, slots) = match (&o.matrix.copy, &o.matrix.host) {
        (Arrays::Csr { row_ptr, slots }, _) => {
            let (row_ptr, offset_bits) = (row_ptr.address(), row_ptr.bits());
            (cusparse::Arrays::Csr { row_ptr, offset_bits }, slots)
        }
        (Arrays::Coo { row, slots }, _) => (cusparse::Arrays::Coo { row: row.address() }, slots),
        (Arrays::Hll { offsets, slots, .. }, AnyFormat::Hll(a)) => {
            let shape = a.shape();
            // 32-bit offsets where they suffice, as for CSR.
            let narrow: Result<Vec<i32>, _> =
                shape.offsets().iter().map(|&offset| i32::try_from(offset)).collect();
            let (offsets, offset_bits) = match narrow {
                Ok(narrow) => {
                    let narrow = Buffer::of(o.device, "the slice offsets", &narrow)?;
                    let address = narrow.address();
                    workspace_bytes += narrow.bytes();
                    keep.push(Box::new(narrow));
                    (address, 32)
                }
                Err(_) => (offsets.address(), 64),
            };
            let (slice, slots_stored) = (shape.hack_size(), slots.col.len());
            let sell = cusparse::Arrays::Sell { offsets, offset_bits, slice, slots: slots_stored };
            (sell, slots)
        }
        _ => return Err(wrong_format(o)),
    };
    let operands = cusparse::Operands {
        rows: o.rows,
        cols: o.cols,
        nnz: o.nnz,
        arrays,
        col: slots.col.address(),
        val: slots.val.address(),
        x: o.x,
        y: o.y,
    };
    let product = Product::new(library, o.device, algorithm, &operands)?;
    workspace_bytes += product.workspace_bytes();
    let steps = vec![Step::Call(Box::new(move || product.enqueue()))];
    Ok(Bound { steps, _keep: keep, workspace_bytes })
}
