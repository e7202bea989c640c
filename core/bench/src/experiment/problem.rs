//! What an operation computes on a subject, as the runner and the backends see it.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::atomic::AtomicBool;

use super::configuration::Configuration;
use super::error::PrepareError;
use super::output::Output;
use super::resident::Resident;
use super::task::{Finished, Watch};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::{Check, History, Operation, Predicted, Verdict, Work};

/// An operation on one subject; each operation has its own type.
pub trait Problem: Any + Debug + Send + Sync {
    /// The operation of the problem.
    fn operation(&self) -> Operation;

    /// Whether there is nothing to compute, so that no execution has a meaningful time or rate: a matrix
    /// without nonzeros or rows, no points, no systems.
    fn is_empty(&self) -> bool;

    /// The arrays besides the input that a configuration needs, as far as they fit into `memory`: those that
    /// do not are rejected and take no memory.
    fn resident(&self, configuration: &Configuration, memory: MemoryLimit) -> Vec<Resident>;

    /// Compares a result of a configuration with the reference; `None` for the wrong kind of result.
    fn compare(&self, configuration: &Configuration, output: &Output) -> Option<Check>;

    /// Work of one execution that returned this result.
    fn work(&self, output: &Output) -> Work;

    /// Draws random input from this seed.
    fn reseed(&mut self, _seed: u64) {}

    /// Why this problem refuses a configuration, in a sentence; `None` if it does not.
    fn refusal(&self, _configuration: &Configuration) -> Option<String> {
        None
    }

    /// Computes the reference for checks where that takes long; once, before the first check.
    fn find_reference(&self, _cancel: &AtomicBool) -> Finished {
        Finished::Done
    }

    /// Computes a part of the reference for the results of a configuration, where it has several; returns whether more
    /// is left. A check computes what is left.
    fn extend_reference(&self, _configuration: &Configuration) -> bool {
        false
    }

    /// What repeating a configuration that passed its check leads to, step by step; `None` where that is
    /// meaningless, and once `cancel` is set.
    fn history(&self, _configuration: &Configuration, _cancel: &AtomicBool) -> Option<History> {
        None
    }

    /// Files for the subject's folder once results have passed, with pictures limited to `budget` bytes after
    /// deflate where their resolution can be reduced. Empty if there is nothing to show.
    fn files(&self, _budget: u64) -> BTreeMap<String, Vec<u8>> {
        BTreeMap::new()
    }

    /// Prediction of the layout model for a measured configuration; `None` if there is no model, and once
    /// `cancel` is set.
    fn predict(
        &self,
        _configuration: &Configuration,
        _memory: MemoryLimit,
        _cancel: &AtomicBool,
    ) -> Option<Predicted> {
        None
    }

    /// Drops what was built for configurations so far; memory is freed once no kernel holds it.
    fn release(&self) {}

    /// Fails with the reason if a configuration cannot run on this problem.
    fn admit(&self, configuration: &Configuration) -> Result<(), PrepareError> {
        configuration.admit()?;
        self.refusal(configuration).map_or(Ok(()), |why| Err(PrepareError::Refused(why)))
    }

    /// Checks a result of a configuration against the reference.
    fn check(&self, configuration: &Configuration, output: &Output) -> Check {
        self.compare(configuration, output).unwrap_or_else(|| Check {
            verdict: Verdict::Fail,
            reason: Some(format!(
                "the kernel returned {}, which is the wrong kind of result",
                output.kind()
            )),
            ..Check::default()
        })
    }

    /// The same; `None` if it is cancelled between parts of the reference.
    fn check_watched(
        &self,
        configuration: &Configuration,
        output: &Output,
        watch: &Watch<'_>,
    ) -> Option<Check> {
        while self.extend_reference(configuration) {
            if watch.is_cancelled() {
                return None;
            }
        }
        Some(self.check(configuration, output))
    }
}

impl dyn Problem {
    /// The problem as the type of its operation; `None` if it belongs to another one.
    pub fn of<P: Problem>(&self) -> Option<&P> {
        (self as &dyn Any).downcast_ref()
    }
}
