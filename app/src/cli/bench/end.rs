//! The output of a bench and how it ends, in one process or in rank 0 of several.

use std::path::Path;

use anyhow::anyhow;
use sparsescope_core::bundle::{Bundle, check_unused, journal_path};
use sparsescope_core::experiment::SubjectSource;
use sparsescope_core::record::{Run, Runs};
use sparsescope_figures::model::Model;

use super::{answer, checks, next, summary};
use crate::cli::bench_args::BenchArgs;
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::{Outcome, sentence};
use crate::cli::output::{
    check_apart, check_bundle, check_form, check_free, is_stdout, keep, print, print_as_is,
    print_json, write_csv,
};
use crate::cli::report;
use crate::cli::terminal::{Color, colored, has_colors, visible, width};

/// The error when there is nothing to measure.
pub(super) const NOTHING_READ: &str = "no matrix could be read, so there is nothing to write";

/// The error when the time limit leaves nothing to write.
pub(super) const TOO_EARLY: &str = "the time limit was reached before the first run";

/// Refuses to overwrite files, before any long work.
pub(super) fn check_outputs(args: &BenchArgs, output: &Path, force: bool) -> anyhow::Result<()> {
    check_bundle(output, force)?;
    check_form(output, &["a zip archive"])?;
    check_unused(output)?;
    if let Some(csv) = args.csv.as_deref() {
        check_free(csv, args.force)?;
        check_form(csv, &["CSV"])?;
        check_apart(&[("-o", output), ("--csv", csv)])?;
    }
    Ok(())
}

/// The error that ends a bench whose journal cannot be written, and what was kept.
pub(super) fn kept(output: &Path, error: &anyhow::Error) -> anyhow::Error {
    let (journal, output, error) = (journal_path(output), output.display(), sentence(error));
    let journal = journal.display();
    anyhow!("{error}; the runs so far are in {journal}: continue with --resume {output}")
}

/// Prints what was measured in the requested form; `unread` matrices could not be read.
pub(super) fn end(
    bundle: Bundle,
    args: &BenchArgs,
    output: &Path,
    (interrupt, unread): (&Interrupt, usize),
) -> anyhow::Result<Outcome> {
    if let Some(path) = &args.csv {
        write_csv(&bundle, path, args.force)?;
    }
    let failed = bundle.runs.iter().any(Run::has_failed);
    // Ctrl-C after the last run interrupts nothing.
    let outcome = match (failed, interrupt.by_user() && !bundle.complete, unread) {
        (true, ..) => Outcome::CheckFailed,
        (_, true, _) => Outcome::Interrupted,
        (_, _, 0) => Outcome::Success,
        _ => Outcome::Incomplete,
    };
    if args.csv.as_deref().is_some_and(is_stdout) {
        eprintln!("Bundle: {}", output.display());
    } else if args.json {
        print_json(&Runs { runs: bundle.runs })?;
    } else if !args.no_summary {
        let why = incomplete(&bundle, interrupt);
        summarise(bundle, args, output, why)?;
    }
    Ok(outcome)
}

/// Prints the summary, and writes the report that it names.
fn summarise(
    bundle: Bundle,
    args: &BenchArgs,
    output: &Path,
    incomplete: Option<&str>,
) -> anyhow::Result<()> {
    let (colors, room) = (has_colors(), width());
    if args.all {
        print(&summary::table(&bundle, room))?;
        print("\n")?;
    }
    let is_whole = bundle.complete && bundle.shard.is_none() && !bundle.runs.is_empty();
    let path = output.display();
    let mut model = Model::default();
    model.show_unfinished(&path.to_string(), bundle);
    let Some(open) = model.bundles().first() else { return Ok(()) };
    print_as_is(&answer::answer(&model, colors, room))?;
    let mut text = summary::closing(&open.bundle, args.all, room);
    if args.verbose {
        text += &summary::details(&open.bundle, room);
    }
    if let Some(why) = incomplete {
        text += &format!("{why}; the bundle is marked incomplete.\n");
    }
    text += &format!("\nBundle: {path}\n");
    if let Some(csv) = &args.csv {
        text += &format!("CSV:    {}\n", csv.display());
    }
    if incomplete.is_some() {
        text += &format!("Resume: `{}`\n", resume(args, output));
    }
    let mut text = visible(&text).into_owned();
    if colors {
        for words in checks::WRONG {
            text = text.replace(words, &colored(words, Color::Red));
        }
    }
    print_as_is(&text)?;
    let report = output.with_extension("html");
    let mut has_report = false;
    if is_whole && !args.no_report {
        let written = check_free(&report, args.force)
            .and_then(|()| report::of(&[output.to_owned()]))
            .and_then(|page| keep(&report, args.force, page.as_bytes()));
        has_report = written.is_ok();
        let text = match written {
            Ok(()) => report.display().to_string(),
            Err(error) => format!("not written: {}", sentence(&error)),
        };
        print(&format!("Report: {text}\n"))?;
    }
    print(&next::steps(output, next::Here::found(), has_report, args.csv.is_some()))
}

/// The command that continues the bundle, with the files that it does not hold and how they are read.
fn resume(args: &BenchArgs, output: &Path) -> String {
    let mut command = format!("sparsescope bench --resume {}", next::word(output));
    for text in &args.matrices {
        if SubjectSource::parse(args.operation, text).is_ok_and(|source| source.is_file()) {
            command += &format!(" {}", next::word(Path::new(text)));
        }
    }
    let is_list = |name: &&String| {
        let suites = SubjectSource::suites(args.operation);
        !suites.contains(&name.as_str()) && Path::new(name).is_file()
    };
    let list = args.suite.as_ref().filter(is_list).map(Path::new);
    let listed = list.into_iter().map(|list| ("--suite", list));
    let x = args.x.iter().map(|file| ("--x", file.as_path()));
    let kernels = args.kernel_file.iter().map(|file| ("--kernel-file", file.as_path()));
    let libraries = args.kernel_library.iter().map(|file| ("--kernel-library", file.as_path()));
    for (option, file) in listed.chain(x).chain(kernels).chain(libraries) {
        command += &format!(" {option} {}", next::word(file));
    }
    for word in args.read.words().into_iter().chain(args.header.word()) {
        command += &format!(" {}", next::quoted(word));
    }
    command
}

/// Why the bundle is incomplete, if it is.
fn incomplete(bundle: &Bundle, interrupt: &Interrupt) -> Option<&'static str> {
    match (bundle.complete, interrupt.raised(), interrupt.by_user()) {
        (true, ..) => None,
        (_, _, true) => Some("The measurement was interrupted"),
        (_, true, _) => Some("The time limit was reached"),
        _ => Some("Some matrices could not be read"),
    }
}
