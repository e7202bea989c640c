//! A kernel that may be the fastest on a matrix, with its settings.

use crate::kernel::{KernelDescriptor, Parameters, kernel};

/// The kernel that no choice is slower than.
pub(in crate::experiment) const SERIAL: &str = "cpu/csr/serial";

/// A kernel that may be the fastest.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// It.
    pub kernel: &'static KernelDescriptor,
    /// Those of its format.
    pub parameters: Parameters,
    /// Threads a block, on a GPU.
    pub block: Option<u32>,
    /// Minimal bytes that a product moves, as far as they are known before the format is made.
    pub minimal_bytes: u64,
    /// Its values are looked up by codes.
    pub is_coded: bool,
    /// Seconds that a product is expected to take; none where nobody knows.
    pub expected_s: Option<f64>,
}

impl Candidate {
    /// What comes first: few bytes, but what takes long to convert and to decode has to have fewer.
    pub(super) fn rank(&self) -> f64 {
        let takes_long = self.kernel.id.ends_with("/compact");
        self.minimal_bytes as f64 * if takes_long { COMPACT_RANK } else { 1.0 }
    }
}

/// How many more bytes another format may have that is tried before a compact one.
const COMPACT_RANK: f64 = 1.25;

/// The GPU's kernel that takes any matrix as it is.
pub const ADAPTIVE: &str = "cuda/csr/adaptive";

/// A kernel by its id; none where there is none of that id.
pub(super) fn candidate(id: &str, parameters: Parameters, minimal_bytes: u64) -> Option<Candidate> {
    let (is_coded, expected_s) = (false, None);
    let block = None;
    kernel(id).map(|kernel| Candidate {
        kernel,
        parameters,
        block,
        minimal_bytes,
        is_coded,
        expected_s,
    })
}
