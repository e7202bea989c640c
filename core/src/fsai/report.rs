//! What set-up took and made.

/// A part of set-up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// `prefilter`, `pattern`, `group`, `values`, `postfilter` or `transpose`; on a GPU `allocate`, too, and
    /// `gather` and `transfer` where the processor gathers the dense systems.
    pub name: &'static str,
    /// How long it took.
    pub seconds: f64,
}

/// What set-up took and made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetUp {
    /// In the order in which they ran; what was not asked for took no time and is not there.
    pub phases: Vec<Phase>,
    /// Entries of Ã, both triangles.
    pub entries_prefiltered: u64,
    /// Entries of the pattern.
    pub entries_pattern: u64,
    /// Entries of G before the postfilter: those of the pattern, and more where rows were merged.
    pub entries_before_filter: u64,
    /// Entries of G.
    pub entries: u64,
    /// Dense systems that were solved: one for each row, or for each group of rows.
    pub systems: u64,
    /// Rows of the largest of them.
    pub largest: u64,
    /// Σ m² over the systems, m being their rows.
    pub gathered: u128,
    /// Σ m³/3 over the systems: multiplications and additions of their factorisations.
    pub flops: f64,
}

impl SetUp {
    /// All phases together.
    pub fn seconds(&self) -> f64 {
        self.phases.iter().map(|phase| phase.seconds).sum()
    }

    /// Adds a phase that began then.
    pub(super) fn ended(&mut self, name: &'static str, start: web_time::Instant) {
        self.phases.push(Phase { name, seconds: start.elapsed().as_secs_f64() });
    }
}
