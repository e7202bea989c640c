//! `sparsescope export`: parts of a bundle as other files.

use anyhow::Context;
use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::io::save;

use super::Outcome;
use super::args::ExportArgs;
use super::output::{check_free, overwrite};

pub(super) fn run(args: &ExportArgs) -> anyhow::Result<Outcome> {
    let bundle = Bundle::open(&args.bundle, &Limits::default())
        .with_context(|| format!("cannot open {}", args.bundle.display()))?;
    if let Some(path) = &args.csv {
        check_free(path, args.force)?;
        let csv = bundle.results_csv()?;
        save(path, overwrite(args.force), |out| {
            out.write_all(&csv)
                .map_err(|error| sparsescope_core::io::IoError::System { doing: "write", error })
        })?;
        eprintln!("{}: {} runs", path.display(), bundle.runs.len());
    }
    Ok(Outcome::Success)
}
