//! `sparsescope export`: bundles, or parts of one, as other files.

use anyhow::Context;
use sparsescope_core::bundle::{Bundle, Limits};

use super::args::ExportArgs;
use super::output::{check_free, write_csv};
use super::{Outcome, UsageError, html};

pub(super) fn run(args: &ExportArgs) -> anyhow::Result<Outcome> {
    for path in [&args.csv, &args.html].into_iter().flatten() {
        check_free(path, args.force)?;
    }
    if let Some(path) = &args.csv {
        let [bundle] = &args.bundles[..] else {
            let sentence = format!("--csv takes one bundle, and there are {}", args.bundles.len());
            return Err(UsageError(sentence).into());
        };
        let bundle = Bundle::open(bundle, &Limits::default())
            .with_context(|| format!("cannot open {}", bundle.display()))?;
        write_csv(&bundle, path, args.force)?;
        eprintln!("{}: {} runs", path.display(), bundle.runs.len());
    }
    if let Some(path) = &args.html {
        let bytes = html::write(&args.bundles, path, args.force)?;
        eprintln!("{}: {:.1} MB, opens in any browser", path.display(), bytes as f64 / 1e6);
    }
    Ok(Outcome::Success)
}
