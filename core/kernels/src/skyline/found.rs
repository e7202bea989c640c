//! The result of a kernel.

/// The skyline (Pareto-optimal) points.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Their indices, ascending.
    pub indices: Vec<u32>,
    /// Number of dominance tests of one point against another.
    pub comparisons: u64,
}

impl Found {
    /// Joins the results of consecutive parts.
    pub(super) fn joined(parts: Vec<Self>) -> Self {
        let comparisons = parts.iter().map(|part| part.comparisons).sum();
        let indices = parts.into_iter().flat_map(|part| part.indices).collect();
        Self { indices, comparisons }
    }
}
