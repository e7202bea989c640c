//! The kernel that compares points with tiles of others as bits: first all points with the best
//! ones, then the survivors with one another.

mod champions;
mod survivors;
mod tiles;
mod workings;

use super::operands::{Points, Search};
use crate::device::DeviceError;
use crate::launch::{Bound, Step};
use workings::Fast;

/// Maximum number of points: beyond, the work of the last kernel overflows 32 bits.
pub(super) const MOST_POINTS: u32 = 1 << 27;

/// Binds the kernel.
pub(super) fn bind(on_device: &Points<'_>) -> Result<Search, DeviceError> {
    let Points { points, kept, .. } = *on_device;
    let mut steps = Vec::from(kept.zeroed());
    if points == 0 {
        return Ok(Search { bound: Bound::of(steps), conversion_s: 0.0 });
    }
    let fast = Fast::new(on_device)?;
    // SAFETY: they are counted from zero, and no flag is used as an index.
    steps.extend(unsafe {
        [
            Step::fill_numbers(kept.flags(), 0),
            Step::fill_numbers(&fast.counts, 0),
            Step::fill_numbers(&fast.keys, 0),
        ]
    });
    let champions = fast.choose_champions(&mut steps)?;
    fast.filter(&champions, &mut steps)?;
    fast.sweep(&mut steps)?;
    let (workspace_bytes, spent) = (fast.workspace.bytes(), fast.workspace.spent());
    let bound = Bound { workspace_bytes, spent, ..Bound::of(steps) };
    Ok(Search { bound, conversion_s: 0.0 })
}
