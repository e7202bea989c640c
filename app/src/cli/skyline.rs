//! `sparsescope skyline`: the certified skyline (Pareto front) of a point set.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;
use sparsescope_core::experiment::{Configuration, Output, PointsSource, Problem, SkylineProblem};
use sparsescope_core::io::points::{self, Chosen, Column, Columns, PointsForm, PointsTaken};
use sparsescope_core::matrix::Points;
use sparsescope_core::memory::MemoryLimit;
use sparsescope_core::record::{Check, Operation, Verdict};

use super::interrupt::Interrupt;
use super::operand_args::SkylineArgs;
use super::operands::{backend, kernel_of, threads, workers};
use super::outcome::{Outcome, UsageError, not_right};
use super::output::{
    check_result, executed, file_size, overwrite, points_form, print_beside, print_json, save,
    say_written, watched,
};
use super::table::{count, counted, seconds};
use super::terminal::one_line;

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
    /// Whether smaller is better in all columns.
    minimized: bool,
    /// The columns compared; absent if all columns without names are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<Compared<'a>>,
    /// Positions of the skyline points in the input, from 1; a header does not count.
    rows: Vec<u64>,
    /// Their names.
    #[serde(skip_serializing_if = "Option::is_none")]
    ids: Option<Vec<&'a str>>,
    /// Whether the user chose columns.
    #[serde(skip)]
    chosen: bool,
    /// Time of the kernel alone.
    seconds: Option<f64>,
    /// Time including reading or generating the points and preparation, without the check.
    total_seconds: f64,
    comparisons: u64,
    check: Check,
}

/// A column that is compared.
#[derive(Serialize)]
struct Compared<'a> {
    number: usize,
    name: Option<&'a str>,
    minimized: bool,
}

impl<'a> Compared<'a> {
    fn of(column: &'a Column) -> Self {
        let &Column { number, ref name, minimized } = column;
        Self { number, name: name.as_deref(), minimized }
    }

    fn words(&self) -> String {
        let better = if self.minimized { "smaller" } else { "larger" };
        let name = self.name.map_or_else(|| format!("column {}", self.number), str::to_owned);
        format!("{name} ({better} is better)")
    }
}

/// Number of skyline points that the summary names.
const NAMED: usize = 20;

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
        let &PointsTaken { form, separator, decimal_comma, ref header, .. } = taken;
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
    if let (Some(path), true) = (&args.output, args.id.is_some() && form != PointsForm::Csv) {
        let sentence = format!(
            "--id writes row numbers and names, which need CSV: expected a name that ends in .csv, found {}",
            path.display()
        );
        return Err(UsageError(sentence).into());
    }
    let memory = MemoryLimit::of_machine();
    let (named, columns) = points_and_columns(args)?;
    let source = PointsSource::parse(&named)?.with_header(args.header.line());
    let begun = Instant::now();
    let (points, chosen, taken) = read(&source, &columns, memory, interrupt, quiet)?;
    for warning in taken.iter().flat_map(|taken| &taken.warnings) {
        eprintln!("warning: {warning}");
    }
    let negates: Vec<bool> = match &chosen.compared[..] {
        [] => vec![columns.minimizes_all],
        compared => compared.iter().map(|column| column.minimized).collect(),
    };
    let compared = match negates.contains(&true) {
        true => Arc::new(points.negated(&negates)),
        false => Arc::clone(&points),
    };
    let problem = SkylineProblem::new(compared);

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
        _ => &[],
    };
    let report = Report {
        points: &named,
        read: taken.as_ref().map(Read::of),
        n: points.len() as u64,
        d: points.dimensions() as u64,
        k: kept.len() as u64,
        kernel: kernel.id,
        backend: kernel.device.as_str(),
        threads: configuration.threads,
        block: configuration.block,
        minimized: negates.iter().all(|negates| *negates),
        columns: chosen.compared.iter().map(Compared::of).collect(),
        rows: kept.iter().map(|index| u64::from(*index) + 1).collect(),
        ids: chosen.id.as_ref().map(|_| {
            let id = |index: &u32| chosen.ids.get(*index as usize).map_or("", String::as_str);
            kept.iter().map(id).collect()
        }),
        chosen: columns != Columns { minimizes_all: columns.minimizes_all, ..Columns::default() },
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
        let (indices, kept) = (kept, points.picked(kept));
        let names: Vec<String> =
            chosen.compared.iter().filter_map(|column| column.name.clone()).collect();
        watched(interrupt, quiet, &format!("writing {}", path.display()), None, |progress| {
            save(path, overwrite(args.force), |out| match form {
                PointsForm::Csv if chosen.id.is_some() => {
                    points::write_with_ids(kept.view(), indices, &chosen, out, progress)
                }
                PointsForm::Csv => points::write_table(kept.view(), &names, out, progress),
                _ => points::write(kept.view(), form, out, progress),
            })
        })?;
        say_written(path, quiet, &counted(indices.len(), "point", "points"));
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

/// The points and the columns that the arguments name. `--minimize POINTS` without other points minimises
/// all of their columns.
fn points_and_columns(args: &SkylineArgs) -> Result<(String, Columns), UsageError> {
    let mut minimized = args.minimize.clone();
    let points = match (&args.points, &mut minimized) {
        (Some(points), _) => points.clone(),
        (None, Some(words)) if !words.is_empty() => std::mem::take(words).join(","),
        _ => {
            return Err(UsageError(
                "the points are missing: expected a file, gen:... or suite:...".into(),
            ));
        }
    };
    let columns = Columns {
        compared: args.columns.clone(),
        minimizes_all: minimized.as_ref().is_some_and(Vec::is_empty),
        minimized: minimized.unwrap_or_default(),
        maximized: args.maximize.clone(),
        id: args.id.clone(),
    };
    Ok((points, columns))
}

fn read(
    source: &PointsSource,
    columns: &Columns,
    memory: MemoryLimit,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<(Arc<Points>, Chosen, Option<PointsTaken>)> {
    let total = match source {
        PointsSource::File(path, _) => file_size(path),
        PointsSource::Generated(_) | PointsSource::Suite(_) => None,
    };
    let read = watched(interrupt, quiet, &format!("reading {source}"), total, |progress| {
        source.load_columns(columns, memory, progress, interrupt.flag())
    })?;
    Ok((Arc::new(read.0), read.1, read.2))
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
        let workers = workers(self.backend, self.threads, self.block);
        if self.chosen {
            let columns: Vec<String> = self.columns.iter().map(Compared::words).collect();
            writeln!(out, "columns     {}", one_line(&columns.join(", ")))?;
        }
        let which = if self.minimized { ", smaller is better" } else { "" };
        writeln!(out, "kernel      {}{workers}{which}", self.kernel)?;
        let share = 100.0 * self.k as f64 / self.n.max(1) as f64;
        writeln!(out, "skyline     {} ({share:.3} %)", count(self.k))?;
        let rows = self.rows.iter().take(NAMED).enumerate().map(|(place, row)| {
            let id = self.ids.as_ref().and_then(|ids| ids.get(place));
            id.map_or_else(|| row.to_string(), |id| format!("{row} {}", one_line(id)))
        });
        let mut rows: Vec<String> = rows.collect();
        if self.rows.len() > NAMED {
            rows.push(format!(
                "{} more (all with --json)",
                count((self.rows.len() - NAMED) as u64)
            ));
        }
        if !rows.is_empty() {
            let between = if self.ids.is_some() { "; " } else { ", " };
            writeln!(out, "rows        {}", rows.join(between))?;
        }
        if let Some(kernel) = self.seconds {
            let [kernel, total] = [kernel, self.total_seconds].map(seconds);
            writeln!(out, "time        {kernel}, {total} including reading")?;
        }
        writeln!(out, "comparisons {}", count(self.comparisons))?;
        writeln!(out, "check       {}", self.check.verdict.as_str())?;
        Ok(out)
    }
}
