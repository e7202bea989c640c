//! `sparsescope spmm`: one checked product of a matrix with several vectors.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use sparsescope_core::experiment::{Configuration, MatrixSource, SpmmProblem, SpmvProblem};
use sparsescope_core::io::dense::DenseFile;
use sparsescope_core::io::open_dense;
use sparsescope_core::kernel::MOST_VECTORS;
use sparsescope_core::kernel::parameters::VECTORS;
use sparsescope_core::matrix::Order;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Operation;

use super::interrupt::Interrupt;
use super::operand_args::SpmmArgs;
use super::operands::{Desk, RESULT_FORMS, check_stdin, kernel_of, threads, warn};
use super::outcome::{Outcome, UsageError};
use super::output::{check_form, check_free, file_size, watched};

pub(super) fn run(args: &SpmmArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    if args.op.is_some() {
        let sentence = "spmm computes only A X and has no --op: `spmv --op t` multiplies one vector by the transpose of A";
        return Err(UsageError(sentence.to_owned()).into());
    }
    let kernel = kernel_of(Operation::Spmm, &args.kernel)?;
    let mut parameters =
        args.parameters.lists().single().ok_or_else(|| {
            UsageError("spmm takes one value per parameter, not a list".to_owned())
        })?;
    check_free(&args.output, args.force)?;
    check_form(&args.output, &RESULT_FORMS)?;
    check_stdin(&[("MATRIX", Some(Path::new(&args.matrix))), ("--x", args.x.as_deref())])?;
    let memory = MemoryLimit::of_machine();
    let desk = Desk { interrupt, quiet, memory };
    let source = args.read.of_matrix(MatrixSource::parse(&args.matrix)?)?;
    let a = desk.real_matrix(&source)?;
    SpmvProblem::check_vectors(&a, memory).with_context(|| format!("{source}"))?;
    let read = |path| read_x(path, (&source, a.cols()), &desk);
    let x = args.x.as_deref().map(read).transpose()?;
    let order = x.as_ref().map_or(Order::RowMajor, |x| x.order);
    let problem = match x {
        Some(x) => {
            parameters = parameters.with(VECTORS.id(), &x.cols.to_string());
            SpmmProblem::given(Arc::clone(&a), x.cols, x.values)
        }
        None => SpmmProblem::drawn(Arc::clone(&a), args.seed),
    };
    let configuration = Configuration {
        precision: args.precision.into(),
        parameters: kernel.listed(&parameters),
        threads: threads(kernel, args.threads),
        block: kernel.takes.block.then_some(args.block_size),
        ..Configuration::usual(kernel)
    };
    let y = match desk.product(&configuration, &problem, args.gpu.device, &source)? {
        Ok(y) => y,
        Err(outcome) => return Ok(outcome),
    };
    let columns = SpmmProblem::vectors(&configuration);
    desk.write_columns(&args.output, args.force, &y, (Some(columns), order))?;
    Ok(Outcome::Success)
}

/// Reads X, which must have as many rows as A has columns.
fn read_x(
    path: &Path,
    (source, columns): (&MatrixSource, usize),
    desk: &Desk<'_>,
) -> anyhow::Result<DenseFile> {
    let mut unfit = String::new();
    let mut fits = |rows: u64, cols: u64| {
        if rows != columns as u64 {
            unfit = format!("--x has {rows} rows, but {source} has {columns} columns");
        } else if !(1..=u64::from(MOST_VECTORS)).contains(&cols) {
            unfit = format!("--x has {cols} columns, expected 1 to {MOST_VECTORS}");
        }
        unfit.is_empty()
    };
    let what = format!("reading {}", path.display());
    let read = watched(desk.interrupt, desk.quiet, &what, file_size(path), |progress| {
        open_dense(path, &mut fits, desk.memory, progress)
    })?;
    let file = read.ok_or(UsageError(unfit))?;
    warn(path, &file.warnings);
    Ok(file)
}
