//! What a backend offers: it makes kernels ready for a problem and times them itself.

use std::collections::BTreeMap;

use super::configuration::{Configuration, Temperature};
use super::error::PrepareError;
use super::problem::Problem;
use super::task::{Finished, Groups, Watch};
use super::ticket::{Executed, LastOutput, Sampled, SetUp, Ticket};
use crate::kernel::KernelDescriptor;
use crate::memory::MemoryLimit;
use crate::record::{Costs, Distributed, Gpu, History};

/// Whether a kernel can run here, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It can.
    Available,
    /// It cannot, for this reason (one sentence).
    Missing(String),
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

    /// Versions of the libraries that it found on this machine and runs kernels of, by name; of a GPU they
    /// are in its description.
    fn libraries(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Makes a configuration, which the problem admits, ready to run on it: formats, plan, buffers,
    /// the conversions within `memory`.
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError>;
}

/// A kernel ready to run on one problem.
pub trait Prepared {
    /// Does what has to be done once before the first execution, where that takes long and can be
    /// stopped, as setting up a preconditioner; to be called before all others. Whoever gets an error
    /// does not run it.
    fn set_up<'t>(&'t mut self, _watch: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::ready(Ok(Finished::Done))
    }

    /// Runs `n` timed samples and returns the seconds of one execution for each; fewer when it is
    /// cancelled. Executions shorter than a second are preceded by an untimed one, and all of them by filling
    /// the result with NaN, so that [`last_output`](Self::last_output) tells what they did.
    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t>;

    /// Fills the result with NaN, or puts back what an execution in place changes, executes once
    /// and returns the result; nothing when it is cancelled.
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t>;

    /// The result that the last execution left.
    fn last_output(&mut self) -> LastOutput<'_>;

    /// Seconds of the execution whose result [`output`](Self::output) gave last; nothing where that
    /// was not timed.
    fn once(&self) -> Option<f64> {
        None
    }

    /// The groups that the rows were found to fall into, for kernels that follow any.
    fn groups(&self) -> Option<Groups> {
        None
    }

    /// Executions behind each sample: short ones are timed in groups.
    fn repetitions(&self) -> u32;

    /// Parts of the work that are not empty, when that may differ from the threads asked for.
    fn parts(&self) -> Option<usize>;

    /// What getting ready took, and the bytes of the arrays really used.
    fn costs(&self) -> Costs;

    /// Parameters in force, by name.
    fn params(&self) -> BTreeMap<String, String>;

    /// How several ranks share the work, with what each of them does; nothing where one device does all of
    /// it. To be asked after the last sample.
    fn distributed(&mut self) -> Option<Distributed> {
        None
    }

    /// What the last execution told of its steps, as passes over the rows; nothing for most kernels.
    fn told(&mut self) -> Option<History> {
        None
    }
}
