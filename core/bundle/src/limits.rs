//! How much a bundle may hold. A bundle is untrusted input: the sizes in its directory are checked
//! against these limits before anything is decompressed, and again during decompression.

use crate::BundleError;

/// Limits of a bundle, both for reading and for writing.
///
/// JSON nesting is limited too, to the 128 levels of `serde_json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Size of the zip itself.
    pub zip_bytes: u64,
    /// Number of entries.
    pub entries: u64,
    /// Size of one entry, uncompressed.
    pub entry_bytes: u64,
    /// Size of a JSON document other than `runs.json`, uncompressed: once parsed, a short array
    /// element takes many times its two bytes.
    pub document_bytes: u64,
    /// Size of all entries together, uncompressed.
    pub total_bytes: u64,
    /// Uncompressed over compressed size of one entry.
    pub ratio: u64,
    /// Entries up to this uncompressed size may have any ratio: an empty picture is not a zip bomb.
    pub ratio_from: u64,
    /// Length of an entry's name in bytes.
    pub name_bytes: u64,
    /// Number of runs.
    pub runs: u64,
}

impl Default for Limits {
    /// A hundred times the largest plan expected, and still within a web page's memory: 256 MiB of
    /// zip, 20 000 entries, 128 MiB per entry, 16 MiB per document, 512 MiB in total, ratio 250
    /// above 1 MiB, names of 200 bytes, 500 000 runs.
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

/// Bytes per run in `runs.json` without its samples, with names of usual length and a prediction;
/// its journal line is no longer.
const RUN_BYTES: u64 = 2_000;

/// Bytes per sample there: 17 digits, sign of the exponent, comma.
const SAMPLE_BYTES: u64 = 24;

impl Limits {
    /// Whether a bundle with `runs` runs of `samples` samples each will be within the limits;
    /// returns the most bytes that they take in `runs.json`. Called before anything is measured.
    pub fn foresee(&self, runs: u64, samples: u64) -> Result<u64, BundleError> {
        self.check("the planned bundle", runs, "runs", self.runs)?;
        let bytes = runs.saturating_mul(RUN_BYTES + samples.saturating_mul(SAMPLE_BYTES));
        self.check("the planned `runs.json`", bytes, "bytes", self.entry_bytes)?;
        Ok(bytes)
    }

    /// Fails if `found` exceeds `limit`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn what_is_foreseen_is_no_less_than_what_is_written() {
        let limits = Limits::default();
        let mut bundle = sample::bundle();
        bundle.runs.retain(|run| run.matrix.starts_with("five"));
        for run in bundle.runs.iter_mut().filter(|run| !run.samples.is_empty()) {
            run.samples = (1..=500).map(|k| 1e-5 / f64::from(k * 7)).collect();
            run.figures = sparsescope_record::Figures::from_samples(&run.samples, 20.0, 184);
            (run.metric, run.work) = (None, None);
        }
        bundle.subjects.clear();
        let written = serde_json::to_vec(&bundle.runs).unwrap().len() as u64;
        let timed = bundle.runs.iter().filter(|run| !run.samples.is_empty()).count() as u64;
        let foreseen = limits.foresee(timed, 500).unwrap();
        assert!((written / 2..written * 2).contains(&foreseen), "{foreseen} for {written}");
        assert!(foreseen + bundle.runs.len() as u64 * RUN_BYTES >= written);
    }

    #[test]
    fn a_sweep_beyond_the_limits_is_told_before_it_is_measured() {
        let limits = Limits::default();
        assert!(limits.foresee(4200, 30).is_ok());
        let error = limits.foresee(500_001, 1).unwrap_err().to_string();
        assert!(error.contains("500001 runs") || error.contains("500 001 runs"), "{error}");
        let error = limits.foresee(10_000, 1_000).unwrap_err().to_string();
        assert!(error.contains("the planned `runs.json`"), "{error}");
    }
}
