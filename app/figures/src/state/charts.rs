//! Settings of the charts.

use serde::{Deserialize, Serialize};

/// Which chart is drawn, and its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChartState {
    /// Id of the chart.
    pub chart: String,
    /// Subject of a chart that offers a choice (a format, a kernel); empty for the first.
    pub of: String,
    /// Show runs that started with flushed caches instead of warm ones.
    pub cold: bool,
    /// Start of the SHA-256 of the baseline bundle; empty for the first.
    pub baseline: String,
    /// τ of the performance profile.
    pub tau: f64,
    /// Names of the only series to draw, separated by commas; empty for all.
    pub only: String,
    /// Width in which to lay out a saved figure; not part of a link.
    #[serde(skip)]
    pub width: Option<f32>,
}

/// Range of valid values of τ.
pub const TAU: std::ops::RangeInclusive<f64> = 1.0..=100.0;

impl Default for ChartState {
    fn default() -> Self {
        let (of, baseline, only) = (String::new(), String::new(), String::new());
        Self { chart: "kernels".into(), of, cold: false, baseline, tau: 1.5, only, width: None }
    }
}

impl ChartState {
    pub(super) fn fields(&self) -> [(&'static str, String); 6] {
        [
            ("chart", self.chart.clone()),
            ("of", self.of.clone()),
            ("cold", self.cold.to_string()),
            ("baseline", self.baseline.clone()),
            ("tau", self.tau.to_string()),
            ("only", self.only.clone()),
        ]
    }

    /// Sets a value if the key is one of these.
    pub(super) fn set(&mut self, key: &str, value: &str) {
        match key {
            "chart" => self.chart = value.into(),
            "of" => self.of = value.into(),
            "cold" => self.cold = value == "true",
            "baseline" => self.baseline = value.into(),
            "only" => self.only = value.into(),
            "tau" => {
                if let Some(tau) = value.parse().ok().filter(|tau| TAU.contains(tau)) {
                    self.tau = tau;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    pub(in crate::state) fn state() -> impl Strategy<Value = ChartState> {
        let text = ".{0,12}";
        (text, text, any::<bool>(), text, TAU, text).prop_map(
            |(chart, of, cold, baseline, tau, only)| ChartState {
                chart,
                of,
                cold,
                baseline,
                tau,
                only,
                width: None,
            },
        )
    }
}
