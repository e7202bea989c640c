//! The programs whose results can be imported.

use crate::{Bundle, BundleError};
use sparsescope_record::Producer;

/// For what the files do not record.
pub(super) const UNKNOWN: &str = "not recorded";

/// A program whose results can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    /// One entry per matrix, with `spmv`.
    Ginkgo,
    /// `benchmarks`, each with a list of `states`.
    Nvbench,
    /// `benchmarks`, each a measurement.
    Google,
}

impl Program {
    /// The program that wrote this JSON, even if the JSON is malformed.
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

    /// Its name, as recorded in bundles.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ginkgo => "Ginkgo",
            Self::Nvbench => "nvbench",
            Self::Google => "Google Benchmark",
        }
    }

    /// The name of its files in errors.
    pub(super) fn results(self) -> &'static str {
        match self {
            Self::Ginkgo => "Ginkgo's SpMV benchmark",
            Self::Nvbench | Self::Google => self.name(),
        }
    }

    /// Its name in ids.
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
