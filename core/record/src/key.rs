//! What makes two runs the same measurement.

use std::collections::BTreeMap;

use super::matrix::Source;
use super::names::printable;
use super::run::Run;
use super::subject::Subject;
use sparsescope_matrix::matrix::sha256;

/// Recorded among the parameters of runs although they are none: the library version in runs from before 1.3,
/// which is part of the environment, the vector instructions that a kernel chose for the CPU, and the clock
/// and the subgroup size that a device happened to have.
const NO_PARAMETERS: [&str; 4] = ["clock", "cusparse", "simd", "subgroup_size"];

/// A run's key for compare, merge and resume: two runs with the same key measured the same thing, in one
/// bundle or in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunKey<'a> {
    /// What was computed.
    pub operation: &'a str,
    /// SHA-256 of the subject.
    pub sha256: &'a str,
    /// Its source: a stand-in is never the real matrix.
    pub source: Source,
    /// Kernel id.
    pub kernel: &'a str,
    /// SHA-256 of its text, for a user kernel.
    pub text: Option<&'a str>,
    /// `f64` or `f32`.
    pub precision: &'a str,
    /// Actual parameters; the requested ones if the run was refused.
    pub params: KeyParams<'a>,
    /// Model name of the device.
    pub device: &'a str,
    /// Requested threads.
    pub threads: u32,
    /// Threads per block, for GPU kernels.
    pub block: Option<u32>,
    /// Whether caches were left warm (or flushed).
    pub hot: bool,
}

impl Run {
    /// The key of this run on `subject`.
    pub fn key<'a>(&'a self, subject: impl Into<Subject<'a>>) -> RunKey<'a> {
        let subject = subject.into();
        RunKey {
            operation: &self.operation,
            sha256: subject.sha256(),
            source: subject.source(),
            kernel: &self.kernel,
            text: self.source.as_ref().map(|source| source.sha256.as_str()),
            precision: &self.precision,
            params: KeyParams(if self.check.was_run() { &self.params } else { &self.asked }),
            device: &self.device,
            threads: self.threads,
            block: self.block,
            hot: self.hot,
        }
    }
}

/// Parameters that tell runs apart, by name.
#[derive(Clone, Copy, Debug)]
pub struct KeyParams<'a>(&'a BTreeMap<String, String>);

impl<'a> KeyParams<'a> {
    /// Names and values, sorted by name.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(|(name, _)| !NO_PARAMETERS.contains(name))
    }
}

impl PartialEq for KeyParams<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for KeyParams<'_> {}

impl std::hash::Hash for KeyParams<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.iter().for_each(|pair| pair.hash(state));
    }
}

impl Ord for KeyParams<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.iter().cmp(other.iter())
    }
}

impl PartialOrd for KeyParams<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl RunKey<'_> {
    /// SHA-256 of the key's canonical JSON: names other bundle entries that belong to the run.
    pub fn digest(&self) -> String {
        let params = sparsescope_matrix::order::map(self.params.iter());
        let mut json = serde_json::json!([
            self.operation,
            self.sha256,
            self.source.as_str(),
            self.kernel,
            self.precision,
            params,
            self.device,
            self.threads,
            self.block,
            self.hot,
        ]);
        // Keep the digests from before 1.9 unchanged.
        if let (Some(array), Some(text)) = (json.as_array_mut(), self.text) {
            array.push(text.into());
        }
        sha256(json.to_string().as_bytes())
    }

    /// The run in words: its kernel, the matrix by the given name, and the settings that are not the
    /// defaults.
    pub fn words(&self, matrix: &str) -> String {
        let stand_in = if self.source == Source::StandIn { " (stand-in)" } else { "" };
        let (kernel, matrix) = (printable(self.kernel), printable(matrix));
        let of = self.text.and_then(|text| text.get(..8));
        let of = of.map_or(String::new(), |digits| format!(" ({digits}…)"));
        format!("{kernel}{of} on {matrix}{stand_in}, {}", self.setting())
    }

    /// The settings in words: threads, and everything that is not the default.
    pub fn setting(&self) -> String {
        let mut words = match (self.block, self.threads) {
            (Some(block), _) => format!("blocks of {block}"),
            (None, 1) => "1 thread".to_owned(),
            (None, threads) => format!("{threads} threads"),
        };
        if !self.hot {
            words += ", cold";
        }
        if self.precision != "f64" {
            words += &format!(", {}", printable(self.precision));
        }
        for (name, value) in self.params.iter() {
            words += &format!(", {}", printable(&format!("{name}={value}")));
        }
        words
    }
}
