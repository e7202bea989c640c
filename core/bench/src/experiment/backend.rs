//! The backend interface: a backend prepares kernels for a problem and times them.

use std::collections::BTreeMap;

use super::agreement::OwnFailure;
use super::configuration::{Configuration, Temperature};
use super::error::PrepareError;
use super::problem::Problem;
use super::task::{Finished, Groups, Watch};
use super::ticket::{Executed, LastOutput, Metered, Sampled, SetUp, Ticket};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::KernelDescriptor;
use sparsescope_record::{Costs, Distributed, Gpu, History, KernelSource};

/// Whether a kernel can run here, or why not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// It can run.
    Available,
    /// It cannot run; the reason, in one sentence.
    Missing(String),
}

impl Availability {
    /// Whether this build has a kernel.
    pub fn built(has_it: bool) -> Self {
        match has_it {
            true => Self::Available,
            false => Self::Missing("not included in this build".to_owned()),
        }
    }
}

/// Launches the kernels of one device.
pub trait Backend {
    /// Model name of the device.
    fn model(&self) -> &str;

    /// Number of processes that run a configuration together, each with its number of threads.
    fn ranks(&self) -> u32 {
        1
    }

    /// Whether this backend can run the kernel here.
    fn availability(&self, kernel: &KernelDescriptor) -> Availability;

    /// The GPU as a bundle records it, with its measured bandwidth; `None` for the CPU.
    fn describe(&self) -> Option<Gpu> {
        None
    }

    /// Versions, by name, of the libraries found on this machine whose kernels it runs; for a GPU they are
    /// part of its description.
    fn libraries(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// The file of a kernel that is not in its descriptor: that of a library which the user named.
    fn source(&self, _kernel: &KernelDescriptor) -> Option<KernelSource> {
        None
    }

    /// Bytes that the arrays of kernels may take in the device's own memory, when none is prepared; `None` if
    /// they are in the host's.
    fn room(&self) -> Option<u64> {
        None
    }

    /// Prepares a configuration that the problem admits: format, plan and buffers, with conversions limited
    /// to `memory`.
    fn prepare<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError>;
}

/// A kernel ready to run on one problem. Where ranks execute in step, each call ends the same way on all of
/// them, except for an error that one rank meets before or after the others wait for it.
pub trait Prepared {
    /// Does the one-time work that takes long and can be stopped, such as setting up a preconditioner. Must
    /// be called before all other methods; after an error the kernel must not be run.
    fn set_up<'t>(&'t mut self, _watch: &'t Watch<'_>) -> SetUp<'t> {
        Ticket::ready(Ok(Finished::Done))
    }

    /// Takes `n` timed samples and returns the seconds per execution of each; fewer when cancelled. An
    /// untimed execution precedes those shorter than a second. The result is always filled with NaN first, so
    /// that [`last_output`](Self::last_output) shows what the timed executions computed.
    fn sample<'t>(
        &'t mut self,
        n: usize,
        temperature: Temperature,
        watch: &'t Watch<'_>,
    ) -> Sampled<'t>;

    /// Fills the result with NaN (or restores the input of an in-place execution), executes once and returns
    /// the result; `None` when cancelled.
    fn output<'t>(&'t mut self, watch: &'t Watch<'_>) -> Executed<'t>;

    /// The result of the last execution.
    fn last_output(&mut self) -> LastOutput<'_>;

    /// Measures the energy of one execution over seconds of repetitions.
    fn energy<'t>(&'t mut self, _temperature: Temperature, _watch: &'t Watch<'_>) -> Metered<'t> {
        Ticket::ready(Err("energy is measured only for CUDA kernels on one GPU".to_owned()))
    }

    /// Why the last call failed, if the other ranks do not know it and may be waiting for this one.
    fn own_failure(&self) -> Option<OwnFailure> {
        None
    }

    /// Seconds of the execution whose result [`output`](Self::output) last returned; `None` where it was not
    /// timed.
    fn once(&self) -> Option<f64> {
        None
    }

    /// The groups found among the rows, for kernels that group rows.
    fn groups(&self) -> Option<Groups> {
        None
    }

    /// Executions per sample: short ones are timed in batches.
    fn repetitions(&self) -> u32;

    /// Number of nonempty parts of the work, where it may differ from the requested number of threads.
    fn parts(&self) -> Option<usize> {
        None
    }

    /// Time of preparation, and actual bytes of the arrays.
    fn costs(&self) -> Costs;

    /// Effective parameters, by name.
    fn params(&self) -> BTreeMap<String, String>;

    /// How the ranks share the work and what each of them does; `None` where one device does all of it. Call
    /// it after the last sample.
    fn distributed(&mut self) -> Option<Distributed> {
        None
    }

    /// The steps that the last execution reported, as passes over the rows; `None` for most kernels.
    fn told(&mut self) -> Option<History> {
        None
    }
}
