//! Predictions of the layout model for the configurations of one problem, each computed once.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use super::configuration::{Configuration, Key};
use super::problem::Problem;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_model::layout::Schedule;
use sparsescope_record::Predicted;

/// The predictions made so far: they do not depend on the caches, nor, for most kernels, on the threads per
/// block.
#[derive(Default)]
pub(super) struct Predictions(BTreeMap<Key, Option<Predicted>>);

impl Predictions {
    /// The prediction for a configuration that was measured on `problem`.
    pub(super) fn of(
        &mut self,
        configuration: &Configuration,
        problem: &dyn Problem,
        memory: MemoryLimit,
        cancel: &AtomicBool,
    ) -> Option<Predicted> {
        let key = configuration.key().hot();
        let key = match Schedule::depends_on_block(configuration.kernel) {
            true => key,
            false => key.any_block(),
        };
        let made = self.0.entry(key);
        made.or_insert_with(|| problem.predict(configuration, memory, cancel)).clone()
    }
}
