//! What winners are compared with: the reference, the kernels of vendors, another bundle.

use sparsescope_core::kernel::KernelName;

use super::sides::names;
use crate::model::{Model, OpenBundle, RunOf, Standing};
use crate::state::{RankBy, ViewState};

/// What the kernels are compared with in the headline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Against {
    /// The operation's reference.
    #[default]
    Serial,
    /// The best kernel of a vendor, or of these.
    Vendor(String),
    /// The best run of the bundle of this name.
    Bundle(String),
}

impl Against {
    /// A name short enough for a row.
    pub(crate) fn short(&self) -> &str {
        match self {
            Self::Serial => "serial",
            Self::Vendor(name) | Self::Bundle(name) => name,
        }
    }
}

/// Baselines by id in a link, with display names: the reference, vendors, bundles.
pub fn baselines(model: &Model, state: &ViewState) -> Vec<(String, String)> {
    let mut found = vec![("serial".to_owned(), "the serial reference".to_owned())];
    let kernels = &model.values(&state.filter.operation).kernels;
    if kernels.iter().any(|kernel| is_vendors(kernel)) {
        found.push(("vendor".into(), "the best vendor kernel".into()));
    }
    let timed = |open: &&OpenBundle| !open.bundle.runs.is_empty();
    let bundles: Vec<&OpenBundle> = model.bundles().iter().filter(timed).collect();
    if bundles.len() > 1 {
        let names = names(model);
        let named = |open: &OpenBundle| Some((open.word(), names.get(&open.series)?.clone()));
        found.extend(bundles.into_iter().filter_map(named));
    }
    found
}

pub(super) fn is_vendors(kernel: &str) -> bool {
    KernelName::of(kernel).is_vendors()
}

/// The best run of the vendors on the winner's device. One on another device compares devices, not kernels.
pub(super) fn vendors_best<'s, 'a>(standing: &'s Standing<'a>) -> Option<&'s RunOf<'a>> {
    let winner = standing.winner()?;
    let is_it = |run: &&RunOf<'_>| is_vendors(&run.run.kernel) && run.is_on_machine_of(winner);
    standing.runs.iter().find(is_it)
}

/// The ratio of our best kernel to the vendors' best on the winner's device; and the id of the latter.
pub(super) fn over_vendor<'a>(standing: &Standing<'a>) -> Option<(f64, &'a str)> {
    let vendor = vendors_best(standing)?;
    let is_ours = |run: &&RunOf<'_>| !is_vendors(&run.run.kernel) && run.is_on_machine_of(vendor);
    let ours = standing.runs.iter().find(is_ours)?;
    let kernel: &'a str = &vendor.run.kernel;
    Some((standing.gain(ours, vendor)?, kernel))
}

/// The ratio of the winner to the baseline of the state. The serial reference has no energy, and
/// that of a run in fewer bits has these bits, too.
pub(super) fn over(standing: &Standing<'_>, wanted: &str) -> Option<f64> {
    let winner = standing.winner()?;
    let other = match wanted {
        "serial" => {
            let ranking = standing.ranking;
            let is_same = ranking.max_error.is_none() || winner.run.precision == "f64";
            let speedup = winner.figures()?.speedup;
            return speedup.filter(|_| is_same && ranking.by == RankBy::Rate);
        }
        "vendor" => vendors_best(standing),
        bundle => standing.runs.iter().find(|run| run.bundle.sha256.starts_with(bundle)),
    };
    standing.gain(winner, other?)
}
