//! The plan of a bench as stored in a bundle: enough to continue it and to report what parts of it are
//! missing.

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use sparsescope_core::bundle::Bundle;
use sparsescope_core::experiment::{Configuration, Portion, Settings, SubjectSource, Units, split};
use sparsescope_core::kernel::{DeviceKind, KernelDescriptor, kernel};
use sparsescope_core::matrix::Reordering;
use sparsescope_core::record::{Operation, Shard};

use super::user::PlannedFile;

/// The error for a plan that cannot be read.
pub(super) const NOT_A_PLAN: &str = "this version of bench cannot read the bundle's plan";

/// Maximum number of combinations in a plan; many of them may be the same run.
const MOST_LISTED: u64 = 1 << 23;

/// What was to be run. Files are stored by name, not by path: a bundle reveals nothing about the machine's
/// folders.
#[derive(Serialize, Deserialize)]
pub(in crate::cli) struct Plan {
    pub(super) operation: String,
    pub(super) matrices: Vec<PlannedMatrix>,
    pub(super) kernels: Vec<String>,
    pub(super) settings: Settings,
    /// SHA-256 of the user's x: its elements as little-endian f64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) x: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) reordering: Option<Reordering>,
    /// Files of user kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) kernel_files: Vec<PlannedFile>,
    /// Libraries with kernels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) kernel_libraries: Vec<PlannedFile>,
    /// Seconds that each call of a library may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) library_limit_s: Option<f64>,
    /// Ranks that share each subject, if a launcher started several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ranks: Option<usize>,
}

/// A subject of a plan.
#[derive(Serialize, Deserialize)]
pub(super) struct PlannedMatrix {
    pub(super) name: String,
    /// `gen:…` or `suite:…`; absent for a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) source: Option<String>,
    /// Nonzeros, or the corresponding size of another subject, if known before it was read: plans are split
    /// by these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cost: Option<u64>,
}

impl Plan {
    /// The plan of a bundle.
    pub(in crate::cli) fn of(bundle: &Bundle) -> anyhow::Result<Self> {
        let plan = bundle.plan.clone().context("the bundle has no plan")?;
        serde_json::from_value(plan).context(NOT_A_PLAN)
    }

    /// A subject of these kernels' runs, with the cost of one pass over it if known.
    pub(super) fn matrix(source: &SubjectSource, cost: Option<u64>) -> PlannedMatrix {
        let recipe = (!source.is_file()).then(|| source.to_string());
        PlannedMatrix { name: source.name(), source: recipe, cost }
    }

    /// The name of a subject in the bundle.
    pub(in crate::cli) fn name(&self, subject: usize) -> String {
        let name = self.matrices.get(subject).map_or("", |matrix| &matrix.name);
        match self.reordering {
            Some(by) => format!("{name}-{}", by.as_str()),
            None => name.to_owned(),
        }
    }

    /// The number of subjects.
    pub(in crate::cli) fn subjects(&self) -> usize {
        self.matrices.len()
    }

    /// The kernels; those of users are looked up in `users`.
    pub(super) fn kernels(
        &self,
        users: &[&'static KernelDescriptor],
    ) -> anyhow::Result<Vec<&'static KernelDescriptor>> {
        let known = |id: &String| {
            let found = kernel(id).or_else(|| users.iter().copied().find(|user| user.id == id));
            found.with_context(|| format!("this version has no kernel `{id}`"))
        };
        self.kernels.iter().map(known).collect()
    }

    /// Its operation.
    pub(super) fn operation(&self) -> anyhow::Result<Operation> {
        Operation::of(&self.operation).with_context(|| {
            format!(
                "the bundle's plan is for the operation `{}`, which this version of bench does not know",
                self.operation
            )
        })
    }

    /// The configurations run on each subject, of kernels that this program has.
    pub(in crate::cli) fn configurations(&self) -> anyhow::Result<Vec<Configuration>> {
        let kernels = self.kernels(&[])?;
        let most = self.settings.most_runs().saturating_mul(kernels.len() as u64);
        if most > MOST_LISTED {
            bail!("the plan lists {most} runs per subject, more than the limit of {MOST_LISTED}");
        }
        let mut all = Configuration::all(&kernels, &self.settings);
        let on_ranks = |c: &&mut Configuration| c.kernel.device == DeviceKind::Ranks;
        for configuration in all.iter_mut().filter(on_ranks) {
            let Some(ranks) = self.ranks else {
                bail!("the plan is for several ranks but does not record how many");
            };
            // Runs record the threads of all ranks.
            let ranks = u32::try_from(ranks).unwrap_or(u32::MAX);
            configuration.threads = configuration.threads.saturating_mul(ranks);
        }
        Ok(all)
    }

    /// What each part runs.
    pub(in crate::cli) fn parts(&self, units: &Units, of: u32) -> Vec<Vec<Portion>> {
        let costs: Vec<u64> =
            self.matrices.iter().map(|matrix| matrix.cost.unwrap_or_default()).collect();
        split(&costs, units.count(), of)
    }

    /// What one part runs.
    pub(super) fn part(&self, units: &Units, Shard { part, of }: Shard) -> Vec<Portion> {
        let mut parts = self.parts(units, of).into_iter();
        parts.nth(part.saturating_sub(1) as usize).unwrap_or_default()
    }
}
