//! By what runs are ranked, and why some do not compete.

use sparsescope_core::record::Verdict;

use super::Model;
use super::numbers::small;
use super::open::RunOf;
use crate::state::{Filter, RankBy, Ranking};

impl RunOf<'_> {
    /// Millijoules of one execution, if they were measured and it passed its check.
    pub(crate) fn millijoules(&self) -> Option<f64> {
        let passed = self.run.check.verdict == Verdict::Pass;
        let joules = self.run.energy.as_ref()?.joules;
        (passed && joules > 0.0).then_some(1e3 * joules)
    }

    /// ‖z − y‖₂ / ‖y‖₂ against y in f64, if it was recorded.
    pub(crate) fn relative_error(&self) -> Option<f64> {
        let check = &self.run.check;
        // In fewer bits, `rel_err` is against the result with rounded values.
        let in_f64 = || check.rel_err.filter(|_| self.run.precision == "f64");
        check.rounding.map(|rounding| rounding.norm).or_else(in_f64)
    }

    /// Why it does not compete in this ranking even if it ranks; `None` if it may.
    pub(crate) fn excluded(&self, ranking: Ranking) -> Option<String> {
        if let Some(most) = ranking.max_error {
            match self.relative_error() {
                Some(error) if error <= most => {}
                Some(error) => {
                    let error = small(error);
                    return Some(format!("its relative error of {error} is above {most:e}"));
                }
                None => return Some("its error against f64 is not recorded".into()),
            }
        }
        if ranking.by == RankBy::Energy && self.millijoules().is_none() {
            let reason = self.run.no_energy.as_deref();
            return Some(reason.unwrap_or("its energy was not measured").to_owned());
        }
        None
    }

    /// What it is ranked by: its rate, or its energy in millijoules.
    pub(crate) fn score(&self, by: RankBy) -> Option<f64> {
        match by {
            RankBy::Rate => self.rate(),
            RankBy::Energy => self.millijoules(),
        }
    }

    /// A number that grows as the score improves.
    pub(super) fn goodness_by(&self, by: RankBy) -> Option<f64> {
        match by {
            RankBy::Rate => self.goodness(),
            RankBy::Energy => self.millijoules().map(|energy| -energy),
        }
    }

    /// The ratio by which its score is better than the other's.
    pub(crate) fn gain_by(&self, other: &Self, by: RankBy) -> Option<f64> {
        match by {
            RankBy::Rate => self.gain_over(other),
            RankBy::Energy => Some(other.millijoules()? / self.millijoules()?),
        }
    }
}

impl Model {
    /// Returns whether a run that passes the filter has an energy.
    pub fn has_energy(&self, filter: &Filter) -> bool {
        self.found.with_energy.get(filter.clone(), |filter| {
            self.runs(filter).iter().any(|run| run.millijoules().is_some())
        })
    }
}
