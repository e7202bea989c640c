//! What the commands that compute one result share: the kernel, matrix and vectors, the device, and the
//! expected result.

use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use sparsescope_core::experiment::{
    Backend, Configuration, CpuBackend, Finished, LoadedValues, MatrixSource, Problem, ReadMatrix,
    Watch,
};
use sparsescope_core::io::numpy::write_npy;
use sparsescope_core::io::vector::{self, Companion, VectorFile};
use sparsescope_core::io::{IoError, Progress, open_companion, open_vector};
use sparsescope_core::kernel::parameters::RANKS;
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, Parameters, kernel};
use sparsescope_core::matrix::{Csr, Order};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Operation, Verdict};

use super::interrupt::Interrupt;
use super::outcome::{Outcome, UsageError, not_right};
use super::output::{ends_in, file_size, overwrite, save, say_written, watched};
use super::shared_args::needs_ranks;
use super::table::{count, counted};
use super::{adapter, choice, gpu};

/// The context of a command: its interrupt, whether it shows progress, and the memory limit.
pub(super) struct Desk<'i> {
    pub(super) interrupt: &'i Interrupt,
    pub(super) quiet: bool,
    pub(super) memory: MemoryLimit,
}

/// The kernel with this id, which must compute `operation`.
pub fn kernel_of(operation: Operation, id: &str) -> Result<&'static KernelDescriptor, UsageError> {
    let sentence = match kernel(id) {
        Some(kernel) if kernel.device == DeviceKind::Ranks => {
            return Err(needs_ranks(&format!("`{id}`")));
        }
        Some(kernel) if kernel.operation == operation => return Ok(kernel),
        Some(kernel) => {
            let (of, wanted) = (kernel.operation.as_str(), operation.as_str());
            format!(
                "`{id}` computes {of}, not {wanted}; `sparsescope kernels` lists the operation of each kernel"
            )
        }
        None => format!("there is no kernel `{id}`; `sparsescope kernels` lists them all"),
    };
    Err(UsageError(sentence))
}

/// The backend that runs a kernel, on the GPU with this number if it needs one.
pub fn backend(kernel: &KernelDescriptor, device: usize) -> anyhow::Result<Box<dyn Backend>> {
    Ok(match kernel.device {
        DeviceKind::Cpu | DeviceKind::Ranks => Box::new(CpuBackend::new()),
        DeviceKind::Cuda => {
            gpu::open(device).with_context(|| format!("{} cannot run here", kernel.id))?
        }
        DeviceKind::Nccl => {
            gpu::several().with_context(|| format!("{} cannot run here", kernel.id))?
        }
        DeviceKind::Wgpu => {
            adapter::open(device).with_context(|| format!("{} cannot run here", kernel.id))?
        }
    })
}

/// The parameters of one run: kernels for several GPUs use all that exist.
pub(super) fn on_all_gpus(
    kernel: &KernelDescriptor,
    parameters: Parameters,
) -> anyhow::Result<Parameters> {
    match kernel.device {
        DeviceKind::Nccl => Ok(parameters.with(RANKS.id(), &gpu::count()?.to_string())),
        _ => Ok(parameters),
    }
}

/// Fails if the kernel does not compute in the precision, whatever it runs on.
pub(super) fn check_precision(configuration: &Configuration) -> anyhow::Result<()> {
    let Configuration { kernel, precision, .. } = configuration;
    if kernel.precisions.contains(precision) {
        return Ok(());
    }
    let all: Vec<&str> = kernel.precisions.iter().map(|precision| precision.as_str()).collect();
    let all = all.join(", ");
    bail!("{} does not support {}: expected {all}", kernel.id, precision.as_str())
}

/// The threads that a kernel runs with: as requested, or all of the machine.
pub fn threads(kernel: &KernelDescriptor, asked: Option<u32>) -> u32 {
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    match (kernel.takes.threads, asked) {
        (false, _) => 1,
        (true, Some(threads)) => threads,
        (true, None) => u32::try_from(all()).unwrap_or(u32::MAX),
    }
}

/// The threads of a run, or of its blocks, after a comma; nothing on a GPU if the kernel takes no block size.
pub(super) fn workers(backend: &str, threads: u32, block: Option<u32>) -> String {
    match (backend, block) {
        (_, Some(block)) => format!(", {block} threads per block"),
        ("cpu", None) => format!(", {}", counted(threads as usize, "thread", "threads")),
        _ => String::new(),
    }
}

/// The error for a vector, named by an option, whose length does not match the rows or columns of a matrix.
pub(super) fn unfit(
    option: &str,
    elements: usize,
    source: impl Display,
    (len, rows_or_columns): (u64, &str),
) -> UsageError {
    UsageError(format!(
        "{option} has {elements} elements, but {source} has {len} {rows_or_columns}"
    ))
}

/// In place of a file: the vector that comes with the matrix.
pub(super) const ARCHIVE: &str = "archive";

/// The option that names the vector.
pub(super) fn option_of(which: Companion) -> &'static str {
    match which {
        Companion::RightSide => "--b",
        Companion::Start => "--x0",
    }
}

/// The number of columns of a file that has several where one vector is expected.
fn columns_of(error: &IoError) -> Option<u64> {
    match error {
        IoError::InFile { error, .. } | IoError::InMember { error, .. } => columns_of(error),
        IoError::NotAVector { cols, .. } => Some(*cols),
        _ => None,
    }
}

/// Prints remarks on how a file was read on standard error.
pub(super) fn warn(path: &Path, warnings: &[String]) {
    for warning in warnings {
        eprintln!("warning: {}: {warning}", path.display());
    }
}

/// The values of the vector in this file; remarks on how it was read go to standard error.
pub(super) fn told(path: &Path, file: VectorFile) -> Vec<f64> {
    warn(path, &file.warnings);
    file.values
}

/// The forms in which vectors and products are written.
pub(super) const RESULT_FORMS: [&str; 2] = ["Matrix Market", "NumPy array"];

/// Fails if two inputs are standard input, which has the data of one.
pub(super) fn check_stdin(inputs: &[(&str, Option<&Path>)]) -> Result<(), UsageError> {
    let mut piped = inputs.iter().filter(|(_, path)| *path == Some(Path::new("-")));
    match (piped.next(), piped.next()) {
        (Some((first, _)), Some((second, _))) => {
            let sentence = format!("only one of {first} and {second} can be - (standard input)");
            Err(UsageError(sentence))
        }
        _ => Ok(()),
    }
}

impl Desk<'_> {
    /// Reads or generates a matrix; remarks on how it was read go to standard error.
    pub(super) fn matrix(&self, source: &MatrixSource) -> anyhow::Result<ReadMatrix> {
        let total = match source {
            MatrixSource::File(path, _) | MatrixSource::SuiteFile(_, path) => file_size(path),
            _ => None,
        };
        let a =
            watched(self.interrupt, self.quiet, &format!("reading {source}"), total, |progress| {
                source.load_values(self.memory, progress, self.interrupt.flag())
            })?;
        for warning in &a.warnings {
            eprintln!("warning: {warning}");
        }
        Ok(a)
    }

    /// The same for a matrix of real values.
    pub(super) fn real_matrix(&self, source: &MatrixSource) -> anyhow::Result<Arc<Csr>> {
        match self.matrix(source)?.values {
            LoadedValues::Real(a) => Ok(a),
            LoadedValues::Complex(_) => {
                bail!("{source} is complex; kernels support only real matrices")
            }
        }
    }

    /// Reads the vector that `option` names; its length must be the `rows_or_columns` of `source`.
    pub(super) fn vector(
        &self,
        path: &Path,
        option: &str,
        source: &MatrixSource,
        (len, rows_or_columns): (usize, &str),
    ) -> anyhow::Result<Vec<f64>> {
        let read = self.reading(path, |progress| open_vector(path, None, self.memory, progress))?;
        match read.len() == len {
            true => Ok(read),
            false => Err(unfit(option, read.len(), source, (len as u64, rows_or_columns)).into()),
        }
    }

    /// Reads a right-hand side or an initial guess with the `rows` of `source`: a file, or a column of it, or
    /// what comes with the matrix if `path` is `archive` or the file of the matrix.
    pub(super) fn side(
        &self,
        which: Companion,
        (path, column): (&Path, Option<u32>),
        source: &MatrixSource,
        rows: usize,
    ) -> anyhow::Result<Vec<f64>> {
        let option = option_of(which);
        let is_archive = path.as_os_str() == ARCHIVE;
        let with_matrix = match source {
            MatrixSource::File(file, _) | MatrixSource::SuiteFile(_, file) => {
                (is_archive || *path == **file).then_some(file)
            }
            _ if is_archive => {
                let sentence = format!(
                    "{option} {ARCHIVE} needs a matrix from a file, but {source} is generated"
                );
                return Err(UsageError(sentence).into());
            }
            _ => None,
        };
        let memory = self.memory;
        let read = match with_matrix {
            Some(file) => self
                .reading(file, |progress| open_companion(file, (which, column), memory, progress)),
            None => self.reading(path, |progress| open_vector(path, column, memory, progress)),
        };
        let read = read.map_err(|error| match columns_of(&error) {
            Some(cols) => anyhow!("{error}: choose one of its {cols} columns with {option}-column"),
            None => error.into(),
        })?;
        match read.len() == rows {
            true => Ok(read),
            false => Err(unfit(option, read.len(), source, (rows as u64, "rows")).into()),
        }
    }

    fn reading(
        &self,
        path: &Path,
        read: impl FnOnce(Progress<'_>) -> Result<VectorFile, IoError>,
    ) -> Result<Vec<f64>, IoError> {
        let what = format!("reading {}", path.display());
        let file = watched(self.interrupt, self.quiet, &what, file_size(path), read)?;
        Ok(told(path, file))
    }

    /// Executes a configuration of SpMV or SpMM once, on the GPU with this number if it needs one, and checks the
    /// result. Returns its elements, or how the command ends.
    pub(super) fn product(
        &self,
        configuration: &Configuration,
        problem: &dyn Problem,
        device: usize,
        source: &MatrixSource,
    ) -> anyhow::Result<Result<Vec<f64>, Outcome>> {
        let kernel = configuration.kernel;
        let watch = Watch::cancelled_by(self.interrupt.flag());
        let cannot = || format!("{} cannot run on {source}", kernel.id);
        check_precision(configuration)?;
        let backend = backend(kernel, device)?;
        let mut prepared = problem
            .admit(configuration)
            .and_then(|()| backend.prepare(configuration, problem, self.memory))
            .with_context(cannot)?;
        if prepared.set_up(&watch).wait().with_context(cannot)? == Finished::Cancelled {
            return Ok(Err(Outcome::Interrupted));
        }
        if let (Some(choice), false) = (&prepared.costs().choice, self.quiet) {
            eprintln!("{}", choice::sentence(kernel.id, choice));
        }
        let Some(output) = prepared.output(&watch).wait()? else {
            return Ok(Err(Outcome::Interrupted));
        };
        let Some(check) = problem.check_watched(configuration, &output, &watch) else {
            return Ok(Err(Outcome::Interrupted));
        };
        if check.verdict != Verdict::Pass {
            eprintln!("error: {}; nothing was written", not_right(kernel.id, &check));
            return Ok(Err(Outcome::CheckFailed));
        }
        Ok(Ok(output.in_f64()))
    }

    /// Writes a result, replacing a file only with `force`.
    pub(super) fn write(&self, path: &Path, force: bool, result: &[f64]) -> anyhow::Result<()> {
        self.write_columns(path, force, result, (None, Order::RowMajor))
    }

    /// The same for a result of this many columns, given by rows. The order is that in a NumPy array.
    pub(super) fn write_columns(
        &self,
        path: &Path,
        force: bool,
        result: &[f64],
        (columns, order): (Option<usize>, Order),
    ) -> anyhow::Result<()> {
        let what = format!("writing {}", path.display());
        let width = columns.unwrap_or(1).max(1);
        watched(self.interrupt, self.quiet, &what, None, |progress| {
            save(path, overwrite(force), |out| match ends_in(path, "npy") {
                true => {
                    let limit = MemoryLimit::of_machine();
                    write_npy(result, columns, order, out, limit, progress)
                }
                false => vector::write_columns(result, width, out, progress),
            })
        })?;
        let numbers = match columns {
            Some(_) => {
                let rows = count((result.len() / width) as u64);
                format!("{rows} x {} numbers", count(width as u64))
            }
            None => counted(result.len(), "number", "numbers"),
        };
        say_written(path, self.quiet, &numbers);
        Ok(())
    }
}

/// How a result differs from the expected one.
#[derive(Debug, PartialEq)]
pub(super) struct Differences {
    pub(super) rows: usize,
    /// The number of rows that differ by more than allowed.
    pub(super) wrong: usize,
    /// The first of them: its index from 0, the actual and the expected value.
    pub(super) first: Option<(usize, f64, f64)>,
}

impl Differences {
    /// Finds the rows where |found − e| is more than `allowed(e)`. Equal infinities and two NaNs agree.
    pub(super) fn of(found: &[f64], expected: &[f64], allowed: impl Fn(f64) -> f64) -> Self {
        let differs = |&(_, found, e): &(usize, f64, f64)| {
            let agrees = found == e || (found.is_nan() && e.is_nan());
            let is_far = (found - e).abs() > allowed(e) || !(found.is_finite() && e.is_finite());
            !agrees && is_far
        };
        let rows = found.iter().zip(expected).enumerate();
        let mut wrong = rows.map(|(row, (&found, &e))| (row, found, e)).filter(differs);
        let first = wrong.next();
        let wrong = usize::from(first.is_some()) + wrong.count();
        Self { rows: found.len(), wrong, first }
    }

    /// One sentence about the rows that differ by more than `tol`, if any.
    pub(super) fn sentence(&self, tol: f64) -> Option<String> {
        let (row, found, e) = self.first?;
        let difference = (found - e).abs();
        let by = match difference.is_finite() {
            true => format!(" (off by {difference:.3e})"),
            false => String::new(),
        };
        let (row, wrong, rows) = (row + 1, self.wrong, self.rows);
        Some(format!(
            "row {row}: expected {e:e}, found {found:e}{by}; {wrong} of {rows} rows differ by more than {tol:e}"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_equal_classes_of_non_finite_rows_agree() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        let wrong = |y: &[f64], e: &[f64]| Differences::of(y, e, |_| 1e5).wrong;
        assert_eq!(wrong(&[inf, nan], &[inf, nan]), 0);
        for (y, e) in [(inf, -inf), (nan, 1.0), (1.0, nan), (inf, 1e300), (1e300, inf)] {
            assert_eq!(wrong(&[y], &[e]), 1, "{y} against {e}");
        }
    }

    #[test]
    fn the_first_wrong_row_is_named_from_one_with_the_number_of_others() {
        let found = Differences::of(&[0.0, 5.0, 6.0, 1.5], &[0.0, 1.0, 1.0, 1.0], |_| 0.5);
        assert_eq!(found, Differences { rows: 4, wrong: 2, first: Some((1, 5.0, 1.0)) });
        let message = found.sentence(0.5).unwrap();
        let expected =
            "row 2: expected 1e0, found 5e0 (off by 4.000e0); 2 of 4 rows differ by more than 5e-1";
        assert_eq!(message, expected);
        let infinite = Differences::of(&[f64::INFINITY], &[1.0], |_| 0.5).sentence(0.5).unwrap();
        assert!(infinite.starts_with("row 1: expected 1e0, found inf; 1 of 1 rows"), "{infinite}");
        assert_eq!(Differences::of(&[1.0], &[1.0], |_| 0.0).sentence(0.0), None);
    }

    #[test]
    fn a_kernel_of_another_operation_is_no_kernel_of_this_one() {
        assert!(kernel_of(Operation::Spmv, "cpu/csr/serial").is_ok());
        let other = kernel_of(Operation::Spmv, "cpu/symgs/serial").unwrap_err();
        assert!(other.to_string().starts_with("`cpu/symgs/serial` computes symgs, not spmv"));
    }
}
