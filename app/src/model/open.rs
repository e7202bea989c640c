//! What is open: bundles, their matrices, their runs.

use std::sync::Arc;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::record::{MatrixRecord, Run, Source, Subject, Verdict};

use crate::picture::Picture;

/// A bundle that was opened.
#[derive(Clone, Debug)]
pub struct OpenBundle {
    /// What it holds.
    pub bundle: Arc<Bundle>,
    /// File name, or what else it was opened under.
    pub file: String,
    pub(super) label: String,
    /// SHA-256 of the file, in hexadecimal; another word while there is no file.
    pub sha256: String,
    /// Index of its series' marks: the smallest that was free when it was opened.
    pub series: usize,
    /// The matrix and its picture, where not a bundle was opened but a matrix, which stands here
    /// as a bundle without runs.
    pub picture: Option<Arc<Picture>>,
}

/// Stands for the hash of a bundle that has no file yet.
pub(super) const UNFINISHED: &str = "unfinished";

impl OpenBundle {
    /// The name given by its maker, else the file's; numbered where several have the same.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// It is being measured, and there is no file of it yet.
    pub fn is_unfinished(&self) -> bool {
        self.sha256 == UNFINISHED
    }
}

/// A matrix, once for all bundles that hold it.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    /// [`matrix_key`] of the record.
    pub key: &'a str,
    /// From the first bundle that holds it.
    pub record: &'a MatrixRecord,
}

/// A run with the bundle and the matrix that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct RunOf<'a> {
    /// Its number, counted through the bundles in order.
    pub index: usize,
    /// The bundle.
    pub bundle: &'a OpenBundle,
    /// The matrix.
    pub record: &'a MatrixRecord,
    /// The run.
    pub run: &'a Run,
}

/// What identifies a matrix in every bundle: the start of its SHA-256 and where it came from, so
/// that a real matrix and a stand-in are never taken for one.
pub fn matrix_key(record: &MatrixRecord) -> String {
    subject_key(record.into())
}

/// The same of any subject.
pub fn subject_key(subject: Subject<'_>) -> String {
    let hash: String = subject.sha256().chars().take(16).collect();
    format!("{hash}-{}", subject.source().as_str())
}

/// The matrix's name with what must be said beside it.
pub fn display_name(record: &MatrixRecord) -> String {
    match record.source {
        Source::StandIn => format!("{} (stand-in)", record.name),
        Source::Real | Source::Generated => record.name.clone(),
    }
}

impl RunOf<'_> {
    /// How its check ended; of an imported run only that it was imported, for Sparsescope has not
    /// checked it.
    pub fn verdict(&self) -> &'static str {
        match (&self.run.check.by, self.run.check.verdict) {
            (Some(_), Verdict::Pass) => "imported",
            (_, verdict) => verdict.as_str(),
        }
    }

    /// GFLOPS, when the run passed its check.
    pub fn gflops(&self) -> Option<f64> {
        let passed = self.run.check.verdict == Verdict::Pass;
        self.run.figures.as_ref().filter(|_| passed).map(|figures| figures.gflops)
    }

    /// Predicted bytes moved by one product.
    pub fn predicted_bytes(&self) -> Option<f64> {
        self.run.costs.predicted.as_ref()?.moved_bytes().map(|moved| moved as f64)
    }

    /// The copy bandwidth that its share of it relates to, in bytes a second.
    pub fn copy_bandwidth(&self) -> Option<f64> {
        let figures = self.run.figures.as_ref()?;
        figures.pct_copy.filter(|share| *share > 0.0).map(|share| figures.gbs * 1e11 / share)
    }
}
