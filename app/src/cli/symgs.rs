//! `sparsescope symgs`: symmetric Gauss–Seidel sweeps over one system, checked.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use serde::Serialize;
use sparsescope_core::experiment::{
    Configuration, Groups, MatrixSource, Output, Prepared, Problem, SymgsProblem, SymgsSide,
};
use sparsescope_core::io::vector::Companion;
use sparsescope_core::kernel::Parameters;
use sparsescope_core::kernel::parameters::MODE;
use sparsescope_core::matrix::{Csr, Real};
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Operation, Precision, Verdict};
use sparsescope_core::symgs::{Mode, relative_residual, right_hand_side, starting_vector};

use super::interrupt::Interrupt;
use super::operand_args::SymgsArgs;
use super::operands::{
    Desk, Differences, RESULT_FORMS, backend, check_precision, check_stdin, kernel_of, threads,
    workers,
};
use super::outcome::{Outcome, not_right};
use super::output::{check_form, check_result, executed, print_beside, print_json, watched};
use super::table::{count, counted, seconds};

/// The JSON value of `symgs`.
#[derive(Serialize)]
struct Report<'a> {
    matrix: &'a str,
    rows: u64,
    nnz: u64,
    kernel: &'static str,
    backend: &'static str,
    precision: Precision,
    mode: &'static str,
    threads: u32,
    block: Option<u32>,
    sweeps: u32,
    /// Dependency levels of the forward and the backward sweep, for kernels that use them.
    levels: Option<[usize; 2]>,
    /// Number of colours, for kernels that use them.
    colors: Option<usize>,
    /// Time for the analysis, reordering the rows, and permuting b and x forth and x back.
    plan_seconds: f64,
    conversion_seconds: f64,
    permute_seconds: Option<f64>,
    /// Time of all sweeps together.
    seconds: Option<f64>,
    /// ‖b − A·x‖ / ‖b‖ before and after, in standard mode.
    residual: Option<[f64; 2]>,
    check: Check,
    expected: Option<Expected>,
}

/// How the result compares with the expected one.
#[derive(Serialize)]
struct Expected {
    tolerance: f64,
    /// Elements that differ by more than allowed.
    wrong: usize,
    percent_right: f64,
    /// The first of them.
    first: Option<First>,
}

/// An element that differs from the expected value.
#[derive(Serialize)]
struct First {
    /// Row number, from 1.
    row: usize,
    found: f64,
    expected: f64,
}

pub(super) fn run(args: &SymgsArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    let kernel = kernel_of(Operation::Symgs, &args.kernel)?;
    if let Some(path) = &args.output {
        check_result(path, args.force, args.json)?;
        check_form(path, &RESULT_FORMS)?;
    }
    check_stdin(&[
        ("MATRIX", Some(Path::new(&args.matrix))),
        ("--b", args.b.as_deref()),
        ("--x0", args.x0.as_deref()),
        ("--expect", args.expect.as_deref()),
    ])?;
    let memory = MemoryLimit::of_machine();
    let desk = Desk { interrupt, quiet, memory };
    let source = args.read.of_matrix(MatrixSource::parse(&args.matrix)?)?;
    let (problem, a, expected) = system(args, &desk, &source)?;

    let configuration = Configuration {
        precision: args.precision.into(),
        parameters: Parameters::default().with(MODE.id(), &args.mode),
        threads: threads(kernel, args.threads),
        block: kernel.takes.block.then_some(args.block_size),
        ..Configuration::usual(kernel)
    };
    check_precision(&configuration)?;
    let backend = backend(kernel, args.gpu.device)?;
    let mut prepared = watched(interrupt, quiet, "preparing the rows", None, |_| {
        problem
            .admit(&configuration)
            .and_then(|()| backend.prepare(&configuration, &problem, memory))
            .with_context(|| format!("{} cannot run on {source}", kernel.id))
    })?;
    let what = counted(args.sweeps as usize, "symmetric sweep", "symmetric sweeps");
    let Some(output) = executed(interrupt, quiet, &what, |watch| prepared.output(watch).wait())?
    else {
        return Ok(Outcome::Interrupted);
    };
    let check = watched(interrupt, quiet, "checking against the serial loops", None, |_| {
        problem.check(&configuration, &output)
    });
    if interrupt.raised() {
        return Ok(Outcome::Interrupted);
    }
    let residual = residuals(&configuration, &problem, memory, &output)?;
    let x = output.in_f64();
    let differences = expected.map(|expected| Differences::of(&x, &expected, |_| args.tol));
    let report = Report {
        residual,
        check,
        expected: differences.as_ref().map(|found| Expected::of(found, args.tol)),
        ..Report::of(args, &a, &configuration, &*prepared)
    };
    match args.json {
        true => print_json(&report)?,
        false => print_beside(&report.for_people()?, args.output.as_deref())?,
    }
    if report.check.verdict != Verdict::Pass {
        eprintln!("error: {}; nothing was written", not_right(kernel.id, &report.check));
        return Ok(Outcome::CheckFailed);
    }
    if let Some(path) = &args.output {
        desk.write(path, args.force, &x)?;
    }
    match differences.and_then(|found| found.sentence(args.tol)) {
        Some(sentence) => {
            eprintln!("error: {sentence}");
            Ok(Outcome::CheckFailed)
        }
        None => Ok(Outcome::Success),
    }
}

/// The system from the arguments, its matrix, and the expected result.
fn system(
    args: &SymgsArgs,
    desk: &Desk<'_>,
    source: &MatrixSource,
) -> anyhow::Result<(SymgsProblem, Arc<Csr>, Option<Vec<f64>>)> {
    let a = desk.real_matrix(source)?;
    SymgsProblem::check_vectors(&a, desk.memory).with_context(|| format!("{source}"))?;
    let rows = a.rows();
    let b = match &args.b {
        Some(path) => {
            desk.side(Companion::RightSide, (path.as_path(), args.b_column), source, rows)?
        }
        None => right_hand_side(rows, args.seed),
    };
    let start = match &args.x0 {
        Some(path) => {
            desk.side(Companion::Start, (path.as_path(), args.x0_column), source, rows)?
        }
        None => starting_vector(rows, args.seed),
    };
    let expected = args.expect.as_ref();
    let expected = expected.map(|path| desk.vector(path, "--expect", source, (rows, "rows")));
    let expected = expected.transpose()?;
    let problem = SymgsProblem::with_sweeps(Arc::clone(&a), b, start, args.sweeps);
    let problem = problem.map_err(|sentence| anyhow!("cannot sweep {source}: {sentence}"))?;
    Ok((problem, a, expected))
}

/// ‖b − A·x‖ / ‖b‖ before the first sweep and after the last; none in smoother mode, whose sweeps do not
/// solve for b, or if one of them is not finite.
fn residuals(
    configuration: &Configuration,
    problem: &SymgsProblem,
    memory: MemoryLimit,
    output: &Output,
) -> anyhow::Result<Option<[f64; 2]>> {
    fn of<T: Real>(side: &SymgsSide<T>, x: &[T]) -> [f64; 2] {
        [side.start(), x].map(|x| relative_residual(side.a(), side.b(), x))
    }
    if configuration.parameters.get(&MODE) == Mode::Smoother {
        return Ok(None);
    }
    let residuals = match output {
        Output::Vector(x) => of(problem.double(), x),
        Output::Single(x) => of(&*problem.single(memory)?, x),
        Output::Sweep(both) => {
            let [x, _] = &**both;
            return residuals(configuration, problem, memory, x);
        }
        Output::Points(_) | Output::Solution(_) | Output::Systems(_) => return Ok(None),
    };
    Ok(Some(residuals).filter(|both| both.iter().all(|residual| residual.is_finite())))
}

impl<'a> Report<'a> {
    /// The report as far as it does not depend on the result.
    fn of(
        args: &'a SymgsArgs,
        a: &Csr,
        configuration: &Configuration,
        prepared: &dyn Prepared,
    ) -> Self {
        let Configuration { kernel, precision, threads, block, .. } = *configuration;
        let (levels, colors) = match prepared.groups() {
            Some(Groups::Levels(levels)) => (Some(levels), None),
            Some(Groups::Colors(colors)) => (None, Some(colors)),
            None => (None, None),
        };
        let costs = prepared.costs();
        Self {
            matrix: &args.matrix,
            rows: a.rows() as u64,
            nnz: a.nnz() as u64,
            kernel: kernel.id,
            backend: kernel.device.as_str(),
            precision,
            mode: configuration.parameters.get(&MODE).as_str(),
            threads,
            block,
            sweeps: args.sweeps,
            levels,
            colors,
            plan_seconds: costs.plan_s,
            conversion_seconds: costs.conversion_s,
            permute_seconds: costs.permute_s,
            seconds: prepared.once(),
            residual: None,
            check: Check::default(),
            expected: None,
        }
    }

    fn for_people(&self) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        writeln!(out, "{}: {} rows, {} nonzeros", self.matrix, count(self.rows), count(self.nnz))?;
        let workers = workers(self.backend, self.threads, self.block);
        let (kernel, precision, mode) = (self.kernel, self.precision.as_str(), self.mode);
        writeln!(out, "kernel    {kernel}, {precision}, {mode}{workers}")?;
        if let Some([ascending, descending]) = self.levels {
            let [up, down] = [ascending, descending].map(|levels| count(levels as u64));
            writeln!(out, "levels    {up} ascending, {down} descending")?;
        }
        if let Some(colors) = self.colors {
            writeln!(out, "colours   {}", count(colors as u64))?;
        }
        if self.plan_seconds + self.conversion_seconds > 0.0 {
            let [plan, rows] = [self.plan_seconds, self.conversion_seconds].map(seconds);
            write!(out, "setup     analysis {plan}, row reordering {rows}")?;
            let vectors =
                self.permute_seconds.map(|s| format!(", permuting b and x {}", seconds(s)));
            writeln!(out, "{}", vectors.unwrap_or_default())?;
        }
        let sweeps = counted(self.sweeps as usize, "symmetric sweep", "symmetric sweeps");
        let time = match self.seconds {
            Some(all) if self.sweeps > 1 => {
                format!(" in {}, {} each", seconds(all), seconds(all / f64::from(self.sweeps)))
            }
            Some(all) => format!(" in {}", seconds(all)),
            None => String::new(),
        };
        writeln!(out, "sweeps    {sweeps}{time}")?;
        if let Some([before, after]) = self.residual {
            writeln!(out, "residual  {before:.3e} before, {after:.3e} after, relative to b")?;
        }
        writeln!(out, "check     {}", self.check.verdict.as_str())?;
        if let Some(expected) = &self.expected {
            let Expected { tolerance, wrong, percent_right, first } = expected;
            let wrong = counted(*wrong, "element", "elements");
            // Rounded down, so that 100 means all are right.
            let right = (percent_right * 1e4).floor() / 1e4;
            write!(out, "expected  {right} % within {tolerance:e}, {wrong} outside")?;
            match first {
                Some(First { row, found, expected }) => {
                    writeln!(out, "; row {row}: expected {expected:e}, found {found:e}")?;
                }
                None => writeln!(out)?,
            }
        }
        Ok(out)
    }
}

impl Expected {
    fn of(found: &Differences, tolerance: f64) -> Self {
        let right = found.rows - found.wrong;
        let percent_right =
            if found.rows == 0 { 100.0 } else { 100.0 * right as f64 / found.rows as f64 };
        let first =
            found.first.map(|(row, found, expected)| First { row: row + 1, found, expected });
        Self { tolerance, wrong: found.wrong, percent_right, first }
    }
}
