//! What an execution told step by step.

use serde::{Deserialize, Serialize};

/// `histories/<digest>.json`, named by the [digest](super::RunKey::digest) of its run's key: what the
/// checked execution of a run told of its steps, as a solver its residuals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// What a step is: `iteration`, …
    pub step: String,
    /// What was told of the steps.
    pub series: Vec<Series>,
}

/// One quantity along the steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name, e.g. `relative residual`.
    pub name: String,
    /// Its values, finite: before the first step, then after each `every` steps; where the series has
    /// steps of its own, of each of them.
    pub values: Vec<f64>,
    /// Steps from one value to the next, at least 1.
    pub every: u32,
    /// What a step of this series is, where it is not the history's: `pass`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}
