//! How much a bundle may hold. A bundle is untrusted input: the sizes in its directory are
//! checked against these before anything is decompressed, and again while decompressing.

use crate::bundle::BundleError;

/// Caps on a bundle, for reading and for writing alike.
///
/// Nesting of JSON is capped too, at the 128 levels of `serde_json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of the zip itself.
    pub zip_bytes: u64,
    /// Number of entries.
    pub entries: u64,
    /// Size of one entry, uncompressed.
    pub entry_bytes: u64,
    /// Size of a JSON document other than `runs.json`, uncompressed: parsed, a short array element
    /// takes many times its two bytes.
    pub document_bytes: u64,
    /// Size of all entries together, uncompressed.
    pub total_bytes: u64,
    /// Uncompressed over compressed size of one entry.
    pub ratio: u64,
    /// Entries up to this uncompressed size may have any ratio: an empty picture is no bomb.
    pub ratio_from: u64,
    /// Length of an entry's name in bytes.
    pub name_bytes: u64,
    /// Number of runs.
    pub runs: u64,
}

impl Default for Limits {
    /// A hundred times the largest sweep foreseen, and still within a page's memory: 256 MiB of
    /// zip, 20 000 entries, 128 MiB an entry, 16 MiB a document, 512 MiB in all, ratio 250 above
    /// 1 MiB, names of 200 bytes, 500 000 runs.
    fn default() -> Self {
        Self {
            zip_bytes: 256 << 20,
            entries: 20_000,
            entry_bytes: 128 << 20,
            document_bytes: 16 << 20,
            total_bytes: 512 << 20,
            ratio: 250,
            ratio_from: 1 << 20,
            name_bytes: 200,
            runs: 500_000,
        }
    }
}

impl Limits {
    /// Fails when `found` exceeds `limit`.
    pub(super) fn check(
        &self,
        whose: &str,
        found: u64,
        unit: &'static str,
        limit: u64,
    ) -> Result<(), BundleError> {
        if found <= limit {
            return Ok(());
        }
        Err(BundleError::TooMuch { whose: whose.into(), found, unit, limit })
    }
}
