//! The elements of x that a rank needs and does not own.

use std::ops::Range;

use super::partition::Partition;

/// Columns of other ranks in which a rank's rows have nonzeros, ascending and therefore grouped by
/// owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halo {
    columns: Vec<u64>,
    /// Each owner, and the range of its columns.
    owners: Vec<(usize, Range<usize>)>,
}

impl Halo {
    /// Takes these columns: ascending, without duplicates, none owned by the rank itself.
    pub(super) fn new(columns: Vec<u64>, partition: &Partition) -> Self {
        let mut owners = Vec::new();
        let mut start = 0;
        while let Some(&first) = columns.get(start) {
            let owner = partition.owner(first);
            let end = partition.range(owner).end;
            let count = columns[start..].partition_point(|&column| column < end);
            owners.push((owner, start..start + count));
            start += count;
        }
        Self { columns, owners }
    }

    /// Number of columns.
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// Whether nothing is needed from other ranks.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The columns, numbered as in the whole matrix, ascending.
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }

    /// The ranks that own some of them, ascending, and the ranges of their columns in
    /// [`columns`](Self::columns).
    pub fn owners(&self) -> &[(usize, Range<usize>)] {
        &self.owners
    }

    /// The position of a column among them.
    pub(super) fn position(&self, column: u64) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }
}
