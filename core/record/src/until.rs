//! Sampling until the median is known precisely enough.

use serde::{Deserialize, Serialize};

use sparsescope_matrix::samples::median_uncertainty;

/// Minimum number of samples of a run: with fewer, the interval spans the extremes.
const FEWEST: usize = 10;

/// How precisely the median of a run was to be known, and how precisely it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// Half the width of the median's 95 % interval divided by the median, below which sampling was
    /// to end.
    pub asked: f64,
    /// The value after the last sample; absent with too few samples for an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<f64>,
    /// Whether sampling ended because it was reached.
    pub met: bool,
    /// Maximum sampling time in seconds.
    pub at_most_s: f64,
}

impl Until {
    /// Evaluates the precision that these samples reach.
    pub fn of(asked: f64, at_most_s: f64, samples: &[f64]) -> Self {
        let reached = median_uncertainty(samples);
        let met = samples.len() >= FEWEST && reached.is_some_and(|reached| reached < asked);
        Self { asked, reached, met, at_most_s }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_met_with_fewer_than_ten_samples() {
        assert!(!Until::of(0.01, 10.0, &[1.0; 9]).met);
        assert!(Until::of(0.01, 10.0, &[1.0; 10]).met);
    }

    #[test]
    fn it_is_met_below_what_was_asked_and_not_at_it() {
        // The interval extends from the second to the ninth of ten samples: 1 ± 0.25.
        let samples = [0.75, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.25, 1.25];
        let until = |asked| Until::of(asked, 10.0, &samples);
        assert_eq!((until(0.25).reached, until(0.25).met), (Some(0.25), false));
        assert!(until(0.26).met);
    }
}
