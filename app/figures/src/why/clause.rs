//! Why a run wins, in a clause that fits in a row: what its record says for its format, and what
//! limits it now.

use std::collections::BTreeMap;

use sparsescope_core::kernel::{GridMapping, KernelName, Mapping, kernel, mapping_of};
use sparsescope_core::record::Source;

use super::{BOUND, percent};
use crate::model::{RunOf, count};
use crate::theme::family_of;

/// Letters of the longest clause.
const LONGEST: usize = 46;

/// A format with fewer bytes than CSR is a reason from this fraction on.
pub(crate) const FEWER: f64 = 0.05;

/// More padding than this is no reason to win.
const MOST_PADDING: f64 = 1.25;

/// Rows are uneven if the longest has this many times the mean.
const UNEVEN: f64 = 8.0;

/// Why a run wins; both parts may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clause {
    /// What speaks for it: `4×4 blocks: 28 % fewer bytes than CSR`.
    pub reason: String,
    /// What limits it: `91 % of copy bandwidth`, `launch-bound`.
    pub limit: String,
}

impl Clause {
    /// Both parts if that is short, else the reason.
    pub fn text(&self) -> String {
        let Self { reason, limit } = self;
        let joined = format!("{}; {}", self.short_reason(), limit.trim_end_matches(" bandwidth"));
        match (reason.is_empty(), limit.is_empty()) {
            (true, _) => limit.clone(),
            (false, false) if joined.chars().count() <= LONGEST => joined,
            (false, _) => reason.clone(),
        }
    }

    /// The reason, without saying that bytes are compared with those of CSR.
    pub(crate) fn short_reason(&self) -> &str {
        self.reason.split(" than CSR").next().unwrap_or(&self.reason)
    }
}

impl RunOf<'_> {
    /// Why it wins, as far as it is recorded; `csr` is the size of CSR in its precision, in bytes.
    pub(crate) fn clause(&self, csr: Option<u64>) -> Clause {
        let reason = self.block_or_compact(csr).or_else(|| self.uneven()).or_else(|| self.full());
        Clause { reason: reason.unwrap_or_default(), limit: self.limit().unwrap_or_default() }
    }

    fn limit(&self) -> Option<String> {
        if self.launch_share().is_some_and(|share| share >= BOUND) {
            return Some("launch-bound".into());
        }
        Some(match self.pct_copy()? {
            share if share > 110.0 => "from cache".into(),
            share if share < 1.0 => return None,
            share => format!("{share:.0} % of copy bandwidth"),
        })
    }

    /// The parameters of the kernel that was timed.
    fn timed_params(&self) -> &BTreeMap<String, String> {
        self.run.costs.choice.as_ref().map_or(&self.run.params, |choice| &choice.params)
    }

    /// The format that was timed, and whether it is compact.
    fn timed_format(&self) -> (&str, bool) {
        let kernel = KernelName::of(self.timed_kernel());
        let format = self.run.source.as_ref().map_or(kernel.family(), |source| source.format());
        (format, kernel.is_compact())
    }

    /// Blocks or compact indices, and how many bytes fewer than CSR they take.
    fn block_or_compact(&self, csr: Option<u64>) -> Option<String> {
        let param = |name: &str| self.timed_params().get(name).map(String::as_str);
        let what = match self.timed_format() {
            ("bsr", _) => match param("bsr_block") {
                Some(side) => format!("{side}×{side} blocks"),
                None => "dense blocks".into(),
            },
            (_, true) => match param("values").filter(|bits| bits.parse::<u8>().is_ok()) {
                Some(bits) => format!("16-bit columns, {bits}-bit values"),
                None => "16-bit columns".into(),
            },
            ("dia", _) => "diagonals without columns".into(),
            _ => return None,
        };
        let bytes = Some(self.run.costs.format_bytes).filter(|bytes| *bytes > 0)?;
        let fewer = 1.0 - bytes as f64 / csr? as f64;
        (fewer >= FEWER).then(|| format!("{what}: {} fewer bytes than CSR", percent(fewer)))
    }

    /// Uneven rows that the kernel divides by nonzeros.
    fn uneven(&self) -> Option<String> {
        let row = &self.matrix()?.statistics.row;
        if (row.max as f64) < UNEVEN * row.mean {
            return None;
        }
        let mapping = match &self.run.costs.choice {
            Some(choice) => kernel(&choice.kernel).map(|kernel| kernel.mapping),
            None => mapping_of(self.run),
        };
        let how = match mapping? {
            Mapping::Grid(GridMapping::BlockPerTile) => "split over blocks",
            Mapping::Grid(GridMapping::WarpPerSpan) => "split over warps",
            Mapping::MergePath | Mapping::EqualPieces => "split over threads",
            Mapping::EqualEntries => "equal nonzeros per thread",
            _ => return None,
        };
        Some(format!("rows of {} to {}: {how}", count(row.min), count(row.max)))
    }

    /// Little padding in a format that pads.
    fn full(&self) -> Option<String> {
        let (format, is_compact) = self.timed_format();
        let family = family_of(format);
        if !["hll", "ell", "hyb"].contains(&family) || is_compact {
            return None;
        }
        let bytes = self.run.costs.format_bytes;
        let sizes = self.matrix()?.statistics.formats.iter();
        let alike = sizes
            .filter(|size| family_of(&size.format) == family && !size.format.ends_with("compact"));
        // With other parameters than those of the statistics, the size would differ.
        let size = alike.min_by_key(|size| size.bytes.abs_diff(bytes))?;
        let same = size.bytes.abs_diff(bytes) <= size.bytes / 50;
        if !same || size.padding > MOST_PADDING {
            return None;
        }
        let sorted = if self.timed_params().contains_key("sigma") { "sorted rows: " } else { "" };
        Some(match size.padding {
            none if none < 1.005 => format!("{sorted}no padding"),
            some => format!("{sorted}padding {some:.2}×"),
        })
    }

    /// Whether its subject stands in for a real one.
    pub(crate) fn is_stand_in(&self) -> bool {
        self.subject.source() == Source::StandIn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Filter;
    use crate::why::tests::{model, run};

    /// The clause of a run with these parameters, where CSR has 12 MB.
    fn clause(kernel: &str, format_bytes: u64, params: &[(&str, &str)]) -> Clause {
        let (mut run, statistics, environment) = run(kernel);
        run.costs.format_bytes = format_bytes;
        let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        run.params = params.collect();
        let model = model(vec![run], statistics, environment);
        let runs = model.runs(&Filter::default());
        runs[0].clause(Some(12_000_000))
    }

    #[test]
    fn a_clause_says_what_is_recorded_and_nothing_else() {
        let blocks = clause("cuda/bsr/warp", 9_000_000, &[("bsr_block", "3")]);
        assert_eq!(blocks.reason, "3×3 blocks: 25 % fewer bytes than CSR");
        assert_eq!(blocks.text(), "3×3 blocks: 25 % fewer bytes; 25 % of copy");
        let coded = clause("cuda/hll/compact", 6_000_000, &[("values", "8")]);
        assert_eq!(coded.text(), "16-bit columns, 8-bit values: 50 % fewer bytes than CSR");
        let plain = clause("cuda/hll/compact", 12_000_000, &[("values", "plain")]);
        assert_eq!(plain.text(), "25 % of copy bandwidth");
        assert_eq!(clause("cuda/csr/adaptive", 12_000_000, &[]).reason, "", "the rows are even");
    }
}
