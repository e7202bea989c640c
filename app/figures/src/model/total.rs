//! How long a run takes from its input in the host's memory to its result there.

use super::open::RunOf;

/// Seconds of the parts of a run: what is measured beside an execution was measured once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Total {
    /// Median of an execution.
    pub kernel_s: f64,
    /// Bringing the input into the kernel's order.
    pub arrange_s: f64,
    /// Copying the input to the GPU and the result back.
    pub transfer_s: f64,
    /// Allocating memory there.
    pub allocate_s: f64,
}

impl Total {
    /// All of it.
    pub fn whole_s(&self) -> f64 {
        self.kernel_s + self.around_s() + self.arrange_s
    }

    /// Transfer and allocation.
    pub fn around_s(&self) -> f64 {
        self.transfer_s + self.allocate_s
    }
}

impl RunOf<'_> {
    /// What it takes in all; none of a run without times, or on a GPU whose transfers or allocation
    /// nobody recorded. Building the kernels is not in it.
    pub fn total(&self) -> Option<Total> {
        let costs = &self.run.costs;
        let (kernel_s, arrange_s) = (self.figures()?.median_s, costs.conversion_s);
        let (transfer_s, allocate_s) = match self.run.backend.as_str() {
            "cpu" => (0.0, 0.0),
            _ => (costs.upload_s? + costs.download_s?, costs.allocate_s?),
        };
        Some(Total { kernel_s, arrange_s, transfer_s, allocate_s })
    }
}
