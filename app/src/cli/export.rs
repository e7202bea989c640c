//! `sparsescope export`: parts of a bundle as other files.

use anyhow::Context;
use sparsescope_core::bundle::{Bundle, Limits};

use super::Outcome;
use super::args::ExportArgs;
use super::output::{check_free, write_csv};

pub(super) fn run(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let bundle = Bundle::open(&args.bundle, &Limits::default())
        .with_context(|| format!("cannot open {}", args.bundle.display()))?;
    if let Some(path) = &args.csv {
        check_free(path, args.force)?;
        write_csv(&bundle, path, args.force)?;
        eprintln!("{}: {} runs", path.display(), bundle.runs.len());
    }
    Ok(Outcome::Success)
}
