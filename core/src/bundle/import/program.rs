//! The programs whose results are read.

use crate::bundle::{Bundle, BundleError};
use crate::record::Producer;

/// What the files do not say.
pub(super) const UNKNOWN: &str = "not recorded";

/// A program whose results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// One entry a matrix, with `spmv`.
    Ginkgo,
    /// `benchmarks`, each a list of `states`.
    Nvbench,
    /// `benchmarks`, each a measurement.
    Google,
}

impl Program {
    /// Whose results JSON holds, or would hold were it well-formed.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let names = |name: &[u8]| bytes.windows(name.len()).any(|part| part == name);
        match bytes.trim_ascii_start().first() {
            Some(b'{') if names(br#""benchmarks""#) => match names(br#""states""#) {
                true => Self::Nvbench,
                false => Self::Google,
            },
            _ => Self::Ginkgo,
        }
    }

    /// Its name, and of whom runs are by.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ginkgo => "Ginkgo",
            Self::Nvbench => "nvbench",
            Self::Google => "Google Benchmark",
        }
    }

    /// What errors call its files.
    pub(super) fn results(self) -> &'static str {
        match self {
            Self::Ginkgo => "Ginkgo's SpMV benchmark",
            Self::Nvbench | Self::Google => self.name(),
        }
    }

    /// What ids call it.
    pub(super) fn id(self) -> &'static str {
        match self {
            Self::Ginkgo => "ginkgo",
            Self::Nvbench => "nvbench",
            Self::Google => "google-benchmark",
        }
    }

    pub(super) fn refused(self, detail: impl Into<String>) -> BundleError {
        BundleError::Imported { of: self.results(), detail: detail.into() }
    }

    /// An empty bundle by this program.
    pub(super) fn bundle(self, version: &str, created: String) -> Bundle {
        let producer =
            Producer { name: self.name().into(), version: version.into(), revision: None };
        Bundle { complete: true, ..Bundle::new(producer, created) }
    }
}
