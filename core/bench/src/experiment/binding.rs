//! A backend's table of operations: how it binds the kernels of each to a problem.

use super::backend::{Availability, Prepared};
use super::configuration::Configuration;
use super::error::PrepareError;
use super::problem::Problem;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::KernelDescriptor;
use sparsescope_record::Operation;

/// A backend that has kernels of the operation whose problems are a `P`.
pub trait Binds<P: Problem> {
    /// Whether it can run one of the operation's kernels here.
    fn has(&self, kernel: &KernelDescriptor) -> Availability;

    /// Prepares a configuration that the problem admits: format, plan and buffers, with conversions limited
    /// to `memory`.
    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p P,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError>;
}

type Bind<B> = for<'p> fn(
    &'p B,
    &Configuration,
    &'p dyn Problem,
    MemoryLimit,
) -> Result<Box<dyn Prepared + 'p>, PrepareError>;

/// An operation of a backend, in a table of all of them.
pub struct Binding<B> {
    operation: Operation,
    has: fn(&B, &KernelDescriptor) -> Availability,
    bind: Bind<B>,
}

impl<B> Binding<B> {
    /// The operation whose problems are a `P`.
    pub const fn of<P: Problem>(operation: Operation) -> Self
    where
        B: Binds<P>,
    {
        Self { operation, has: <B as Binds<P>>::has, bind: bind::<P, B> }
    }

    /// Whether a backend with these operations can run the kernel here, or why not.
    pub fn availability(all: &[Self], backend: &B, kernel: &KernelDescriptor) -> Availability {
        match all.iter().find(|one| one.operation == kernel.operation) {
            Some(one) => (one.has)(backend, kernel),
            None => Availability::built(false),
        }
    }

    /// Prepares a configuration on a backend with these operations; fails with the reason if the problem does
    /// not admit it.
    pub fn prepare<'p>(
        all: &[Self],
        backend: &'p B,
        configuration: &Configuration,
        problem: &'p dyn Problem,
        memory: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        problem.admit(configuration)?;
        match all.iter().find(|one| one.operation == problem.operation()) {
            Some(one) => (one.bind)(backend, configuration, problem, memory),
            None => Err(foreign()),
        }
    }
}

fn bind<'p, P: Problem, B: Binds<P>>(
    backend: &'p B,
    configuration: &Configuration,
    problem: &'p dyn Problem,
    memory: MemoryLimit,
) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
    backend.bind(configuration, problem.of::<P>().ok_or_else(foreign)?, memory)
}

fn foreign() -> PrepareError {
    PrepareError::Unsupported("no kernel of this backend computes this".to_owned())
}
