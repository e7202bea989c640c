//! The open bundles, their matrices and their runs.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

use sparsescope_core::bundle::Bundle;
use sparsescope_core::dense::Flagged;
use sparsescope_core::record::{
    Better, Figures, MatrixRecord, Metric, Operation, Run, Source, Subject, Verdict,
};

use crate::picture::Picture;

/// A bundle that was opened.
#[derive(Clone, Debug)]
pub struct OpenBundle {
    /// What it holds.
    pub bundle: Arc<Bundle>,
    /// File name, or another name under which it was opened.
    pub file: String,
    pub(super) label: String,
    /// The device of most of its runs, and the number of inputs: "NVIDIA H200, 30 matrices".
    pub machine: String,
    /// SHA-256 of the file, in hexadecimal; a placeholder while there is no file.
    pub sha256: String,
    /// Index of its series' marks: the smallest that was free when it was opened.
    pub series: usize,
    /// The matrix and its picture, if a matrix was opened instead of a bundle; it is represented as
    /// a bundle without runs.
    pub picture: Option<Arc<Picture>>,
    /// Indices of the runs by matrix id, computed on demand.
    pub(super) on: OnceLock<HashMap<String, Vec<usize>>>,
}

/// Replaces the hash of a bundle that has no file yet.
pub(super) const UNFINISHED: &str = "unfinished";

impl OpenBundle {
    /// Its runs on the matrix with this id, in order.
    pub(crate) fn runs_on(&self, matrix: &str) -> impl Iterator<Item = &Run> {
        let find = || {
            let mut on: HashMap<String, Vec<usize>> = HashMap::new();
            for (place, run) in self.bundle.runs.iter().enumerate() {
                on.entry(run.matrix.clone()).or_default().push(place);
            }
            on
        };
        let places = self.on.get_or_init(find).get(matrix).into_iter().flatten();
        places.filter_map(|place| self.bundle.runs.get(*place))
    }

    /// The name given by its author, else the file name; numbered if it is not unique.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns whether it is named by its file, and neither its author nor the user named it.
    pub(crate) fn is_named_by_file(&self) -> bool {
        let number = self.label.strip_prefix(self.file.as_str());
        let is_number = number.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ("));
        self.bundle.label.is_none() && is_number
    }

    /// The device of most of its runs.
    pub(crate) fn machine(&self) -> Option<&str> {
        machine(&self.bundle)
    }

    /// Its id in links: the start of its hash.
    pub fn word(&self) -> String {
        self.sha256.chars().take(12).collect()
    }

    /// Returns whether it is still being measured, so that no file exists yet.
    pub fn is_unfinished(&self) -> bool {
        self.sha256 == UNFINISHED
    }
}

fn machine(bundle: &Bundle) -> Option<&str> {
    let mut runs: BTreeMap<&str, usize> = BTreeMap::new();
    for run in &bundle.runs {
        *runs.entry(run.device.as_str()).or_default() += 1;
    }
    runs.into_iter().max_by_key(|(_, count)| *count).map(|(device, _)| device)
}

pub(super) fn machine_and_inputs(bundle: &Bundle) -> String {
    let counted = |count: usize, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        _ => Some(format!("{count} {many}")),
    };
    let matrices = counted(bundle.matrices.len(), "matrix", "matrices");
    let others = counted(bundle.subjects.len(), "other input", "other inputs");
    let parts = machine(bundle).map(str::to_owned).into_iter().chain(matrices).chain(others);
    parts.collect::<Vec<_>>().join(", ")
}

/// A matrix, merged over all bundles that hold it.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    /// [`matrix_key`] of the record.
    pub key: &'a str,
    /// From the first bundle that holds it.
    pub record: &'a MatrixRecord,
}

/// A run with its bundle and subject.
#[derive(Clone, Copy, Debug)]
pub struct RunOf<'a> {
    /// Its number, counted through the bundles in order.
    pub index: usize,
    /// The bundle.
    pub bundle: &'a OpenBundle,
    /// The subject that was measured.
    pub subject: Subject<'a>,
    /// The run.
    pub run: &'a Run,
}

/// The identity of a matrix across bundles: the start of its SHA-256 and its source, so that a real
/// matrix and a stand-in are never merged.
pub fn matrix_key(record: &MatrixRecord) -> String {
    subject_key(record.into())
}

/// The same for any subject.
pub fn subject_key(subject: Subject<'_>) -> String {
    let hash: String = subject.sha256().chars().take(16).collect();
    format!("{hash}-{}", subject.source().as_str())
}

/// What a stand-in is, in a sentence.
pub const STAND_IN: &str = "A stand-in is a generated matrix in place of a real one.";

/// The end of a stand-in's name.
pub const STAND_IN_SUFFIX: &str = " (stand-in)";

/// The name of a stand-in where there is no room for the word behind it: a mark takes its place.
pub fn marked_stand_in(name: &str) -> Option<String> {
    name.strip_suffix(STAND_IN_SUFFIX).map(|name| format!("{name} *"))
}

/// The matrix's name with its qualifiers.
pub fn display_name(record: &MatrixRecord) -> String {
    subject_name(record.into())
}

/// The same for any subject.
pub fn subject_name(subject: Subject<'_>) -> String {
    match subject.source() {
        Source::StandIn => format!("{}{STAND_IN_SUFFIX}", subject.name()),
        Source::Real | Source::Generated => subject.name().to_owned(),
    }
}

/// Size of a subject, for sorting: nonzeros of a matrix or of all matrices of a batch, the largest
/// size of other subjects.
pub fn subject_size(subject: Subject<'_>) -> u64 {
    match subject {
        Subject::Matrix(record) => record.statistics.nnz,
        Subject::Other(record) => match batch_extent(subject) {
            Some([systems, n]) => systems.saturating_mul(n.saturating_mul(n)),
            None => record.sizes.values().copied().max().unwrap_or_default(),
        },
    }
}

/// The kind of a subject, as a column title.
pub fn subject_title(subject: Subject<'_>) -> &'static str {
    match subject {
        Subject::Matrix(_) => "Matrix",
        Subject::Other(record) if record.kind == "points" => "Points",
        Subject::Other(record) if record.kind == "batch" => "Batch",
        Subject::Other(_) => "Subject",
    }
}

/// Points and dimensions of a point set; `None` for other subjects.
pub fn extent(subject: Subject<'_>) -> Option<[u64; 2]> {
    let Subject::Other(record) = subject else { return None };
    let size = |name: &str| record.sizes.get(name).copied();
    Some([size("points")?, size("dimensions")?])
}

/// Number of systems of a batch and unknowns per system; `None` for other subjects.
pub fn batch_extent(subject: Subject<'_>) -> Option<[u64; 2]> {
    let Subject::Other(record) = subject else { return None };
    let size = |name: &str| record.sizes.get(name).copied();
    Some([size("systems")?, size("unknowns")?])
}

/// A metric as the title of an axis or a column.
pub fn metric_title(metric: &Metric) -> String {
    match metric.better {
        Better::More => metric.unit.clone(),
        Better::Less => format!("{}, {} (lower is better)", metric.name, metric.unit),
    }
}

impl<'a> RunOf<'a> {
    /// The matrix that was measured; `None` for other subjects.
    pub fn matrix(&self) -> Option<&'a MatrixRecord> {
        match self.subject {
            Subject::Matrix(record) => Some(record),
            Subject::Other(_) => None,
        }
    }

    /// Which systems of its batch are not positive definite; `None` if not recorded.
    pub fn flagged(&self) -> Option<Flagged> {
        let folders = &self.bundle.bundle.subjects;
        let folder = folders.iter().find(|folder| folder.record.id == self.run.matrix)?;
        Flagged::from_files(&folder.files)
    }

    /// Name of the subject with its qualifiers.
    pub fn name(&self) -> String {
        subject_name(self.subject)
    }

    /// Key of the subject.
    pub fn key(&self) -> String {
        subject_key(self.subject)
    }

    /// The noun for one execution; `run` for an unknown operation.
    pub fn word(&self) -> &'static str {
        Operation::of(&self.run.operation).map_or("run", Operation::word)
    }

    /// Its figures, if it passed its check.
    pub fn figures(&self) -> Option<&'a Figures> {
        let passed = self.run.check.verdict == Verdict::Pass;
        self.run.figures.as_ref().filter(|_| passed)
    }

    /// GB/s by the minimum bytes that its operation moves; `None` if that is undefined.
    pub fn gbs(&self) -> Option<f64> {
        self.moving().map(|figures| figures.gbs)
    }

    /// The same in percent of the copy bandwidth, if that was measured.
    pub fn pct_copy(&self) -> Option<f64> {
        self.moving()?.pct_copy
    }

    fn moving(&self) -> Option<&'a Figures> {
        self.run.figures.as_ref().filter(|_| self.run.costs.minimal_bytes > 0)
    }

    /// The rate by which its operation is compared, if the run passed its check.
    pub fn metric(&self) -> Option<&'a Metric> {
        let passed = self.run.check.verdict == Verdict::Pass;
        self.run.metric.as_ref().filter(|_| passed)
    }

    /// The value of its rate.
    pub fn rate(&self) -> Option<f64> {
        self.metric().map(|metric| metric.value)
    }

    /// A number that grows as the rate improves.
    pub fn goodness(&self) -> Option<f64> {
        self.metric().map(|metric| match metric.better {
            Better::More => metric.value,
            Better::Less => -metric.value,
        })
    }

    /// The ratio by which its rate is better than the other's, for the same operation; `None` if
    /// one of them has no rate, both are 0, or their units differ.
    pub fn gain_over(&self, other: &Self) -> Option<f64> {
        let (own, other) = (self.metric()?, other.metric()?);
        let same = (&own.name, &own.unit, own.better) == (&other.name, &other.unit, other.better);
        same.then(|| own.gain_over(other.value)).filter(|gain| gain.is_finite())
    }

    /// Returns whether its rate counts against others, as defined by [`Run::ranks`]: check this
    /// before picking a fastest run or a baseline.
    pub fn ranks(&self) -> bool {
        self.rate().is_some() && self.run.ranks()
    }

    /// Returns whether it ranks and the other does not, or has a worse rate.
    pub fn beats(&self, other: &Self) -> bool {
        match other.ranks() {
            true => self.ranks() && self.gain_over(other).is_some_and(|gain| gain > 1.0),
            false => self.ranks(),
        }
    }

    /// The result of its check; for an imported run only that it was imported, since Sparsescope
    /// has not checked it.
    pub fn verdict(&self) -> &'static str {
        match (&self.run.check.by, self.run.check.verdict) {
            (Some(_), Verdict::Pass) => "imported",
            _ => self.run.check.as_str(),
        }
    }

    /// Predicted bytes moved by one execution.
    pub fn predicted_bytes(&self) -> Option<f64> {
        self.run.costs.predicted.as_ref()?.moved_bytes().map(|moved| moved as f64)
    }

    /// The copy bandwidth that its percentage refers to, in bytes per second.
    pub fn copy_bandwidth(&self) -> Option<f64> {
        let figures = self.run.figures.as_ref()?;
        figures.pct_copy.filter(|share| *share > 0.0).map(|share| figures.gbs * 1e11 / share)
    }
}
