//! Rows divided into numbered groups.

/// The rows of each group, from a counting sort.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowGroups {
    group_of: Vec<u32>,
    rows: Vec<u32>,
    ptr: Vec<u32>,
}

impl RowGroups {
    /// Maximum bytes for `rows` rows.
    pub(super) fn most_bytes(rows: usize) -> u128 {
        12 * rows as u128 + 4
    }

    /// Builds the groups from the group number of each row; the numbers are 0, 1, … without gaps.
    pub(super) fn new(group_of: Vec<u32>) -> Self {
        let groups = group_of.iter().max().map_or(0, |&last| last as usize + 1);
        let mut ptr = vec![0u32; groups + 1];
        for &group in &group_of {
            ptr[group as usize + 1] += 1;
        }
        for group in 0..groups {
            ptr[group + 1] += ptr[group];
        }
        // Filling a group moves its start to its end, which is the start of the next one.
        let mut next = ptr.clone();
        let mut rows = vec![0u32; group_of.len()];
        for (row, &group) in group_of.iter().enumerate() {
            let place = &mut next[group as usize];
            rows[*place as usize] = row as u32;
            *place += 1;
        }
        Self { group_of, rows, ptr }
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.ptr.len() - 1
    }

    /// Whether there is no group because there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Group of each row.
    pub fn group_of(&self) -> &[u32] {
        &self.group_of
    }

    /// All rows, group after group, ascending within each.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Where each group begins in [`rows`](Self::rows), and where the last one ends.
    pub fn ptr(&self) -> &[u32] {
        &self.ptr
    }

    /// The rows of each group.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> + DoubleEndedIterator + '_ {
        self.ptr.windows(2).map(|w| &self.rows[w[0] as usize..w[1] as usize])
    }

    /// Number of rows of each group.
    pub fn widths(&self) -> impl ExactSizeIterator<Item = u32> + '_ {
        self.ptr.windows(2).map(|w| w[1] - w[0])
    }

    /// Bytes of the three arrays.
    pub fn bytes(&self) -> u64 {
        4 * (self.group_of.len() + self.rows.len() + self.ptr.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_grouped_in_ascending_order() {
        let groups = RowGroups::new(vec![1, 0, 2, 1, 0, 1]);
        assert_eq!(groups.rows(), [1, 4, 0, 3, 5, 2]);
        assert_eq!(groups.ptr(), [0, 2, 5, 6]);
        assert!(groups.widths().eq([2, 3, 1]));
        assert!(groups.iter().eq([&[1, 4][..], &[0, 3, 5], &[2]]));
        assert!(RowGroups::new(Vec::new()).is_empty());
    }
}
