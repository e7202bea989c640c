//! What a kernel found.

/// The points that no other dominates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Their indices, ascending.
    pub indices: Vec<u32>,
    /// Dominance tests that were made of one point against one other.
    pub comparisons: u64,
}

impl Found {
    /// Of parts that follow one another in the order of the points.
    pub(super) fn joined(parts: Vec<Self>) -> Self {
        let comparisons = parts.iter().map(|part| part.comparisons).sum();
        let indices = parts.into_iter().flat_map(|part| part.indices).collect();
        Self { indices, comparisons }
    }
}
