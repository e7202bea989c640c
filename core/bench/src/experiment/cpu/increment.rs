//! The CPU kernels for x ← x + 1, in place.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::CpuBackend;
use crate::experiment::backend::{Availability, Prepared};
use crate::experiment::binding::Binds;
use crate::experiment::configuration::Configuration;
use crate::experiment::error::{KernelError, PrepareError};
use crate::experiment::operations::IncrementProblem;
use crate::experiment::output::Output;
use crate::experiment::task::{Bound, Finished, Task, Watch};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::kernel::KernelDescriptor;
use sparsescope_record::Costs;

/// Adds 1 to the elements of a part, on one thread.
fn add_one(part: &mut [f64]) {
    part.iter_mut().for_each(|element| *element += 1.0);
}

struct Increment<'p> {
    input: &'p [f64],
    x: Vec<f64>,
    /// Elements per part.
    part: usize,
}

impl Task for Increment<'_> {
    fn is_in_place(&self) -> bool {
        true
    }

    fn reset(&mut self) {
        self.x.copy_from_slice(self.input);
    }

    fn spoil(&mut self) {}

    fn run(&mut self, watch: &Watch<'_>) -> Result<Finished, KernelError> {
        if watch.is_cancelled() {
            return Ok(Finished::Cancelled);
        }
        match self.part >= self.x.len() {
            true => add_one(&mut self.x),
            false => self.x.par_chunks_mut(self.part).for_each(add_one),
        }
        Ok(Finished::Done)
    }

    fn output(&self) -> Output {
        Output::Vector(self.x.clone())
    }
}

/// Elements per part of a vector of `len` for `threads` threads.
type Part = fn(len: usize, threads: usize) -> usize;

const LAUNCHERS: &[(&str, Part)] = &[
    ("cpu/increment/serial", |len, _| len.max(1)),
    ("cpu/increment/parts", |len, threads| len.div_ceil(threads.max(1)).max(1)),
];

fn launcher(id: &str) -> Option<Part> {
    LAUNCHERS.iter().find(|(known, _)| *known == id).map(|&(_, part)| part)
}

impl Binds<IncrementProblem> for CpuBackend {
    fn has(&self, kernel: &KernelDescriptor) -> Availability {
        Availability::built(launcher(kernel.id).is_some())
    }

    fn bind<'p>(
        &'p self,
        configuration: &Configuration,
        problem: &'p IncrementProblem,
        _: MemoryLimit,
    ) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
        let part = launcher(configuration.kernel.id)
            .ok_or_else(|| PrepareError::Unsupported("not included in this build".to_owned()))?;
        let input = problem.x();
        let part = part(input.len(), configuration.threads as usize);
        let bytes = size_of_val(input) as u64;
        let costs = Costs { format_bytes: bytes, minimal_bytes: 2 * bytes, ..Costs::default() };
        let parts = Some(input.len().div_ceil(part));
        let task = Box::new(Increment { input, x: input.to_vec(), part });
        self.prepared(configuration, |_| Ok(Bound { task, parts, costs, params: BTreeMap::new() }))
    }
}
