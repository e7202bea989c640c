//! Products with a matrix and with its transpose: the best runs of each, and of both on one device.

use std::collections::BTreeMap;

use sparsescope_core::kernel::{Format, KernelName, kernel};
use sparsescope_core::record::Subject;

use super::Model;
use super::open::{RunOf, subject_size};
use crate::state::{Filter, RankBy, Ranking};

/// The best runs of y = A·x and of y = A'·x on a matrix.
#[derive(Clone, Debug)]
pub(crate) struct Pair<'a> {
    /// Key of the matrix.
    pub(crate) key: &'a str,
    pub(crate) subject: Subject<'a>,
    /// The best run of each product.
    pub(crate) each: [RunOf<'a>; 2],
    /// The best two on one device.
    pub(crate) both: Option<Both<'a>>,
    /// The best two on one device that read the same copy of A.
    pub(crate) one_copy: Option<Both<'a>>,
    /// The ratio of the best two of vendors to the best two of others, on the device of `both`.
    pub(crate) over_vendors: Option<f64>,
}

/// A run of y = A·x and one of y = A'·x on the same device.
#[derive(Clone, Debug)]
pub(crate) struct Both<'a> {
    pub(crate) runs: [RunOf<'a>; 2],
    /// Seconds of both executions; millijoules if runs are ranked by energy.
    pub(crate) cost: f64,
    /// Bytes of what both read, if that was recorded.
    pub(crate) bytes: Option<u64>,
}

impl RunOf<'_> {
    /// Seconds of one execution, or its millijoules.
    pub(crate) fn cost(&self, by: RankBy) -> Option<f64> {
        match by {
            RankBy::Rate => self.figures().map(|figures| figures.median_s),
            RankBy::Energy => self.millijoules(),
        }
    }

    /// Bytes of the arrays of its format, if they were recorded.
    pub(crate) fn format_bytes(&self) -> Option<u64> {
        Some(self.run.costs.format_bytes).filter(|bytes| *bytes > 0)
    }

    /// Whether it multiplies by the transpose; `None` if it is not one of a pair.
    fn is_transposed(&self, ranking: Ranking) -> Option<bool> {
        let competes = self.competes(ranking) && self.has_usual_precision(ranking);
        let is_scaled = self.run.params.contains_key("scale");
        if !competes || is_scaled || self.cost(ranking.by).is_none() {
            return None;
        }
        match self.run.params.get("op").map(String::as_str) {
            None => Some(false),
            Some("t") => Some(true),
            Some(_) => None,
        }
    }
}

/// Whether two runs read the same copy of A in CSR.
fn share(plain: &RunOf<'_>, transposed: &RunOf<'_>) -> bool {
    let is_csr = |id: &str| kernel(id).is_some_and(|known| known.format() == Some(Format::Csr));
    kernel(transposed.timed_kernel()).is_some_and(|known| known.reads_a_for_transpose())
        && is_csr(plain.timed_kernel())
        && plain.run.precision == transposed.run.precision
}

impl<'a> Both<'a> {
    fn of(plain: RunOf<'a>, transposed: RunOf<'a>, by: RankBy) -> Option<Self> {
        let cost = plain.cost(by)? + transposed.cost(by)?;
        let bytes = plain.format_bytes().zip(transposed.format_bytes());
        let bytes = bytes.map(|(own, others)| match share(&plain, &transposed) {
            true => own.max(others),
            false => own.saturating_add(others),
        });
        Some(Self { runs: [plain, transposed], cost, bytes })
    }

    /// The best two on one device that `fit`, of runs in order of their costs.
    fn best(
        plain: &[RunOf<'a>],
        transposed: &[RunOf<'a>],
        by: RankBy,
        fit: impl Fn(&RunOf<'a>, &RunOf<'a>) -> bool,
    ) -> Option<Self> {
        let with_best = |run: &RunOf<'a>| {
            let fits = |other: &&RunOf<'a>| fit(run, other) && run.is_on_machine_of(other);
            Self::of(*run, *transposed.iter().find(fits)?, by)
        };
        let all = plain.iter().filter_map(with_best);
        all.min_by(|one, other| one.cost.total_cmp(&other.cost))
    }
}

impl<'a> Pair<'a> {
    fn of(
        (key, subject): (&'a str, Subject<'a>),
        [plain, transposed]: &[Vec<RunOf<'a>>; 2],
        by: RankBy,
    ) -> Option<Self> {
        let each = [*plain.first()?, *transposed.first()?];
        let both = Both::best(plain, transposed, by, |_, _| true);
        let one_copy = Both::best(plain, transposed, by, share);
        let over_vendors = both.as_ref().and_then(|both| {
            let [device, _] = both.runs;
            let two = |of_vendors: bool| {
                let fits = |run: &RunOf<'a>| {
                    let is_vendors = KernelName::of(&run.run.kernel).is_vendors();
                    is_vendors == of_vendors && run.is_on_machine_of(&device)
                };
                Both::best(plain, transposed, by, |one, other| fits(one) && fits(other))
            };
            Some(two(true)?.cost / two(false)?.cost).filter(|gain| gain.is_finite())
        });
        Some(Self { key, subject, each, both, one_copy, over_vendors })
    }
}

impl Model {
    /// The matrices with competing runs of both products that pass the filter, sorted by size.
    pub(crate) fn pairs(&self, filter: &Filter, ranking: Ranking) -> Vec<Pair<'_>> {
        let mut found: BTreeMap<usize, [Vec<RunOf<'_>>; 2]> = BTreeMap::new();
        for run in self.runs(filter) {
            let Some(is_transposed) = run.is_transposed(ranking) else { continue };
            let Some(subject) = self.index().first_of(run.index) else { continue };
            let [plain, transposed] = found.entry(subject).or_default();
            if is_transposed { transposed.push(run) } else { plain.push(run) }
        }
        found.retain(|_, [_, transposed]| !transposed.is_empty());
        let by = ranking.by;
        let cost = |run: &RunOf<'_>| run.cost(by).unwrap_or(f64::INFINITY);
        let mut pairs = Vec::new();
        for (place, mut lists) in found {
            for list in &mut lists {
                sparsescope_core::order::sort_by(list, |a, b| cost(a).total_cmp(&cost(b)));
            }
            let subject = self.index().subject(&self.bundles, place);
            pairs.extend(subject.and_then(|subject| Pair::of(subject, &lists, by)));
        }
        sparsescope_core::order::sort_by(&mut pairs, |a, b| {
            subject_size(a.subject).cmp(&subject_size(b.subject))
        });
        pairs
    }
}
