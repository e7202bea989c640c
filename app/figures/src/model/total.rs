//! The time of a run from input in host memory to result in host memory.

use super::open::RunOf;

/// Seconds of the parts of a run: everything except the execution was measured once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// Median time of an execution.
    pub kernel_s: f64,
    /// Rearranging the input for the kernel.
    pub arrange_s: f64,
    /// Copying the input to the GPU and the result back.
    pub transfer_s: f64,
    /// Allocating GPU memory.
    pub allocate_s: f64,
}

impl Total {
    /// The sum of all parts.
    pub fn whole_s(&self) -> f64 {
        self.kernel_s + self.around_s() + self.arrange_s
    }

    /// Transfer and allocation.
    pub fn around_s(&self) -> f64 {
        self.transfer_s + self.allocate_s
    }
}

impl RunOf<'_> {
    /// Its total time; `None` for a run without times, or on a GPU without recorded transfers or
    /// allocation. Excludes building the kernels.
    pub fn total(&self) -> Option<Total> {
        let costs = &self.run.costs;
        let (kernel_s, arrange_s) = (self.figures()?.median_s, costs.conversion_s);
        let (transfer_s, allocate_s) = match self.run.is_on_cpu() {
            true => (0.0, 0.0),
            false => (costs.upload_s? + costs.download_s?, costs.allocate_s?),
        };
        Some(Total { kernel_s, arrange_s, transfer_s, allocate_s })
    }
}
