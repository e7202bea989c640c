//! What this process runs of a plan: all of it, or one part.

use sparsescope_core::experiment::{
    Configuration, Portion, Probed, SourceError, SubjectSource, Units,
};
use sparsescope_core::record::Operation;

use super::sweep::Sweep;
use crate::cli::operands::unfit;
use crate::cli::outcome::UsageError;

/// What runs here, subject by subject.
pub(super) struct Share<'s> {
    pub(super) sweep: &'s Sweep,
    configurations: Vec<Configuration>,
    units: Units,
    portions: Vec<Portion>,
    /// Of each portion's subject.
    probed: Vec<Result<Probed, SourceError>>,
}

/// A subject and what is run on it.
pub(super) struct Task<'s> {
    pub(super) source: &'s SubjectSource,
    pub(super) probed: &'s Result<Probed, SourceError>,
    /// All configurations of the plan, or some of them.
    pub(super) configurations: Vec<Configuration>,
}

impl<'s> Share<'s> {
    /// Opens every file by which the plan is split. Also returns the plan to store in the bundle, or none if
    /// the bundle has the whole plan already.
    pub(super) fn of(sweep: &'s Sweep) -> serde_json::Result<(Self, Option<serde_json::Value>)> {
        let configurations = Configuration::all(&sweep.kernels, &sweep.settings);
        let units = Units::among(&configurations);
        let mut probed: Vec<_> = sweep.sources.iter().map(SubjectSource::probe).collect();
        if let Some(portions) = sweep.portions.clone() {
            return Ok((Self { sweep, configurations, units, portions, probed }, None));
        }
        let plan = sweep.plan(&probed);
        let portions = match sweep.shard {
            None => units.whole(sweep.sources.len()),
            Some(shard) => plan.part(&units, shard),
        };
        let mut k = 0;
        probed.retain(|_| {
            k += 1;
            portions.iter().any(|portion| portion.subject == k - 1)
        });
        let plan = serde_json::to_value(plan)?;
        Ok((Self { sweep, configurations, units, portions, probed }, Some(plan)))
    }

    /// Fails if the user's x fits no subject: none has as many columns (or rows, where sweeps begin with it)
    /// as x has elements. If it fits some, the others refuse it.
    pub(super) fn check_x(&self) -> Result<(), UsageError> {
        let Some(x) = &self.sweep.x else { return Ok(()) };
        let operation = self.sweep.operation;
        let Some(length) = SubjectSource::length_of_x(operation) else {
            let takes = |one: &&Operation| SubjectSource::length_of_x(**one).is_some();
            let taking = Operation::ALL.iter().filter(takes).map(|one| one.as_str());
            let (taking, word) = (taking.collect::<Vec<_>>().join(" and "), operation.as_str());
            let sentence = format!("--x applies only to {taking}, not to {word}");
            return Err(UsageError(sentence));
        };
        let of_task = |task: Task<'_>| {
            let extent = task.probed.as_ref().ok()?.extent?;
            Some((task.source.name(), length(extent)))
        };
        let lengths: Vec<_> = self.tasks().filter_map(of_task).collect();
        let elements = x.len();
        let fits = |(_, (length, _)): &(String, (u64, &str))| *length == elements as u64;
        match lengths.first() {
            Some((name, length)) if !lengths.iter().any(fits) => {
                Err(unfit("--x", elements, name, *length))
            }
            _ => Ok(()),
        }
    }

    /// The number of subjects that run here.
    pub(super) fn len(&self) -> usize {
        self.portions.len()
    }

    /// Every subject, with what is run on it.
    pub(super) fn tasks(&self) -> impl Iterator<Item = Task<'_>> {
        self.portions.iter().zip(&self.probed).filter_map(|(portion, probed)| {
            let source = self.sweep.sources.get(portion.subject)?;
            let configurations = self.at(self.units.places(portion));
            Some(Task { source, probed, configurations })
        })
    }

    /// The configurations that run on some subject.
    pub(super) fn configurations(&self) -> Vec<Configuration> {
        self.at(self.units.places_of_any(&self.portions))
    }

    /// The number of configurations in the plan.
    pub(super) fn planned(&self) -> usize {
        self.configurations.len()
    }

    /// The total number of runs.
    pub(super) fn runs(&self) -> usize {
        self.portions.iter().map(|portion| self.units.places(portion).count()).sum()
    }

    fn at(&self, places: impl Iterator<Item = usize>) -> Vec<Configuration> {
        places.filter_map(|place| self.configurations.get(place).cloned()).collect()
    }
}
