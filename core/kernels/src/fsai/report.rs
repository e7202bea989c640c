//! Time and sizes of the setup.

/// A phase of the setup.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// `prefilter`, `pattern`, `group`, `values`, `postfilter` or `transpose`; on a GPU also `allocate`, and
    /// `gather` and `transfer` if the CPU gathers the dense systems.
    pub name: &'static str,
    /// Its duration.
    pub seconds: f64,
}

/// Time and sizes of the setup.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetUp {
    /// In the order in which they ran; phases that were not requested are absent.
    pub phases: Vec<Phase>,
    /// Nonzeros of Ã, both triangles.
    pub entries_prefiltered: u64,
    /// Nonzeros of the pattern.
    pub entries_pattern: u64,
    /// Nonzeros of G before the postfilter: those of the pattern, and more if rows were merged.
    pub entries_before_filter: u64,
    /// Nonzeros of G.
    pub entries: u64,
    /// Number of dense systems solved: one per row, or per group of rows.
    pub systems: u64,
    /// Rows of the largest system.
    pub largest: u64,
    /// Σ m² over the systems, where m is the number of rows.
    pub gathered: u128,
    /// Σ m³/3 over the systems: multiplications and additions of their factorisations.
    pub flops: f64,
}

impl SetUp {
    /// Total time of all phases.
    pub fn seconds(&self) -> f64 {
        self.phases.iter().map(|phase| phase.seconds).sum()
    }

    /// Adds a phase that began at `start`.
    pub(super) fn ended(&mut self, name: &'static str, start: web_time::Instant) {
        self.phases.push(Phase { name, seconds: start.elapsed().as_secs_f64() });
    }
}
