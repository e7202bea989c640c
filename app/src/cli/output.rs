//! Standard output and output files.

use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use sparsescope_core::bundle::Bundle;
use sparsescope_core::experiment::Watch;
use sparsescope_core::files::check_regular;
use sparsescope_core::io::file_forms::{self, FileForm};
use sparsescope_core::io::points::PointsForm;
use sparsescope_core::io::{self, IoError, Overwrite, Progress};

use super::interrupt::Interrupt;
use super::outcome::UsageError;
use super::progress;
use super::terminal::{visible, visible_json};

/// Interval at which the progress of work is polled.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// Prints text on standard output, with terminal control characters made visible.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    print_as_is(&visible(text))
}

/// The same for text whose control characters are visible already, and which may have colours.
pub(super) fn print_as_is(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write the output")
}

/// Prints one JSON value and a line end on standard output.
pub(super) fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value).context("cannot write JSON")?;
    text.push('\n');
    print_as_is(&visible_json(&text))
}

/// What `--force` means for existing files.
pub(super) fn overwrite(force: bool) -> Overwrite {
    if force { Overwrite::Replace } else { Overwrite::Never }
}

/// Fails if `path` exists and must not be overwritten; called before long work.
pub(super) fn check_free(path: &Path, force: bool) -> anyhow::Result<()> {
    if is_stdout(path) {
        return Ok(());
    }
    check_regular(path).with_context(|| format!("cannot write {}", path.display()))?;
    if !force && path.symlink_metadata().is_ok() {
        anyhow::bail!("{} already exists; use --force to overwrite it", path.display());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        anyhow::bail!("cannot write {}: there is no folder {}", path.display(), folder.display());
    }
    Ok(())
}

/// The same for a bundle, which cannot go to standard output.
pub(super) fn check_bundle(path: &Path, force: bool) -> anyhow::Result<()> {
    if is_stdout(path) {
        let path = path.display();
        let sentence =
            format!("a bundle cannot go to standard output: expected a file name, found {path}");
        return Err(UsageError(sentence).into());
    }
    check_free(path, force)
}

/// The same for a result next to a report: not both can go to standard output.
pub(super) fn check_result(path: &Path, force: bool, json: bool) -> anyhow::Result<()> {
    if json && is_stdout(path) {
        let sentence = "--json and the file - cannot both go to standard output";
        return Err(UsageError(sentence.to_owned()).into());
    }
    check_free(path, force)
}

/// Fails if two options name the same output, however it is spelled: one would overwrite the other, or both would be
/// mixed.
pub(super) fn check_apart(outputs: &[(&str, &Path)]) -> Result<(), UsageError> {
    for (k, &(option, path)) in outputs.iter().enumerate() {
        let is_same = |other: &Path| match is_stdout(path) {
            true => is_stdout(other),
            false => !is_stdout(other) && place(other) == place(path),
        };
        if let Some((other, _)) = outputs.iter().take(k).find(|(_, other)| is_same(other)) {
            let path = path.display();
            let sentence =
                format!("expected different files for {other} and {option}, found {path} for both");
            return Err(UsageError(sentence));
        }
    }
    Ok(())
}

/// The path with the folder that it leads to.
fn place(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path.to_owned(),
    }
}

/// Prints a report, on standard error if one of its output files is standard output.
pub(super) fn print_beside<'p>(
    text: &str,
    files: impl IntoIterator<Item = &'p Path>,
) -> anyhow::Result<()> {
    if !files.into_iter().any(is_stdout) {
        return print(text);
    }
    eprintln!("{}", text.trim_end());
    Ok(())
}

/// The names of standard output.
const STANDARD_OUTPUT: [&str; 4] = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];

/// Whether an output file is standard output.
pub(super) fn is_stdout(path: &Path) -> bool {
    STANDARD_OUTPUT.iter().any(|name| path.as_os_str() == *name)
}

/// Says on standard error what was written to a file, unless quiet. Nothing is said of standard output.
pub(super) fn say_written(path: &Path, quiet: bool, what: &str) {
    if !quiet && !is_stdout(path) {
        eprintln!("{}: {what}", path.display());
    }
}

/// Writes the table of a bundle's runs.
pub(super) fn write_csv(bundle: &Bundle, path: &Path, force: bool) -> anyhow::Result<()> {
    keep(path, force, &bundle.results_csv()?)
}

/// File name endings and the formats that they imply, besides those of matrices.
const FORMS: [(&str, &str); 17] = [
    ("csv", "CSV"),
    ("tsv", "a tab-separated table"),
    ("points", "binary points"),
    ("zip", "a zip archive"),
    ("html", "HTML"),
    ("htm", "HTML"),
    ("svg", "SVG"),
    ("png", "PNG"),
    ("pdf", "PDF"),
    ("json", "JSON"),
    ("xml", "XML"),
    ("xlsx", "an Excel workbook"),
    ("parquet", "Parquet"),
    ("bz2", "bzip2"),
    ("xz", "xz"),
    ("zst", "Zstandard"),
    ("tar", "tar"),
];

/// Fails if a file name implies a format that its content cannot have.
pub(super) fn check_form(path: &Path, forms: &[&str]) -> Result<(), UsageError> {
    let of_matrix = || matrix_form(path).map(|form| form.name);
    let promised = FORMS.iter().find(|(ending, _)| ends_in(path, ending)).map(|(_, form)| *form);
    match promised.or_else(of_matrix).filter(|promised| !forms.contains(promised)) {
        None => Ok(()),
        Some(promised) => Err(UsageError(format!(
            "the extension of {} means {promised}, but the output is {}: use another extension",
            path.display(),
            forms.join(" or ")
        ))),
    }
}

/// The form of a matrix that a file name implies. Text of any kind may end in `.txt`.
pub(super) fn matrix_form(path: &Path) -> Option<&'static FileForm> {
    let implies = |extension: &&str| *extension != "txt" && ends_in(path, extension);
    file_forms::FORMS.iter().find(|form| form.extensions.iter().any(implies))
}

/// Whether a file name has this ending, with or without `.gz` after it.
pub(super) fn ends_in(path: &Path, ending: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    name.rsplit_once('.').is_some_and(|(_, found)| found == ending)
}

/// The format in which points are written to a file of this name. Fails if the name implies a format that
/// points do not have.
pub(super) fn points_form(path: &Path) -> Result<PointsForm, UsageError> {
    check_form(path, &["points as text", "CSV", "binary points"])?;
    Ok(match (ends_in(path, "points"), ends_in(path, "csv")) {
        (true, _) => PointsForm::Binary,
        (_, true) => PointsForm::Csv,
        _ => PointsForm::Exact,
    })
}

/// Writes a file through `write`, compressed if its name ends in `.gz`, or standard output. A reader that
/// closed its end of the pipe is not an error.
pub(super) fn save(
    path: &Path,
    overwrite: Overwrite,
    write: impl FnOnce(&mut dyn Write) -> Result<(), IoError>,
) -> Result<(), IoError> {
    if !is_stdout(path) {
        return io::save(path, overwrite, write);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    let written = write(&mut out).and_then(|()| {
        out.flush().map_err(|error| IoError::System { doing: "write the output", error })
    });
    match written {
        Err(IoError::System { error, .. }) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes a file as [`save`] does. Standard output is printed like any other text, since it may be a
/// terminal.
pub(super) fn keep(path: &Path, force: bool, content: &[u8]) -> anyhow::Result<()> {
    if is_stdout(path) {
        return print(&String::from_utf8_lossy(content));
    }
    Ok(save(path, overwrite(force), |out| {
        out.write_all(content).map_err(|error| IoError::System { doing: "write", error })
    })?)
}

/// Runs `work`, which reads or writes `total` bytes, and shows its progress.
pub(super) fn watched<R>(
    interrupt: &Interrupt,
    quiet: bool,
    what: &str,
    total: Option<u64>,
    work: impl FnOnce(Progress<'_>) -> R,
) -> R {
    let done = AtomicU64::new(0);
    let share = || {
        let total = total.filter(|&total| total > 0);
        total.map_or(0.0, |total| done.load(Ordering::Relaxed) as f64 / total as f64)
    };
    let progress = Progress::none().counting(&done).cancelled_by(interrupt.flag());
    shown(quiet, what, &share, || work(progress))
}

/// Runs an execution and shows its progress.
pub(super) fn executed<R>(
    interrupt: &Interrupt,
    quiet: bool,
    what: &str,
    work: impl FnOnce(&Watch<'_>) -> R,
) -> R {
    let done = AtomicU64::new(0f64.to_bits());
    let tell = |share: f64| done.store(share.to_bits(), Ordering::Relaxed);
    let share = || f64::from_bits(done.load(Ordering::Relaxed));
    shown(quiet, what, &share, || work(&Watch::new(interrupt.flag(), &tell)))
}

/// Runs `work` while another thread shows how much of it is done, from `share`.
fn shown<R>(
    quiet: bool,
    what: &str,
    share: &(dyn Fn() -> f64 + Sync),
    work: impl FnOnce() -> R,
) -> R {
    let (mut work, mut result) = (Some(work), None);
    beside(quiet, what, share, &mut || result = work.take().map(|work| work()));
    result.expect("the work ran once") // invariant
}

/// The same for any work: compiled once.
fn beside(quiet: bool, what: &str, share: &(dyn Fn() -> f64 + Sync), work: &mut dyn FnMut()) {
    let (finished, wait) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let tell = move || {
            let mut shown = progress::Progress::new(quiet);
            shown.set(share(), what);
            while wait.recv_timeout(BETWEEN_LOOKS) == Err(RecvTimeoutError::Timeout) {
                shown.set(share(), what);
            }
            shown.finish();
        };
        // If the system refuses a thread, the work runs without progress.
        let _ = std::thread::Builder::new().spawn_scoped(scope, tell);
        // Dropped at the end, also on a panic.
        let _finished = finished;
        work();
    });
}

/// The size of a file in bytes, if it has one.
pub(super) fn file_size(path: &Path) -> Option<u64> {
    path.metadata().ok().map(|meta| meta.len())
}
