//! What is drawn next to and over the cells: the owners of rows, and the padding of hacks.

use sparsescope_core::experiment::LoadedValues;
use sparsescope_core::spmv::RowParts;

use crate::picture::Picture;
use crate::state::Split;

/// The rows of each thread.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parts {
    /// First row of each part, and the number of rows.
    pub(super) bounds: Vec<f64>,
    /// Nonzeros of each part.
    pub(super) entries: Vec<f64>,
    /// Computed from every row, not from groups of them.
    pub(super) exact: bool,
}

/// Padding along the rows.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Padding {
    /// Slots of each group of 2^shift rows, as grouped by the row-length profile.
    pub(super) slots: Vec<f64>,
    /// Computed from every row; otherwise an upper bound.
    pub(super) exact: bool,
}

impl Parts {
    pub(super) fn of(picture: &Picture, threads: usize, split: Split) -> Self {
        let rows = picture.pyramid.rows();
        if let Some(LoadedValues::Real(a)) = &picture.values {
            let parts = match split {
                Split::Rows => RowParts::equal_rows(rows, threads),
                Split::Entries => RowParts::equal_entries(a.row_ptr(), threads),
            };
            let ptr = a.row_ptr();
            let mut bounds: Vec<f64> = parts.iter().map(|part| part.start as f64).collect();
            bounds.push(rows as f64);
            let entries = parts.iter().map(|p| (ptr.get(p.end) - ptr.get(p.start)) as f64);
            return Self { bounds, entries: entries.collect(), exact: true };
        }
        let sums = Sums::of(picture);
        let total = sums.total();
        let mut bounds: Vec<f64> = match split {
            Split::Rows => {
                let parts = RowParts::equal_rows(rows, threads);
                parts.iter().map(|part| part.start as f64).chain([rows as f64]).collect()
            }
            Split::Entries => (0..=threads)
                .map(|p| match p {
                    0 => 0.0,
                    p if p == threads => rows as f64,
                    p => sums.row_after(total * p as f64 / threads as f64),
                })
                .collect(),
        };
        bounds.dedup();
        let before: Vec<f64> = bounds.iter().map(|row| sums.before(*row)).collect();
        let entries = before.array_windows().map(|[from, to]| to - from).collect();
        Self { bounds, entries, exact: picture.profile.shift == 0 }
    }

    /// The largest part's nonzeros over the mean: 1 is perfect balance.
    pub(super) fn imbalance(&self) -> f64 {
        let mean = self.entries.iter().sum::<f64>() / self.entries.len().max(1) as f64;
        let largest = self.entries.iter().copied().fold(0.0, f64::max);
        if mean > 0.0 { largest / mean } else { 1.0 }
    }
}

/// Nonzeros before each group of rows of the profile.
struct Sums {
    rows: f64,
    group: f64,
    before: Vec<f64>,
}

impl Sums {
    fn of(picture: &Picture) -> Self {
        let mut sum = 0.0;
        let mut before = vec![0.0];
        for bin in &picture.profile.bins {
            sum += bin.entries as f64;
            before.push(sum);
        }
        let group = (1_u64 << picture.profile.shift) as f64;
        Self { rows: picture.pyramid.rows() as f64, group, before }
    }

    fn total(&self) -> f64 {
        self.before.last().copied().unwrap_or(0.0)
    }

    /// Nonzeros before a row, assuming an even distribution over the rows of its group.
    fn before(&self, row: f64) -> f64 {
        let bin = (row / self.group) as usize;
        let (from, to) = (self.before.get(bin), self.before.get(bin + 1));
        match (from, to) {
            (Some(from), Some(to)) => {
                let first = bin as f64 * self.group;
                let rows = self.group.min(self.rows - first).max(1.0);
                from + (to - from) * (row - first) / rows
            }
            _ => self.total(),
        }
    }

    /// The first row with at least `entries` nonzeros before it.
    fn row_after(&self, entries: f64) -> f64 {
        let bin = self.before.partition_point(|before| *before < entries).saturating_sub(1);
        let (from, to) = (self.before.get(bin), self.before.get(bin + 1));
        let (Some(from), Some(to)) = (from, to) else { return self.rows };
        let first = bin as f64 * self.group;
        let rows = self.group.min(self.rows - first).max(1.0);
        (first + ((entries - from) / (to - from).max(1.0) * rows).ceil()).min(self.rows)
    }
}

impl Padding {
    /// Slots of hacks of `hack` rows: each row has as many as the hack's longest row has nonzeros.
    pub(super) fn of(picture: &Picture, hack: usize) -> Self {
        let (rows, shift) = (picture.pyramid.rows(), picture.profile.shift);
        let group = 1_usize << shift;
        let mut slots = vec![0.0_f64; picture.profile.bins.len()];
        let length: Option<Box<dyn Fn(usize) -> usize + '_>> = match &picture.values {
            Some(LoadedValues::Real(a)) => Some(Box::new(|i| a.row_len(i))),
            Some(LoadedValues::Complex(a)) => Some(Box::new(|i| a.row_len(i))),
            None => None,
        };
        if let Some(length) = length {
            for first in (0..rows).step_by(hack) {
                let hack = first..rows.min(first + hack);
                let longest = hack.clone().map(&length).max().unwrap_or(0) as f64;
                // A hack may overlap several groups: count its slots row by row.
                for row in hack {
                    if let Some(slots) = slots.get_mut(row >> shift) {
                        *slots += longest;
                    }
                }
            }
            return Self { slots, exact: true };
        }
        for first in (0..rows).step_by(hack.max(group)) {
            let groups = first >> shift..rows.min(first + hack.max(group)).div_ceil(group);
            let of = picture.profile.bins.get(groups.clone()).unwrap_or(&[]);
            let longest = of.iter().map(|bin| bin.max).max().unwrap_or(0) as f64;
            for bin in groups {
                let rows = (rows - (bin << shift)).min(group);
                if let Some(slots) = slots.get_mut(bin) {
                    *slots = slots.max(longest * rows as f64);
                }
            }
        }
        Self { slots, exact: hack.is_multiple_of(group) }
    }

    /// Slots per stored nonzero: 1 without padding.
    pub(super) fn slots_an_entry(&self, picture: &Picture) -> f64 {
        let entries = picture.pyramid.entries().max(1) as f64;
        (self.slots.iter().sum::<f64>() / entries).max(1.0)
    }

    /// Fraction of padding among the slots of consecutive groups.
    pub(super) fn share(&self, picture: &Picture, groups: std::ops::Range<usize>) -> f64 {
        let entries: u64 = picture
            .profile
            .bins
            .get(groups.clone())
            .map_or(0, |bins| bins.iter().map(|bin| bin.entries).sum());
        let slots: f64 = self.slots.get(groups).map_or(0.0, |slots| slots.iter().sum());
        if slots > 0.0 { (1.0 - entries as f64 / slots).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use sparsescope_core::matrix::{Csr, Hll, Order};
    use sparsescope_core::memory::MemoryLimit;

    use super::*;

    /// Row i has 1 + i % 7 nonzeros, row 13 has 60.
    fn matrix(rows: usize) -> LoadedValues {
        let length = |i: usize| if i == 13 { 60 } else { 1 + i % 7 };
        let t: Vec<_> = (0..rows).flat_map(|i| (0..length(i)).map(move |j| (i, j, 1.0))).collect();
        LoadedValues::Real(Arc::new(Csr::from_triplets(rows, 64, &t).unwrap()))
    }

    fn without_values(mut picture: Picture) -> Picture {
        picture.values = None;
        picture
    }

    #[test]
    fn padding_is_that_of_the_real_format_and_never_less_without_the_matrix() {
        for (rows, hack) in [(100, 32), (10_000, 32), (10_001, 4), (9_000, 64)] {
            let values = matrix(rows);
            let LoadedValues::Real(a) = &values else { unreachable!() };
            let built = Hll::from_csr(a, hack, Order::RowMajor, MemoryLimit::unlimited()).unwrap();
            let picture = Picture::of(&values);
            let padding = Padding::of(&picture, hack);
            assert!(padding.exact);
            assert_eq!(padding.slots.iter().sum::<f64>(), built.val().len() as f64);
            let bound = Padding::of(&without_values(Picture::of(&values)), hack);
            let sum: f64 = bound.slots.iter().sum();
            assert!(sum >= built.val().len() as f64);
            assert!(
                !bound.exact || sum == built.val().len() as f64,
                "{rows} rows, hacks of {hack}"
            );
        }
    }

    #[test]
    fn parts_hold_all_entries_and_agree_with_and_without_the_matrix() {
        let values = matrix(4_000);
        let (whole, profile) = (Picture::of(&values), without_values(Picture::of(&values)));
        let entries = whole.pyramid.entries() as f64;
        for split in Split::ALL {
            for threads in [1, 2, 7] {
                let exact = Parts::of(&whole, threads, *split);
                assert_eq!(exact.entries.iter().sum::<f64>(), entries);
                assert_eq!(Parts::of(&profile, threads, *split), exact);
            }
        }
        let skewed = Parts::of(&whole, 400, Split::Rows);
        assert!(skewed.imbalance() > 2.0, "row 13 makes its part heavy");
    }
}
