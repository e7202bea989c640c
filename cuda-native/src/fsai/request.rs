//! What a set-up on a device is asked for.

use sparsescope_core::fsai::{Cancelled, FsaiParameters};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;

/// Who gathers the dense systems that the device solves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GatheredBy {
    /// The device, as it solves them.
    Device,
    /// The processor, batch after batch, and copies them (the thesis).
    Processor,
}

impl GatheredBy {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Device, Self::Processor];
}

/// A on the host, and what is asked for.
pub(super) struct Request<'r> {
    pub(super) a: &'r Csr,
    pub(super) parameters: &'r FsaiParameters,
    pub(super) by: GatheredBy,
    pub(super) limit: MemoryLimit,
    pub(super) cancelled: &'r Cancelled<'r>,
}
