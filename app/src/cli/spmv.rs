//! `sparsescope spmv`: one checked product.

use std::sync::Arc;

use anyhow::{Context, bail};
use sparsescope_core::experiment::{
    Backend, Configuration, CpuBackend, LoadedValues, MatrixSource, Output, Problem, SpmvProblem,
    Watch,
};
use sparsescope_core::io::{Progress, open_vector, save, vector};
use sparsescope_core::kernel::{DeviceKind, kernel};
use sparsescope_core::measure::integer_vector;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::Verdict;

use super::args::SpmvArgs;
use super::gpu;
use super::interrupt::Interrupt;
use super::outcome::{Outcome, UsageError};
use super::output::{check_free, file_size, overwrite, watched};

pub(super) fn run(args: &SpmvArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    let kernel = kernel(&args.kernel).ok_or_else(|| {
        let id = &args.kernel;
        UsageError(format!("there is no kernel `{id}`; `sparsescope kernels` lists them all"))
    })?;
    let parameters = args.format.lists()?.single().ok_or_else(|| {
        UsageError("a single product takes one value of each parameter, not a list".to_owned())
    })?;
    let parameters = kernel.listed(&parameters);
    if let Some(path) = &args.output {
        check_free(path, args.force)?;
    }
    let memory = MemoryLimit::of_machine();
    let source = MatrixSource::parse(&args.matrix)?;
    let total = match &source {
        MatrixSource::File(path) => file_size(path),
        _ => None,
    };
    let a = watched(interrupt, quiet, &format!("reading {source}"), total, |progress| {
        source.load_values(memory, progress, interrupt.flag())
    })?;
    for warning in &a.warnings {
        eprintln!("warning: {warning}");
    }
    let LoadedValues::Real(a) = a.values else {
        bail!("{source} is complex; kernels compute with real matrices only");
    };
    let x = match &args.x {
        Some(path) => open_vector(path, memory, Progress::none().cancelled_by(interrupt.flag()))?,
        None => integer_vector(a.cols(), args.seed),
    };
    if x.len() != a.cols() {
        bail!("x has {} elements, but {source} has {} columns", x.len(), a.cols());
    }
    let expected = match &args.expect {
        Some(path) => {
            let e = open_vector(path, memory, Progress::none().cancelled_by(interrupt.flag()))?;
            if e.len() != a.rows() {
                bail!(
                    "{} has {} elements, but {source} has {} rows",
                    path.display(),
                    e.len(),
                    a.rows()
                );
            }
            Some(e)
        }
        None => None,
    };

    let problem = Problem::Spmv(SpmvProblem::new(Arc::clone(&a), x));
    let backend: Box<dyn Backend> = match kernel.device {
        DeviceKind::Cpu => Box::new(CpuBackend::new()),
        DeviceKind::Cuda => {
            gpu::open(args.gpu.device).with_context(|| format!("{} cannot run here", kernel.id))?
        }
    };
    let threads = match (kernel.takes.threads, args.threads) {
        (false, _) => 1,
        (true, Some(threads)) => threads,
        (true, None) => default_threads(),
    };
    let block = kernel.takes.block.then_some(args.block_size);
    let precision = args.precision.into();
    let configuration =
        Configuration { precision, parameters, threads, block, ..Configuration::usual(kernel) };
    let mut prepared = problem
        .admit(&configuration)
        .and_then(|()| backend.prepare(&configuration, &problem, memory))
        .with_context(|| format!("{} cannot run on {source}", kernel.id))?;
    let Some(output) = prepared.output(&Watch::cancelled_by(interrupt.flag()))? else {
        return Ok(Outcome::Interrupted);
    };
    let check = problem.check(&configuration, &output);
    if check.verdict != Verdict::Pass {
        let reason = check.reason.unwrap_or_default();
        eprintln!("error: {} computed a wrong result: {reason}; nothing was written", kernel.id);
        return Ok(Outcome::CheckFailed);
    }
    let y = match output {
        Output::Vector(y) => y,
        Output::Single(y) => y.into_iter().map(f64::from).collect(),
    };
    if let Some(path) = &args.output {
        save(path, overwrite(args.force), |out| {
            vector::write(&y, out, Progress::none().cancelled_by(interrupt.flag()))
        })?;
    }
    match expected.map(|e| compare(&y, &e, args.tol)) {
        Some(Some(difference)) => {
            eprintln!("error: {difference}");
            Ok(Outcome::CheckFailed)
        }
        Some(None) => {
            eprintln!("all {} rows are within the tolerance {:e}", y.len(), args.tol);
            Ok(Outcome::Success)
        }
        None => Ok(Outcome::Success),
    }
}

/// All that the machine has.
fn default_threads() -> u32 {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    u32::try_from(all).unwrap_or(u32::MAX)
}

/// One sentence about the rows where |y − e| > tol·max(1, |e|), if there are any. Equal infinities
/// and two NaNs agree.
fn compare(y: &[f64], e: &[f64], tol: f64) -> Option<String> {
    let differs = |&(_, (&y, &e)): &(usize, (&f64, &f64))| {
        let agrees = y == e || (y.is_nan() && e.is_nan());
        !agrees && ((y - e).abs() > tol * e.abs().max(1.0) || !(y.is_finite() && e.is_finite()))
    };
    let mut wrong = y.iter().zip(e).enumerate().filter(differs);
    let (row, (y_row, e_row)) = wrong.next()?;
    let others = wrong.count();
    Some(format!(
        "row {} is {y_row:e} where {e_row:e} is expected, and {others} more rows of {} differ by more than {tol:e}",
        row + 1,
        y.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tolerance_is_relative_above_one_and_absolute_below() {
        assert_eq!(compare(&[1e6 + 5.0, 1e-9], &[1e6, 0.0], 1e-5), None);
        assert!(compare(&[1e6 + 50.0], &[1e6], 1e-5).is_some());
        assert!(compare(&[2e-5], &[0.0], 1e-5).is_some());
    }

    #[test]
    fn only_equal_classes_of_non_finite_rows_agree() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        assert_eq!(compare(&[inf, nan], &[inf, nan], 1.0), None);
        for (y, e) in [(inf, -inf), (nan, 1.0), (1.0, nan), (inf, 1e300), (1e300, inf)] {
            assert!(compare(&[y], &[e], 1e5).is_some(), "{y} against {e}");
        }
    }

    #[test]
    fn the_first_wrong_row_is_named_from_one_with_the_number_of_others() {
        let message = compare(&[0.0, 5.0, 6.0], &[0.0, 1.0, 1.0], 1e-5).unwrap();
        assert!(message.starts_with("row 2 is 5e0 where 1e0 is expected, and 1 more"), "{message}");
    }
}
