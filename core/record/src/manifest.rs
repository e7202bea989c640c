//! `manifest.json`: what a bundle is and what it contains.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::shard::Shard;

/// The version written by this program. A reader refuses only a higher `major`.
pub const SCHEMA: SchemaVersion = SchemaVersion { major: 1, minor: 13 };

/// Maximum duration of anything in a bundle, in seconds: thirty years.
pub const MOST_SECONDS: f64 = 1e9;

/// Maximum of any other quantity in a bundle: operations or bytes per second, percent, executions
/// until preparation has paid off. Only the error of a wrong result is unbounded.
pub const MOST_AMOUNT: f64 = 1e18;

/// Version of the bundle's schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SchemaVersion {
    /// Raised when old readers would misread the bundle.
    pub major: u32,
    /// Raised when fields, entries or folders are added; never when the meaning of an existing one
    /// changes, nor when a closed list such as [`Verdict`](super::Verdict) gets another word.
    pub minor: u32,
}

/// `manifest.json`, the first entry of the zip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the schema that this bundle follows.
    pub schema: SchemaVersion,
    /// Program that wrote it.
    pub producer: Producer,
    /// When it was written, RFC 3339 in UTC.
    pub created: String,
    /// Name given by the user; the only place where a host or a person may be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// False when the measurement was interrupted.
    pub complete: bool,
    /// The part of a plan that it holds, if the plan was split over several bundles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// Ids of the matrices, each with a folder `matrices/<id>/`.
    pub matrices: Vec<String>,
    /// Number of runs in `runs.json`: those on matrices.
    pub runs: u64,
    /// SHA-256 and size of every other entry, by name.
    pub entries: BTreeMap<String, EntryInfo>,
}

/// Name, version and source revision of a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Producer {
    /// `sparsescope`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Git revision it was built from, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Checksum and size of an entry before compression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryInfo {
    /// Lower-case hexadecimal SHA-256.
    pub sha256: String,
    /// Uncompressed size.
    pub bytes: u64,
}
