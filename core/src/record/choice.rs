//! What a kernel that runs another has chosen, and what finding that took.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The kernel that was chosen for a matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Its id: what is timed is this kernel, with nothing around it.
    pub kernel: String,
    /// Its parameters in force.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
    /// Why, in one sentence.
    pub why: String,
    /// Seconds of going through the matrix to see which kernels may be fast on it.
    pub statistics_s: f64,
    /// Seconds of the conversions to every format that was tried, the one chosen among them.
    pub conversion_s: f64,
    /// Seconds of the partitions and other plans of the kernels that were tried.
    pub plan_s: f64,
    /// Seconds of the products of the trial.
    pub trial_s: f64,
    /// The kernels that were considered, in the order in which they were tried.
    #[serde(default)]
    pub tried: Vec<Tried>,
}

/// A kernel that was considered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its id.
    pub kernel: String,
    /// Its parameters, where they are not the default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Minimal bytes that one of its products moves, as far as they were known before the trial.
    pub minimal_bytes: u64,
    /// Seconds that one of its products was expected to take, before anything was made or timed; absent where
    /// nobody knew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_s: Option<f64>,
    /// Seconds of the conversion to its format; 0 where it was not made, or is CSR.
    pub conversion_s: f64,
    /// Seconds of its fastest product in the trial; absent where it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_s: Option<f64>,
    /// Why it was not tried, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

impl Choice {
    /// Seconds of everything before the first product.
    pub fn seconds(&self) -> f64 {
        self.times().into_iter().map(|(_, seconds)| seconds).sum()
    }

    /// The parts of these, by their names in files.
    pub fn times(&self) -> [(&'static str, f64); 4] {
        [
            ("statistics_s", self.statistics_s),
            ("conversion_s", self.conversion_s),
            ("plan_s", self.plan_s),
            ("trial_s", self.trial_s),
        ]
    }

    /// The kernel that was expected to be the fastest, with its seconds; none where nobody knew.
    pub fn named(&self) -> Option<(&Tried, f64)> {
        let known = self.tried.iter().filter_map(|tried| Some((tried, tried.expected_s?)));
        known.min_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// The kernel with its parameters: `cpu/hll/compact, hack_size=32, values=8`.
    pub fn words(&self) -> String {
        words(&self.kernel, &self.params)
    }
}

impl Tried {
    /// The kernel with its parameters that are not the default.
    pub fn words(&self) -> String {
        words(&self.kernel, &self.params)
    }
}

fn words(kernel: &str, params: &BTreeMap<String, String>) -> String {
    let params = params.iter().map(|(name, value)| format!(", {name}={value}"));
    kernel.to_owned() + &params.collect::<String>()
}
