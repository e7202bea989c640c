//! The journal of a bundle being measured: `<output>.partial.jsonl` beside it, with a header line,
//! then one line per matrix and per finished run, flushed to disk line by line. The bundle can be
//! rebuilt from it, so a killed program loses no measurements.

use std::collections::{BTreeMap, HashSet};
use std::fs::{File, TryLockError};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file::{io, place};
use super::json::{compact, value_of};
use super::read::check_version;
use crate::{Bundle, BundleError, Limits, MatrixFolder, SubjectFolder};
use sparsescope_record::{
    Environment, MatrixRecord, Producer, Run, SCHEMA, SchemaVersion, Shard, SubjectRecord,
    printable,
};

/// The path of the journal for the bundle `output`.
pub fn journal_path(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(".partial.jsonl");
    name.into()
}

/// Fails if another program is writing the journal of `output`: both would lose runs.
pub fn check_unused(output: &Path) -> Result<(), BundleError> {
    held(output).map(drop)
}

/// The journal of `output`, if there is one, locked against other programs.
fn held(output: &Path) -> Result<Option<File>, BundleError> {
    if cfg!(not(unix)) {
        return Ok(None); // `hold` locks nothing there, and Windows replaces no file that is open.
    }
    let path = journal_path(output);
    match File::open(&path) {
        Ok(file) => hold(&file, &path).map(|()| Some(file)),
        Err(_) => Ok(None), // Creating it reports why it cannot be opened.
    }
}

/// Locks the journal until the file is closed; the system releases the lock of a killed program.
fn hold(file: &File, path: &Path) -> Result<(), BundleError> {
    // A Windows lock would prevent the window from reading the file meanwhile.
    let locked = if cfg!(unix) { file.try_lock() } else { Ok(()) };
    match locked {
        Err(TryLockError::WouldBlock) => Err(BundleError::InUse { path: path.to_owned() }),
        // Another program may have put its own journal there before this one was locked.
        Ok(()) if !lies_at(file, path) => Err(BundleError::InUse { path: path.to_owned() }),
        // Some file systems do not support locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Whether an open file is the one at a path.
#[cfg(unix)]
fn lies_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let id = |of: &std::fs::Metadata| (of.dev(), of.ino());
    matches!((file.metadata(), std::fs::metadata(path)), (Ok(a), Ok(b)) if id(&a) == id(&b))
}

#[cfg(not(unix))]
fn lies_at(_: &File, _: &Path) -> bool {
    true
}

/// A journal open for appending.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

/// A record that is written to a journal as one line.
#[derive(Clone, Copy, Debug)]
pub enum Record<'a> {
    /// A machine; replaces an earlier one with the same id.
    Environment(&'a Environment),
    /// A matrix with its files; a run's matrix must come before the run.
    Matrix(&'a MatrixFolder),
    /// Another subject with its files; replaces an earlier one with the same id.
    Subject(&'a SubjectFolder),
    /// A finished run.
    Run(&'a Run),
    /// An entry of another folder, by full name.
    Other(&'a str, &'a [u8]),
}

impl Journal {
    /// Starts the journal of `output` with what is known so far: the producer, label and plan, the
    /// environments, and, if a measurement is resumed, its matrices and runs. The file is created
    /// atomically. An existing journal (of an interrupted measurement) is replaced only if
    /// `overwrite` is set, and never while another program is writing it.
    pub fn create(output: &Path, so_far: &Bundle, overwrite: bool) -> Result<Self, BundleError> {
        so_far.check()?;
        so_far.check_texts(0)?;
        let _replaced = held(output)?;
        let header = Header {
            schema: SCHEMA,
            producer: so_far.producer.clone(),
            created: so_far.created.clone(),
            label: so_far.label.clone(),
            shard: so_far.shard,
            environments: so_far.environments.clone(),
        };
        // Not in `header`, since a plan may contain `null`.
        let mut first = value_of("the journal header", &header)?;
        if let (Some(fields), Some(plan)) = (first.as_object_mut(), &so_far.plan) {
            fields.insert("plan".into(), plan.clone());
        }
        let mut lines = compact(&first);
        let matrices = so_far.matrices.iter().map(Record::Matrix);
        let subjects = so_far.subjects.iter().map(Record::Subject);
        let runs = so_far.runs.iter().map(Record::Run);
        let others = so_far.others.iter().map(|(name, content)| Record::Other(name, content));
        for record in matrices.chain(subjects).chain(runs).chain(others) {
            lines.extend(line(record)?);
        }
        let path = journal_path(output);
        // What is wrong with the folder is wrong for the bundle, which the user named.
        let file = place(&path, &lines, overwrite).map_err(|error| match error {
            BundleError::Io { action, source, .. } if source.kind() != ErrorKind::Other => {
                io(action, output)(source)
            }
            error => error,
        })?;
        hold(&file, &path)?;
        Ok(Self { file, path })
    }

    /// Appends one line and waits until it is on disk.
    pub fn append(&mut self, record: Record<'_>) -> Result<(), BundleError> {
        let line = line(record)?;
        self.file
            .write_all(&line)
            .and_then(|()| self.file.sync_data())
            .map_err(io("write", &self.path))
    }

    /// Removes the journal, once the bundle is in place.
    pub fn finish(self) -> Result<(), BundleError> {
        drop(self.file);
        std::fs::remove_file(&self.path).map_err(io("remove", &self.path))
    }

    /// The bundle in a journal, marked incomplete. An unfinished last line is ignored; a damaged
    /// line before it is an error, and so is a duplicate run.
    pub fn recover(journal: &Path, limits: &Limits) -> Result<Bundle, BundleError> {
        let file = File::open(journal).map_err(io("read", journal))?;
        Self::recover_from(file, journal, limits)
    }

    /// Like [`recover`](Self::recover), from the content of a journal; errors of the system name the path.
    pub fn recover_from(
        content: impl Read,
        journal: &Path,
        limits: &Limits,
    ) -> Result<Bundle, BundleError> {
        let mut reader = BufReader::new(content.take(limits.total_bytes.saturating_add(1)));
        let mut bundle: Option<Bundle> = None;
        let mut seen = HashSet::new();
        let mut bytes = 0u64;
        let mut line = Vec::new();
        for number in 1u64.. {
            line.clear();
            reader.read_until(b'\n', &mut line).map_err(io("read", journal))?;
            bytes += line.len() as u64;
            limits.check("the journal", bytes, "bytes", limits.total_bytes)?;
            limits.check("the journal", number, "lines", limits.runs)?;
            if line.is_empty() {
                break;
            }
            let read = match &mut bundle {
                None => read_header(&line).map(|begun| bundle = Some(begun)),
                Some(bundle) => {
                    let runs = bundle.runs.len();
                    read_line(&line, bundle).and_then(|()| check_once(bundle, runs, &mut seen))
                }
            };
            match read {
                Ok(()) => {}
                // Cut off while it was being written; nothing comes after it.
                Err(BundleError::Journal { .. }) if number > 1 && !line.ends_with(b"\n") => break,
                Err(BundleError::Journal { detail, .. }) => {
                    return Err(BundleError::Journal { line: number, detail });
                }
                Err(error) => return Err(error),
            }
        }
        let bundle = bundle.ok_or_else(|| BundleError::Journal {
            line: 1,
            detail: "the journal is empty".into(),
        })?;
        let mut bundle = bundle;
        bundle.rate_old_runs();
        bundle.check()?;
        Ok(bundle)
    }
}

/// Fails if a run after the first `checked` measured the same as an earlier one: there is no way to
/// know which is valid.
fn check_once(
    bundle: &Bundle,
    checked: usize,
    seen: &mut HashSet<String>,
) -> Result<(), BundleError> {
    for run in bundle.runs.iter().skip(checked) {
        let Run { matrix, kernel, asked, params, device, environment, .. } = run;
        let text = run.source.as_ref().map(|source| &source.sha256);
        let of = serde_json::json!([matrix, run.operation, kernel, text, device, environment]);
        let (threads, block, precision) = (run.threads, run.block, &run.precision);
        let how = serde_json::json!([precision, asked, params, threads, block, run.hot]);
        if !seen.insert(format!("{of}{how}")) {
            return Err(damaged(&format!(
                "a duplicate run of {kernel} on {matrix} with {threads} threads"
            )));
        }
    }
    Ok(())
}

/// The first line; `plan` is stored beside these fields.
#[derive(Serialize, Deserialize)]
struct Header {
    schema: SchemaVersion,
    producer: Producer,
    created: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shard: Option<Shard>,
    environments: Vec<Environment>,
}

#[derive(Deserialize)]
struct Plan {
    #[serde(default)]
    plan: Option<Value>,
}

/// Every other line: an object with a single field, whose name gives its type.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Line {
    Environment(Box<Environment>),
    Matrix { record: Box<MatrixRecord>, files: BTreeMap<String, Content> },
    Subject { folder: String, record: Box<SubjectRecord>, files: BTreeMap<String, Content> },
    Run(Box<Run>),
    Other { name: String, content: Content },
}

/// A file's content: text unchanged, anything else in base64; before 1.3, an array of bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Base64 { base64: String },
    Bytes(Vec<u8>),
}

impl Content {
    fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.into()),
            Err(_) => Self::Base64 { base64: BASE64.encode(bytes) },
        }
    }

    fn into_bytes(self) -> Result<Vec<u8>, BundleError> {
        match self {
            Self::Text(text) => Ok(text.into_bytes()),
            Self::Base64 { base64 } => {
                BASE64.decode(base64).map_err(|error| damaged(&error.to_string()))
            }
            Self::Bytes(bytes) => Ok(bytes),
        }
    }
}

fn line(record: Record<'_>) -> Result<Vec<u8>, BundleError> {
    let (kind, value) = match record {
        Record::Environment(environment) => {
            let whose = format!("environment `{}`", printable(&environment.id));
            ("environment", value_of(&whose, environment)?)
        }
        Record::Matrix(MatrixFolder { record, files }) => {
            let whose = format!("matrix `{}`", printable(&record.id));
            let files: BTreeMap<&String, Content> =
                files.iter().map(|(name, content)| (name, Content::of(content))).collect();
            let record = value_of(&whose, record)?;
            let files = value_of(&whose, &files)?;
            ("matrix", serde_json::json!({ "record": record, "files": files }))
        }
        Record::Subject(SubjectFolder { folder, record, files }) => {
            let whose = format!("subject `{}`", printable(&record.id));
            let files: BTreeMap<&String, Content> =
                files.iter().map(|(name, content)| (name, Content::of(content))).collect();
            let record = value_of(&whose, record)?;
            let files = value_of(&whose, &files)?;
            let subject = serde_json::json!({ "folder": folder, "record": record, "files": files });
            ("subject", subject)
        }
        Record::Run(run) => {
            let (kernel, matrix) = (printable(&run.kernel), printable(&run.matrix));
            ("run", value_of(&format!("the run of {kernel} on {matrix}"), run)?)
        }
        Record::Other(name, content) => {
            let content = value_of("an entry", &Content::of(content))?;
            ("other", serde_json::json!({ "name": name, "content": content }))
        }
    };
    Ok(compact(&serde_json::json!({ kind: value })))
}

pub(super) fn read_header(line: &[u8]) -> Result<Bundle, BundleError> {
    check_version("journal", line).map_err(as_journal_error)?;
    let header: Header = parse_line(line)?;
    let Plan { plan } = parse_line(line)?;
    Ok(Bundle {
        label: header.label,
        shard: header.shard,
        plan,
        environments: header.environments,
        ..Bundle::new(header.producer, header.created)
    })
}

pub(super) fn read_line(line: &[u8], bundle: &mut Bundle) -> Result<(), BundleError> {
    match parse_line(line)? {
        Line::Environment(environment) => {
            match bundle.environments.iter_mut().find(|known| known.id == environment.id) {
                Some(known) => *known = *environment,
                None => bundle.environments.push(*environment),
            }
        }
        Line::Matrix { record, files } => {
            bundle.matrices.push(MatrixFolder { record: *record, files: contents(files)? });
        }
        Line::Subject { folder, record, files } => {
            let (record, files) = (*record, contents(files)?);
            let subject = SubjectFolder { folder, record, files };
            match bundle.subjects.iter_mut().find(|known| known.record.id == subject.record.id) {
                Some(known) => *known = subject,
                None => bundle.subjects.push(subject),
            }
        }
        Line::Run(run) => bundle.runs.push(*run),
        Line::Other { name, content } => {
            bundle.others.insert(name, content.into_bytes()?);
        }
    }
    Ok(())
}

fn contents(files: BTreeMap<String, Content>) -> Result<BTreeMap<String, Vec<u8>>, BundleError> {
    files.into_iter().map(|(name, content)| Ok((name, content.into_bytes()?))).collect()
}

fn parse_line<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, BundleError> {
    serde_json::from_slice(line).map_err(|error| damaged(&error.to_string()))
}

/// The caller sets the line number.
fn damaged(detail: &str) -> BundleError {
    BundleError::Journal { line: 0, detail: printable(detail) }
}

fn as_journal_error(error: BundleError) -> BundleError {
    match error {
        BundleError::Json { detail, .. } => damaged(&detail),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// A folder with a journal of the sample bundle; also returns the journal's path.
    fn written() -> (tempfile::TempDir, PathBuf, Bundle) {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("results.zip");
        let bundle = sample::with_points();
        let begun = Bundle {
            matrices: Vec::new(),
            runs: Vec::new(),
            others: BTreeMap::new(),
            ..bundle.clone()
        };
        let mut journal = Journal::create(&output, &begun, false).unwrap();
        for matrix in &bundle.matrices {
            journal.append(Record::Matrix(matrix)).unwrap();
        }
        for (name, content) in &bundle.others {
            journal.append(Record::Other(name, content)).unwrap();
        }
        for run in &bundle.runs {
            journal.append(Record::Run(run)).unwrap();
        }
        let path = journal_path(&output);
        (folder, path, Bundle { complete: false, ..bundle })
    }

    fn recover(path: &Path) -> Result<Bundle, BundleError> {
        Journal::recover(path, &Limits::default())
    }

    #[test]
    fn the_journal_alone_gives_the_incomplete_bundle() {
        let (_folder, path, bundle) = written();
        assert!(path.ends_with("results.zip.partial.jsonl"));
        let recovered = recover(&path).unwrap();
        assert_eq!(recovered, bundle);
        assert!(!recovered.complete);
        let zip = recovered.to_bytes().unwrap();
        assert_eq!(Bundle::read(&zip, &Limits::default()).unwrap(), bundle);
    }

    #[test]
    fn a_folder_that_takes_no_journal_takes_no_bundle_and_only_this_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let begin = |output: &Path| {
            let begun = Bundle { complete: false, ..sample::bundle() };
            Journal::create(output, &begun, false).unwrap_err().to_string()
        };
        let output = folder.path().join("none/results.zip");
        let error = begin(&output);
        assert!(error.starts_with(&format!("cannot write {}: ", output.display())), "{error}");
        assert!(!error.contains("partial"), "{error}");
        // Something else in the journal's place is named.
        let output = folder.path().join("results.zip");
        std::fs::create_dir(journal_path(&output)).unwrap();
        let error = begin(&output);
        let start = format!("cannot write {}: expected a regular", journal_path(&output).display());
        assert!(error.starts_with(&start), "{error}");
    }

    #[test]
    fn a_last_line_torn_at_any_byte_is_left_out_and_no_other_run_is_lost() {
        let (_folder, path, bundle) = written();
        let whole = std::fs::read(&path).unwrap();
        let text = std::str::from_utf8(&whole).unwrap();
        let last = text.trim_end().rfind('\n').unwrap() + 1;
        let mut fewer = bundle.clone();
        fewer.runs.pop();
        for cut in last..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let recovered = recover(&path).unwrap();
            // Only the newline is missing: the run is complete.
            let expected = if cut == whole.len() - 1 { &bundle } else { &fewer };
            assert_eq!(&recovered, expected, "cut at byte {cut}");
        }
    }

    #[test]
    fn a_damaged_line_in_the_middle_is_named() {
        let (_folder, path, _) = written();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines[3] = lines[3].get(..20).unwrap();
        std::fs::write(&path, lines.join("\n") + "\n").unwrap();
        let error = recover(&path).unwrap_err().to_string();
        assert!(error.starts_with("line 4 of the journal is damaged: "), "{error}");
    }

    #[test]
    fn a_header_that_is_torn_or_missing_is_an_error() {
        let (_folder, path, _) = written();
        std::fs::write(&path, "").unwrap();
        assert!(recover(&path).unwrap_err().to_string().contains("the journal is empty"));
        std::fs::write(&path, "{\"schema\":").unwrap();
        let error = recover(&path).unwrap_err().to_string();
        assert!(error.starts_with("line 1 of the journal is damaged: "), "{error}");
        std::fs::write(&path, "{\"schema\":{\"major\":2,\"minor\":0}}\n").unwrap();
        assert!(matches!(recover(&path), Err(BundleError::NewerMajor { major: 2 })));
    }

    #[test]
    fn a_continued_measurement_begins_with_what_is_there() {
        let (folder, path, bundle) = written();
        let output = folder.path().join("results.zip");
        assert!(matches!(
            Journal::create(&output, &bundle, false),
            Err(BundleError::Exists { .. })
        ));
        let mut journal = Journal::create(&output, &bundle, true).unwrap();
        let mut after = bundle.environments[0].clone();
        after.noise.load_after = Some(0.75);
        journal.append(Record::Environment(&after)).unwrap();
        let other = Run { threads: 77, ..bundle.runs[0].clone() };
        journal.append(Record::Run(&other)).unwrap();
        let recovered = recover(&path).unwrap();
        assert_eq!(recovered.runs.len(), bundle.runs.len() + 1);
        assert_eq!(recovered.environments[0], after);
        journal.finish().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_run_that_is_there_twice_is_refused_with_its_line() {
        let (_folder, path, bundle) = written();
        let text = std::fs::read_to_string(&path).unwrap();
        let line = text.lines().find(|line| line.starts_with("{\"run\":")).unwrap();
        std::fs::write(&path, format!("{text}{line}\n")).unwrap();
        let error = recover(&path).unwrap_err().to_string();
        let number = text.lines().count() + 1;
        let start = format!("line {number} of the journal is damaged: a duplicate run of ");
        assert!(error.starts_with(&start), "{error}");
        assert!(error.contains(&bundle.runs[0].kernel), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_journal_has_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("results.zip");
        let bundle = sample::bundle();
        check_unused(&output).unwrap();
        let first = Journal::create(&output, &bundle, false).unwrap();
        let in_use = |error: BundleError| matches!(error, BundleError::InUse { .. });
        assert!(in_use(check_unused(&output).unwrap_err()));
        assert!(in_use(Journal::create(&output, &bundle, true).unwrap_err()));
        // Others may still read it.
        recover(&journal_path(&output)).unwrap();
        drop(first);
        check_unused(&output).unwrap();
        Journal::create(&output, &bundle, true).unwrap().finish().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_subject_told_again_replaces_the_earlier_one() {
        let (folder, path, mut bundle) = written();
        let output = folder.path().join("results.zip");
        let mut journal = Journal::create(&output, &bundle, true).unwrap();
        let subject = &mut bundle.subjects[0];
        subject.files.insert("points.0.bin".into(), vec![0xff, 0]);
        journal.append(Record::Subject(subject)).unwrap();
        assert_eq!(recover(&path).unwrap(), bundle);
    }

    #[test]
    fn a_run_that_json_cannot_hold_is_refused_and_the_journal_stays_whole() {
        let (folder, path, bundle) = written();
        let output = folder.path().join("results.zip");
        let mut journal = Journal::create(&output, &bundle, true).unwrap();
        let mut run = bundle.runs[0].clone();
        run.costs.plan_s = f64::NAN;
        let error = journal.append(Record::Run(&run)).unwrap_err().to_string();
        assert_eq!(
            error,
            "`costs.plan_s` of the run of cpu/csr/serial on five-2fca02e9 is not a finite number"
        );
        assert_eq!(recover(&path).unwrap(), bundle);
    }
}
