//! The runs of a plan that are missing from all its parts together.

use std::collections::HashMap;

use sparsescope_core::bundle::{Bundle, Limits};
use sparsescope_core::experiment::{Configuration, Key, Portion, Units};
use sparsescope_core::record::{Run, Shard};

use super::bench::Plan;
use super::outcome::sentence;
use super::table::counted;

/// Subjects that a sentence names.
const NAMED: usize = 5;

/// The missing runs of a plan.
pub(super) struct Missing {
    plan: Plan,
    configurations: Vec<Configuration>,
    units: Units,
    /// For each subject of the plan, the configurations without a run.
    lacking: Vec<Vec<bool>>,
    /// The number of parts, if the bundles agree on it, and the parts that are present.
    parts: Option<(u32, Vec<u32>)>,
}

/// Why the missing runs are unknown.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unknown {
    /// They are not parts of the same plan.
    #[error(
        "the bundles are not parts of one plan, so missing runs cannot be listed: every part needs the \
         same matrices, kernels, --threads and settings"
    )]
    OtherPlans,
    /// This version cannot read the plan.
    #[error("cannot list the missing runs: {0}")]
    Plan(String),
}

impl Missing {
    /// The runs of their plan that `bundles` lack; nothing if none is a part or incomplete.
    pub(super) fn among(bundles: &[Bundle]) -> Option<Result<Self, Unknown>> {
        let is_part = bundles.iter().any(|bundle| bundle.shard.is_some());
        let plan = bundles.first().and_then(|bundle| bundle.plan.as_ref());
        let of_one = plan.is_some() && bundles.iter().all(|b| b.plan.as_ref() == plan);
        match (is_part, of_one && bundles.iter().any(|bundle| !bundle.complete)) {
            (true, _) if !of_one => Some(Err(Unknown::OtherPlans)),
            (true, _) | (_, true) => {
                Some(Self::of(bundles).map_err(|error| Unknown::Plan(sentence(&error))))
            }
            (false, false) => None,
        }
    }

    fn of(bundles: &[Bundle]) -> anyhow::Result<Self> {
        let plan = match bundles.first() {
            Some(bundle) => Plan::of(bundle)?,
            None => anyhow::bail!("there is no bundle"),
        };
        let configurations = plan.configurations()?;
        let (planned, most) = (configurations.len() * plan.subjects(), Limits::default().runs);
        anyhow::ensure!(
            planned as u64 <= most,
            "the plan has {planned} runs, more than the limit of {most} for a bundle"
        );
        let units = Units::among(&configurations);
        let places: HashMap<Key, usize> =
            configurations.iter().enumerate().map(|(k, c)| (c.key(), k)).collect();
        let subjects: HashMap<String, usize> =
            (0..plan.subjects()).rev().map(|subject| (plan.name(subject), subject)).collect();
        let mut lacking = vec![vec![true; configurations.len()]; plan.subjects()];
        let mut found = |subject: usize, place: usize| {
            if let Some(lacks) = lacking.get_mut(subject).and_then(|all| all.get_mut(place)) {
                *lacks = false;
            }
        };
        let counts: Vec<u32> = bundles.iter().filter_map(|b| Some(b.shard?.of)).collect();
        let mut splits: HashMap<u32, Vec<Vec<Portion>>> = HashMap::new();
        for bundle in bundles {
            // A complete bundle has everything it was to hold, even if under another name.
            if bundle.complete {
                let portions = match bundle.shard {
                    None => units.whole(plan.subjects()),
                    Some(Shard { part, of }) => {
                        let split = splits.entry(of).or_insert_with(|| plan.parts(&units, of));
                        split.get(part.saturating_sub(1) as usize).cloned().unwrap_or_default()
                    }
                };
                for portion in &portions {
                    units.places(portion).for_each(|place| found(portion.subject, place));
                }
            }
            let named = bundle.subjects_by_id();
            for run in bundle.runs.iter().filter(|run| !run.cut_short) {
                let of = |run: &Run| {
                    let name = named.get(run.matrix.as_str())?.name();
                    Some((*subjects.get(name)?, *places.get(&Key::of(run))?))
                };
                if let Some((subject, place)) = of(run) {
                    found(subject, place);
                }
            }
        }
        let parts = counts.first().filter(|of| counts.iter().all(|other| other == *of)).map(|of| {
            let here = bundles.iter().filter_map(|bundle| Some(bundle.shard?.part));
            (*of, here.collect())
        });
        Ok(Self { plan, configurations, units, lacking, parts })
    }

    /// The number of missing runs.
    pub(super) fn runs(&self) -> usize {
        self.lacking.iter().flatten().filter(|lacks| **lacks).count()
    }

    /// Indices of the plan's subjects by their names in bundles.
    pub(super) fn order(&self) -> HashMap<String, usize> {
        (0..self.plan.subjects()).rev().map(|subject| (self.plan.name(subject), subject)).collect()
    }

    /// One line for each part that lacks runs, or one for all if there are no parts.
    pub(super) fn lines(&self) -> Vec<String> {
        let Some((of, here)) = &self.parts else {
            let whole = self.units.whole(self.plan.subjects());
            return self
                .lacked(&whole)
                .map(|what| format!("missing: {what}"))
                .into_iter()
                .collect();
        };
        let mut lines = Vec::new();
        for (portions, part) in self.plan.parts(&self.units, *of).iter().zip(1..) {
            let Some(what) = self.lacked(portions) else { continue };
            lines.push(match here.contains(&part) {
                true => format!(
                    "missing: {what} of part {part} of {of}, which is incomplete; run bench --resume \
                     with its bundle"
                ),
                false => format!(
                    "missing: part {part} of {of}, {what}; run bench with --shard {part}/{of}"
                ),
            });
        }
        lines
    }

    /// How many runs of these portions are missing, and of which subjects.
    fn lacked(&self, portions: &[Portion]) -> Option<String> {
        let mut runs = 0;
        let mut names = Vec::new();
        for portion in portions {
            let lacks = |place: &usize| {
                self.lacking.get(portion.subject).and_then(|all| all.get(*place)) == Some(&true)
            };
            let places: Vec<usize> = self.units.places(portion).filter(lacks).collect();
            if places.is_empty() {
                continue;
            }
            runs += places.len();
            let name = self.plan.name(portion.subject);
            let kernels = places.iter().filter_map(|place| self.configurations.get(*place));
            let mut kernels: Vec<&str> = kernels.map(|c| c.kernel.id).collect();
            kernels.dedup();
            names.push(match places.len() < self.configurations.len() {
                true => format!("{name} ({})", some(&kernels)),
                false => name,
            });
        }
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        (runs > 0).then(|| format!("{} on {}", counted(runs, "run", "runs"), some(&names)))
    }
}

/// The first few names, and the number of the rest.
fn some(names: &[&str]) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut shown = names.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
    if more > 0 {
        shown += &format!(" and {more} more");
    }
    shown
}
