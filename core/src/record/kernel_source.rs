//! Where the kernel of a run comes from, where a user has brought it.

use serde::{Deserialize, Serialize};

/// Folder of the texts of users' kernels.
const SOURCES: &str = "sources/";

/// Most bytes of the text of a user's kernel.
pub const MOST_SOURCE_BYTES: usize = 64 << 10;

/// The file of a user's kernel. Its text, where the user gave it away, is an entry of the bundle
/// ([`entry`](Self::entry)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelSource {
    /// Name of the file, without its folder.
    pub file: String,
    /// SHA-256 of its text: kernels of one id and other texts are other kernels.
    pub sha256: String,
    /// Whose arguments it takes: `csr`, `ell`, `ell-column-major`, `hll`, `hll-column-major`.
    pub family: String,
    /// How it gives rows to threads: `thread-per-row`, `warp-per-row`, `thread-per-hack`.
    pub mapping: String,
}

impl KernelSource {
    /// Name of the entry that holds the text.
    pub fn entry(&self) -> String {
        format!("{SOURCES}{}.cu", self.sha256)
    }

    /// The digits of the digest that tell it from others well enough for a sentence.
    pub fn short_sha256(&self) -> &str {
        self.sha256.get(..8).unwrap_or(&self.sha256)
    }

    /// `csr`, `ell` or `hll`.
    pub fn format(&self) -> &str {
        self.family.split('-').next().unwrap_or(&self.family)
    }
}
