//! `sparsescope export`: bundles, or parts of one, as other files.

use std::path::{Path, PathBuf};

use sparsescope_core::bundle::Bundle;

use super::bundle_args::ExportArgs;
use super::outcome::{Outcome, UsageError};
use super::output::{check_form, check_free, say_written, write_csv};
use super::table::counted;
use super::{bencher, compare, figure, html, report};

/// Writes one bundle in another form.
type Write = fn(&Bundle, &Path, bool) -> anyhow::Result<()>;

pub(super) fn run(args: &ExportArgs, quiet: bool) -> anyhow::Result<Outcome> {
    let outputs = [
        (&args.csv, "CSV"),
        (&args.bencher, "JSON"),
        (&args.table, "CSV"),
        (&args.html, "HTML"),
        (&args.report, "HTML"),
        (&args.svg, "SVG"),
        (&args.png, "PNG"),
        (&args.pdf, "PDF"),
    ];
    if outputs.iter().all(|(path, _)| path.is_none()) {
        let sentence = "there is nothing to write: expected --html, --report, --svg, --png, --pdf, \
                        --table, --csv or --bencher";
        return Err(UsageError(sentence.to_owned()).into());
    }
    let csv = args.csv.iter();
    for path in
        csv.chain(&args.bencher).chain(&args.html).chain(&args.report).chain(figure::files(args))
    {
        check_free(path, args.force)?;
    }
    for (path, form) in outputs {
        path.iter().try_for_each(|path| check_form(path, &[form]))?;
    }
    let of_one: [(&Option<PathBuf>, &str, Write); 2] =
        [(&args.csv, "--csv", write_csv), (&args.bencher, "--bencher", bencher::write)];
    for (path, option, write) in of_one {
        let Some(path) = path else { continue };
        let [bundle] = &args.bundles[..] else {
            let sentence = format!("{option} takes one bundle, found {}", args.bundles.len());
            return Err(UsageError(sentence).into());
        };
        let bundle = compare::open(bundle)?;
        write(&bundle, path, args.force)?;
        say_written(path, quiet, &counted(bundle.runs.len(), "run", "runs"));
    }
    if let Some(path) = &args.html {
        let bytes = html::write(&args.bundles, path, args.force)?;
        let megabytes = bytes as f64 / 1e6;
        say_written(path, quiet, &format!("{megabytes:.1} MB, opens in any browser"));
    }
    figure::write(args, quiet)?;
    if let Some(path) = &args.report {
        let bytes = report::write(&args.bundles, path, args.force)?;
        let megabytes = bytes as f64 / 1e6;
        say_written(path, quiet, &format!("{megabytes:.1} MB, a static page"));
    }
    Ok(Outcome::Success)
}
