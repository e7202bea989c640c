//! The energy of an execution, as a GPU measures it.

use serde::{Deserialize, Serialize};

/// Measured energy of one execution. The GPU was busy with executions throughout each window of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Joules per execution: the mean of the windows.
    pub joules: f64,
    /// Joules per execution in each window.
    pub windows: Vec<f64>,
    /// What was read: `counter`, the total energy that the GPU counts, or `power`, integrated over time.
    pub method: String,
    /// Mean power during the windows.
    pub watts: f64,
    /// Power of the idle GPU before the first measurement, which is part of `watts`.
    pub idle_watts: f64,
    /// Length of all windows together.
    pub seconds: f64,
    /// Whether the input was restored before each execution; the energy of this is part of `joules`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restores: bool,
}

impl Energy {
    /// The mean of the windows; `None` if there are none.
    pub fn mean(&self) -> Option<f64> {
        let count = self.windows.len();
        (count > 0).then(|| self.windows.iter().sum::<f64>() / count as f64)
    }

    /// Joules per execution in the windows with the least and the most.
    pub fn extremes(&self) -> [f64; 2] {
        let ends = [f64::INFINITY, f64::NEG_INFINITY];
        self.windows.iter().fold(ends, |[low, high], &joules| [low.min(joules), high.max(joules)])
    }

    /// The largest difference of a window from the mean, as a fraction of the mean.
    pub fn spread(&self) -> f64 {
        let [low, high] = self.extremes();
        (high - self.joules).max(self.joules - low) / self.joules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_and_the_spread_are_those_of_the_windows() {
        let windows = vec![2.0, 3.5, 2.5, 2.0];
        let energy = Energy { joules: 2.5, windows, ..Energy::default() };
        assert_eq!((energy.mean(), energy.extremes()), (Some(2.5), [2.0, 3.5]));
        // One window has 1 J more than 2.5 J, the others at most 0.5 J less.
        assert_eq!(energy.spread(), 0.4);
        assert_eq!(Energy::default().mean(), None);
    }

    #[test]
    fn what_is_not_restored_is_not_written() {
        let text = serde_json::to_string(&Energy::default()).unwrap();
        assert!(!text.contains("restores"), "{text}");
        let restores = Energy { restores: true, ..Energy::default() };
        let read: Energy =
            serde_json::from_value(serde_json::to_value(&restores).unwrap()).unwrap();
        assert_eq!(read, restores);
    }
}
