//! What a warp does in SpMV in one format, as far as formats share it.

use super::asking::Asking;
use crate::kernel::{Cut, KernelDescriptor, LANES, Pass, StridedSlots};
use sparsescope_matrix::matrix::{AnyFormat, Scalar};

/// Threads of a warp.
pub(super) const WARP: usize = LANES as usize;

/// The slots of the lanes of a warp.
pub(super) type Runs = [Option<StridedSlots>; WARP];

/// SpMV on a matrix in the format `A`.
pub(super) struct FormatPass<'a, T, A> {
    kernel: &'static KernelDescriptor,
    pub(super) ask: Asking<'a, T>,
    pub(super) a: &'a A,
    pub(super) cut: &'a Cut,
}

impl<'a, T: Scalar, A> FormatPass<'a, T, A> {
    /// `format` is `a`, and `cut` is the kernel's partition of it.
    pub(super) fn new(
        kernel: &'static KernelDescriptor,
        format: &'a AnyFormat<T>,
        a: &'a A,
        cut: &'a Cut,
    ) -> Self {
        Self { kernel, ask: Asking(format), a, cut }
    }

    /// The slots of the lanes of a warp.
    pub(super) fn runs(&self, warp: u64) -> Runs {
        std::array::from_fn(|lane| {
            let thread = warp * LANES + lane as u64;
            self.kernel.thread_slots(self.ask.0, self.cut, Pass::Rows, thread).next()
        })
    }
}
