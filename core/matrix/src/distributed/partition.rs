//! The owners of rows: contiguous ranges, one per rank.

use std::ops::Range;

use super::counts::BlockCounts;

/// Contiguous ranges of rows (or columns), one per rank, in order; any may be empty.
///
/// ```
/// use sparsescope_matrix::distributed::Partition;
/// let partition = Partition::equal_rows(10, 4);
/// assert_eq!(partition.range(1), 2..5);
/// assert_eq!(partition.owner(5), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// The start of each rank's range, then the number of rows: ranks + 1 ascending numbers from 0.
    starts: Vec<u64>,
}

impl Partition {
    /// Ranges that differ by at most one row. 0 ranks count as one.
    pub fn equal_rows(rows: u64, ranks: usize) -> Self {
        let ranks = ranks.max(1) as u128;
        let start = |rank: u128| (u128::from(rows) * rank / ranks) as u64;
        Self { starts: (0..=ranks).map(start).collect() }
    }

    /// Ranges with about the same number of nonzeros, cut between blocks of rows. Each cut lies where the
    /// number of nonzeros before it is nearest to its share. Without nonzeros, ranges of equal rows.
    pub fn equal_entries(counts: &BlockCounts, ranks: usize) -> Self {
        let ranks = ranks.max(1);
        let total: u128 = counts.sums().iter().map(|&sum| u128::from(sum)).sum();
        if total == 0 {
            return Self::equal_rows(counts.rows(), ranks);
        }
        let mut starts = vec![0];
        let (mut block, mut before) = (0, 0u128);
        for rank in 1..ranks as u128 {
            let target = total * rank;
            while let Some(&sum) = counts.sums().get(block) {
                let after = before + u128::from(sum);
                let share = ranks as u128;
                // The nearer end of the block that contains the target.
                if after * share > target
                    && after * share - target > target.saturating_sub(before * share)
                {
                    break;
                }
                (before, block) = (after, block + 1);
            }
            starts.push(counts.start(block));
        }
        starts.push(counts.rows());
        Self { starts }
    }

    /// Ranges with these numbers of rows.
    pub fn from_lengths(lengths: &[u64]) -> Self {
        let mut starts = vec![0];
        let mut end = 0u64;
        starts.extend(lengths.iter().map(|length| {
            end = end.saturating_add(*length);
            end
        }));
        if lengths.is_empty() {
            starts.push(0);
        }
        Self { starts }
    }

    /// Number of ranks, at least one.
    pub fn ranks(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of rows of all ranks together.
    pub fn rows(&self) -> u64 {
        self.starts[self.ranks()]
    }

    /// The rows of a rank. Panics when there is no such rank.
    pub fn range(&self, rank: usize) -> Range<u64> {
        self.starts[rank]..self.starts[rank + 1]
    }

    /// The rank that owns a row. Panics when `row >= rows()`.
    pub fn owner(&self, row: u64) -> usize {
        assert!(row < self.rows(), "row {row} is out of range for {} rows", self.rows());
        // Of the ranges that begin at the same row, all but the last are empty.
        self.starts.partition_point(|&start| start <= row) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cuts rows of these lengths, in blocks of one row.
    fn cut(lengths: &[u64], ranks: usize) -> Vec<u64> {
        let counts = BlockCounts::new(lengths.len() as u64, 1, lengths.to_vec());
        Partition::equal_entries(&counts, ranks).starts
    }

    #[test]
    fn equal_rows_differ_by_one_at_most_and_some_are_empty_when_there_are_few() {
        assert_eq!(Partition::equal_rows(7, 3).starts, [0, 2, 4, 7]);
        assert_eq!(Partition::equal_rows(2, 4).starts, [0, 0, 1, 1, 2]);
        assert_eq!(Partition::equal_rows(0, 2).starts, [0, 0, 0]);
        let large = Partition::equal_rows(u64::MAX, 3);
        assert_eq!(large.range(1), u64::MAX / 3..u64::MAX / 3 * 2);
    }

    #[test]
    fn cuts_lie_nearest_to_equal_shares_of_the_entries() {
        assert_eq!(cut(&[1; 9], 3), [0, 3, 6, 9]);
        // Half of 12 lies in the long row: 2 before it are 4 off, 9 after it are 3 off.
        assert_eq!(cut(&[1, 1, 7, 1, 1, 1], 2), [0, 3, 6]);
        // A row with nearly all nonzeros goes to one rank; other ranks have nothing to do.
        assert_eq!(cut(&[0, 90, 1, 1], 4), [0, 1, 2, 2, 4]);
        assert_eq!(cut(&[0, 0, 0, 0], 2), [0, 2, 4]);
        assert_eq!(cut(&[5], 3), [0, 0, 1, 1]);
        assert_eq!(cut(&[], 2), [0, 0, 0]);
    }

    #[test]
    fn no_rank_has_more_than_its_share_and_half_a_row_at_each_cut() {
        let lengths: Vec<u64> = (0..1000).map(|i| i * 7919 % 50).collect();
        let (total, longest): (u64, u64) = (lengths.iter().sum(), 49);
        for ranks in [1, 2, 3, 7, 64] {
            let starts = cut(&lengths, ranks);
            assert_eq!((starts.len(), starts[ranks]), (ranks + 1, 1000));
            for pair in starts.windows(2) {
                let entries: u64 = lengths[pair[0] as usize..pair[1] as usize].iter().sum();
                assert!(entries <= total / ranks as u64 + longest + 1, "{entries} of {total}");
            }
        }
    }

    #[test]
    fn every_row_is_owned_by_the_rank_in_whose_range_it_lies() {
        let partition = Partition::from_lengths(&[0, 3, 0, 0, 2, 0]);
        assert_eq!((partition.ranks(), partition.rows()), (6, 5));
        let owners: Vec<usize> = (0..5).map(|row| partition.owner(row)).collect();
        assert_eq!(owners, [1, 1, 1, 4, 4]);
        for row in 0..5 {
            assert!(partition.range(partition.owner(row)).contains(&row));
        }
    }
}
