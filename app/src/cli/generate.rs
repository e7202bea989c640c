//! `sparsescope generate`: a matrix from a generator, written as Matrix Market, or points.

use std::fmt::Write;
use std::path::Path;

use anyhow::Error;
use sparsescope_core::experiment::{MatrixSource, OtherSource, PointsSource};
use sparsescope_core::generate::{
    Figure, GenerateError, GeneratorSpec, Key, Made, SuiteEntry, Wanted, batch_kinds, batch_suites,
    generate, kinds, measure_made, points_kinds, points_suite_entry, points_suites, suite_entry,
    suites,
};
use sparsescope_core::io::{AnyMatrix, Field, points as points_io};
use sparsescope_core::memory::MemoryLimit;

use super::args::GenerateArgs;
use super::interrupt::Interrupt;
use super::matrix_output::MatrixOutput;
use super::outcome::{Outcome, UsageError};
use super::output::{
    check_free, file_size, overwrite, points_form, print, save, say_written, watched,
};
use super::table::{count, render, table, three_digits};

pub(super) fn run(
    args: &GenerateArgs,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    if args.list {
        let what = "measuring the generated matrices of the suites";
        let made = watched(interrupt, quiet, what, None, |_| stand_ins(interrupt))?;
        print(&list(&made)?)?;
        return Ok(Outcome::Success);
    }
    let (Some(spec), Some(path)) = (&args.spec, &args.output) else {
        let sentence =
            "expected a generator and -o FILE; `sparsescope generate --list` lists the generators";
        return Err(UsageError(sentence.to_owned()).into());
    };
    if is_points(spec) {
        if args.symmetric {
            let sentence =
                format!("--symmetric writes one triangle of a matrix, but {spec} is a point set");
            return Err(UsageError(sentence).into());
        }
        let source = match spec.starts_with("points-") {
            true => PointsSource::parse(&format!("gen:{spec}"))?,
            false => PointsSource::parse(spec)?,
        };
        return write_points(&source, (path, args.force), interrupt, quiet);
    }
    let recipe = spec.strip_prefix("gen:").unwrap_or(spec);
    if batch_kinds().iter().any(|kind| recipe.split('?').next() == Some(kind.name)) {
        let sentence = format!("expected a matrix or a point set to write, found the batch {spec}");
        return Err(UsageError(sentence).into());
    }
    let spec = match MatrixSource::parse(spec) {
        Ok(MatrixSource::Suite(_, spec) | MatrixSource::Generated(spec)) => spec,
        Ok(MatrixSource::SuiteFile(entry, _)) => GeneratorSpec::parse(entry.spec)?,
        Err(error) if spec.starts_with("suite:") => return Err(error.into()),
        _ => GeneratorSpec::parse(spec).map_err(|error| {
            match suite_entry(spec).is_some() || points_suite_entry(spec).is_some() {
                true => Error::from(UsageError(format!("{error} (did you mean suite:{spec}?)"))),
                false => Error::from(error),
            }
        })?,
    };
    let output = MatrixOutput::new(path, args.symmetric, args.force)?;
    let a = watched(interrupt, quiet, &format!("generating {spec}"), None, |_| {
        generate(&spec, MemoryLimit::of_machine(), interrupt.flag())
    })?;
    output.write(&AnyMatrix::Real(a), Field::Real, interrupt, quiet)?;
    Ok(Outcome::Success)
}

/// Whether this names points.
fn is_points(spec: &str) -> bool {
    let of_suite = spec.strip_prefix("suite:").and_then(points_suite_entry).is_some();
    of_suite || spec.strip_prefix("gen:").unwrap_or(spec).starts_with("points-")
}

/// Generates or reads points and writes them to this file, replacing an existing one only with `force`.
pub(super) fn write_points(
    source: &PointsSource,
    (path, force): (&Path, bool),
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Outcome> {
    check_free(path, force)?;
    let form = points_form(path)?;
    let (doing, total) = match source {
        PointsSource::File(path, _) => ("reading", file_size(path)),
        _ => ("generating", None),
    };
    let (points, _) = watched(interrupt, quiet, &format!("{doing} {source}"), total, |progress| {
        source.load(MemoryLimit::of_machine(), progress, interrupt.flag())
    })?;
    watched(interrupt, quiet, &format!("writing {}", path.display()), None, |progress| {
        save(path, overwrite(force), |out| points_io::write(points.view(), form, out, progress))
    })?;
    let (n, d) = (count(points.len() as u64), count(points.dimensions() as u64));
    say_written(path, quiet, &format!("{n} points in {d} dimensions"));
    Ok(Outcome::Success)
}

/// A stand-in: the suite's entry, the figures of the real matrix and those of the generated one.
type StandIn = (&'static SuiteEntry, Wanted, Made);

/// Runs the generators of all stand-ins.
fn stand_ins(interrupt: &Interrupt) -> anyhow::Result<Vec<StandIn>> {
    let entries = suites().iter().flat_map(|suite| suite.entries);
    let wanted = entries.filter_map(|entry| Some((entry, entry.wanted?)));
    let measured = wanted.map(|(entry, wanted)| {
        let spec = GeneratorSpec::parse(entry.spec)?;
        Ok((entry, wanted, measured(&spec, interrupt)?))
    });
    measured.collect()
}

/// Maximum nonzeros of matrices whose columns are counted: more would take too long for a list.
const COLUMNS_UP_TO: u64 = 10_000_000;

fn measured(spec: &GeneratorSpec, interrupt: &Interrupt) -> Result<Made, GenerateError> {
    measure_made(spec, COLUMNS_UP_TO, MemoryLimit::of_machine(), interrupt.flag())
}

/// Every generator with its keys, then every suite.
fn list(stand_ins: &[StandIn]) -> Result<String, std::fmt::Error> {
    let mut out = String::from("Generators (KIND?key=value&key=value, optionally after gen:)\n");
    let mut explain = |usage: String, what: &str, keys: &[Key]| {
        writeln!(out, "\n  {usage}\n      {what}")?;
        let width = keys.iter().map(|key| key.name.len()).max().unwrap_or(0);
        let mut lines = keys.iter();
        lines.try_for_each(|key| writeln!(out, "      {:<width$} {}", key.name, key.explain()))
    };
    for kind in kinds() {
        explain(kind.usage(), kind.what, kind.keys)?;
    }
    for kind in points_kinds() {
        explain(kind.usage(), kind.what, kind.keys)?;
    }
    for kind in batch_kinds() {
        explain(kind.usage(), kind.what, kind.keys)?;
    }
    out.push_str("\nSuites (bench --suite NAME; one matrix: suite:MATRIX)\n");
    for suite in suites() {
        writeln!(out, "\n  {}: {}", suite.name, suite.what)?;
        for entry in suite.entries {
            writeln!(
                out,
                "      {:<18} {}\n      {:<18} {}",
                entry.name, entry.what, "", entry.spec
            )?;
        }
        let in_suite = |(entry, ..): &&StandIn| suite.entries.iter().any(|e| e.name == entry.name);
        let of_suite: Vec<&StandIn> = stand_ins.iter().filter(in_suite).collect();
        if !of_suite.is_empty() {
            writeln!(
                out,
                "\n  Real matrices and their stand-ins (real > generated; ~ estimated from the type of structure,\n  ? unknown, - not measured; same line %: nonzeros whose element of x is in the same 64-byte\n  cache line as that of the previous nonzero)\n"
            )?;
            out.push_str(&comparison(&of_suite));
        }
    }
    out.push_str("\nPoint sets (bench --operation skyline --suite NAME; one set: suite:SET)\n");
    for suite in points_suites() {
        writeln!(out, "\n  {}: {}", suite.name, suite.what)?;
        for entry in suite.entries {
            let recipe = PointsSource::Suite(entry).recipe().unwrap_or_default();
            writeln!(out, "      {:<18} {}\n      {:<18} {recipe}", entry.name, entry.what, "")?;
        }
    }
    out.push_str(
        "\nBatches of dense systems (bench --operation batched-dense --suite NAME; one batch: suite:BATCH)\n",
    );
    for suite in batch_suites() {
        writeln!(out, "\n  {}: {}", suite.name, suite.what)?;
        for entry in suite.entries {
            writeln!(out, "      {:<18} {}", entry.name, entry.spec)?;
        }
    }
    out.push_str(
        "\n  fsai:MATRIX and fsai?k=1&most=1000:MATRIX: the systems that FSAI solves for its rows\n",
    );
    Ok(out)
}

/// The figures of real matrices next to those of their stand-ins.
fn comparison(stand_ins: &[&StandIn]) -> String {
    let columns = [
        "matrix",
        "rows",
        "nonzeros",
        "symmetric",
        "longest row",
        "deviation %",
        "bandwidth",
        "same line %",
    ];
    let mut figures = table(&columns, &[1, 2, 4, 5, 6, 7]);
    let exact = |wanted: u64| Some(Figure::Known(wanted));
    for (entry, wanted, made) in stand_ins {
        figures.add_row([
            entry.name.to_owned(),
            beside(exact(wanted.rows), Some(made.rows), count),
            beside(exact(wanted.nnz), Some(made.nnz), count),
            if wanted.symmetric { "yes" } else { "no" }.to_owned(),
            beside(wanted.max, Some(made.max), count),
            beside(
                wanted.percent_average_deviation,
                Some(made.percent_average_deviation),
                three_digits,
            ),
            beside(wanted.bandwidth, made.bandwidth, count),
            made.same_line.map_or("-".to_owned(), |share| three_digits(100.0 * share)),
        ]);
    }
    render(&figures)
}

/// `real > made`, or one number if both print the same; `~` before an estimate.
fn beside<T: Copy>(
    wanted: Option<Figure<T>>,
    made: Option<T>,
    shown: impl Fn(T) -> String,
) -> String {
    let guess = if let Some(Figure::Guessed(_)) = wanted { "~" } else { "" };
    let wanted = wanted.map_or("?".to_owned(), |figure| shown(figure.value()));
    let made = made.map_or("-".to_owned(), &shown);
    match wanted == made {
        true => format!("{guess}{made}"),
        false => format!("{guess}{wanted} > {made}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explanations_of_a_generators_keys_begin_in_one_column() {
        let text = list(&[]).unwrap();
        let recipe = text.split("\n\n").find(|recipe| recipe.starts_with("  poisson2d?")).unwrap();
        let keys: Vec<&str> = recipe.lines().skip(2).collect();
        assert!(keys.iter().any(|line| line.starts_with("      dominant 1 to set")), "{recipe}");
        let column = "      dominant ".len();
        for line in &keys {
            let (before, after) = line.split_at(column);
            assert!(before.ends_with(' ') && !after.starts_with(' '), "{recipe}");
        }
    }

    #[test]
    fn a_figure_says_whether_it_is_known_guessed_or_neither() {
        let beside = |wanted, made| beside(wanted, made, count);
        assert_eq!(beside(Some(Figure::Known(78)), Some(78)), "78");
        assert_eq!(beside(Some(Figure::Known(78)), Some(75)), "78 > 75");
        assert_eq!(beside(Some(Figure::Guessed(150)), Some(150)), "~150");
        assert_eq!(beside(Some(Figure::Guessed(521)), Some(515)), "~521 > 515");
        assert_eq!(beside(Some(Figure::Known(29)), None), "29 > -");
        assert_eq!(beside(None, Some(5)), "? > 5");
    }
}
