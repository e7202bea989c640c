//! The source of a run's kernel, for kernels supplied by a user.

use serde::{Deserialize, Serialize};

/// Folder of the source texts of user kernels.
const SOURCES: &str = "sources/";

/// Maximum size of the source text of a user kernel, in bytes.
pub const MOST_SOURCE_BYTES: usize = 64 << 10;

/// The file of a user kernel. Its text, if the user shared it, is an entry of the bundle
/// ([`entry`](Self::entry)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KernelSource {
    /// File name, without its folder.
    pub file: String,
    /// SHA-256 of its text: kernels with the same id but different texts are different kernels.
    pub sha256: String,
    /// The kernel family whose arguments it takes: `csr`, `ell`, `ell-column-major`, `hll`,
    /// `hll-column-major`.
    pub family: String,
    /// How it maps rows to threads: `thread-per-row`, `warp-per-row`, `thread-per-hack`; `library` for a shared
    /// library, whose file has the SHA-256.
    pub mapping: String,
}

impl KernelSource {
    /// Name of the entry that holds the text.
    pub fn entry(&self) -> String {
        format!("{SOURCES}{}.cu", self.sha256)
    }

    /// Leading digits of the digest, enough to tell it from others in a sentence.
    pub fn short_sha256(&self) -> &str {
        self.sha256.get(..8).unwrap_or(&self.sha256)
    }

    /// `csr`, `ell` or `hll`.
    pub fn format(&self) -> &str {
        self.family.split('-').next().unwrap_or(&self.family)
    }
}
