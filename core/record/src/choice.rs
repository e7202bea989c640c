//! What a kernel that picks another kernel chose, and what finding it cost.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The kernel that was chosen for a matrix.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Its id. The timings are those of this kernel, with nothing around it.
    pub kernel: String,
    /// Its actual parameters.
    #[serde(default)]
    pub params: BTreeMap<String, String>,
    /// Why, in one sentence.
    pub why: String,
    /// Seconds spent scanning the matrix to see which kernels may be fast on it.
    pub statistics_s: f64,
    /// Seconds spent converting to every format that was tried, including the chosen one.
    pub conversion_s: f64,
    /// Seconds spent on partitions and other plans of the kernels that were tried.
    pub plan_s: f64,
    /// Seconds spent on the trial runs.
    pub trial_s: f64,
    /// The kernels considered, in the order in which they were tried.
    #[serde(default)]
    pub tried: Vec<Tried>,
}

/// A kernel that was considered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tried {
    /// Its id.
    pub kernel: String,
    /// Its parameters, if not the defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Minimal bytes moved per execution, as far as known before the trial.
    pub minimal_bytes: u64,
    /// Expected seconds per execution, before anything was built or timed; absent if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_s: Option<f64>,
    /// Seconds to convert to its format; 0 if it was not built, or is CSR.
    pub conversion_s: f64,
    /// Seconds of its fastest trial execution; absent if it was not tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least_s: Option<f64>,
    /// Why it was not tried, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

impl Choice {
    /// Seconds of everything before the first execution.
    pub fn seconds(&self) -> f64 {
        self.times().into_iter().map(|(_, seconds)| seconds).sum()
    }

    /// The parts of [`seconds`](Self::seconds), by their names in files.
    pub fn times(&self) -> [(&'static str, f64); 4] {
        [
            ("statistics_s", self.statistics_s),
            ("conversion_s", self.conversion_s),
            ("plan_s", self.plan_s),
            ("trial_s", self.trial_s),
        ]
    }

    /// The kernel that was expected to be fastest, with its seconds; `None` if no expectation is known.
    pub fn named(&self) -> Option<(&Tried, f64)> {
        let known = self.tried.iter().filter_map(|tried| Some((tried, tried.expected_s?)));
        known.min_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// The kernel with its parameters, e.g. `cpu/hll/compact, hack_size=32, values=8`.
    pub fn words(&self) -> String {
        words(&self.kernel, &self.params)
    }
}

impl Tried {
    /// The kernel with its non-default parameters.
    pub fn words(&self) -> String {
        words(&self.kernel, &self.params)
    }
}

fn words(kernel: &str, params: &BTreeMap<String, String>) -> String {
    let params = params.iter().map(|(name, value)| format!(", {name}={value}"));
    kernel.to_owned() + &params.collect::<String>()
}
