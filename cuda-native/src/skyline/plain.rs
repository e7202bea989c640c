//! The report's kernels: one thread per point, compared with all others.

use std::time::Instant;

use sparsescope_core::kernel::Counting;

use super::operands::{MOST_DIMENSIONS, Points, Search};
use super::workspace::Workspace;
use crate::arguments::{
    Arguments, Reads, SkylineLocalPoints, SkylinePoints, SkylineTranspose, Writes,
};
use crate::buffer::Buffer;
use crate::device::DeviceError;
use crate::kernels::Variant;
use crate::launch::{Bound, Launch, Shape, Step, enqueue};

/// Layout of the points, and where a thread keeps its own one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    RowMajor,
    RowMajorLocal,
    CoalescedLocal,
    Coalesced,
    CoalescedRegisters,
}

/// Maximum coordinates kept in registers.
const MOST_IN_REGISTERS: u32 = 32;

/// Threads per block of the transpose kernel, and points or dimensions per tile.
const TRANSPOSE_BLOCK: u32 = 256;
const TRANSPOSE_TILE: u32 = 32;

impl Form {
    fn function(self) -> &'static str {
        match self {
            Self::RowMajor => "skyline_row_major",
            Self::RowMajorLocal => "skyline_row_major_local",
            Self::CoalescedLocal => "skyline_coalesced_local",
            Self::Coalesced => "skyline_coalesced",
            Self::CoalescedRegisters => "skyline_coalesced_registers",
        }
    }

    /// Maximum coordinates of a point, and why.
    pub(super) fn bound(self) -> (u32, &'static str) {
        match self {
            Self::RowMajor | Self::Coalesced => (MOST_DIMENSIONS, "no kernel supports more"),
            Self::RowMajorLocal | Self::CoalescedLocal => {
                let most = Variant::BOUNDS.into_iter().max().unwrap_or(0);
                (most, "no kernel keeps larger points in local memory")
            }
            Self::CoalescedRegisters => {
                (MOST_IN_REGISTERS, "each thread keeps its point in registers")
            }
        }
    }

    /// Whether each dimension is contiguous.
    fn is_coalesced(self) -> bool {
        !matches!(self, Self::RowMajor | Self::RowMajorLocal)
    }
}

/// Binds a kernel with blocks of this many threads.
pub(super) fn bind(on_device: &Points<'_>, form: Form, block: u32) -> Result<Search, DeviceError> {
    let &Points { device, rows, points, dimensions, kept } = on_device;
    let workspace = Workspace::new(device);
    let (columns, conversion_s) = match form.is_coalesced() {
        true => {
            let (columns, seconds) = transposed(on_device, &workspace)?;
            (Some(columns), seconds)
        }
        false => (None, 0.0),
    };
    let x = Reads(columns.as_ref().unwrap_or(rows));
    let (zeroed, counting) = (kept.zeroed(), u32::from(kept.counting() == Counting::Device));
    let (count, comparisons) = (Writes(kept.count()), Writes(kept.comparisons()));
    let (kept, function) = (Writes(kept.flags()), form.function());
    let shape = Shape { grid: u64::from(points).div_ceil(block.into()), block, shared_bytes: 0 };
    let launch = match form {
        Form::RowMajor | Form::Coalesced => {
            let arguments =
                SkylinePoints { points, dimensions, counting, x, kept, count, comparisons };
            // SAFETY: the points have N × D coordinates in either order, and one flag each; threads
            // beyond the last access none.
            unsafe { Launch::new(device, function, shape, &arguments)? }
        }
        Form::RowMajorLocal | Form::CoalescedLocal | Form::CoalescedRegisters => {
            let arguments =
                SkylineLocalPoints { points, dimensions, counting, x, kept, count, comparisons };
            let bound = Variant::BOUNDS.into_iter().find(|&bound| bound >= dimensions);
            let variant = SkylineLocalPoints::VARIANT.of_width(bound.unwrap_or(dimensions));
            // SAFETY: as above; a thread's own array has space for the point.
            unsafe { Launch::in_variant(device, variant, function, shape, &arguments)? }
        }
    };
    let steps = zeroed.into_iter().chain([Step::Launch(launch)]).collect();
    let (workspace_bytes, spent) = (workspace.bytes(), workspace.spent());
    Ok(Search { bound: Bound { workspace_bytes, spent, ..Bound::of(steps) }, conversion_s })
}

/// The transposed points, with each dimension contiguous, and the seconds of transposing.
fn transposed(
    on_device: &Points<'_>,
    workspace: &Workspace<'_>,
) -> Result<(Buffer<f64>, f64), DeviceError> {
    let &Points { device, rows, points, dimensions, .. } = on_device;
    let columns = workspace.array("the points by dimension", rows.len())?;
    let across = dimensions.div_ceil(TRANSPOSE_TILE);
    let grid = u64::from(points.div_ceil(TRANSPOSE_TILE)) * u64::from(across);
    let arguments = SkylineTranspose {
        points,
        dimensions,
        across,
        rows: Reads(rows),
        columns: Writes(&columns),
    };
    let shape = Shape { grid, block: TRANSPOSE_BLOCK, shared_bytes: 0 };
    // SAFETY: both arrays have N × D elements; places beyond the last are skipped.
    let step =
        Step::Launch(unsafe { Launch::new(device, "skyline_transpose", shape, &arguments)? });
    device.synchronize()?;
    let start = Instant::now();
    enqueue(device, &[step])?;
    device.synchronize()?;
    Ok((columns, start.elapsed().as_secs_f64()))
}
