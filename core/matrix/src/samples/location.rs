//! Where timed samples lie, on a logarithmic scale, and how certain that is.

use super::ratio::CONFIDENCE;
use super::student::quantile;

/// The share of the samples that is left out at each end.
const TRIMMED: f64 = 0.1;
/// Fewest samples from which a variance is estimated.
const FEWEST: usize = 5;
/// Smallest squared standard error, of one millionth of a time: clocks are not better, and equal samples
/// are not known exactly.
pub(super) const LEAST_VARIANCE: f64 = 1e-12;

/// The mean of the logarithms of the samples, without the smallest and the largest tenth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Location {
    /// Natural logarithm of a time in seconds, or of a ratio of times.
    pub log: f64,
    /// How certain it is; absent with fewer than 5 samples.
    pub certainty: Option<Certainty>,
}

/// The standard error of a [`Location`] (Yuen, The two-sample trimmed t for unequal population variances,
/// Biometrika 61, 1974).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certainty {
    /// Squared standard error.
    pub variance: f64,
    /// Its degrees of freedom.
    pub freedom: f64,
}

impl Certainty {
    /// That of a sum or difference with these terms (Welch and Satterthwaite).
    pub(super) fn of_sum(terms: impl IntoIterator<Item = Self>) -> Self {
        let (mut variance, mut squares) = (0.0, 0.0);
        for term in terms {
            variance += term.variance;
            squares += term.variance * term.variance / term.freedom;
        }
        Self { variance, freedom: variance * variance / squares }
    }
}

impl Location {
    /// The location of samples in seconds; `None` if there are none or one is not positive and finite.
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.is_empty() || samples.iter().any(|time| !(time.is_finite() && *time > 0.0)) {
            return None;
        }
        let mut logs: Vec<f64> = samples.iter().map(|time| libm::log(*time)).collect();
        logs.sort_unstable_by(f64::total_cmp);
        let n = logs.len();
        let trimmed = (n as f64 * TRIMMED) as usize;
        let kept = logs.get(trimmed..n - trimmed)?;
        let (first, last) = (*kept.first()?, *kept.last()?);
        let mean = |values: &mut dyn Iterator<Item = f64>, count: usize| {
            values.sum::<f64>() / count as f64
        };
        let log = mean(&mut kept.iter().copied(), kept.len());
        let certainty = (n >= FEWEST).then(|| {
            let winsorized = || logs.iter().map(|log| log.clamp(first, last));
            let middle = mean(&mut winsorized(), n);
            let squares: f64 = winsorized().map(|log| (log - middle) * (log - middle)).sum();
            let freedom = (kept.len() - 1) as f64;
            let variance = squares / (kept.len() as f64 * freedom);
            Certainty { variance: variance.max(LEAST_VARIANCE), freedom }
        });
        Some(Self { log, certainty })
    }

    /// The time, or the ratio.
    pub fn value(&self) -> f64 {
        libm::exp(self.log)
    }

    /// The location of the level of several measurements: their mean, with its certainty if there are at
    /// least two. `None` without measurements.
    pub fn level(measurements: &[Self]) -> Option<Self> {
        let n = measurements.len() as f64;
        let log = measurements.iter().map(|of| of.log).sum::<f64>() / n;
        let squares: f64 = measurements.iter().map(|of| (of.log - log) * (of.log - log)).sum();
        let certainty = (measurements.len() > 1).then(|| Certainty {
            variance: (squares / (n - 1.0) / n).max(LEAST_VARIANCE),
            freedom: n - 1.0,
        });
        (!measurements.is_empty()).then_some(Self { log, certainty })
    }

    /// The confidence interval at [`CONFIDENCE`] of the time, or of the ratio.
    pub fn interval(&self) -> Option<(f64, f64)> {
        let Certainty { variance, freedom } = self.certainty?;
        let reach = quantile((1.0 - CONFIDENCE) / 2.0, freedom) * variance.sqrt();
        Some((libm::exp(self.log - reach), libm::exp(self.log + reach)))
    }

    /// The location of the ratio of this measurement and another.
    pub fn over(&self, other: &Self) -> Self {
        let both = self.certainty.zip(other.certainty);
        let certainty = both.map(|(own, others)| Certainty::of_sum([own, others]));
        Self { log: self.log - other.log, certainty }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_location_is_the_trimmed_mean_of_scipy() {
        let times = [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 100.0];
        let found = Location::of(&times).unwrap();
        // scipy.stats.trim_mean(numpy.log(times), 0.1), and Yuen's squared standard error.
        assert!((found.log - 2.6613790793696923).abs() < 1e-14);
        let Certainty { variance, freedom } = found.certainty.unwrap();
        assert!((variance - 0.005868143311963834).abs() < 1e-14 && freedom == 7.0);
        assert!((found.value().ln() - found.log).abs() < 1e-14);
    }

    #[test]
    fn few_samples_have_a_location_and_no_certainty() {
        let found = Location::of(&[2.0, 2.0]).unwrap();
        assert!((found.value() - 2.0).abs() < 1e-14 && found.certainty.is_none());
        assert_eq!(Location::of(&[1.0; 7]).unwrap().certainty.unwrap().variance, LEAST_VARIANCE);
        for without in [&[][..], &[0.0, 1.0], &[f64::NAN; 6], &[f64::INFINITY]] {
            assert_eq!(Location::of(without), None);
        }
    }

    #[test]
    fn a_level_is_known_better_from_more_measurements() {
        let at = |log| Location { log, certainty: None };
        let level = Location::level(&[at(0.0), at(0.1), at(0.2)]).unwrap();
        // Mean 0.1, standard error 0.1 / √3; scipy.stats.t.isf(0.025, 2) is 4.302652729911275.
        let (low, high) = level.interval().unwrap();
        assert!((low.ln() - (0.1 - 4.302652729911275 * 0.1 / 3f64.sqrt())).abs() < 1e-9);
        assert!((low * high - 0.2f64.exp()).abs() < 1e-9);
        assert_eq!(Location::level(&[at(0.3)]), Some(at(0.3)));
        assert_eq!(Location::level(&[]), None);
    }

    #[test]
    fn a_ratio_is_less_certain_than_either_of_its_times() {
        let one = Location::of(&[1.0, 1.1, 1.2, 0.9, 1.0, 1.05]).unwrap();
        let ratio = one.over(&one);
        assert_eq!(ratio.log, 0.0);
        let (of_one, of_ratio) = (one.certainty.unwrap(), ratio.certainty.unwrap());
        assert!((of_ratio.variance - 2.0 * of_one.variance).abs() < 1e-15);
        assert!((of_ratio.freedom - 2.0 * of_one.freedom).abs() < 1e-9);
        let few = Location::of(&[1.0]).unwrap();
        assert!(one.over(&few).certainty.is_none());
    }
}
