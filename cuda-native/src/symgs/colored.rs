//! Sweeps colour after colour.

use sparsescope_core::experiment::Groups;
use sparsescope_core::matrix::Offset;
use sparsescope_core::symgs::Mode;

use super::plan::By;
use super::slices::{ByPlace, Places};
use super::system::{Sweeps, System, smoother};
use crate::arguments::{Element, Reads, SweepOfColor, Writes};
use crate::device::DeviceError;
use crate::launch::{Bound, Launch, Shape, Step};
use crate::value::DeviceReal;

/// Threads a block, and warps, each with a slice.
const BLOCK: u32 = 64;
const WARPS: u32 = BLOCK / 32;

pub(super) fn bind<T: DeviceReal, O: Offset + Element>(
    system: &System<'_, T, O>,
) -> Result<Sweeps, DeviceError> {
    let (setup, planned, plan_s) = Places::planned(system, By::Colors)?;
    let (colors, places) = planned;
    let (slices, conversion_s) = places.filled(&setup, system)?;
    let ByPlace { b, start, x, finish, permute_s } = places.vectors(&setup, system)?;

    let color = |(begin, end): (&u32, &u32)| {
        let (begin, end) = (*begin, *end);
        let (before, after) = (&slices.before, &slices.after);
        let arguments = SweepOfColor {
            begin,
            end,
            smoother: smoother(system.mode),
            before_ptr: Reads(&before.ptr),
            before_col: Reads(&before.col),
            before_val: Reads(&before.val),
            after_ptr: Reads(&after.ptr),
            after_col: Reads(&after.col),
            after_val: Reads(&after.val),
            diagonal: Reads(&slices.diagonal),
            rhs: Reads(&b),
            x: Writes(&x),
        };
        let grid = u64::from((end - begin).div_ceil(WARPS));
        let shape = Shape { grid, block: BLOCK, shared_bytes: 0 };
        // SAFETY: a warp a slice of the colour; columns are places or none, and the vectors have an
        // element a place.
        unsafe { Launch::new(system.device, "symgs_colored", shape, &arguments) }
    };
    let ptr = &places.slice_ptr_host;
    let launches = ptr.iter().zip(ptr.iter().skip(1)).map(color);
    let launches = launches.collect::<Result<Vec<Launch>, _>>()?;
    // With a right-hand side of its own, a colour that was just done would get the same values again.
    let skipped = match system.mode {
        Mode::Standard => 1,
        Mode::Smoother => 0,
    };
    let there = launches.iter().cloned();
    let back = launches.iter().rev().skip(skipped).cloned();
    let bound = Bound {
        reset: vec![Step::copy(&x, &start)],
        finish,
        workspace_bytes: 3 * x.bytes(),
        spent: setup.spent(),
        ..Bound::of(there.chain(back).map(Step::Launch).collect())
    };
    let (matrix_bytes, permute_s) = (Some(slices.bytes()), Some(permute_s));
    let groups = Some(Groups::Colors(colors as usize));
    Ok(Sweeps { plan_s, conversion_s, permute_s, matrix_bytes, groups, ..Sweeps::of(bound) })
}
