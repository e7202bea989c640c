//! What an execution recorded step by step.

use serde::{Deserialize, Serialize};

/// `histories/<digest>.json`, named by the [digest](super::RunKey::digest) of its run's key: what the checked
/// execution of a run recorded per step, e.g. a solver's residuals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// What a step is: `iteration`, …
    pub step: String,
    /// The recorded series.
    pub series: Vec<Series>,
}

/// One quantity over the steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name, e.g. `relative residual`.
    pub name: String,
    /// Its values, all finite: before the first step, then after every `every` steps; if the series has steps
    /// of its own, one for each of them.
    pub values: Vec<f64>,
    /// Steps from one value to the next, at least 1.
    pub every: u32,
    /// What a step of this series is, if not the history's: `pass`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
}
