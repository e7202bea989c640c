//! `sparsescope info`: describes a matrix and the size of each format.

use std::fmt::Write;

use serde::Serialize;
use sparsescope_core::experiment::MatrixSource;
use sparsescope_core::io::MatrixForm;
use sparsescope_core::matrix::Statistics;
use sparsescope_core::memory::{MemoryLimit, gigabytes};
use sparsescope_core::record::{MatrixRecord, Reordered, Source};

use super::args::InfoArgs;
use super::interrupt::Interrupt;
use super::outcome::Outcome;
use super::output::{
    check_form, check_result, file_size, keep, print_beside, print_json, say_written, watched,
};
use super::table::{count, counted, render, seconds, table, three_digits};

/// The JSON value of `info`.
#[derive(Serialize)]
struct Info<'a> {
    path: &'a str,
    name: &'a str,
    source: Source,
    stand_in: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reordered: Option<&'a Reordered>,
    /// The form that was detected.
    form: &'static str,
    field: &'a str,
    symmetry: &'a str,
    read_seconds: f64,
    sha256: &'a str,
    warnings: &'a [String],
    #[serde(flatten)]
    statistics: &'a Statistics,
}

pub(super) fn run(args: &InfoArgs, interrupt: &Interrupt, quiet: bool) -> anyhow::Result<Outcome> {
    let source = args.read.of_matrix(MatrixSource::parse(&args.matrix)?)?;
    let total = match &source {
        MatrixSource::File(path, _) => file_size(path),
        _ => None,
    };
    if let Some(path) = &args.write_permutation {
        check_result(path, args.force, args.json)?;
        check_form(path, &["numbers, one per line"])?;
    }
    let what = format!("reading {source}");
    let loaded = watched(interrupt, quiet, &what, total, |progress| {
        let reordering = args.reorder.map(Into::into);
        let limit = MemoryLimit::of_machine();
        source.load_reordered(reordering, limit, progress, interrupt.flag())
    })?;
    let record = &loaded.record;
    if let (Some(path), Some(order)) = (&args.write_permutation, &loaded.order) {
        let lines: String = order.iter().map(|row| format!("{row}\n")).collect();
        keep(path, args.force, lines.as_bytes())?;
        say_written(path, quiet, &counted(order.len(), "number", "numbers"));
    }
    if args.json {
        print_json(&Info {
            path: &args.matrix,
            name: &record.name,
            source: record.source,
            stand_in: record.source == Source::StandIn,
            generator: record.generator.as_deref(),
            reordered: record.reordered.as_ref(),
            form: loaded.form.as_str(),
            field: &record.field,
            symmetry: &record.symmetry,
            read_seconds: record.read_seconds,
            sha256: &record.sha256,
            warnings: &loaded.warnings,
            statistics: &record.statistics,
        })?;
    } else {
        for warning in &loaded.warnings {
            eprintln!("warning: {warning}");
        }
        let text = describe(record, Some(loaded.form))?;
        print_beside(&text, args.write_permutation.as_deref())?;
    }
    Ok(Outcome::Success)
}

/// The range of row lengths in a bucket of the histogram.
fn bucket_name(bucket: usize) -> String {
    match bucket {
        0 | 1 => bucket.to_string(),
        _ => format!("{}-{}", 1u64 << (bucket - 1), (1u64 << bucket) - 1),
    }
}

/// The description of a matrix as text; without a form, it was never in a file.
pub fn describe(
    record: &MatrixRecord,
    form: Option<MatrixForm>,
) -> Result<String, std::fmt::Error> {
    let s = &record.statistics;
    let row = &s.row;
    let mut out = String::new();
    let source = match record.source {
        Source::Real => "read from a file",
        Source::Generated => "generated",
        Source::StandIn => "stand-in",
    };
    match form {
        Some(_) => writeln!(out, "{} ({source})", record.name)?,
        None => writeln!(out, "{}", record.name)?,
    }
    writeln!(out)?;
    writeln!(out, "size        {} x {}", count(s.rows), count(s.cols))?;
    writeln!(
        out,
        "nonzeros    {} (class {}, density {:.3e})",
        count(s.nnz),
        s.nnz_class,
        s.density
    )?;
    if let Some(form) = form {
        let done = if form == MatrixForm::Generated { "made" } else { "read" };
        writeln!(
            out,
            "file        {}, {} {}, {done} in {}",
            form.as_str(),
            record.field,
            record.symmetry,
            seconds(record.read_seconds)
        )?;
    }
    writeln!(
        out,
        "row length  min {}, quartiles {} {} {}, max {}; {} empty",
        count(row.min),
        count(row.q1),
        count(row.median),
        count(row.q3),
        count(row.max),
        count(row.empty)
    )?;
    writeln!(
        out,
        "            mean {}, standard deviation {}, average deviation {} ({} % of the mean)",
        three_digits(row.mean),
        three_digits(row.stddev),
        three_digits(row.average_deviation),
        three_digits(row.percent_average_deviation)
    )?;
    let lengths = row.histogram.iter().enumerate().filter(|(_, rows)| **rows > 0);
    let lengths =
        lengths.map(|(bucket, rows)| format!("{}: {}", bucket_name(bucket), count(*rows)));
    writeln!(out, "            rows by length {}", lengths.collect::<Vec<_>>().join(", "))?;
    writeln!(
        out,
        "structure   bandwidth {} below and {} above the diagonal, profile {}, {} of {} on the diagonal",
        count(s.lower_bandwidth),
        count(s.upper_bandwidth),
        count(s.profile),
        count(s.diagonal),
        count(s.rows.min(s.cols))
    )?;
    if let Some(before) = &record.reordered {
        writeln!(
            out,
            "            before {}: bandwidth {} below and {} above the diagonal, profile {}",
            before.by,
            count(before.lower_bandwidth),
            count(before.upper_bandwidth),
            count(before.profile)
        )?;
    }
    if let (Some(pattern), Some(values)) = (s.structural_symmetry, s.numerical_symmetry) {
        let percent = |share: f64| three_digits(share * 100.0);
        writeln!(
            out,
            "symmetry    {} % of the off-diagonal nonzeros are mirrored, {} % with the same value",
            percent(pattern),
            percent(values)
        )?;
    }
    writeln!(out, "sha256      {}", record.sha256)?;
    writeln!(out)?;
    let mut formats =
        table(&["format", "bytes", "slots", "padding", "minimal bytes per SpMV"], &[1, 2, 3, 4]);
    for f in &s.formats {
        let slots_per_entry = format!("{}x", three_digits(f.padding));
        formats.add_row([
            f.format.clone(),
            gigabytes(f.bytes),
            count(f.slots),
            slots_per_entry,
            gigabytes(f.minimal_bytes),
        ]);
    }
    out.push_str(&render(&formats));
    Ok(out)
}
