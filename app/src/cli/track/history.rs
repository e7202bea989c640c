//! The bundles of a history, and how their times are written.

use std::path::Path;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::order;

use crate::cli::compare::open;
use crate::cli::folder::bundles_in;
use crate::cli::table::seconds;

/// The bundles of a folder, oldest first.
pub(super) fn history(folder: &Path) -> anyhow::Result<Vec<Bundle>> {
    let paths = bundles_in(folder)?;
    let mut bundles: Vec<Bundle> =
        paths.iter().map(|path| open(path)).collect::<anyhow::Result<_>>()?;
    order::sort_by(&mut bundles, |a, b| a.created.cmp(&b.created));
    Ok(bundles)
}

/// A time, or its ratio to the time of the anchor kernel.
pub(super) fn time(value: f64, is_relative: bool) -> String {
    if is_relative { format!("{value:.3}x") } else { seconds(value) }
}

/// A ratio as a change in percent.
pub(super) fn percent(ratio: f64) -> String {
    format!("{:+.1} %", (ratio - 1.0) * 100.0)
}

/// The day of a bundle.
pub(super) fn day(bundle: &Bundle) -> &str {
    bundle.created.get(..10).unwrap_or_default()
}
