//! The units of work of a sweep, and their dependencies.

use std::ops::Range;

/// Neighbouring rows of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The rows, in order of execution.
    pub(super) rows: Range<usize>,
    /// The steps that may run at the same time, including this one. All earlier steps must be done first.
    pub(super) group: Range<usize>,
    /// Whether the rows are independent of one another.
    pub(super) independent: bool,
}

/// A sweep in steps that cover its rows in order. A large group of independent rows is split into several
/// steps; consecutive small groups are merged into one, since one worker finishes them before two could
/// synchronise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Steps {
    steps: Vec<Step>,
    /// Number of steps that the last group of rows has to itself.
    last_alone: usize,
}

/// Minimum work that is worth waiting for another worker, in nonzeros: a few microseconds.
pub(super) const GRAIN: usize = 4096;

/// Cost of a row besides its nonzeros, in nonzeros.
const ROW: usize = 4;

/// Steps per worker in each group, so that a late worker finds less work left.
const SHARE: usize = 2;

/// The number of workers that share steps, and the minimum work per step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    pub(super) workers: usize,
    pub(super) grain: usize,
}

impl Steps {
    /// Builds the steps for groups of rows `ptr[g]..ptr[g + 1]`; `entries` returns the number of nonzeros
    /// before a row.
    pub(super) fn new(ptr: &[u32], entries: impl Fn(usize) -> usize, sharing: Sharing) -> Self {
        let Sharing { workers, grain } = sharing;
        let cost = |row: usize| entries(row) + ROW * row;
        let most = if workers > 1 { SHARE * workers } else { 1 };
        let (mut steps, mut run, mut last_alone) = (Vec::<Step>::new(), false, 0);
        for group in ptr.windows(2) {
            let rows = group[0] as usize..group[1] as usize;
            let whole = cost(rows.end) - cost(rows.start);
            let independent = whole >= grain;
            let pieces = (whole / grain).clamp(1, most);
            let (first, continued) = (steps.len(), run && !independent);
            if continued && let Some(step) = steps.last_mut() {
                step.rows.end = rows.end;
            } else {
                let mut start = rows.start;
                for piece in 1..=pieces {
                    let target = cost(rows.start)
                        + (whole as u128 * piece as u128 / pieces as u128) as usize;
                    let end = bisect(start..rows.end, |row| cost(row) < target);
                    let group = first..first + pieces;
                    steps.push(Step { rows: start..end, group, independent });
                    start = end;
                }
            }
            run = !independent;
            last_alone = if continued { 0 } else { pieces };
        }
        Self { steps, last_alone }
    }

    /// The steps in order.
    pub(super) fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Number of final steps that hold only the last group of rows; 0 if it shares its step.
    pub(super) fn last_alone(&self) -> usize {
        self.last_alone
    }

    /// Bytes of the steps.
    pub(super) fn bytes(&self) -> u64 {
        size_of_val(self.steps.as_slice()) as u64
    }
}

/// Returns the first of `rows` for which `pred` does not hold, or their end; `pred` must hold up to some row
/// and for none after it.
fn bisect(rows: Range<usize>, pred: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (rows.start, rows.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if pred(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ranges(steps: &Steps) -> Vec<(Range<usize>, Range<usize>)> {
        steps.steps().iter().map(|s| (s.rows.clone(), s.group.clone())).collect()
    }

    #[test]
    fn large_groups_are_shared_and_runs_of_small_ones_are_one_step() {
        // Each row costs 10: groups of 100, 100, 20, 10, 10 and 200 rows.
        let ptr = [0, 100, 200, 220, 230, 240, 440];
        let sharing = |workers| Sharing { workers, grain: 500 };
        let steps = Steps::new(&ptr, |row| 6 * row, sharing(2));
        let expected = [
            (0..50, 0..2),
            (50..100, 0..2),
            (100..150, 2..4),
            (150..200, 2..4),
            (200..240, 4..5),
            (240..290, 5..9),
            (290..340, 5..9),
            (340..390, 5..9),
            (390..440, 5..9),
        ];
        assert_eq!(ranges(&steps), expected);
        assert_eq!(steps.last_alone(), 4);
        assert!(steps.steps().iter().all(|step| step.independent == (step.group.len() > 1)));
        let alone = Steps::new(&ptr, |row| 6 * row, sharing(1));
        assert_eq!(
            ranges(&alone),
            [(0..100, 0..1), (100..200, 1..2), (200..240, 2..3), (240..440, 3..4)]
        );
        assert!(alone.steps().iter().map(|step| step.independent).eq([true, true, false, true]));
        assert_eq!(alone.last_alone(), 1);
        assert!(Steps::new(&[0], |_| 0, sharing(4)).steps().is_empty());
    }

    proptest! {
        #[test]
        fn every_row_is_in_one_step_and_no_group_begins_inside_another(
            widths in prop::collection::vec(1u32..40, 0..20),
            length in 0usize..9,
            workers in 1usize..6,
            grain in 1usize..300,
        ) {
            let ends = widths.iter().scan(0, |end, width| { *end += width; Some(*end) });
            let ptr: Vec<u32> = std::iter::once(0).chain(ends).collect();
            let rows = *ptr.last().unwrap() as usize;
            let steps = Steps::new(&ptr, |row| length * row, Sharing { workers, grain });
            let mut next = 0;
            for (s, step) in steps.steps().iter().enumerate() {
                prop_assert_eq!(step.rows.start, next);
                prop_assert!(step.group.contains(&s));
                next = step.rows.end;
                // Steps that run at the same time, or in any order, belong to one group.
                prop_assert!(step.independent || step.group.len() == 1);
                if step.independent {
                    let of = |row: usize| ptr.partition_point(|&p| p as usize <= row);
                    let group = &steps.steps()[step.group.clone()];
                    let rows = group.first().unwrap().rows.start..group.last().unwrap().rows.end;
                    prop_assert_eq!(of(rows.start), of(rows.end - 1));
                }
            }
            prop_assert_eq!(next, rows);
            let last = &steps.steps()[steps.steps().len() - steps.last_alone()..];
            if let Some(first) = last.first() {
                prop_assert_eq!(first.rows.start as u32, ptr[ptr.len() - 2]);
            }
        }
    }
}
