//! What makes two runs the same measurement.

use std::collections::BTreeMap;

use super::matrix::Source;
use super::names::printable;
use super::run::Run;
use super::subject::Subject;
use crate::matrix::sha256;

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
        let params: BTreeMap<&str, &str> = self.params.iter().collect();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::sample;

    #[test]
    fn ids_and_samples_leave_the_key_alone_and_every_setting_changes_it() {
        let bundle = sample::bundle();
        let record = &bundle.matrices[0].record;
        let run = &bundle.runs[0];
        let key = run.key(record);

        let mut renamed = record.clone();
        renamed.id = "elsewhere-1".into();
        renamed.name = "other name".into();
        let mut again = run.clone();
        again.matrix = renamed.id.clone();
        again.environment = "b".into();
        again.samples = vec![1.0];
        again.params.insert("simd".into(), "avx2".into());
        assert_eq!(again.key(&renamed), key);

        let mut stand_in = record.clone();
        stand_in.source = Source::StandIn;
        assert_ne!(run.key(&stand_in), key);
        let changes: [fn(&mut Run); 7] = [
            |run| run.kernel.push('x'),
            |run| run.precision = "f32".into(),
            |run| drop(run.params.insert("width".into(), "7".into())),
            |run| run.device.push('x'),
            |run| run.threads += 1,
            |run| run.block = Some(64),
            |run| run.hot = !run.hot,
        ];
        for change in changes {
            let mut other = run.clone();
            change(&mut other);
            assert_ne!(other.key(record), key);
        }
    }

    #[test]
    fn a_key_in_words_names_what_is_not_as_usual() {
        let bundle = sample::bundle();
        let words = |k: usize| bundle.key(&bundle.runs[k]).unwrap().words("m\n");
        assert_eq!(words(0), "cpu/csr/serial on m\\u{a}, 1 thread");
        assert_eq!(words(1), "cpu/csr/nnz on m\\u{a}, 4 threads");
        let cuda = "cuda/hll/warp-per-row on m\\u{a} (stand-in), blocks of 128, cold, f32, hack_size=32, sigma=1";
        assert_eq!(words(2), cuda);
    }

    #[test]
    fn a_bundle_finds_the_key_of_its_runs() {
        let bundle = sample::bundle();
        let run = &bundle.runs[0];
        let key = bundle.key(run).unwrap();
        assert_eq!(bundle.id_of(key.sha256, key.source), Some(run.matrix.as_str()));
        let mut lost = run.clone();
        lost.matrix = "nowhere".into();
        assert_eq!(bundle.key(&lost), None);
    }
}
