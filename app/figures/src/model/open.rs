//! What is open: bundles, their matrices, their runs.

use std::collections::HashMap;
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
    /// Places of the runs by the ids of their matrices, once somebody asks.
    pub(super) on: OnceLock<HashMap<String, Vec<usize>>>,
}

/// Stands for the hash of a bundle that has no file yet.
pub(super) const UNFINISHED: &str = "unfinished";

impl OpenBundle {
    /// Its runs on the matrix of this id, in their order.
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

    /// The name given by its maker, else the file's; numbered where several have the same.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What names it in links: the start of its hash.
    pub fn word(&self) -> String {
        self.sha256.chars().take(12).collect()
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

/// A run with the bundle and the subject that it belongs to.
#[derive(Clone, Copy, Debug)]
pub struct RunOf<'a> {
    /// Its number, counted through the bundles in order.
    pub index: usize,
    /// The bundle.
    pub bundle: &'a OpenBundle,
    /// What it was made on.
    pub subject: Subject<'a>,
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
    subject_name(record.into())
}

/// The same of any subject.
pub fn subject_name(subject: Subject<'_>) -> String {
    match subject.source() {
        Source::StandIn => format!("{} (stand-in)", subject.name()),
        Source::Real | Source::Generated => subject.name().to_owned(),
    }
}

/// How large a subject is, for sorting: entries of a matrix or of a batch's matrices, the largest size of
/// another.
pub fn subject_size(subject: Subject<'_>) -> u64 {
    match subject {
        Subject::Matrix(record) => record.statistics.nnz,
        Subject::Other(record) => match batch_extent(subject) {
            Some([systems, n]) => systems.saturating_mul(n.saturating_mul(n)),
            None => record.sizes.values().copied().max().unwrap_or_default(),
        },
    }
}

/// What a subject is, as the title of a column.
pub fn subject_title(subject: Subject<'_>) -> &'static str {
    match subject {
        Subject::Matrix(_) => "Matrix",
        Subject::Other(record) if record.kind == "points" => "Points",
        Subject::Other(_) => "Subject",
    }
}

/// Points and dimensions of a set of points; none of other subjects.
pub fn extent(subject: Subject<'_>) -> Option<[u64; 2]> {
    let Subject::Other(record) = subject else { return None };
    let size = |name: &str| record.sizes.get(name).copied();
    Some([size("points")?, size("dimensions")?])
}

/// Systems of a batch and the unknowns of each; none of other subjects.
pub fn batch_extent(subject: Subject<'_>) -> Option<[u64; 2]> {
    let Subject::Other(record) = subject else { return None };
    let size = |name: &str| record.sizes.get(name).copied();
    Some([size("systems")?, size("unknowns")?])
}

/// A metric as the title of an axis or a column.
pub fn metric_title(metric: &Metric) -> String {
    match metric.better {
        Better::More => metric.unit.clone(),
        Better::Less => format!("{}, {} (less is better)", metric.name, metric.unit),
    }
}

impl<'a> RunOf<'a> {
    /// The matrix that it was made on; none where that is something else.
    pub fn matrix(&self) -> Option<&'a MatrixRecord> {
        match self.subject {
            Subject::Matrix(record) => Some(record),
            Subject::Other(_) => None,
        }
    }

    /// Which systems of its batch are not positive definite; none where that is not told.
    pub fn flagged(&self) -> Option<Flagged> {
        let folders = &self.bundle.bundle.subjects;
        let folder = folders.iter().find(|folder| folder.record.id == self.run.matrix)?;
        Flagged::from_files(&folder.files)
    }

    /// Name of the subject with what must be said beside it.
    pub fn name(&self) -> String {
        subject_name(self.subject)
    }

    /// Key of the subject.
    pub fn key(&self) -> String {
        subject_key(self.subject)
    }

    /// One execution in a word; `run` for an operation that this program does not know.
    pub fn word(&self) -> &'static str {
        Operation::of(&self.run.operation).map_or("run", Operation::word)
    }

    /// Its figures, when it passed its check.
    pub fn figures(&self) -> Option<&'a Figures> {
        let passed = self.run.check.verdict == Verdict::Pass;
        self.run.figures.as_ref().filter(|_| passed)
    }

    /// GB/s by the least bytes that its operation moves; none where it has no such bytes.
    pub fn gbs(&self) -> Option<f64> {
        self.moving().map(|figures| figures.gbs)
    }

    /// The same in percent of the copy bandwidth, where that was measured.
    pub fn pct_copy(&self) -> Option<f64> {
        self.moving()?.pct_copy
    }

    fn moving(&self) -> Option<&'a Figures> {
        self.run.figures.as_ref().filter(|_| self.run.costs.minimal_bytes > 0)
    }

    /// The rate that its operation is compared by, when it passed its check.
    pub fn metric(&self) -> Option<&'a Metric> {
        let passed = self.run.check.verdict == Verdict::Pass;
        self.run.metric.as_ref().filter(|_| passed)
    }

    /// The value of its rate.
    pub fn rate(&self) -> Option<f64> {
        self.metric().map(|metric| metric.value)
    }

    /// A number that is the larger the better its rate is.
    pub fn goodness(&self) -> Option<f64> {
        self.metric().map(|metric| match metric.better {
            Better::More => metric.value,
            Better::Less => -metric.value,
        })
    }

    /// How many times better its rate is than the other's, which is of the same operation; none
    /// where one of them has no rate, both are 0, or they are told in different units.
    pub fn gain_over(&self, other: &Self) -> Option<f64> {
        let (own, other) = (self.metric()?, other.metric()?);
        let same = (&own.name, &own.unit, own.better) == (&other.name, &other.unit, other.better);
        same.then(|| own.gain_over(other.value)).filter(|gain| gain.is_finite())
    }

    /// Whether it has a rate that counts against those of others, as [`Run::ranks`] says: whatever picks a
    /// fastest run or a baseline asks this.
    pub fn ranks(&self) -> bool {
        self.rate().is_some() && self.run.ranks()
    }

    /// It ranks, and the other does not or has a worse rate.
    pub fn beats(&self, other: &Self) -> bool {
        match other.ranks() {
            true => self.ranks() && self.gain_over(other).is_some_and(|gain| gain > 1.0),
            false => self.ranks(),
        }
    }

    /// How its check ended; of an imported run only that it was imported, for Sparsescope has not
    /// checked it.
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

    /// The copy bandwidth that its share of it relates to, in bytes a second.
    pub fn copy_bandwidth(&self) -> Option<f64> {
        let figures = self.run.figures.as_ref()?;
        figures.pct_copy.filter(|share| *share > 0.0).map(|share| figures.gbs * 1e11 / share)
    }
}
