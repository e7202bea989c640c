//! The bundles of a history, and how their times are written.

use std::path::Path;

use sparsescope_core::bundle::Bundle;
use sparsescope_core::order;

use crate::cli::compare::open;
use crate::cli::folder::bundles_in;
use crate::cli::table::{seconds, three_digits};

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

/// Ratios as changes in percent, or as factors if one of them is more than 100 %.
pub(super) fn changes<const N: usize>(ratios: [f64; N]) -> [String; N] {
    let are_factors = ratios.iter().any(|ratio| *ratio > 2.0);
    ratios.map(|ratio| match are_factors {
        true => format!("{}x", three_digits(ratio)),
        false => format!("{:+.1} %", (ratio - 1.0) * 100.0),
    })
}

/// What times are divided by, in a sentence; empty without an anchor.
pub(super) fn divided(anchor: Option<&str>) -> String {
    anchor.map_or_else(String::new, |anchor| {
        format!("Times are divided by that of {anchor} in the same bundle, where it was measured.")
    })
}

/// The days of bundles in the order of time, with the time if all are of one day.
pub(super) fn dates(bundles: &[Bundle]) -> Vec<String> {
    let begin = |length: usize| -> Vec<String> {
        let times = bundles.iter().map(|bundle| bundle.created.get(..length).unwrap_or_default());
        times.map(|time| time.replace('T', " ")).collect()
    };
    let days = begin("2026-01-31".len());
    if days.first() == days.last() { begin("2026-01-31T12:00".len()) } else { days }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_more_than_a_factor_of_two_is_a_factor() {
        let texts = [1.0, 0.5, 1.953, 2.0, 2.5, 36.972].map(|ratio| changes([ratio]).concat());
        assert_eq!(texts, ["+0.0 %", "-50.0 %", "+95.3 %", "+100.0 %", "2.50x", "37.0x"]);
        // An interval has one unit.
        assert_eq!(changes([1.936, 1.47, 2.55]), ["1.94x", "1.47x", "2.55x"]);
    }

    #[test]
    fn the_dates_of_one_day_have_a_time() {
        let dates_of = |times: &[&str]| {
            let bundle = |time: &&str| Bundle::new(crate::producer::producer(), (*time).to_owned());
            dates(&times.iter().map(bundle).collect::<Vec<_>>())
        };
        let noon = "2026-01-31T12:00:00Z";
        assert_eq!(dates_of(&[noon, "2026-02-01T07:30:00Z"]), ["2026-01-31", "2026-02-01"]);
        let one_day = dates_of(&[noon, "2026-01-31T23:59:59Z"]);
        assert_eq!(one_day, ["2026-01-31 12:00", "2026-01-31 23:59"]);
        assert_eq!(dates_of(&[]), Vec::<String>::new());
    }
}
