//! Sweeps colour by colour.

use sparsescope_core::experiment::Groups;
use sparsescope_core::matrix::Offset;
use sparsescope_core::symgs::{Mode, ZeroStart};

use super::plan::By;
use super::slices::{Places, Sides};
use super::system::{Iteration, Operator, Sweeps, System};
use crate::arguments::{Element, Reads, SweepOfColor, Writes};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::launch::{Bound, Launch, Shape, Step};
use crate::value::DeviceReal;

/// Threads per block, and warps, each with one slice.
const BLOCK: u32 = 64;
const WARPS: u32 = BLOCK / 32;

pub(super) fn bind<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
) -> Result<Sweeps, DeviceError> {
    let sides = match system.operator {
        Operator::Sweeps(_) => Sides::Columns,
        Operator::ZeroStart(_) => Sides::Places,
    };
    let (setup, planned, plan_s) = Places::planned(system, By::Colors, sides)?;
    let (colors, places) = planned;
    let (slices, conversion_s) = places.filled(&setup, system)?;
    let vectors = places.vectors(&setup, system)?;
    let exact = matches!(system.operator, Operator::ZeroStart(ZeroStart::Exact));
    let sums = if exact { places.places() } else { 0 };
    let sums = setup.array::<T>("the sums before the diagonals", sums)?;

    let color = |(begin, end): (&u32, &u32), backward: u32, rhs: &Buffer<T>| {
        let (begin, end) = (*begin, *end);
        let (before, after) = (&slices.before, &slices.after);
        let arguments = SweepOfColor {
            begin,
            end,
            backward,
            form: system.operator.form(),
            before_ptr: Reads(&before.ptr),
            before_col: Reads(&before.col),
            before_val: Reads(&before.val),
            after_ptr: Reads(&after.ptr),
            after_col: Reads(&after.col),
            after_val: Reads(&after.val),
            diagonal: Reads(&slices.diagonal),
            rhs: Reads(rhs),
            sums: Writes(&sums),
            x: Writes(&vectors.x),
        };
        let grid = u64::from((end - begin).div_ceil(WARPS));
        let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
        // SAFETY: one warp per slice of the colour; columns are places or none, and the vectors
        // have one element per place, as have the sums if they are kept.
        unsafe { Launch::new(system.device, "symgs_colored", shape, &arguments) }.map(Step::Launch)
    };
    let (b, x) = (&vectors.b, &vectors.x);
    // With its own right-hand side or stored sums, a colour that was just processed would get the
    // same values again.
    let (rhs_back, skipped) = match system.operator {
        Operator::Sweeps(Iteration { mode: Mode::Standard, .. }) => (b, 1),
        Operator::Sweeps(Iteration { mode: Mode::Smoother, .. }) => (b, 0),
        Operator::ZeroStart(ZeroStart::Exact) => (&sums, 1),
        Operator::ZeroStart(ZeroStart::Half) => (x, 0),
    };
    let ptr = &places.slice_ptr_host;
    let bounds = || ptr.iter().zip(ptr.iter().skip(1));
    let there = bounds().map(|bounds| color(bounds, 0, b));
    let back = bounds().rev().skip(skipped).map(|bounds| color(bounds, 1, rhs_back));
    let steps = there.chain(back).collect::<Result<Vec<Step>, _>>()?;

    let (matrix_bytes, permute_s) = (Some(slices.bytes()), vectors.permute_s);
    let bound = vectors.bound(steps);
    let workspace_bytes = bound.workspace_bytes + sums.bytes();
    let bound = Bound { workspace_bytes, spent: setup.spent(), ..bound };
    let groups = Some(Groups::Colors(colors as usize));
    Ok(Sweeps { plan_s, conversion_s, permute_s, matrix_bytes, groups, ..Sweeps::of(bound) })
}
