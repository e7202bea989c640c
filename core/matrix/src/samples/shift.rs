//! Whether a new measurement is slower than earlier ones of the same thing.

use super::levels::Levels;
use super::location::{Certainty, LEAST_VARIANCE, Location};
use super::ratio::CONFIDENCE;
use super::student::{quantile, tail};

/// From this number of earlier measurements on, the noise between them is estimated.
const ENOUGH: usize = 4;
/// A new measurement is compared with at most this many earlier ones.
const RECENT: usize = 30;
/// The share of checks that should find a slowdown of [`Shift::detectable`].
const POWER: f64 = 0.8;

/// What a new measurement is compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// The spread of the earlier measurements, which includes all noise between measurements.
    Spread,
    /// The samples alone: with fewer than four earlier measurements, noise between measurements is unknown.
    Samples,
}

/// A new measurement against earlier ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// The new time over the mean of the earlier ones: above 1 is slower.
    pub ratio: f64,
    /// Probability of a ratio this large or larger if nothing became slower.
    pub slower: f64,
    /// Probability of a ratio this small or smaller if nothing became faster.
    pub faster: f64,
    /// What the probabilities are based on.
    pub basis: Basis,
    certainty: Certainty,
}

impl Shift {
    /// Compares a measurement with earlier ones by a t-test: of a new value against a sample (Hahn and
    /// Meeker, Statistical Intervals, 1991, section 4.7), or of the samples (Yuen 1974). `None` without
    /// earlier measurements, or if there are neither four of them nor enough samples.
    pub fn of(earlier: &[Location], new: &Location) -> Option<Self> {
        let n = earlier.len() as f64;
        let mean = earlier.iter().map(|location| location.log).sum::<f64>() / n;
        let certainties: Option<Vec<Certainty>> =
            earlier.iter().map(|location| location.certainty).collect();
        let by_samples = certainties.zip(new.certainty).map(|(of_earlier, own)| {
            let share = |of: Certainty| Certainty { variance: of.variance / (n * n), ..of };
            Certainty::of_sum(of_earlier.into_iter().map(share).chain([own]))
        });
        let (basis, certainty) = if earlier.len() < ENOUGH {
            (Basis::Samples, by_samples.filter(|_| !earlier.is_empty())?)
        } else {
            let squares: f64 = earlier.iter().map(|of| (of.log - mean) * (of.log - mean)).sum();
            let freedom = n - 1.0;
            let spread = squares / freedom * (1.0 + 1.0 / n);
            // Earlier measurements that agree by chance are not more certain than their samples.
            let least = by_samples.map_or(LEAST_VARIANCE, |by_samples| by_samples.variance);
            (Basis::Spread, Certainty { variance: spread.max(least), freedom })
        };
        let difference = new.log - mean;
        let t = difference / certainty.variance.sqrt();
        Some(Self {
            ratio: libm::exp(difference),
            slower: tail(t, certainty.freedom),
            faster: tail(-t, certainty.freedom),
            basis,
            certainty,
        })
    }

    /// The same with those of the earlier measurements that follow their last change of level, at most 30, and how
    /// many these are.
    pub fn since_last_change(
        earlier: &[Location],
        new: &Location,
        levels: &mut Levels,
    ) -> Option<(Self, usize)> {
        let logs: Vec<f64> = earlier.iter().map(|location| location.log).collect();
        let last_change = levels.changes(&logs).last().copied().unwrap_or(0);
        let recent = earlier.get(last_change.max(earlier.len().saturating_sub(RECENT))..)?;
        Some((Self::of(recent, new)?, recent.len()))
    }

    /// The confidence interval of the ratio at [`CONFIDENCE`].
    pub fn interval(&self) -> (f64, f64) {
        let reach = self.reach((1.0 - CONFIDENCE) / 2.0);
        (self.ratio * libm::exp(-reach), self.ratio * libm::exp(reach))
    }

    /// The ratio that four of five checks would find at this false-alarm rate: the power of the check.
    pub fn detectable(&self, rate: f64) -> f64 {
        libm::exp(self.reach(rate) + self.reach(1.0 - POWER))
    }

    fn reach(&self, p: f64) -> f64 {
        quantile(p, self.certainty.freedom) * self.certainty.variance.sqrt()
    }
}

/// Which of several hypotheses are rejected, given the probability of each result if its hypothesis is true.
/// With probability 1 − `rate` none of them is rejected wrongly, however the results depend on each other
/// (Holm, A simple sequentially rejective multiple test procedure, 1979).
///
/// ```
/// use sparsescope_matrix::samples::holm;
/// assert_eq!(holm(&[0.04, 0.01, 0.03], 0.05), [false, true, false]);
/// ```
pub fn holm(probabilities: &[f64], rate: f64) -> Vec<bool> {
    let mut order: Vec<(f64, usize)> = probabilities.iter().copied().zip(0..).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut rejected = vec![false; order.len()];
    for (tested, (probability, place)) in order.iter().enumerate() {
        if *probability > rate / (order.len() - tested) as f64 {
            break;
        }
        if let Some(rejected) = rejected.get_mut(*place) {
            *rejected = true;
        }
    }
    rejected
}

#[cfg(test)]
#[path = "shift_tests.rs"]
mod tests;
