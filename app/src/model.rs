//! The opened bundles and the questions that views ask of them. Pure functions of (bundles,
//! filter): nothing here draws.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sparsescope_core::bundle::{Bundle, BundleError, Limits, MatrixFolder, is_known_by_name};
use sparsescope_core::experiment::ReadMatrix;
use sparsescope_core::io::{Progress, read_matrix};
use sparsescope_core::matrix::sha256;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{MatrixRecord, Producer, Run, Source, Subject, Verdict};

use crate::changes::ChangesKept;
use crate::lesson::Lessons;
use crate::picture::Picture;
use crate::state::Filter;

/// A bundle that was opened.
#[derive(Clone, Debug)]
pub struct OpenBundle {
    /// What it holds.
    pub bundle: Arc<Bundle>,
    /// File name, or what else it was opened under.
    pub file: String,
    label: String,
    /// SHA-256 of the file, in hexadecimal; another word while there is no file.
    pub sha256: String,
    /// Index of its series' marks: the smallest that was free when it was opened.
    pub series: usize,
    /// The matrix and its picture, where not a bundle was opened but a matrix, which stands here
    /// as a bundle without runs.
    pub picture: Option<Arc<Picture>>,
}

/// Stands for the hash of a bundle that has no file yet.
const UNFINISHED: &str = "unfinished";

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

/// The opened bundles.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// In the order of opening.
    pub bundles: Vec<OpenBundle>,
    /// The lessons that can be chosen.
    pub lessons: Lessons,
    pictures: RefCell<Vec<(String, PictureOrWhy)>>,
    /// What changed between bundles, as last asked.
    pub(crate) changes: ChangesKept,
}

/// A picture, or why there is none.
type PictureOrWhy = Result<Arc<Picture>, String>;

/// Pictures kept: a large one takes a hundred megabytes.
const PICTURES: usize = 3;

/// A matrix, once for all bundles that hold it.
#[derive(Clone, Debug)]
pub struct Matrix<'a> {
    /// [`matrix_key`] of the record.
    pub key: String,
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

impl Model {
    /// Reads a bundle, or results of Ginkgo's benchmark as one; what is already open is not opened
    /// twice.
    pub fn open(&mut self, file: &str, bytes: &[u8]) -> Result<(), BundleError> {
        let sha256 = sha256(bytes);
        if self.is_open(&sha256) {
            return Ok(());
        }
        let bundle = Bundle::read_any(file, bytes, String::new(), &Limits::default())?;
        self.place(file, bundle, sha256, None);
        Ok(())
    }

    /// Takes up a matrix without runs and its picture; one that is already open is not taken up
    /// twice.
    pub fn add_matrix(&mut self, file: &str, record: MatrixRecord, picture: Arc<Picture>) {
        let sha256 = record.sha256.clone();
        if self.is_open(&sha256) {
            return;
        }
        let producer = Producer {
            name: "sparsescope".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            revision: None,
        };
        let mut bundle = Bundle::new(producer, String::new());
        bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
        bundle.complete = true;
        self.place(file, bundle, sha256, Some(picture));
    }

    fn is_open(&self, sha256: &str) -> bool {
        self.bundles.iter().any(|open| open.sha256 == sha256)
    }

    /// Shows what is measured so far of the bundle that is to be opened as `file`, in place of what
    /// was before.
    pub fn show_unfinished(&mut self, file: &str, bundle: Bundle) {
        self.place(file, bundle, UNFINISHED.into(), None);
    }

    /// Puts a bundle into the place of its unfinished self, or after the others.
    fn place(&mut self, file: &str, bundle: Bundle, sha256: String, picture: Option<Arc<Picture>>) {
        self.put(file, bundle, sha256, picture);
        self.recognise();
    }

    /// Imported matrices, of which only name and size are known, become those of the other bundles
    /// that are so called and so large, whichever was opened first.
    fn recognise(&mut self) {
        let by_name = |folder: &MatrixFolder| is_known_by_name(&folder.record);
        if !self.bundles.iter().any(|open| open.bundle.matrices.iter().any(by_name)) {
            return;
        }
        let all: Vec<Arc<Bundle>> = self.bundles.iter().map(|open| open.bundle.clone()).collect();
        let records = all.iter().flat_map(|bundle| &bundle.matrices).map(|folder| &folder.record);
        for open in &mut self.bundles {
            if open.bundle.matrices.iter().any(by_name) {
                Arc::make_mut(&mut open.bundle).recognise(records.clone());
            }
        }
    }

    fn put(&mut self, file: &str, bundle: Bundle, sha256: String, picture: Option<Arc<Picture>>) {
        // A matrix whose bundle had no picture may have one now.
        self.pictures.get_mut().clear();
        let bundle = Arc::new(bundle);
        let itself = |open: &&mut OpenBundle| open.is_unfinished() && open.file == file;
        if let Some(open) = self.bundles.iter_mut().find(itself) {
            open.bundle = bundle;
            open.sha256 = sha256;
            return;
        }
        let taken: BTreeSet<usize> = self.bundles.iter().map(|open| open.series).collect();
        let series = (0..).find(|index| !taken.contains(index)).unwrap_or_default();
        let label = self.free_label(bundle.label.as_deref().unwrap_or(file));
        let file = file.into();
        self.bundles.push(OpenBundle { bundle, file, label, sha256, series, picture });
    }

    /// The name, numbered where another bundle has it.
    fn free_label(&self, name: &str) -> String {
        let is_free = |label: &String| self.bundles.iter().all(|open| open.label != *label);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        std::iter::once(name.to_owned()).chain(numbered).find(is_free).unwrap_or(name.to_owned())
    }

    /// Gives the bundle at this place another name, here and in what is exported, until it is
    /// closed; without letters, the name that it came with.
    pub fn rename(&mut self, index: usize, name: &str) {
        let Some(open) = self.bundles.get_mut(index) else { return };
        open.label.clear(); // its own name is free
        let name = match name.trim() {
            "" => open.bundle.label.clone().unwrap_or_else(|| open.file.clone()),
            name => name.to_owned(),
        };
        let label = self.free_label(&name);
        if let Some(open) = self.bundles.get_mut(index) {
            open.label = label;
        }
    }

    /// The picture of a matrix, from the matrix itself where it is at hand; otherwise from the
    /// bundle that holds the finest one. A few are kept.
    pub fn picture(&self, key: &str) -> PictureOrWhy {
        let mut kept = self.pictures.borrow_mut();
        if let Some(place) = kept.iter().position(|(of, _)| of == key) {
            let found = kept.remove(place);
            kept.push(found);
        } else {
            kept.push((key.into(), self.make_picture(key)));
            let surplus = kept.len().saturating_sub(PICTURES);
            kept.drain(..surplus);
        }
        kept.last().map_or_else(|| Err("there is no picture".into()), |(_, found)| found.clone())
    }

    fn make_picture(&self, key: &str) -> PictureOrWhy {
        let all = self
            .bundles
            .iter()
            .flat_map(|open| open.bundle.matrices.iter().map(move |m| (open, m)));
        let holding = || all.clone().filter(|(_, folder)| matrix_key(&folder.record) == key);
        if let Some(picture) = holding().find_map(|(open, _)| open.picture.as_ref()) {
            return Ok(picture.clone());
        }
        let whole = holding().find_map(|(_, folder)| folder.files.get("matrix.mtx"));
        if let Some(text) = whole
            && let Ok(file) = read_matrix(text, MemoryLimit::bytes(1 << 28), Progress::none())
        {
            return Ok(Arc::new(Picture::of(&ReadMatrix::new(file, 0.0).values)));
        }
        let mut best: PictureOrWhy = Err("no opened bundle holds this matrix".into());
        for (_, folder) in holding() {
            let found = Picture::from_files(&folder.files).map(Arc::new);
            let shift = |picture: &Picture| picture.pyramid.levels().first().map(|l| l.shift());
            match (&best, &found) {
                (Ok(best), Ok(found)) if shift(best) <= shift(found) => {}
                (Ok(_), Err(_)) => {}
                _ => best = found,
            }
        }
        best
    }

    /// The matrices that pass, sorted by entries.
    pub fn matrices(&self, filter: &Filter) -> Vec<Matrix<'_>> {
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for folder in self.bundles.iter().flat_map(|open| &open.bundle.matrices) {
            let key = matrix_key(&folder.record);
            if filter.passes_matrix(&folder.record) && seen.insert(key.clone()) {
                found.push(Matrix { key, record: &folder.record });
            }
        }
        let entries = |matrix: &Matrix<'_>| matrix.record.statistics.nnz;
        crate::order::sort_by(&mut found, |a, b| entries(a).cmp(&entries(b)));
        found
    }

    /// The matrix of this key.
    pub fn matrix(&self, key: &str) -> Option<&MatrixRecord> {
        let folders = self.bundles.iter().flat_map(|open| &open.bundle.matrices);
        folders.map(|folder| &folder.record).find(|record| matrix_key(record) == key)
    }

    /// The runs that pass, bundle by bundle in their order.
    pub fn runs(&self, filter: &Filter) -> Vec<RunOf<'_>> {
        let all = self
            .bundles
            .iter()
            .flat_map(|bundle| bundle.bundle.runs.iter().map(move |run| (bundle, run)));
        let passing = all.enumerate().filter(|(_, (_, run))| filter.passes_run(run));
        passing
            .filter_map(|(index, (bundle, run))| {
                let record = &bundle.bundle.matrix(&run.matrix)?.record;
                filter.passes_matrix(record).then_some(RunOf { index, bundle, record, run })
            })
            .collect()
    }

    /// The fastest run of each matrix, kernel and bundle: most GFLOPS over threads, blocks and the
    /// other settings. In the order of [`runs`](Self::runs).
    pub fn best(&self, filter: &Filter) -> Vec<RunOf<'_>> {
        let mut best: Vec<RunOf<'_>> = Vec::new();
        for run in self.runs(filter).into_iter().filter(|run| run.gflops().is_some()) {
            let same = |other: &&mut RunOf<'_>| {
                other.run.kernel == run.run.kernel
                    && other.run.matrix == run.run.matrix
                    && other.bundle.series == run.bundle.series
            };
            match best.iter_mut().find(same) {
                Some(other) if other.gflops() < run.gflops() => *other = run,
                Some(_) => {}
                None => best.push(run),
            }
        }
        best
    }

    /// The kernels of all runs, sorted.
    pub fn kernels(&self) -> BTreeSet<&str> {
        let runs = self.bundles.iter().flat_map(|open| &open.bundle.runs);
        runs.map(|run| run.kernel.as_str()).collect()
    }

    /// The values that a run or matrix has in any bundle, sorted.
    pub fn values(&self, of: impl Fn(&RunOf<'_>) -> Vec<String>) -> Vec<String> {
        let all: BTreeSet<String> = self.runs(&Filter::default()).iter().flat_map(of).collect();
        all.into_iter().collect()
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

impl Filter {
    fn passes_matrix(&self, record: &MatrixRecord) -> bool {
        let search = self.search.trim().to_lowercase();
        record.name.to_lowercase().contains(&search)
            && is(&self.nnz_class, &record.statistics.nnz_class)
    }

    fn passes_run(&self, run: &Run) -> bool {
        is(&self.kernel, &run.kernel)
            && is(&self.backend, &run.backend)
            && (self.origin.is_empty() || run.origin.contains(&self.origin))
    }
}

fn is(wanted: &str, found: &str) -> bool {
    wanted.is_empty() || wanted == found
}

/// A size as people read it: three digits and a decimal unit.
pub fn bytes(count: u64) -> String {
    let (digits, prefix) = scaled(count as f64);
    format!("{digits} {prefix}B")
}

/// A number of things as people read it, e.g. `4.01 M`.
pub fn count(count: u64) -> String {
    let (digits, prefix) = scaled(count as f64);
    format!("{digits} {prefix}").trim_end().to_owned()
}

fn scaled(value: f64) -> (String, &'static str) {
    let prefixes = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let (scale, prefix) =
        prefixes.into_iter().find(|(scale, _)| value >= *scale).unwrap_or((1.0, ""));
    (significant(value / scale), prefix)
}

/// Three significant digits without an exponent.
pub fn significant(value: f64) -> String {
    if value == value.trunc() && value.abs() < 1e3 {
        return format!("{value}");
    }
    let decimals = match value.abs() {
        0.0 => 0,
        size => (2.0 - size.log10().floor()).clamp(0.0, 9.0) as usize,
    };
    format!("{value:.decimals$}")
}

/// Slots as people read them, e.g. `1 slot`, `1.5 slots`.
pub fn slots(value: f64) -> String {
    let number = significant(value);
    if number == "1" { "1 slot".into() } else { format!("{number} slots") }
}

/// A time as people read it, e.g. `1.25 ms`.
pub fn seconds(value: f64) -> String {
    let (scale, unit) = match value {
        v if v >= 1.0 => (1.0, "s"),
        v if v >= 1e-3 => (1e3, "ms"),
        v if v >= 1e-6 => (1e6, "µs"),
        _ => (1e9, "ns"),
    };
    format!("{} {unit}", significant(value * scale))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use sparsescope_core::bundle::MatrixFolder;
    use sparsescope_core::matrix::Statistics;
    use sparsescope_core::record::{Check, Costs, Environment, Figures, Producer, matrix_id};

    use super::*;

    /// A bundle with one matrix and runs of (kernel, threads, seconds of a product of 2·10⁹ flops).
    fn bundle(name: &str, source: Source, runs: &[(&str, u32, f64)]) -> Vec<u8> {
        let sha256 = "ab".repeat(32);
        let id = matrix_id(name, &sha256);
        let nnz = 1_000_000_000;
        let record = MatrixRecord {
            id: id.clone(),
            name: name.into(),
            source,
            generator: None,
            reordered: None,
            sha256,
            field: "real".into(),
            symmetry: "general".into(),
            read_seconds: 1.0,
            statistics: Statistics { nnz, nnz_class: ">10M".into(), ..Statistics::default() },
        };
        let producer = Producer { name: "t".into(), version: "0".into(), revision: None };
        let mut bundle = Bundle::new(producer, "2026-01-31T12:00:00Z".into());
        bundle.environments.push(Environment { id: "a".into(), ..Environment::default() });
        bundle.matrices.push(MatrixFolder { record, files: BTreeMap::new() });
        bundle.complete = true;
        for (kernel, threads, seconds) in runs {
            bundle.runs.push(Run {
                matrix: id.clone(),
                operation: "spmv".into(),
                kernel: (*kernel).into(),
                origin: vec!["ours".into()],
                backend: "cpu".into(),
                device: "CPU".into(),
                environment: "a".into(),
                threads: *threads,
                block: None,
                hot: true,
                precision: "f64".into(),
                params: BTreeMap::new(),
                check: Check { verdict: Verdict::Pass, ..Check::default() },
                samples: vec![*seconds; 3],
                repetitions: 1,
                warmup: 0,
                costs: Costs { minimal_bytes: 12_000_000_000, ..Costs::default() },
                figures: Figures::from_samples(&[*seconds; 3], 2e9, 12_000_000_000),
                ..Run::default()
            });
        }
        bundle.to_bytes().unwrap()
    }

    #[test]
    fn the_best_run_of_a_kernel_is_the_one_with_most_gflops() {
        let mut model = Model::default();
        let runs = [("cpu/csr/nnz", 1, 2.0), ("cpu/csr/nnz", 4, 0.5), ("cpu/coo/serial", 1, 4.0)];
        model.open("a.zip", &bundle("m", Source::Real, &runs)).unwrap();
        let best = model.best(&Filter::default());
        let found: Vec<_> = best.iter().map(|run| (run.run.threads, run.gflops())).collect();
        assert_eq!(found, [(4, Some(4.0)), (1, Some(0.5))]);
        assert_eq!(best[0].why(), "Moves at least 12 GB a product.");
        let filter = Filter { kernel: "cpu/coo/serial".into(), ..Filter::default() };
        assert_eq!(model.runs(&filter).iter().map(|run| run.index).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn a_real_matrix_and_its_stand_in_are_two_and_a_bundle_opens_once() {
        let mut model = Model::default();
        let real = bundle("m", Source::Real, &[]);
        model.open("a.zip", &real).unwrap();
        model.open("again.zip", &real).unwrap();
        model.open("b.zip", &bundle("m", Source::StandIn, &[])).unwrap();
        assert_eq!(model.bundles.len(), 2);
        assert_eq!(model.bundles[1].series, 1);
        model.open("a.zip", &bundle("m", Source::Generated, &[])).unwrap();
        let labels: Vec<_> = model.bundles.iter().map(OpenBundle::label).collect();
        assert_eq!(labels, ["a.zip", "b.zip", "a.zip (2)"]);
        model.bundles.pop();
        let names: Vec<_> =
            model.matrices(&Filter::default()).iter().map(|m| display_name(m.record)).collect();
        assert_eq!(names, ["m", "m (stand-in)"]);
    }

    #[test]
    fn imported_runs_stand_on_the_matrix_of_equal_name_and_size_whichever_was_opened_first() {
        let ours = bundle("m", Source::Real, &[("cpu/csr/nnz", 1, 1.0)]);
        let theirs = r#"[{"filename": "x/m.mtx", "rows": 40000, "nonzeros": 1000000000, "spmv":
            {"csr": {"time": 0.5, "repetitions": 9, "max_relative_norm2": 0.0}}}]"#;
        let sized = {
            let read = Bundle::read(&ours, &Limits::default()).unwrap();
            let mut sized = read.clone();
            let statistics = &mut sized.matrices[0].record.statistics;
            (statistics.rows, statistics.cols) = (40_000, 40_000);
            sized.to_bytes().unwrap()
        };
        for (first, second) in [(&sized[..], theirs.as_bytes()), (theirs.as_bytes(), &sized[..])] {
            let mut model = Model::default();
            model.open("first", first).unwrap();
            model.open("second", second).unwrap();
            assert_eq!(model.matrices(&Filter::default()).len(), 1);
            let runs = model.runs(&Filter::default());
            let mut found: Vec<_> = runs
                .iter()
                .map(|run| (run.run.kernel.as_str(), run.verdict(), run.gflops()))
                .collect();
            found.sort_by_key(|(kernel, ..)| *kernel);
            let expected =
                [("cpu/csr/nnz", "pass", Some(2.0)), ("vendor/ginkgo/csr", "imported", Some(4.0))];
            assert_eq!(found, expected);
        }
        let mut model = Model::default();
        model.open("other size", &ours).unwrap();
        model.open("theirs", theirs.as_bytes()).unwrap();
        assert_eq!(model.matrices(&Filter::default()).len(), 2);
    }

    #[test]
    fn a_bundle_takes_another_name_that_no_other_has_and_its_own_back() {
        let mut model = Model::default();
        for name in ["a", "b"] {
            model.open(name, &bundle(name, Source::Real, &[])).unwrap();
        }
        let mut renamed = |name: &str| {
            model.rename(1, name);
            model.bundles[1].label().to_owned()
        };
        assert_eq!(renamed(" laptop "), "laptop");
        assert_eq!(renamed("laptop"), "laptop");
        assert_eq!(renamed("a"), "a (2)");
        assert_eq!(renamed("  "), "b");
    }

    #[test]
    fn a_series_index_freed_by_closing_is_taken_again() {
        let mut model = Model::default();
        for name in ["a", "b"] {
            model.open(name, &bundle(name, Source::Real, &[])).unwrap();
        }
        model.bundles.remove(0);
        model.open("c", &bundle("c", Source::Real, &[])).unwrap();
        assert_eq!(model.bundles.iter().map(|open| open.series).collect::<Vec<_>>(), [1, 0]);
    }

    #[test]
    fn filters_pass_what_they_name_and_nothing_else() {
        let mut model = Model::default();
        model.open("a", &bundle("Stencil", Source::Real, &[("cpu/csr/nnz", 1, 1.0)])).unwrap();
        let passing = |filter: Filter| model.runs(&filter).len();
        assert_eq!(passing(Filter { search: " TENC".into(), ..Filter::default() }), 1);
        assert_eq!(passing(Filter { search: "x".into(), ..Filter::default() }), 0);
        assert_eq!(passing(Filter { nnz_class: "<10k".into(), ..Filter::default() }), 0);
        assert_eq!(passing(Filter { backend: "cuda".into(), ..Filter::default() }), 0);
        assert_eq!(passing(Filter { origin: "ours".into(), ..Filter::default() }), 1);
    }

    #[test]
    fn numbers_have_three_digits_and_a_unit() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(4_007_383), "4.01 M");
        assert_eq!(bytes(512), "512 B");
        assert_eq!(bytes(48_100_000_000), "48.1 GB");
        assert_eq!(seconds(0.001_25), "1.25 ms");
        assert_eq!(seconds(2.5e-8), "25 ns");
        assert_eq!(significant(0.012_34), "0.0123");
    }
}
