//! What a kernel is bound to, and the result of binding.

use super::kept::Kept;
use crate::buffer::Buffer;
use crate::device::Device;
use crate::launch::Bound;

/// Maximum coordinates of a point.
pub(super) const MOST_DIMENSIONS: u32 = 1000;

/// The points on a device, and where the result goes.
pub(super) struct Points<'a> {
    pub(super) device: &'a Device,
    /// N × D.
    pub(super) rows: &'a Buffer<f64>,
    pub(super) points: u32,
    pub(super) dimensions: u32,
    pub(super) kept: &'a Kept,
}

/// A kernel bound to points.
pub(super) struct Search {
    pub(super) bound: Bound,
    /// Seconds of converting the points to the kernel's layout.
    pub(super) conversion_s: f64,
}
