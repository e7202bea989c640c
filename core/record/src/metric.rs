//! How much work a run does and how fast it was, in the terms of its operation. The record is
//! sufficient to show runs of an operation that the reader does not know.

use serde::{Deserialize, Serialize};

/// What one execution does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Floating-point operations.
    #[serde(default, skip_serializing_if = "is_none")]
    pub flops: u64,
    /// Iterations or sweeps.
    #[serde(default, skip_serializing_if = "is_none")]
    pub iterations: u64,
    /// Comparisons of points.
    #[serde(default, skip_serializing_if = "is_none")]
    pub comparisons: u64,
}

fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Whether larger or smaller values of a number are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Larger is better.
    More,
    /// Smaller is better.
    Less,
}

/// The metric by which runs of an operation are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// What it is, e.g. `throughput`.
    pub name: String,
    /// Its unit, e.g. `GFLOPS`.
    pub unit: String,
    /// Its value at the median time.
    pub value: f64,
    /// Whether larger or smaller is better.
    pub better: Better,
}

impl Metric {
    pub(super) fn of(name: &str, unit: &str, better: Better, value: f64) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), value, better }
    }

    /// Returns how many times better this value is than `other`: above 1 if it is better.
    pub fn gain_over(&self, other: f64) -> f64 {
        match self.better {
            Better::More => self.value / other,
            Better::Less => other / self.value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_is_above_one_when_it_is_better() {
        assert_eq!(Metric::of("throughput", "GFLOPS", Better::More, 6.0).gain_over(3.0), 2.0);
        assert_eq!(Metric::of("time", "s", Better::Less, 6.0).gain_over(3.0), 0.5);
    }
}
