//! Launchers of the kernels in `kernels/`.

use sparsescope_core::kernel::{COO_SPAN, GridMapping, LANES, Work};
use sparsescope_core::matrix::AnyFormat;

use super::{Bound, Operands, wrong_format};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::kernels::{Family, Variant};
use crate::launch::Step;
use crate::upload::{Arrays, Slots};

/// Bytes of a value.
const REAL: u32 = size_of::<f64>() as u32;

pub(super) fn csr(o: &Operands<'_>) -> Result<Bound, DeviceError> {
    csr_with(o, 0)
}

/// With one value a thread in shared memory.
pub(super) fn csr_shared(o: &Operands<'_>) -> Result<Bound, DeviceError> {
    csr_with(o, o.block * REAL)
}

fn csr_with(o: &Operands<'_>, shared_bytes: u32) -> Result<Bound, DeviceError> {
    let Arrays::Csr { row_ptr, slots } = &o.matrix.copy else { return Err(wrong_format(o)) };
    let variant = Variant { family: Family::Csr, offset_bits: row_ptr.bits() };
    let (col, val) = (slots.col.address(), slots.val.address());
    let arguments = vec![o.row_count()?, row_ptr.address(), col, val, o.x, o.y];
    Ok(Bound::steps(vec![o.over_rows(variant, shared_bytes, arguments)?]))
}

pub(super) fn ell(o: &Operands<'_>) -> Result<Bound, DeviceError> {
    let (Arrays::Ell { row_len, slots }, AnyFormat::Ell(a)) = (&o.matrix.copy, &o.matrix.host)
    else {
        return Err(wrong_format(o));
    };
    let variant = Variant::of(Family::Ell);
    // The papers' kernel goes to the common width, ours to each row's length.
    let extent = match o.kernel.needs.finite_x {
        true => a.shape().width as u64,
        false => row_len.address(),
    };
    let (col, val) = (slots.col.address(), slots.val.address());
    let arguments = vec![o.row_count()?, extent, col, val, o.x, o.y];
    Ok(Bound::steps(vec![o.over_rows(variant, 0, arguments)?]))
}

pub(super) fn hll(o: &Operands<'_>) -> Result<Bound, DeviceError> {
    let (Arrays::Hll { offsets, max_nzr, slots }, AnyFormat::Hll(a)) =
        (&o.matrix.copy, &o.matrix.host)
    else {
        return Err(wrong_format(o));
    };
    let shape = a.shape();
    let (hack_size, hacks) = (shape.hack_size() as u64, shape.hacks() as u64);
    let (col, val) = (slots.col.address(), slots.val.address());
    let mut arguments = vec![o.row_count()?, hack_size, hacks];
    arguments.extend([offsets.address(), max_nzr.address(), col, val, o.x, o.y]);
    let mut shared_bytes = 0;
    if o.kernel.id == "cuda/hll/shared-x" {
        arguments.push(o.cols as u64);
        shared_bytes = o.block * REAL;
    }
    Ok(Bound::steps(vec![o.over_rows(Variant::of(Family::Hll), shared_bytes, arguments)?]))
}

pub(super) fn coo(o: &Operands<'_>) -> Result<Bound, DeviceError> {
    let Arrays::Coo { row, slots } = &o.matrix.copy else { return Err(wrong_format(o)) };
    o.row_count()?;
    let zero = Step::zero(o.y, o.rows * REAL as usize);
    let mut bound = segmented(o, row, slots)?;
    bound.steps.insert(0, zero);
    Ok(bound)
}

pub(super) fn hyb(o: &Operands<'_>) -> Result<Bound, DeviceError> {
    let Arrays::Hyb { row_len, ell, row, tail } = &o.matrix.copy else {
        return Err(wrong_format(o));
    };
    let (col, val) = (ell.col.address(), ell.val.address());
    let arguments = vec![o.row_count()?, row_len.address(), col, val, o.x, o.y];
    let per_row = (GridMapping::ThreadPerRow, Work::Rows(o.rows as u64));
    let first = o.launch(Variant::of(Family::Ell), "ell_column_major", per_row, 0, arguments)?;
    let mut bound = segmented(o, row, tail)?;
    bound.steps.insert(0, first);
    Ok(bound)
}

/// Adds the sums of entries in COO to y: the spans, then what they carry.
fn segmented(o: &Operands<'_>, row: &Buffer<u32>, slots: &Slots) -> Result<Bound, DeviceError> {
    let entries = row.len() as u64;
    if entries == 0 {
        return Ok(Bound::steps(Vec::new()));
    }
    let spans = entries.div_ceil(COO_SPAN);
    let carry_row = Buffer::<u32>::unset(o.device, "what spans carry", spans as usize)?;
    let carry_sum = Buffer::<f64>::unset(o.device, "what spans carry", spans as usize)?;
    let variant = Variant::of(Family::Coo);
    let carries = [carry_row.address(), carry_sum.address()];
    let (col, val) = (slots.col.address(), slots.val.address());
    let mut arguments = vec![entries, COO_SPAN, row.address(), col, val, o.x, o.y];
    arguments.extend(carries);
    let per_span = (GridMapping::WarpPerSpan, Work::Entries(entries));
    let sums = o.launch(variant, "coo_segmented", per_span, 0, arguments)?;
    let mut steps = vec![sums];
    if spans > 1 {
        let arguments = vec![spans, carries[0], carries[1], o.y];
        // As many warps as spans.
        let per_warp = (GridMapping::WarpPerRow, Work::Rows(spans));
        steps.push(o.launch(variant, "coo_carry", per_warp, 0, arguments)?);
    }
    debug_assert_eq!(COO_SPAN % LANES, 0);
    let workspace_bytes = carry_row.bytes() + carry_sum.bytes();
    Ok(Bound { steps, _keep: vec![Box::new(carry_row), Box::new(carry_sum)], workspace_bytes })
}
