//! The output of a bench and how it ends, in one process or in rank 0 of several.

use std::path::Path;

use anyhow::anyhow;
use sparsescope_core::bundle::{Bundle, check_unused, journal_path};
use sparsescope_core::record::{Run, Runs};

use super::summary;
use crate::cli::args::BenchArgs;
use crate::cli::interrupt::Interrupt;
use crate::cli::outcome::{Outcome, sentence};
use crate::cli::output::{
    check_bundle, check_form, check_free, is_stdout, print, print_json, write_csv,
};

/// The error when there is nothing to measure.
pub(super) const NOTHING_READ: &str = "no matrix could be had, so there is nothing to write";

/// Refuses to overwrite files, before any long work.
pub(super) fn check_outputs(args: &BenchArgs, output: &Path, force: bool) -> anyhow::Result<()> {
    check_bundle(output, force)?;
    check_form(output, &["a zip archive"])?;
    check_unused(output)?;
    if let Some(csv) = args.csv.as_deref() {
        check_free(csv, args.force)?;
        check_form(csv, &["CSV"])?;
    }
    Ok(())
}

/// The error that ends a bench whose journal cannot be written, and what was kept.
pub(super) fn kept(output: &Path, error: &anyhow::Error) -> anyhow::Error {
    let (journal, output, error) = (journal_path(output), output.display(), sentence(error));
    let journal = journal.display();
    anyhow!("{error}; what was measured is kept in {journal}, and --resume {output} continues it")
}

/// Prints what was measured in the requested form, the table followed by `more`; `unread` matrices could not
/// be read.
pub(super) fn end(
    bundle: &Bundle,
    args: &BenchArgs,
    output: &Path,
    more: &str,
    (interrupt, unread): (&Interrupt, usize),
) -> anyhow::Result<Outcome> {
    if let Some(path) = &args.csv {
        write_csv(bundle, path, args.force)?;
    }
    if args.csv.as_deref().is_some_and(is_stdout) {
        eprintln!("Bundle: {}", output.display());
    } else if args.json {
        print_json(&Runs { runs: bundle.runs.clone() })?;
    } else {
        print(&summary::table(bundle))?;
        print(more)?;
        print(&summary::closing(bundle, output, incomplete(bundle, interrupt)))?;
    }
    let failed = bundle.runs.iter().any(Run::is_wrong);
    // Ctrl-C after the last run interrupts nothing.
    Ok(match (failed, interrupt.by_user() && !bundle.complete, unread) {
        (true, ..) => Outcome::CheckFailed,
        (_, true, _) => Outcome::Interrupted,
        (_, _, 0) => Outcome::Success,
        _ => Outcome::Incomplete,
    })
}

/// Why the bundle is incomplete, if it is.
fn incomplete(bundle: &Bundle, interrupt: &Interrupt) -> Option<&'static str> {
    match (bundle.complete, interrupt.raised(), interrupt.by_user()) {
        (true, ..) => None,
        (_, _, true) => Some("The measurement was interrupted"),
        (_, true, _) => Some("The time limit passed"),
        _ => Some("Some matrices could not be read"),
    }
}
