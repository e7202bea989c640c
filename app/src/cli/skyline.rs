//! `sparsescope skyline`: the certified skyline (Pareto front) of a point set.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;
use sparsescope_core::experiment::{Configuration, Output, PointsSource, Problem, SkylineProblem};
use sparsescope_core::io::points::{self, PointsForm, PointsTaken};
use sparsescope_core::matrix::Points;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Operation, Verdict};

use super::interrupt::Interrupt;
use super::operand_args::SkylineArgs;
use super::operands::{backend, kernel_of, threads};
use super::outcome::{Outcome, UsageError, not_right};
use super::output::{
    check_result, executed, file_size, overwrite, points_form, print_beside, print_json, save,
    watched,
};
use super::table::{count, counted, seconds};

/// The JSON value of `skyline`.
#[derive(Serialize)]
struct Report<'a> {
    points: &'a str,
    /// What was read from a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Read<'a>>,
    n: u64,
    d: u64,
    /// Number of skyline points.
    k: u64,
    kernel: &'static str,
    backend: &'static str,
    threads: u32,
    block: Option<u32>,
    minimized: bool,
    /// Time of the kernel alone.
    seconds: Option<f64>,
    /// Time including reading or generating the points and preparation, without the check.
    total_seconds: f64,
    comparisons: u64,
    check: Check,
}

/// What was read from a file of points.
#[derive(Serialize)]
struct Read<'a> {
    form: &'static str,
    separator: Option<&'static str>,
    decimal_comma: bool,
    header: Option<&'a [String]>,
    /// The same as text.
    #[serde(skip)]
    words: String,
}

impl<'a> Read<'a> {
    fn of(taken: &'a PointsTaken) -> Self {
        let &PointsTaken { form, separator, decimal_comma, ref header } = taken;
        Self { form, separator, decimal_comma, header: header.as_deref(), words: taken.to_string() }
    }
}

pub(super) fn run(
    args: &SkylineArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    let kernel = kernel_of(Operation::Skyline, &args.kernel)?;
    let form = match &args.output {
        Some(path) => {
            check_result(path, args.force, args.json)?;
            written_form(path, args.paper_format)?
        }
        None => PointsForm::Exact,
    };
    let memory = MemoryLimit::of_machine();
    let source = PointsSource::parse(&args.points)?.with_header(args.header.line());
    let begun = Instant::now();
    let (points, taken) = read(&source, memory, interrupt, quiet)?;
    let compared = match args.minimize {
        true => Arc::new(points.negated()),
        false => Arc::clone(&points),
    };
    let problem = Problem::Skyline(SkylineProblem::new(compared));

    let backend = backend(kernel, args.gpu.device)?;
    let configuration = Configuration {
        threads: threads(kernel, args.threads),
        block: kernel.takes.block.then_some(args.block_size),
        ..Configuration::usual(kernel)
    };
    let mut prepared = problem
        .admit(&configuration)
        .and_then(|()| backend.prepare(&configuration, &problem, memory))
        .with_context(|| format!("{} cannot run on {source}", kernel.id))?;
    let output =
        executed(interrupt, quiet, "comparing points", |watch| prepared.output(watch).wait())?;
    let Some(output) = output else { return Ok(Outcome::Interrupted) };
    let total_seconds = begun.elapsed().as_secs_f64();
    let what = "certifying the skyline";
    let check = watched(interrupt, quiet, what, None, |_| problem.check(&configuration, &output));
    if interrupt.raised() {
        return Ok(Outcome::Interrupted);
    }
    let kept = match output {
        Output::Points(ref found) => found.indices.as_slice(),
        Output::Vector(_) | Output::Single(_) | Output::Solution(_) | Output::Systems(_) => &[],
    };
    let report = Report {
        points: &args.points,
        read: taken.as_ref().map(Read::of),
        n: points.len() as u64,
        d: points.dimensions() as u64,
        k: kept.len() as u64,
        kernel: kernel.id,
        backend: kernel.device.as_str(),
        threads: configuration.threads,
        block: configuration.block,
        minimized: args.minimize,
        seconds: prepared.once(),
        total_seconds,
        comparisons: problem.work(&output).comparisons,
        check,
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
        let kept = points.picked(kept);
        let names = taken.as_ref().and_then(|taken| taken.header.as_deref()).unwrap_or_default();
        watched(interrupt, quiet, &format!("writing {}", path.display()), None, |progress| {
            save(path, overwrite(args.force), |out| match form {
                PointsForm::Csv => points::write_table(kept.view(), names, out, progress),
                _ => points::write(kept.view(), form, out, progress),
            })
        })?;
    }
    Ok(Outcome::Success)
}

/// The format in which the skyline points are written.
fn written_form(path: &Path, paper_format: bool) -> Result<PointsForm, UsageError> {
    match (points_form(path)?, paper_format) {
        (form, false) => Ok(form),
        (PointsForm::Exact, true) => Ok(PointsForm::Paper),
        (_, true) => Err(UsageError(format!(
            "--paper-format writes text, but {} has another extension: expected .txt",
            path.display()
        ))),
    }
}

fn read(
    source: &PointsSource,
    memory: MemoryLimit,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<(Arc<Points>, Option<PointsTaken>)> {
    let total = match source {
        PointsSource::File(path, _) => file_size(path),
        PointsSource::Generated(_) | PointsSource::Suite(_) => None,
    };
    let read = watched(interrupt, quiet, &format!("reading {source}"), total, |progress| {
        source.load(memory, progress, interrupt.flag())
    })?;
    Ok((Arc::new(read.0), read.1))
}

impl Report<'_> {
    fn for_people(&self) -> Result<String, std::fmt::Error> {
        let mut out = String::new();
        let dimensions = counted(self.d as usize, "dimension", "dimensions");
        writeln!(
            out,
            "{}: {} in {dimensions}",
            self.points,
            counted(self.n as usize, "point", "points")
        )?;
        if let Some(read) = &self.read {
            let points = counted(self.n as usize, "point", "points");
            writeln!(out, "read        {}; {points} in {dimensions}", read.words)?;
        }
        let workers = match (self.backend, self.block) {
            (_, Some(block)) => format!(", {block} threads per block"),
            ("cpu", None) => format!(", {}", counted(self.threads as usize, "thread", "threads")),
            _ => String::new(),
        };
        let which = if self.minimized { ", smaller is better" } else { "" };
        writeln!(out, "kernel      {}{workers}{which}", self.kernel)?;
        let share = 100.0 * self.k as f64 / self.n.max(1) as f64;
        writeln!(out, "skyline     {} ({share:.3} %)", count(self.k))?;
        if let Some(kernel) = self.seconds {
            let [kernel, total] = [kernel, self.total_seconds].map(seconds);
            writeln!(out, "time        {kernel}, {total} including reading")?;
        }
        writeln!(out, "comparisons {}", count(self.comparisons))?;
        writeln!(out, "check       {}", self.check.verdict.as_str())?;
        Ok(out)
    }
}
