//! Figures derived from a run's samples.

use serde::{Deserialize, Serialize};

use sparsescope_matrix::samples::Summary;

/// Relative difference up to which a stored figure agrees with the one computed from the samples:
/// enough for another order of summation, not for another result.
const TOLERANCE: f64 = 1e-9;

/// Figures derived from the samples of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Median of the samples: the time that rates are computed from.
    pub median_s: f64,
    /// Mean of the samples (the papers' T).
    pub mean_s: f64,
    /// Smallest sample.
    pub min_s: f64,
    /// First quartile.
    pub q1_s: f64,
    /// Third quartile.
    pub q3_s: f64,
    /// Largest sample.
    pub max_s: f64,
    /// Floating-point operations per second / 10⁹ (2·nnz per execution for SpMV).
    pub gflops: f64,
    /// Minimal bytes per second / 10⁹.
    pub gbs: f64,
    /// `gbs` as a percentage of the device's copy bandwidth with the same number of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pct_copy: Option<f64>,
    /// Median time of the serial reference on this matrix divided by this median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speedup: Option<f64>,
    /// `speedup` divided by threads, for CPU kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub efficiency: Option<f64>,
}

impl Figures {
    /// Computes the figures from samples in seconds of one execution that does `flops`
    /// floating-point operations and moves at least `bytes`. `pct_copy`, `speedup` and `efficiency`
    /// are left for [`set_copy`](Self::set_copy) and [`set_serial`](Self::set_serial). `None` if
    /// there are no samples, one is not finite, or half of them are 0.
    pub fn from_samples(samples: &[f64], flops: f64, bytes: u64) -> Option<Self> {
        let summary = Summary::of(samples)?;
        let per_nanosecond = |amount: f64| amount / summary.median / 1e9;
        let figures = Self {
            median_s: summary.median,
            mean_s: summary.mean,
            min_s: summary.min,
            q1_s: summary.q1,
            q3_s: summary.q3,
            max_s: summary.max,
            gflops: per_nanosecond(flops),
            gbs: per_nanosecond(bytes as f64),
            pct_copy: None,
            speedup: None,
            efficiency: None,
        };
        (figures.gflops.is_finite() && figures.gbs.is_finite()).then_some(figures)
    }

    /// Sets `pct_copy` from the device's copy bandwidth with the same number of threads, in bytes
    /// per second; does nothing if that is not positive.
    pub fn set_copy(&mut self, copy: f64) {
        self.pct_copy = (copy > 0.0).then(|| self.gbs * 1e9 / copy * 100.0);
    }

    /// Sets `speedup` from the serial reference's `median_s`, and `efficiency` if `threads` are
    /// given (CPU kernels only).
    pub fn set_serial(&mut self, median_s: f64, threads: Option<u32>) {
        let speedup = median_s / self.median_s;
        self.speedup = Some(speedup);
        self.efficiency = threads.map(|threads| speedup / f64::from(threads.max(1)));
    }

    /// The first of the times, of `gbs` and, if `flops` is known, of `gflops` that differs from the
    /// value computed from the samples: its name, the stored value, the expected value.
    #[doc(hidden)]
    pub fn disagreement(
        &self,
        samples: &[f64],
        flops: Option<f64>,
        bytes: u64,
    ) -> Option<(&'static str, f64, f64)> {
        let expected = Self::from_samples(samples, flops.unwrap_or(0.0), bytes);
        let Some(expected) = expected else {
            return Some(("median_s", self.median_s, 0.0));
        };
        let pairs = [
            ("median_s", self.median_s, expected.median_s),
            ("mean_s", self.mean_s, expected.mean_s),
            ("min_s", self.min_s, expected.min_s),
            ("q1_s", self.q1_s, expected.q1_s),
            ("q3_s", self.q3_s, expected.q3_s),
            ("max_s", self.max_s, expected.max_s),
            ("gbs", self.gbs, expected.gbs),
            ("gflops", self.gflops, if flops.is_some() { expected.gflops } else { self.gflops }),
        ];
        let differs = |found: f64, expected: f64| {
            (found - expected).abs() > TOLERANCE * found.abs().max(expected.abs())
        };
        pairs.into_iter().find(|&(_, found, expected)| differs(found, expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_computed_from_the_median() {
        // Median 2 ms; 4e6 flops in 2 ms = 2 GFLOPS, 1e7 bytes in 2 ms = 5 GB/s.
        let mut f = Figures::from_samples(&[1e-3, 2e-3, 9e-3], 4e6, 10_000_000).unwrap();
        assert_eq!((f.median_s, f.min_s, f.max_s), (2e-3, 1e-3, 9e-3));
        assert!((f.mean_s - 4e-3).abs() < 1e-18);
        assert!((f.gflops - 2.0).abs() < 1e-12 && (f.gbs - 5.0).abs() < 1e-12);
        // 5 GB/s of 20 GB/s; the serial reference took 8 ms, here with 8 threads.
        f.set_copy(20e9);
        f.set_serial(8e-3, Some(8));
        assert!((f.pct_copy.unwrap() - 25.0).abs() < 1e-12);
        assert_eq!((f.speedup, f.efficiency), (Some(4.0), Some(0.5)));
        f.set_serial(8e-3, None);
        assert_eq!(f.efficiency, None);
    }

    #[test]
    fn samples_without_a_rate_have_no_figures() {
        assert_eq!(Figures::from_samples(&[], 1.0, 1), None);
        assert_eq!(Figures::from_samples(&[0.0, 0.0, 1.0], 1.0, 1), None);
        assert_eq!(Figures::from_samples(&[f64::NAN], 1.0, 1), None);
    }

    #[test]
    fn a_figure_that_the_samples_do_not_give_is_named() {
        let samples = [1e-3, 2e-3];
        let honest = Figures::from_samples(&samples, 4e6, 1000).unwrap();
        assert_eq!(honest.disagreement(&samples, Some(4e6), 1000), None);
        let boasting = Figures { gflops: 100.0, ..honest.clone() };
        assert_eq!(boasting.disagreement(&samples, Some(4e6), 1000).unwrap().0, "gflops");
        let rounded = Figures { q1_s: honest.q1_s * (1.0 + 1e-12), ..honest.clone() };
        assert_eq!(rounded.disagreement(&samples, Some(4e6), 1000), None);
        let flattering = Figures { median_s: 1e-3, ..honest };
        assert_eq!(flattering.disagreement(&samples, None, 1000).unwrap().0, "median_s");
    }
}
