//! How precisely the median of samples is known.

use super::ratio::CONFIDENCE;
use super::summary::quantile;

/// The interval between two order statistics that contains the median of the underlying distribution with a
/// confidence of at least [`CONFIDENCE`], whatever that distribution is: from the k-th smallest to the k-th
/// largest sample, with the largest k for which fewer than k heads in n throws of a fair coin have a
/// probability of at most (1 − confidence) / 2 (David and Nagaraja, Order Statistics, 3rd edition, 2003,
/// section 7.1). `None` with fewer than 6 samples, which are too few for any k, or if a sample is not finite.
///
/// ```
/// use sparsescope_matrix::samples::median_interval;
/// let samples: Vec<f64> = (1..=10).map(f64::from).collect();
/// assert_eq!(median_interval(&samples), Some((2.0, 9.0)));
/// ```
pub fn median_interval(samples: &[f64]) -> Option<(f64, f64)> {
    if samples.iter().any(|sample| !sample.is_finite()) {
        return None;
    }
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let low = depth(sorted.len())?.checked_sub(1)?;
    Some((*sorted.get(low)?, *sorted.get(sorted.len() - 1 - low)?))
}

/// Half the width of [`median_interval`] divided by the samples' median, dimensionless. `None` if there is no
/// interval or the median is not positive.
pub fn median_uncertainty(samples: &[f64]) -> Option<f64> {
    let (low, high) = median_interval(samples)?;
    let mut sorted = samples.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let median = quantile(&sorted, 0.5).filter(|median| *median > 0.0)?;
    Some((high - low) / 2.0 / median)
}

/// Returns the largest k for which the k-th smallest of n samples bounds the interval.
fn depth(n: usize) -> Option<usize> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    // ln of the probability of i heads in n throws, starting at i = 0.
    let mut ln_probability = -(n as f64) * std::f64::consts::LN_2;
    let mut below = 0.0;
    for i in 0..n {
        below += ln_probability.exp();
        if below > tail {
            return (i > 0).then_some(i);
        }
        ln_probability += ((n - i) as f64 / (i + 1) as f64).ln();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_statistics_are_those_of_the_tables() {
        // Conover, Practical Nonparametric Statistics, 1999, table A3: binomial with p = 1/2.
        let cases = [(5, None), (6, Some(1)), (8, Some(1)), (9, Some(2)), (10, Some(2))];
        let more = [(12, Some(3)), (15, Some(4)), (20, Some(6)), (25, Some(8)), (50, Some(18))];
        for (n, expected) in cases.into_iter().chain(more) {
            assert_eq!(depth(n), expected, "{n} samples");
        }
        // Normal approximation: n/2 − 1.96·√n/2.
        let found = depth(1_000_000).unwrap();
        assert!((499_019..=499_022).contains(&found), "{found}");
    }

    #[test]
    fn half_the_width_is_related_to_the_median() {
        let samples: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        // From 2 to 9, with median 5.5.
        assert!((median_uncertainty(&samples).unwrap() - 3.5 / 5.5).abs() < 1e-15);
        assert_eq!(median_uncertainty(&[2.0; 7]), Some(0.0));
        for without in [&[1.0; 5][..], &[0.0; 10], &[f64::NAN; 10]] {
            assert_eq!(median_uncertainty(without), None);
        }
    }
}
