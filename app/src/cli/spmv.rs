//! `sparsescope spmv`: one checked SpMV.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use sparsescope_core::experiment::{Configuration, MatrixSource, SpmvProblem};
use sparsescope_core::kernel::Op;
use sparsescope_core::kernel::parameters::{OP, SCALE};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Operation;

use super::interrupt::Interrupt;
use super::operand_args::SpmvArgs;
use super::operands::{
    Desk, Differences, RESULT_FORMS, check_stdin, kernel_of, on_all_gpus, threads,
};
use super::outcome::{Outcome, UsageError};
use super::output::{check_form, check_free};

pub(super) fn run(args: &SpmvArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    let kernel = kernel_of(Operation::Spmv, &args.kernel)?;
    let parameters =
        args.parameters.lists().single().ok_or_else(|| {
            UsageError("spmv takes one value per parameter, not a list".to_owned())
        })?;
    let parameters = on_all_gpus(kernel, kernel.listed(&parameters))?;
    if let Some(path) = &args.output {
        check_free(path, args.force)?;
        check_form(path, &RESULT_FORMS)?;
    }
    check_stdin(&[
        ("MATRIX", Some(Path::new(&args.matrix))),
        ("--x", args.x.as_deref()),
        ("--y", args.y.as_deref()),
        ("--expect", args.expect.as_deref()),
    ])?;
    let memory = MemoryLimit::of_machine();
    let desk = Desk { interrupt, quiet, memory };
    let source = args.read.of_matrix(MatrixSource::parse(&args.matrix)?)?;
    let a = desk.real_matrix(&source)?;
    SpmvProblem::check_vectors(&a, memory).with_context(|| format!("{source}"))?;
    let (rows, columns) = ((a.rows(), "rows"), (a.cols(), "columns"));
    let (of_x, of_y) = match parameters.get(&OP) {
        Op::AsIs => (columns, rows),
        Op::Transposed => (rows, columns),
    };
    let read = |option: &str, path: &Path, of| desk.vector(path, option, &source, of);
    let x = args.x.as_ref().map(|path| read("--x", path, of_x)).transpose()?;
    let y = args.y.as_ref().map(|path| read("--y", path, of_y)).transpose()?;
    let expected = args.expect.as_ref().map(|path| read("--expect", path, of_y)).transpose()?;
    if y.is_some() && parameters.get(&SCALE).beta == 0.0 {
        let sentence = "--y needs --scale ALPHA:BETA, with a BETA that is not 0";
        return Err(UsageError(sentence.to_owned()).into());
    }

    let mut problem = match (x, parameters.get(&OP)) {
        (None, _) => SpmvProblem::drawn(Arc::clone(&a), args.seed),
        (Some(x), Op::AsIs) => SpmvProblem::new(Arc::clone(&a), x),
        (Some(x), Op::Transposed) => SpmvProblem::with_transposed(Arc::clone(&a), x),
    };
    let threads = threads(kernel, args.threads);
    let block = kernel.takes.block.then_some(args.block_size);
    let precision = args.precision.map_or(Configuration::usual(kernel).precision, Into::into);
    let configuration =
        Configuration { precision, parameters, threads, block, ..Configuration::usual(kernel) };
    if let Some(y) = y {
        problem = problem.starting_with(&configuration, y);
    }
    match desk.product(&configuration, &problem, args.gpu.device, &source)? {
        Ok(y) => finish(args, &desk, &y, expected),
        Err(outcome) => Ok(outcome),
    }
}

/// Writes y, and compares it with the vector that is expected, if any.
pub(super) fn finish(
    args: &SpmvArgs,
    desk: &Desk<'_>,
    y: &[f64],
    expected: Option<Vec<f64>>,
) -> anyhow::Result<Outcome> {
    if let Some(path) = &args.output {
        desk.write(path, args.force, y)?;
    }
    match expected.map(|e| differences(y, &e, args.tol).sentence(args.tol)) {
        Some(Some(sentence)) => {
            eprintln!("error: {sentence}");
            Ok(Outcome::CheckFailed)
        }
        Some(None) => {
            eprintln!("all {} rows are within the tolerance {:e}", y.len(), args.tol);
            Ok(Outcome::Success)
        }
        None => Ok(Outcome::Success),
    }
}

/// Finds the rows where |y − e| > tol·max(1, |e|).
fn differences(y: &[f64], e: &[f64], tol: f64) -> Differences {
    Differences::of(y, e, |e| tol * e.abs().max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_is_relative_above_one_and_absolute_below() {
        let wrong = |y: &[f64], e: &[f64]| differences(y, e, 1e-5).wrong;
        assert_eq!(wrong(&[1e6 + 5.0, 1e-9], &[1e6, 0.0]), 0);
        assert_eq!(wrong(&[1e6 + 50.0], &[1e6]), 1);
        assert_eq!(wrong(&[2e-5], &[0.0]), 1);
    }
}
