//! `sparsescope solve`: one system by preconditioned conjugate gradients, its setup and its residuals.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use serde::Serialize;
use serde_json::{Map, Value};
use sparsescope_core::experiment::{
    Backend, Configuration, Finished, Given, MatrixSource, Output, Problem, Solution, SolveProblem,
};
use sparsescope_core::fsai::Fsai;
use sparsescope_core::io::vector::Companion;
use sparsescope_core::io::{Progress, matrix_market};
use sparsescope_core::kernel::parameters::{CG, PATTERN, PRECOND, RIGHT_SIDE, SET_UP, START};
use sparsescope_core::kernel::{Applied, KernelDescriptor, Parameter, Parameters, SetUpBy};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Operation, SetUpSizes, Spectrum, Verdict};

use super::interrupt::Interrupt;
use super::operand_args::SolveArgs;
use super::operands::{
    ARCHIVE, Desk, RESULT_FORMS, backend, check_stdin, kernel_of, on_all_gpus, option_of, threads,
};
use super::outcome::{Outcome, UsageError, not_right};
use super::output::{
    check_apart, check_form, check_result, executed, keep, overwrite, print_beside, print_json,
    save, say_written, watched,
};
use super::shared_args::BackendArg;
use super::table::{count, counted, seconds, three_digits};

/// The JSON value of `solve`.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    matrix: &'a str,
    rows: u64,
    nnz: u64,
    kernel: &'static str,
    backend: &'static str,
    threads: u32,
    params: BTreeMap<String, String>,
    iterations: u64,
    converged: bool,
    /// How the solve ended, as text.
    ended: String,
    tolerance: f64,
    b_norm: f64,
    initial_residual: Option<f64>,
    residual: Option<f64>,
    true_residual: Option<f64>,
    rounding_floor: Option<f64>,
    setup_seconds: f64,
    solve_seconds: Option<f64>,
    iteration_seconds: Option<f64>,
    /// Time to convert A into the format of the iterations.
    conversion_seconds: f64,
    /// In chronological order.
    phases: Map<String, Value>,
    nnz_g: Option<u64>,
    sizes: Option<SetUpSizes>,
    spectrum: Option<Spectrum>,
    /// Ascending.
    ritz: Vec<f64>,
    check: Check,
}

/// The result for one matrix.
struct Done<'a> {
    report: Report<'a>,
    solution: Box<Solution>,
    /// G, for the next matrix of the same pattern.
    factor: Option<Arc<Fsai>>,
}

pub(super) fn run(args: &SolveArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    let kernel = match (&args.kernel, args.backend) {
        (Some(id), _) => kernel_of(Operation::Solve, id)?,
        (None, Some(BackendArg::Cuda)) => kernel_of(Operation::Solve, "cuda/pcg/device")?,
        (None, Some(BackendArg::Wgpu)) => {
            let sentence = "no solver runs on wgpu; expected --backend cpu or cuda";
            return Err(UsageError(sentence.to_owned()).into());
        }
        (None, Some(BackendArg::Cpu) | None) => kernel_of(Operation::Solve, "cpu/pcg/threads")?,
    };
    let parameters = on_all_gpus(kernel, parameters(args, kernel)?)?;
    args.ranks.refuse()?;
    let files = || [&args.output, &args.history, &args.write_g].into_iter().flatten();
    match (args.matrices.len(), args.reuse_pattern) {
        (1, _) => {}
        (_, false) => {
            let sentence =
                "several matrices need --reuse-pattern, which uses one pattern for all of them";
            return Err(UsageError(sentence.to_owned()).into());
        }
        (_, true) if files().next().is_some() => {
            let sentence = "-o, --history and --write-g take one matrix, found several";
            return Err(UsageError(sentence.to_owned()).into());
        }
        (_, true) => {}
    }
    for path in files() {
        check_result(path, args.force, args.json)?;
    }
    check_forms(args)?;
    let mut inputs: Vec<_> =
        args.matrices.iter().map(|matrix| ("MATRIX", Some(Path::new(matrix)))).collect();
    inputs.extend([
        ("--b", Some(Path::new(&args.b))),
        ("--x0", Some(Path::new(&args.x0))),
        ("--pattern", Some(Path::new(&args.pattern))),
        ("--read-g", args.read_g.as_deref()),
    ]);
    check_stdin(&inputs)?;
    let desk = Desk { interrupt, quiet, memory: MemoryLimit::of_machine() };
    let backend = backend(kernel, args.gpu.device)?;
    let threads = threads(kernel, args.threads);
    let configuration = Configuration { parameters, threads, ..Configuration::usual(kernel) };
    let (mut kept, mut reports, mut outcome) = (None, Vec::new(), Outcome::Success);
    for matrix in &args.matrices {
        let done = solved(args, &desk, matrix, (&*backend, &configuration), kept.take())?;
        let Some(Done { report, solution, factor }) = done else { return Ok(Outcome::Interrupted) };
        kept = factor;
        match deliver(args, &desk, &report, (&solution, &solution.x))? {
            Outcome::Success => {}
            failed => outcome = failed,
        }
        reports.push(report);
    }
    match &reports[..] {
        _ if !args.json => {}
        [one] => print_json(one)?,
        several => print_json(&several)?,
    }
    Ok(outcome)
}

/// Prints a report for people, and writes the residuals and, if it is right, the solution x.
pub(super) fn deliver(
    args: &SolveArgs,
    desk: &Desk<'_>,
    report: &Report<'_>,
    (solution, x): (&Solution, &[f64]),
) -> anyhow::Result<Outcome> {
    if !args.json {
        let files = [&args.output, &args.history, &args.write_g].into_iter().flatten();
        print_beside(&report.for_people()?, files.map(PathBuf::as_path))?;
    }
    if let Some(path) = &args.history {
        keep(path, args.force, history(solution).as_bytes())?;
        let residuals = counted(solution.residuals.len(), "residual", "residuals");
        say_written(path, desk.quiet, &residuals);
    }
    if let Some((failed, sentence)) = report.failure() {
        eprintln!("error: {sentence}; no solution was written");
        return Ok(failed);
    }
    if let Some(path) = &args.output {
        desk.write(path, args.force, x)?;
    }
    Ok(Outcome::Success)
}

/// Sets up and solves for one matrix; nothing if interrupted.
fn solved<'a>(
    args: &'a SolveArgs,
    desk: &Desk<'_>,
    matrix: &'a str,
    (backend, configuration): (&dyn Backend, &Configuration),
    kept: Option<Arc<Fsai>>,
) -> anyhow::Result<Option<Done<'a>>> {
    let &Desk { interrupt, quiet, memory } = desk;
    let kernel = configuration.kernel;
    let source = args.read.of_matrix(MatrixSource::parse(matrix)?)?;
    let a = desk.real_matrix(&source)?;
    SolveProblem::check_vectors(&a, memory).with_context(|| format!("{source}"))?;
    let given = given(args, desk, &source, &a)?;
    let problem = watched(interrupt, quiet, "analyzing the matrix", None, |_| {
        SolveProblem::new(Arc::clone(&a), given)
    });
    let problem = problem.map_err(|sentence| anyhow!("cannot solve {source}: {sentence}"))?;
    let problem = if args.write_g.is_some() { problem.keeping_g() } else { problem };
    let problem = match kept {
        Some(factor) => problem.reusing(factor, args.keep_filter),
        None => problem,
    };

    let cannot = || format!("{} cannot run on {source}", kernel.id);
    let mut prepared = problem
        .admit(configuration)
        .and_then(|()| backend.prepare(configuration, &problem, memory))
        .with_context(cannot)?;
    let ready = executed(interrupt, quiet, "setting up", |watch| prepared.set_up(watch).wait());
    if ready.with_context(cannot)? == Finished::Cancelled {
        return Ok(None);
    }
    let factor = problem.factor();
    let g = problem.g();
    if let (Some(path), Some(g)) = (&args.write_g, &g) {
        let what = format!("writing {}", path.display());
        watched(interrupt, quiet, &what, None, |progress: Progress<'_>| {
            let force = overwrite(args.force);
            save(path, force, |out| matrix_market::write(g, out, progress))
        })?;
        say_written(path, quiet, &counted(g.nnz(), "nonzero", "nonzeros"));
    }
    let output = executed(interrupt, quiet, "iterating", |watch| prepared.output(watch).wait())?;
    let Some(output) = output else { return Ok(None) };
    let what = "recomputing the residual";
    let check = watched(interrupt, quiet, what, None, |_| problem.check(configuration, &output));
    let Output::Solution(solution) = output else {
        bail!("{} returned {}, expected a solution", kernel.id, output.kind());
    };
    let report = Report::of(
        (matrix, [a.rows() as u64, a.nnz() as u64]),
        configuration,
        (prepared.costs().conversion_s, prepared.once()),
        (&solution, check),
    );
    let report = report.with(prepared.params());
    Ok(Some(Done { report, solution, factor }))
}

/// The parameters from the arguments, one value each.
pub(super) fn parameters(
    args: &SolveArgs,
    kernel: &KernelDescriptor,
) -> anyhow::Result<Parameters> {
    let mut lists = args.parameters.lists().clone();
    for (parameter, text) in
        [(PATTERN.id(), &args.pattern), (RIGHT_SIDE.id(), &args.b), (START.id(), &args.x0)]
    {
        // Anything else is a file.
        if let Ok(word) = parameter.value(text) {
            lists.set(parameter, &[word])?;
        }
    }
    let single = lists.single().ok_or_else(|| {
        let sentence = "solve takes one value per parameter; `bench --operation solve` takes lists";
        UsageError(sentence.to_owned())
    })?;
    let is_asked = single.iter().any(|(parameter, _)| parameter == CG.id());
    if is_asked && kernel.allowed(CG.id()).is_none() {
        let sentence = "--cg applies only to solves on several ranks";
        return Err(UsageError(sentence.to_owned()).into());
    }
    let is_fsai = single.get(&PRECOND) == Applied::Fsai;
    let wants_factor = args.read_g.is_some() || args.write_g.is_some() || args.reuse_pattern;
    if !is_fsai && wants_factor {
        let sentence = "--read-g, --write-g and --reuse-pattern apply only to --precond fsai";
        return Err(UsageError(sentence.to_owned()).into());
    }
    if !(args.reuse_pattern && kernel.allowed(SET_UP.id()).is_some()) {
        return Ok(kernel.in_effect(&single));
    }
    let is_named = single.iter().any(|(parameter, _)| parameter == SET_UP.id());
    if is_named && single.get(&SET_UP) != SetUpBy::Processor {
        let sentence = "--reuse-pattern needs setup on the CPU: --set-up processor";
        return Err(UsageError(sentence.to_owned()).into());
    }
    Ok(kernel.in_effect(&single.with(SET_UP.id(), SetUpBy::Processor.as_str())))
}

/// The files that the arguments name.
fn given(
    args: &SolveArgs,
    desk: &Desk<'_>,
    source: &MatrixSource,
    a: &Csr,
) -> anyhow::Result<Given> {
    let rows = a.rows();
    let vector = |parameter: Parameter, which, (text, column): (&String, Option<u32>)| {
        let is_file = parameter.value(text).is_err();
        if !is_file && column.is_some() {
            let option = option_of(which);
            let sentence = format!(
                "{option}-column needs {option} FILE or {option} {ARCHIVE}, found {option} {text}"
            );
            return Err(UsageError(sentence).into());
        }
        let read = is_file.then(|| desk.side(which, (Path::new(text), column), source, rows));
        anyhow::Ok(read.transpose()?.map(Arc::new))
    };
    let matrix = |what: &str, text: &str| {
        let of = desk.real_matrix(&MatrixSource::parse(text)?)?;
        let (found, cols) = (of.rows(), of.cols());
        match (found, cols) == (rows, rows) {
            true => Ok(of),
            false => Err(anyhow!("{what} is {found} x {cols}, but {source} has {rows} rows")),
        }
    };
    let has_factor =
        |parameter: Parameter| args.read_g.is_none() && parameter.value(&args.pattern).is_err();
    let pattern = has_factor(PATTERN.id()).then(|| matrix("the pattern", &args.pattern));
    let factor = args.read_g.as_ref().map(|path| matrix("G", &path.to_string_lossy()));
    Ok(Given {
        b: vector(RIGHT_SIDE.id(), Companion::RightSide, (&args.b, args.b_column))?,
        start: vector(START.id(), Companion::Start, (&args.x0, args.x0_column))?,
        pattern: pattern.transpose()?,
        factor: factor.transpose()?,
    })
}

/// Fails if a file name implies a format that is not written, or if two files are the same.
pub(super) fn check_forms(args: &SolveArgs) -> Result<(), UsageError> {
    let files = [("-o", &args.output), ("--history", &args.history), ("--write-g", &args.write_g)];
    let named = files.iter().filter_map(|(option, path)| Some((*option, path.as_deref()?)));
    check_apart(&named.collect::<Vec<_>>())?;
    let check = |path: &Option<PathBuf>, forms: &[&str]| {
        path.iter().try_for_each(|path| check_form(path, forms))
    };
    check(&args.output, &RESULT_FORMS)?;
    check(&args.history, &["CSV"])?;
    check(&args.write_g, &["Matrix Market"])
}

/// The residuals as CSV, each with its iteration.
fn history(solution: &Solution) -> String {
    let lines = solution.residuals.iter().enumerate();
    let lines: Vec<String> = lines.map(|(k, residual)| format!("{k},{residual:e}\n")).collect();
    format!("iteration,relative_residual\n{}", lines.concat())
}

impl<'a> Report<'a> {
    /// The report for a matrix with this many rows and nonzeros, with the times to convert A and to solve.
    pub(super) fn of(
        (matrix, [rows, nnz]): (&'a str, [u64; 2]),
        configuration: &Configuration,
        (conversion_seconds, solve_seconds): (f64, Option<f64>),
        (solution, check): (&Solution, Check),
    ) -> Self {
        let solve = solution.solve.clone();
        let solve_seconds = solve_seconds.filter(|_| !check.undecided);
        let iterations = Some(solve.iterations as f64).filter(|iterations| *iterations > 0.0);
        let phases = solve.phases.into_iter().map(|phase| (phase.name, phase.seconds.into()));
        Self {
            matrix,
            rows,
            nnz,
            kernel: configuration.kernel.id,
            backend: configuration.kernel.device.as_str(),
            threads: configuration.threads,
            params: BTreeMap::new(),
            iterations: solve.iterations,
            converged: solve.converged,
            ended: solve.ended,
            tolerance: solve.tolerance,
            b_norm: solve.b_norm,
            initial_residual: solve.initial_residual,
            residual: solve.residual,
            true_residual: solve.true_residual,
            rounding_floor: solve.rounding_floor,
            setup_seconds: solve.setup_s,
            solve_seconds,
            iteration_seconds: solve_seconds.zip(iterations).map(|(all, number)| all / number),
            conversion_seconds,
            phases: phases.collect(),
            nnz_g: solve.sizes.map(|sizes| sizes.factor),
            sizes: solve.sizes,
            spectrum: solve.spectrum,
            ritz: solution.ritz.clone(),
            check,
        }
    }

    /// The same with the parameters in force.
    pub(super) fn with(self, params: BTreeMap<String, String>) -> Self {
        Self { params, ..self }
    }

    /// How the command ends and why, if there is no solution.
    pub(super) fn failure(&self) -> Option<(Outcome, String)> {
        match (self.check.verdict, self.converged) {
            (Verdict::Pass, _) => None,
            (_, false) => {
                Some((Outcome::Incomplete, self.check.reason.clone().unwrap_or_default()))
            }
            (_, true) => Some((Outcome::CheckFailed, not_right(self.kernel, &self.check))),
        }
    }

    pub(super) fn for_people(&self) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        writeln!(out, "{}: {} rows, {} nonzeros", self.matrix, count(self.rows), count(self.nnz))?;
        match self.backend {
            "cuda" | "nccl" => writeln!(out, "kernel     {}", self.kernel)?,
            _ => {
                let workers = counted(self.threads as usize, "thread", "threads");
                writeln!(out, "kernel     {}, {workers}", self.kernel)?;
            }
        }
        let params: Vec<String> =
            self.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
        writeln!(out, "parameters {}", params.join(", "))?;
        if self.conversion_seconds > 0.0 {
            writeln!(out, "conversion {}", seconds(self.conversion_seconds))?;
        }
        writeln!(out, "setup      {}", seconds(self.setup_seconds))?;
        let widest = self.phases.keys().map(|name| name.len()).max().unwrap_or_default();
        for (name, time) in &self.phases {
            let time = time.as_f64().unwrap_or_default();
            let share = 100.0 * time / self.setup_seconds.max(f64::MIN_POSITIVE);
            writeln!(out, "  {name:widest$}  {:>9}  {share:3.0} %", seconds(time))?;
        }
        if let Some(sizes) = &self.sizes {
            let SetUpSizes { prefiltered, pattern, before_filter, factor, systems, largest } =
                *sizes;
            let of_a = three_digits(factor as f64 / self.nnz.max(1) as f64);
            writeln!(out, "nonzeros   G {}, {of_a} times those of A", count(factor))?;
            if systems > 0 {
                let [prefiltered, pattern, before] =
                    [prefiltered, pattern, before_filter].map(count);
                writeln!(
                    out,
                    "           filtered A {prefiltered}, pattern {pattern}, G before filtering {before}"
                )?;
                writeln!(out, "systems    {}, largest {} rows", count(systems), count(largest))?;
            }
        }
        let iterations = counted(self.iterations as usize, "iteration", "iterations");
        let time = match (self.solve_seconds, self.iteration_seconds) {
            (Some(all), Some(one)) => format!(" in {}, {} each", seconds(all), seconds(one)),
            (Some(all), None) => format!(" in {}", seconds(all)),
            _ => String::new(),
        };
        writeln!(out, "solve      {iterations}{time}")?;
        let number = |residual: Option<f64>| {
            residual.map_or_else(|| "not finite".to_owned(), |r| format!("{r:.3e}"))
        };
        let [before, after, real, floor] =
            [self.initial_residual, self.residual, self.true_residual, self.rounding_floor]
                .map(number);
        if self.b_norm > 0.0 {
            writeln!(
                out,
                "residual   {before} before, {after} after, relative to b ({:.3e})",
                self.b_norm
            )?;
            writeln!(out, "           {real} recomputed from x, rounding explains up to {floor}")?;
        }
        if let Some(spectrum) = &self.spectrum {
            let condition = three_digits(spectrum.condition);
            let steps = counted(spectrum.steps as usize, "iteration", "iterations");
            writeln!(out, "condition  at least {condition}, estimated from {steps}")?;
        }
        writeln!(out, "ended      {}", self.ended)?;
        writeln!(out, "check      {}", self.check.as_str())?;
        if let (true, Some(reason)) = (self.check.limited_by_rounding, &self.check.reason) {
            writeln!(out, "           {reason}")?;
        }
        Ok(out)
    }
}
