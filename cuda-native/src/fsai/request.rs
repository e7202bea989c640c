//! Options of a setup on a device.

use sparsescope_core::fsai::{Cancelled, FsaiParameters};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;

/// Where the dense systems that the device solves are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatheredBy {
    /// On the device, as part of solving them.
    Device,
    /// On the CPU, in batches that are copied to the device (the thesis).
    Processor,
}

impl GatheredBy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Device, Self::Processor];
}

/// A on the host, and the options.
pub(super) struct Request<'r> {
    pub(super) a: &'r Csr,
    pub(super) parameters: &'r FsaiParameters,
    pub(super) by: GatheredBy,
    pub(super) limit: MemoryLimit,
    pub(super) cancelled: &'r Cancelled<'r>,
}
