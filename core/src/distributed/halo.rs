//! The elements of x that a rank needs and does not own.

use std::ops::Range;

use super::partition::Partition;

/// Columns of other ranks that a rank's rows have entries in, ascending, and so grouped by owner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Halo {
    columns: Vec<u64>,
    /// Whose, and where they stand among the columns.
    owners: Vec<(usize, Range<usize>)>,
}

impl Halo {
    /// Of these columns, ascending, none twice, none of the rank itself.
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

    /// Nothing is needed of others.
    pub fn is_empty(&self) -> bool {
        self.columns.is_empty()
    }

    /// The columns of the whole matrix, ascending.
    pub fn columns(&self) -> &[u64] {
        &self.columns
    }

    /// Who owns some of them, ascending, and where those stand in [`columns`](Self::columns).
    pub fn owners(&self) -> &[(usize, Range<usize>)] {
        &self.owners
    }

    /// Where a column stands among them.
    pub(super) fn position(&self, column: u64) -> Option<usize> {
        self.columns.binary_search(&column).ok()
    }
}
