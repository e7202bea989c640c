//! Predictions for runs whose bundle has none, on a matrix whose values are available.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sparsescope_core::experiment::{LoadedValues, predict_converted};
use sparsescope_core::kernel::{DeviceKind, FormatParams, KernelDescriptor, LANES, kernel};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{MatrixRecord, Operation, Run};

use super::{Model, RunOf, matrix_key};
use crate::state::Filter;

/// Maximum bytes of a format that is built for a prediction.
const MOST_BYTES: u64 = 1 << 29;

/// Predicted bytes by run number.
pub(crate) type Predictions = Arc<BTreeMap<usize, f64>>;

impl Model {
    /// Predicts the bytes that the best run of each kernel on a matrix moves; takes a moment, once.
    pub fn predict(&self, record: &MatrixRecord) {
        let find = |key: &String| Arc::new(self.predicted_anew(key, record));
        self.found.predictions.get(matrix_key(record), find);
    }

    /// What was predicted for the runs on the matrix with this key, if anything.
    pub(crate) fn predictions(&self, key: &str) -> Option<Predictions> {
        self.found.predictions.known(&key.to_owned())
    }

    /// Keys of the matrices on which a run that passes the filter can be predicted, given their values.
    pub(crate) fn predictable(&self, filter: &Filter) -> Arc<BTreeSet<String>> {
        self.found.predictable.get(filter.clone(), |filter| {
            let passing = self.passing(filter);
            let is_drawn = |run: &RunOf<'_>| {
                passing.runs.binary_search(&run.index).is_ok() && run.copy_bandwidth().is_some()
            };
            Arc::new(self.eligible().filter(is_drawn).map(|run| run.key()).collect())
        })
    }

    /// The best run of each SpMV kernel on each matrix, where the layout model follows it.
    fn eligible(&self) -> impl Iterator<Item = RunOf<'_>> {
        let runs = self.best(&Filter::all_of(Operation::Spmv.as_str())).into_iter();
        runs.filter(|of| {
            of.run.precision == "f64" && of.run.params.is_empty() && modelled(of.run).is_some()
        })
    }

    fn predicted_anew(&self, key: &str, record: &MatrixRecord) -> BTreeMap<usize, f64> {
        let Ok(picture) = self.whole(record) else { return BTreeMap::new() };
        let Some(LoadedValues::Real(a)) = &picture.values else { return BTreeMap::new() };
        let own = self.eligible().filter(|run| run.key() == key);
        sparsescope_core::order::map(
            own.filter_map(|run| Some((run.index, moved(run.run, a)? as f64))),
        )
    }
}

/// The kernel of a run, if it has a model.
fn modelled(run: &Run) -> Option<&'static KernelDescriptor> {
    kernel(&run.kernel).filter(|kernel| kernel.model.is_some() && kernel.format().is_some())
}

/// Bytes that a run without parameters is predicted to move.
fn moved(run: &Run, a: &Arc<Csr<f64>>) -> Option<u64> {
    let kernel = modelled(run)?;
    let workers = match kernel.device {
        DeviceKind::Cpu => run.threads,
        _ => run.block.unwrap_or(LANES as u32),
    };
    let spec = kernel.format()?.with(&FormatParams::default());
    let limit = MemoryLimit::bytes(MOST_BYTES);
    predict_converted(kernel, &spec, a, workers, limit)?.moved_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::made::with_recipe;
    use crate::why::tests;

    #[test]
    fn runs_without_a_prediction_get_one_from_the_recipe_of_their_matrix() {
        let (run, mut statistics, environment) = tests::run("cpu/csr/nnz");
        (statistics.rows, statistics.cols, statistics.nnz) = (400, 400, 1920);
        let (vendor, ..) = tests::run("vendor/mkl/csr");
        let model = tests::model(vec![vendor, run], statistics, environment);
        let model = with_recipe(model, "gen:poisson2d?n=20");
        let filter = Filter::default();
        assert!(!model.has_predictions(&filter));
        let record = model.largest(&filter).unwrap();
        let key = matrix_key(record);
        assert!(model.predictions(&key).is_none());
        model.predict(record);
        let found = model.predictions(&key).unwrap();
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [1], "the vendor's has no model");
        let bytes = found[&1];
        let least = 1920.0 * 12.0; // a value and a column per nonzero
        assert!(bytes > least && bytes < 2.0 * least, "{bytes}");
    }
}
