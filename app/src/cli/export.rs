//! `sparsescope export`: bundles, or parts of one, as other files.

use std::path::{Path, PathBuf};

use sparsescope_core::bundle::Bundle;

use super::bundle_args::ExportArgs;
use super::outcome::{Outcome, UsageError};
use super::output::{check_apart, check_form, check_free, keep, say_written, write_csv};
use super::table::counted;
use super::{bencher, compare, figure, html, report};

/// Writes one bundle in another form.
type Write = fn(&Bundle, &Path, bool) -> anyhow::Result<()>;

/// Makes a page of bundles.
type Page = fn(&[PathBuf]) -> anyhow::Result<String>;

pub(super) fn run(args: &ExportArgs, quiet: bool) -> anyhow::Result<Outcome> {
    // Nothing is written before all arguments are known to be right and all pages are made.
    check_outputs(args)?;
    let of_one: [(&Option<PathBuf>, &str, Write); 2] =
        [(&args.csv, "--csv", write_csv), (&args.bencher, "--bencher", bencher::write)];
    let option = of_one.iter().find(|(path, ..)| path.is_some()).map(|(_, option, _)| option);
    if let Some(option) = option.filter(|_| args.bundles.len() != 1) {
        let sentence = format!("{option} takes one bundle, found {}", args.bundles.len());
        return Err(UsageError(sentence).into());
    }
    let drawn = figure::drawn(args)?;
    let all: [(&Option<PathBuf>, &str, Page); 2] = [
        (&args.html, "opens in any browser", html::page),
        (&args.report, "a static page", report::of),
    ];
    let mut pages = Vec::new();
    for (path, what, page) in all {
        let Some(path) = path else { continue };
        pages.push((path, what, page(&args.bundles)?));
    }
    let bundle = match &args.bundles[..] {
        [bundle] if option.is_some() => Some(compare::open(bundle)?),
        _ => None,
    };
    for (path, _, write) in of_one {
        let (Some(path), Some(bundle)) = (path, &bundle) else { continue };
        write(bundle, path, args.force)?;
        say_written(path, quiet, &counted(bundle.runs.len(), "run", "runs"));
    }
    for (path, what, page) in pages {
        keep(path, args.force, page.as_bytes())?;
        let megabytes = page.len() as f64 / 1e6;
        say_written(path, quiet, &format!("{megabytes:.1} MB, {what}"));
    }
    drawn.iter().try_for_each(|drawn| drawn.write(args.force, quiet))?;
    Ok(Outcome::Success)
}

/// Fails if there is no output, or if one of them cannot be written as requested.
fn check_outputs(args: &ExportArgs) -> anyhow::Result<()> {
    let outputs = [
        (&args.csv, "--csv", "CSV"),
        (&args.bencher, "--bencher", "JSON"),
        (&args.table, "--table", "CSV"),
        (&args.html, "--html", "HTML"),
        (&args.report, "--report", "HTML"),
        (&args.svg, "--svg", "SVG"),
        (&args.png, "--png", "PNG"),
        (&args.pdf, "--pdf", "PDF"),
    ];
    let [mut files, mut folders]: [Vec<(&str, &Path)>; 2] = Default::default();
    for (path, option, form) in outputs {
        let Some(path) = path else { continue };
        check_form(path, &[form])?;
        if figure::is_folder(path, form) {
            folders.push((option, path.as_path()));
            continue;
        }
        check_free(path, args.force)?;
        files.push((option, path.as_path()));
    }
    check_apart(&files)?;
    // Figures of several formats may share a folder.
    for folder in folders {
        check_apart(&[&files[..], &[folder]].concat())?;
    }
    if outputs.iter().all(|(path, ..)| path.is_none()) {
        let sentence = "there is nothing to write: expected --html, --report, --svg, --png, --pdf, \
                        --table, --csv or --bencher";
        return Err(UsageError(sentence.to_owned()).into());
    }
    Ok(())
}
