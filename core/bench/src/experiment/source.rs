//! Sources of matrices: a path, `gen:KIND?key=value&…` or `suite:NAME`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use super::input_file::InputFile;
use sparsescope_kernels::fsai::FsaiError;
use sparsescope_matrix::files::{user_cache, variable};
use sparsescope_matrix::generate::{
    GenerateError, GeneratorSpec, SpecError, SuiteEntry, generate, suite_entry,
};
use sparsescope_matrix::io::{
    AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, Symmetry,
    open_extent, open_matrix_as,
};
use sparsescope_matrix::matrix::{Band, Csr, Extent, FormatError, Reordering, Scalar, permuted};
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_record::matrix_name;
use sparsescope_record::{LoadedMatrix, LoadedValues, ReadMatrix};
use sparsescope_record::{Reordered, Source};

/// A matrix as the user specifies it.
#[derive(Clone, Debug)]
pub enum MatrixSource {
    /// A file, and how to read it.
    File(InputFile, ReadOptions),
    /// A generator and its parameters.
    Generated(GeneratorSpec),
    /// A suite entry, made by its generator.
    Suite(&'static SuiteEntry, GeneratorSpec),
    /// A suite entry whose real file is available.
    SuiteFile(&'static SuiteEntry, InputFile),
}

/// Why a matrix could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The generator specification is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No suite has a matrix of this name.
    #[error(
        "no suite has a matrix named `{0}`; run `sparsescope generate --list` to list the names"
    )]
    UnknownSuiteEntry(String),
    /// No suite has points of this name.
    #[error("no suite has points named `{0}`; run `sparsescope generate --list` to list the names")]
    UnknownPoints(String),
    /// No suite has a batch of this name.
    #[error(
        "no suite has a batch named `{0}`; run `sparsescope generate --list` to list the names"
    )]
    UnknownBatch(String),
    /// The text does not name a batch of systems.
    #[error(
        "`{0}` is not a batch of systems: expected gen:spd-batch?n=28&count=20000, suite:NAME, or \
        fsai:MATRIX for the systems of a matrix's rows"
    )]
    NoBatch(String),
    /// A matrix has no systems as requested.
    #[error("{0}")]
    NoSystems(String),
    /// The systems of the rows of a matrix could not be gathered.
    #[error(transparent)]
    Systems(#[from] FsaiError),
    /// The generator failed.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// The file could not be read.
    #[error(transparent)]
    Read(#[from] IoError),
    /// There is no file of this name, but a matrix or a point set of a suite.
    #[error("{error} (did you mean suite:{name}?)")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NoFile { error: IoError, name: &'static str },
    /// Rows and columns could not be reordered.
    #[error(transparent)]
    Reorder(#[from] FormatError),
}

impl MatrixSource {
    /// Parses a path, `gen:…` or `suite:…`. Does not check that a path exists.
    pub fn parse(text: &str) -> Result<Self, SourceError> {
        if let Some(name) = text.strip_prefix("suite:") {
            let unknown = || SourceError::UnknownSuiteEntry(name.to_owned());
            return Self::of_suite(suite_entry(name).ok_or_else(unknown)?);
        }
        match text.starts_with("gen:") {
            true => Ok(Self::Generated(GeneratorSpec::parse(text)?)),
            false => Ok(Self::File(PathBuf::from(text).into(), ReadOptions::default())),
        }
    }

    /// Sets how to read a file.
    pub fn with_options(self, options: ReadOptions) -> Self {
        match self {
            Self::File(file, _) => Self::File(file, options),
            other => other,
        }
    }

    fn options(&self) -> ReadOptions {
        match self {
            Self::File(_, options) => options.clone(),
            _ => ReadOptions::default(),
        }
    }

    /// A suite entry: the real matrix if its file is in one of [`matrix_folders`], else the output of the
    /// entry's generator.
    pub fn of_suite(entry: &'static SuiteEntry) -> Result<Self, SourceError> {
        Self::of_suite_in(entry, &matrix_folders())
    }

    fn of_suite_in(entry: &'static SuiteEntry, folders: &[PathBuf]) -> Result<Self, SourceError> {
        match file_in(folders, entry.name).filter(|_| entry.wanted.is_some()) {
            Some(file) => Ok(Self::SuiteFile(entry, file.into())),
            None => Ok(Self::Suite(entry, GeneratorSpec::parse(entry.spec)?)),
        }
    }

    /// Whether the matrix is real, a stand-in for a real one, or generated only.
    pub fn origin(&self) -> Source {
        match self {
            Self::File(..) | Self::SuiteFile(..) => Source::Real,
            Self::Suite(entry, _) if entry.wanted.is_some() => Source::StandIn,
            Self::Generated(_) | Self::Suite(..) => Source::Generated,
        }
    }

    /// Display name: the file name without `.mtx` and `.gz` (see [`tell_apart`](super::tell_apart)), `stdin` for
    /// standard input, the name of the suite entry, or the parameters of the generator.
    pub fn name(&self) -> String {
        match self {
            Self::File(file, _) if file.as_os_str() == "-" => "stdin".to_owned(),
            Self::File(file, _) => file.name(matrix_name),
            Self::Generated(spec) => spec.to_string().trim_start_matches("gen:").to_owned(),
            Self::Suite(entry, _) | Self::SuiteFile(entry, _) => entry.name.to_owned(),
        }
    }

    /// Rows, columns and nonzeros without reading or generating the matrix: from the first lines of the file,
    /// or from the recipe. Fails if the file cannot be opened or is not a matrix.
    pub fn probe(&self) -> Result<Extent, SourceError> {
        match self {
            Self::File(path, _) | Self::SuiteFile(_, path) => {
                open_extent(path, &self.options()).map_err(|error| unread_matrix(path, error))
            }
            Self::Generated(spec) | Self::Suite(_, spec) => Ok(spec.extent()),
        }
    }

    /// Reads or generates the matrix. `limit` bounds the memory allocated.
    pub fn load_values(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<ReadMatrix, SourceError> {
        let start = Instant::now();
        let file = match self {
            Self::File(path, _) | Self::SuiteFile(_, path) => {
                let progress = progress.cancelled_by(cancel);
                let file = open_matrix_as(path, &self.options(), limit, progress);
                let mut file = file.map_err(|error| unread_matrix(path, error))?;
                file.warnings.extend(self.unlike_the_published(&file.matrix));
                file
            }
            Self::Generated(spec) | Self::Suite(_, spec) => {
                let stand_in = self.origin() == Source::StandIn;
                let warning = stand_in.then(|| {
                    format!(
                        "the real matrix is not available; using the stand-in generated by {spec}"
                    )
                });
                MatrixFile {
                    matrix: AnyMatrix::Real(generate(spec, limit, cancel)?),
                    field: Field::Real,
                    symmetry: Symmetry::General,
                    form: MatrixForm::Generated,
                    warnings: warning.into_iter().collect(),
                }
            }
        };
        Ok(ReadMatrix::new(file, start.elapsed().as_secs_f64()))
    }

    /// A warning if a suite's file differs in size from the matrix that it is named after.
    fn unlike_the_published(&self, found: &AnyMatrix) -> Option<String> {
        let Self::SuiteFile(entry, path) = self else { return None };
        let (wanted, name) = (entry.wanted?, entry.name);
        let (rows, cols) = (found.rows() as u64, found.cols() as u64);
        ((rows, cols) != (wanted.rows, wanted.cols)).then(|| {
            format!(
                "{} is {rows} x {cols}, but the published {name} is {} x {}",
                path.display(),
                wanted.rows,
                wanted.cols
            )
        })
    }

    /// Reads or generates the matrix and describes it. `limit` bounds the memory allocated.
    pub fn load(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<LoadedMatrix, SourceError> {
        self.load_reordered(None, limit, progress, cancel)
    }

    /// The same with rows and columns reordered. The matrix then has its own name (the ordering is appended),
    /// identity and statistics, and its record keeps the statistics from before.
    pub fn load_reordered(
        &self,
        reordering: Option<Reordering>,
        limit: MemoryLimit,
        progress: Progress<'_>,
        cancel: &AtomicBool,
    ) -> Result<LoadedMatrix, SourceError> {
        let mut read = self.load_values(limit, progress, cancel)?;
        let (mut name, mut reordered, mut order) = (self.name(), None, None);
        if let Some(by) = reordering {
            let found = match &read.values {
                LoadedValues::Real(a) => by.order(a, limit)?,
                LoadedValues::Complex(a) => by.order(a, limit)?,
            };
            let before;
            (read.values, before) = match &read.values {
                LoadedValues::Real(a) => {
                    let (a, before) = reorder(a, (by, &found), limit)?;
                    (LoadedValues::Real(a), before)
                }
                LoadedValues::Complex(a) => {
                    let (a, before) = reorder(a, (by, &found), limit)?;
                    (LoadedValues::Complex(a), before)
                }
            };
            order = Some(found);
            name = format!("{name}-{}", by.as_str());
            reordered = Some(before);
        }
        let mut loaded = LoadedMatrix::describe(name, read);
        loaded.record.source = self.origin();
        loaded.record.reordered = reordered;
        loaded.order = order;
        loaded.record.generator = match self {
            Self::File(..) | Self::SuiteFile(..) => None,
            Self::Generated(spec) | Self::Suite(_, spec) => Some(spec.to_string()),
        };
        Ok(loaded)
    }
}

/// Why a file could not be read. A missing one may be named like an input of a suite, which `in_suite` finds.
pub(super) fn unread(
    path: &Path,
    error: IoError,
    in_suite: fn(&str) -> Option<&'static str>,
) -> SourceError {
    match path.to_str().and_then(in_suite).filter(|_| !path.exists()) {
        Some(name) => SourceError::NoFile { error, name },
        None => error.into(),
    }
}

/// Why the file of a matrix could not be read. A missing one may be named like a matrix of a suite.
pub fn unread_matrix(path: &Path, error: IoError) -> SourceError {
    unread(path, error, |name| suite_entry(name).map(|entry| entry.name))
}

/// Folders searched for the real matrices of suites: the one that `SPARSESCOPE_MATRICES` names, then
/// [`matrix_cache`].
pub fn matrix_folders() -> Vec<PathBuf> {
    variable("SPARSESCOPE_MATRICES").into_iter().chain(matrix_cache()).collect()
}

/// The file of a matrix of this name in one of [`matrix_folders`].
pub fn matrix_file(name: &str) -> Option<PathBuf> {
    file_in(&matrix_folders(), name)
}

fn file_in(folders: &[PathBuf], name: &str) -> Option<PathBuf> {
    let names = ["mtx", "mtx.gz", "tar.gz"].map(|ending| format!("{name}.{ending}"));
    let mut files = folders.iter().flat_map(|folder| names.iter().map(|n| folder.join(n)));
    files.find(|file| file.is_file())
}

/// The matrix folder in the user's cache, where downloads are stored.
pub fn matrix_cache() -> Option<PathBuf> {
    user_cache().map(|cache| cache.join("matrices"))
}

/// The matrix with rows and columns reordered by a rule, and its statistics from before.
fn reorder<T: Scalar>(
    a: &Csr<T>,
    (by, order): (Reordering, &[u32]),
    limit: MemoryLimit,
) -> Result<(Arc<Csr<T>>, Reordered), FormatError> {
    let band = Band::of(a);
    let made = permuted(a, order, limit)?;
    let before = Reordered {
        by: by.as_str().to_owned(),
        lower_bandwidth: band.lower,
        upper_bandwidth: band.upper,
        profile: band.profile,
    };
    Ok((Arc::new(made), before))
}

impl fmt::Display for MatrixSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path, _) => write!(f, "{}", path.display()),
            Self::Generated(spec) => write!(f, "{spec}"),
            Self::Suite(entry, _) | Self::SuiteFile(entry, _) => write!(f, "suite:{}", entry.name),
        }
    }
}

impl SourceError {
    /// The cancel flag was set.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Generate(error) => error.is_cancelled(),
            Self::Read(error) => error.is_cancelled(),
            Self::Spec(_)
            | Self::UnknownSuiteEntry(_)
            | Self::UnknownPoints(_)
            | Self::UnknownBatch(_)
            | Self::NoBatch(_)
            | Self::NoSystems(_)
            | Self::Systems(_)
            | Self::NoFile { .. }
            | Self::Reorder(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(source: &MatrixSource) -> LoadedMatrix {
        source.load(MemoryLimit::unlimited(), Progress::none(), &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn a_suites_matrix_is_the_file_where_there_is_one_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let entry = suite_entry("cage4").unwrap();
        let folders = [folder.path().join("absent"), folder.path().to_owned()];
        let stand_in = load(&MatrixSource::of_suite_in(entry, &folders).unwrap());
        assert_eq!(stand_in.record.source, Source::StandIn);
        assert!(stand_in.record.generator.is_some());
        assert!(stand_in.warnings[0].contains("stand-in"), "{:?}", stand_in.warnings);

        let diagonal: String = (1..=9).map(|i| format!("{i} {i} 1\n")).collect();
        let text = format!("%%MatrixMarket matrix coordinate real general\n9 9 9\n{diagonal}");
        std::fs::write(folder.path().join("cage4.mtx"), text).unwrap();
        let real = load(&MatrixSource::of_suite_in(entry, &folders).unwrap());
        assert_eq!((real.record.source, real.record.name.as_str()), (Source::Real, "cage4"));
        assert_eq!((real.record.generator, real.record.statistics.nnz), (None, 9));
        assert!(real.warnings.is_empty());
        assert_ne!(real.record.id, stand_in.record.id);

        let text = "%%MatrixMarket matrix coordinate real general\n1 2 1\n1 1 1\n";
        std::fs::write(folder.path().join("cage4.mtx"), text).unwrap();
        let other = load(&MatrixSource::of_suite_in(entry, &folders).unwrap());
        assert!(other.warnings[0].contains("1 x 2, but the published cage4 is 9 x 9"));
    }

    #[test]
    fn a_source_is_probed_without_being_loaded() {
        let folder = tempfile::tempdir().unwrap();
        let probe = |text: &str| MatrixSource::parse(text).unwrap().probe();
        let path = folder.path().join("a.mtx");
        let text = "%%MatrixMarket matrix coordinate real symmetric\n4 4 6\nno entries\n";
        std::fs::write(&path, text).unwrap();
        let found = probe(path.to_str().unwrap()).unwrap();
        assert_eq!(found, Extent { rows: 4, cols: 4, entries: 12, estimated: true });
        let entry = suite_entry("cage4").unwrap();
        let folders = [folder.path().to_owned()];
        let stand_in = MatrixSource::of_suite_in(entry, &folders).unwrap().probe().unwrap();
        assert_eq!(stand_in, Extent { rows: 9, cols: 9, entries: 49, estimated: false });
        std::fs::copy(&path, folder.path().join("cage4.mtx")).unwrap();
        let real = MatrixSource::of_suite_in(entry, &folders).unwrap().probe().unwrap();
        assert_eq!(real, found);
        // This one would not fit into memory.
        let made = probe("gen:random?m=4G&row=4G").unwrap();
        assert_eq!((made.rows, made.entries), (4_000_000_000, 16_000_000_000_000_000_000));

        let missing = folder.path().join("a.mtz").display().to_string();
        let error = probe(&missing).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{missing}: cannot open the file: ")), "{error}");
        let error = probe("grid-5pt").unwrap_err().to_string();
        assert!(error.starts_with("grid-5pt: cannot open the file: "), "{error}");
        assert!(error.ends_with(" (did you mean suite:grid-5pt?)"), "{error}");
        let here = folder.path().display().to_string();
        let error = probe(&here).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{here}: cannot open the file: ")), "{error}");
        std::fs::write(&path, "%%MatrixMarket matrix coordinate real general\n").unwrap();
        let error = probe(path.to_str().unwrap()).unwrap_err().to_string();
        assert!(error.contains("a.mtx: line 2: expected the size line"), "{error}");
    }

    #[test]
    fn a_reordered_matrix_is_another_one_and_says_what_it_was_before() {
        let source = MatrixSource::parse("gen:road?m=3000").unwrap();
        let plain = load(&source);
        let (limit, cancel) = (MemoryLimit::unlimited(), AtomicBool::new(false));
        let rcm = Some(Reordering::Rcm);
        let made = source.load_reordered(rcm, limit, Progress::none(), &cancel).unwrap();
        let before = made.record.reordered.clone().unwrap();
        let (s, t) = (&plain.record.statistics, &made.record.statistics);
        assert_eq!(before.by, "rcm");
        assert_eq!(
            (before.lower_bandwidth, before.upper_bandwidth, before.profile),
            (s.lower_bandwidth, s.upper_bandwidth, s.profile)
        );
        assert!(t.lower_bandwidth < s.lower_bandwidth / 2, "{}", t.lower_bandwidth);
        assert_eq!((t.nnz, &t.row.histogram), (s.nnz, &s.row.histogram));
        assert_eq!((plain.record.reordered, made.record.source), (None, Source::Generated));
        assert_ne!(made.record.sha256, plain.record.sha256);
        assert_eq!(made.record.name, "road?m=3000-rcm");
    }

    #[test]
    fn matrices_that_stand_for_themselves_are_never_looked_up() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("grid-64.mtx"), "").unwrap();
        let entry = suite_entry("grid-64").unwrap();
        let source = MatrixSource::of_suite_in(entry, &[folder.path().to_owned()]).unwrap();
        assert_eq!(source.origin(), Source::Generated);
    }
}
