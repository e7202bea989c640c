//! A user kernel: its file, and the function in it.

use super::family::UserFamily;
use super::header::Header;
use super::signature::Function;
use sparsescope_record::{KernelSource, Operation, Precision};

/// The prefix of the ids of user kernels.
const USER: &str = "user/";

/// A file of user kernels.
#[derive(Debug, PartialEq, Eq)]
pub struct UserSource {
    /// File name without the folder.
    pub file: String,
    /// File content.
    pub text: String,
    /// SHA-256 of the text.
    pub sha256: String,
    /// The header, which applies to all functions of the file.
    pub(super) header: Header,
}

/// A function of such a file that can be launched.
#[derive(Debug, PartialEq, Eq)]
pub struct UserKernel {
    /// The file that holds it.
    pub source: &'static UserSource,
    pub(super) function: Function,
}

impl UserKernel {
    /// What every user kernel computes.
    pub const OPERATION: Operation = Operation::Spmv;

    /// Name of the function.
    pub fn function(&self) -> &str {
        &self.function.name
    }

    /// The family whose arguments it takes.
    pub fn family(&self) -> UserFamily {
        self.source.header.family
    }

    /// The precisions that it computes in.
    pub fn precisions(&self) -> &'static [Precision] {
        self.function.values.precisions()
    }

    /// The block sizes that the file allows; `None` if it runs with any requested size.
    pub fn blocks(&self) -> Option<&[u32]> {
        Some(self.source.header.blocks.as_slice()).filter(|blocks| !blocks.is_empty())
    }

    /// Bytes of shared memory for a block of `block` threads with values of `value_bytes` bytes.
    pub fn shared_bytes(&self, block: u32, value_bytes: u32) -> u32 {
        self.source.header.shared.of_block(block, value_bytes)
    }

    /// The record of it in runs.
    pub fn record(&self) -> KernelSource {
        let Header { family, mapping, .. } = &self.source.header;
        KernelSource {
            file: self.source.file.clone(),
            sha256: self.source.sha256.clone(),
            family: family.as_str().to_owned(),
            mapping: mapping.word.to_owned(),
        }
    }
}

/// Whether an id is that of a user kernel.
pub fn is_user_id(id: &str) -> bool {
    id.starts_with(USER)
}

/// The id of a function: `user/FILE/FUNCTION` in lower case, FILE without its extension and with
/// `-` for characters that ids do not allow.
pub(super) fn id_of(file: &str, function: &str) -> String {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    let lower = stem.to_lowercase();
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = lower.chars().map(plain).collect();
    let name = match name.trim_matches(['-', '.']) {
        "" => "kernel",
        name => name,
    };
    format!("{USER}{name}/{}", function.to_lowercase())
}
