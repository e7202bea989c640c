//! The launcher of `cuda/spmm/merge`.

use sparsescope_core::kernel::{PATH_STEPS, PathShares, columns_per_thread};
use sparsescope_core::matrix::{Offset, RowPtr};
use sparsescope_core::spmv::MergePath;

use crate::arguments::{Arguments, Element, Reads, SpmmMerge, SpmmMergeCarry, Stored, Writes};
use crate::arrays::Offsets;
use crate::buffer::Buffer;
use crate::cusparse::Block;
use crate::device::{Device, DeviceError, count, row_count};
use crate::launch::{Bound, Launch, Shape, Step};
use crate::value::DeviceReal;

/// Equal pieces of the merge path, and the parts of rows that are cut between blocks.
pub(super) fn merge<T: DeviceReal, V: Stored<T>>(
    device: &Device,
    block: u32,
    operands: &Block<'_, T, V>,
    host: &RowPtr,
) -> Result<Bound, DeviceError> {
    match operands.row_ptr {
        Offsets::Narrow(row_ptr) => over_pieces(device, block, operands, row_ptr, host),
        Offsets::Wide(row_ptr) => over_pieces(device, block, operands, row_ptr, host),
    }
}

fn over_pieces<T: DeviceReal, V: Stored<T>, O: Offset + Element>(
    device: &Device,
    block: u32,
    operands: &Block<'_, T, V>,
    row_ptr: &Buffer<O>,
    host: &RowPtr,
) -> Result<Bound, DeviceError> {
    let Block { columns: k, slots, x, y, .. } = *operands;
    let rows = row_count(operands.rows)?;
    let columns = count("the number of columns of X", k)?;
    let each = columns_per_thread(k, T::BYTES);
    let packs = k / each;
    let PathShares { width, slices, at_once } = PathShares::new(packs, block);
    let path = MergePath::in_steps(host, PATH_STEPS);
    let (pieces, blocks) = (path.len(), path.len().div_ceil(at_once));
    let first_row: Vec<u32> = path.iter().map(|(from, _)| from.row as u32).chain([rows]).collect();
    let first_row = Buffer::of(device, "the first rows of pieces", &first_row)?;
    let carry = Buffer::unset(device, "the sums of rows that are cut", blocks * k)?;
    let (steps, pieces) = (PATH_STEPS as u32, pieces as u64);
    let arguments = SpmmMerge {
        rows,
        columns,
        width: width as u32,
        steps,
        pieces,
        first_row: Reads(&first_row),
        row_ptr: Reads(row_ptr),
        col: Reads(&slots.col),
        val: Reads(&slots.val),
        x: Reads(x),
        y: Writes(y),
        carry: Writes(&carry),
    };
    let shared_bytes = block * (each * T::BYTES) as u32;
    let shape = Shape { grid: (blocks * slices) as u64, block, shared_bytes };
    // SAFETY: a CSR matrix has rows + 1 ascending offsets up to the length of col and val, and only
    // columns below cols; X and Y have `columns` elements per column and row of A, a multiple of
    // those that a thread takes, and both begin where as many elements are aligned, as do `carry`,
    // which has `columns` elements per block, and shared memory, which has a thread's columns for
    // each. The pieces are those of the matrix's merge path, followed by the number of rows.
    // Threads of pieces and columns beyond the last access nothing.
    let product = unsafe { Launch::new(device, &format!("spmm_merge_{each}"), shape, &arguments)? };
    let mut launches = vec![Step::Launch(product)];
    if blocks > 1 {
        let arguments = SpmmMergeCarry {
            columns,
            at_once: at_once as u32,
            steps,
            pieces,
            first_row: Reads(&first_row),
            row_ptr: Reads(row_ptr),
            carry: Reads(&carry),
            y: Writes(y),
        };
        // Threads with registers for sixteen carries at once: smaller blocks of them.
        let block = block.min(256);
        let grid = ((blocks * packs) as u64).div_ceil(block.into());
        let shape = Shape { grid, block, shared_bytes: 0 };
        let name = format!("spmm_merge_carry_{each}");
        // That of the first launch, so that no other one is built.
        let variant = SpmmMerge::<T, V, O>::VARIANT;
        // SAFETY: as above; its parameters are the same in every variant with these vectors and
        // offsets. A row that ends in a block and began in an earlier one has a carry in each from
        // that one on. Threads beyond the last block return.
        let carries = unsafe { Launch::in_variant(device, variant, &name, shape, &arguments)? };
        launches.push(Step::Launch(carries));
    }
    let workspace_bytes = first_row.bytes() + carry.bytes();
    let spent = first_row.spent() + carry.spent();
    Ok(Bound { workspace_bytes, spent, ..Bound::of(launches) })
}
