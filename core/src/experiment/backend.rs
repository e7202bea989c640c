//! What a backend offers: it makes kernels ready for a problem and times them itself.

use std::collections::BTreeMap;

use super::problem::{Output, Problem};
use crate::kernel::{FormatParams, KernelDescriptor};
use crate::memory::MemoryLimit;
use crate::record::{Costs, Gpu};

/// Whether a kernel can run here, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It can.
    Available,
    /// It cannot, for this reason (one sentence).
    Missing(String),
}

/// How a kernel is to be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    /// CPU threads, at least 1.
    pub threads: usize,
    /// Threads a block, for GPU kernels.
    pub block: Option<u32>,
    /// Parameters of the kernel's format.
    pub format: FormatParams,
    /// Bytes that a conversion may take.
    pub memory: MemoryLimit,
}

/// State of the caches at the start of each sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Temperature {
    /// As the previous product left them.
    Hot,
    /// Flushed.
    Cold,
}

/// Why a kernel was not made ready.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PrepareError {
    /// This problem is too large for it or not of its kind.
    #[error("{0}")]
    Refused(String),
    /// This machine or build cannot run it.
    #[error("{0}")]
    Unsupported(String),
}

/// A kernel that failed while running.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kernel} failed: {reason}")]
pub struct KernelError {
    /// Id of the kernel.
    pub kernel: String,
    /// What happened, in one sentence.
    pub reason: String,
}

/// Launchers of the kernels of one device.
pub trait Backend {
    /// Model name of the device.
    fn model(&self) -> &str;

    /// Whether this backend can run the kernel here.
    fn availability(&self, kernel: &KernelDescriptor) -> Availability;

    /// A GPU as a bundle records it, its bandwidth measured; nothing for the processor.
    fn describe(&self) -> Option<Gpu> {
        None
    }

    /// Makes `kernel` ready to run on `problem`: format, plan, buffers.
    fn prepare<'p>(
        &'p self,
        kernel: &'static KernelDescriptor,
        problem: &'p Problem,
        setting: &Setting,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError>;
}

/// A kernel ready to run on one problem.
pub trait Prepared {
    /// Runs `n` timed samples after one untimed product, and returns the seconds of one product
    /// for each.
    fn sample(&mut self, n: usize, temperature: Temperature) -> Result<Vec<f64>, KernelError>;

    /// Fills the result with NaN, runs once and returns it.
    fn output(&mut self) -> Result<Output, KernelError>;

    /// Products behind each sample: small ones are timed in groups.
    fn repetitions(&self) -> u32;

    /// Parts of the work that are not empty, when that may differ from the threads asked for.
    fn parts(&self) -> Option<usize>;

    /// What getting ready took, and the bytes of the arrays really used.
    fn costs(&self) -> Costs;

    /// Format parameters in force, by name.
    fn params(&self) -> BTreeMap<String, String>;
}
