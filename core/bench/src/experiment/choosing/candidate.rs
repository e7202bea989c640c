//! A candidate for the fastest kernel on a matrix, with its settings.

use sparsescope_model::kernel::{KernelDescriptor, Parameters, kernel};

/// The baseline kernel: no choice is slower than it.
pub(in crate::experiment) const SERIAL: &str = "cpu/csr/serial";

/// A candidate for the fastest kernel.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The kernel.
    pub kernel: &'static KernelDescriptor,
    /// Parameters of its format.
    pub parameters: Parameters,
    /// Threads per block, on a GPU.
    pub block: Option<u32>,
    /// Minimal bytes that one SpMV moves, as far as they are known before the format is built.
    pub minimal_bytes: u64,
    /// Whether its values are looked up by code.
    pub is_coded: bool,
    /// Expected seconds per SpMV; `None` where unknown.
    pub expected_s: Option<f64>,
}

impl Candidate {
    /// Sort key: fewest bytes first, with a penalty for formats that take long to convert and decode.
    pub(super) fn rank(&self) -> f64 {
        let takes_long = self.kernel.id.ends_with("/compact");
        self.minimal_bytes as f64 * if takes_long { COMPACT_RANK } else { 1.0 }
    }
}

/// Bytes of another format over those of a compact one, up to which the other is tried first.
const COMPACT_RANK: f64 = 1.25;

/// The GPU kernel that takes any matrix in plain CSR.
pub const ADAPTIVE: &str = "cuda/csr/adaptive";

/// The one that takes plain CSR with even rows, if there are not many nonzeros.
pub(super) const BY_LANES: &str = "cuda/csr/lanes";

/// A candidate by kernel id; `None` for an unknown id.
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
