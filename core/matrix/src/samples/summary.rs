//! Order statistics of timed samples.

/// Median, mean, extremes and quartiles of samples, in the unit of the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Median: the mean of the two middle samples if their number is even.
    pub median: f64,
    /// Arithmetic mean.
    pub mean: f64,
    /// Smallest sample.
    pub min: f64,
    /// First quartile.
    pub q1: f64,
    /// Third quartile.
    pub q3: f64,
    /// Largest sample.
    pub max: f64,
}

impl Summary {
    /// Summarises samples in any order; `None` if there are none or one is infinite or NaN.
    ///
    /// Quantiles interpolate linearly between the two nearest samples: with the n samples
    /// sorted, the p-quantile lies at position p·(n − 1) (Hyndman and Fan's type 7, NumPy's
    /// default).
    ///
    /// ```
    /// use sparsescope_matrix::samples::Summary;
    /// let s = Summary::of(&[7.0, 1.0, 4.0, 2.0]).unwrap();
    /// assert_eq!((s.q1, s.median, s.q3), (1.75, 3.0, 4.75));
    /// ```
    pub fn of(samples: &[f64]) -> Option<Self> {
        if samples.iter().any(|s| !s.is_finite()) {
            return None;
        }
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        Some(Self {
            median: quantile(&sorted, 0.5)?,
            mean: samples.iter().sum::<f64>() / samples.len() as f64,
            min,
            q1: quantile(&sorted, 0.25)?,
            q3: quantile(&sorted, 0.75)?,
            max,
        })
    }
}

/// The p-quantile (0 ≤ p ≤ 1) of ascending samples; `None` without samples.
pub(super) fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let position = p * sorted.len().checked_sub(1)? as f64;
    let below = *sorted.get(position as usize)?;
    let above = sorted.get(position as usize + 1).copied().unwrap_or(below);
    Some(below + (above - below) * position.fract())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.percentile([3.5, 0.1, 2.25, 9.0, 4.0], [25, 50, 75]) and numpy.mean
        let s = Summary::of(&[3.5, 0.1, 2.25, 9.0, 4.0]).unwrap();
        assert_eq!((s.min, s.q1, s.median, s.q3, s.max), (0.1, 2.25, 3.5, 4.0, 9.0));
        assert!((s.mean - 3.77).abs() < 1e-15);
        // numpy.percentile([7, 1, 4, 2], [25, 50, 75])
        let s = Summary::of(&[7.0, 1.0, 4.0, 2.0]).unwrap();
        assert_eq!((s.q1, s.median, s.q3, s.mean), (1.75, 3.0, 4.75, 3.5));
        // numpy.percentile([1, 2], [25, 50, 75])
        let s = Summary::of(&[1.0, 2.0]).unwrap();
        assert_eq!((s.q1, s.median, s.q3), (1.25, 1.5, 1.75));
    }

    #[test]
    fn one_sample_is_every_quantile() {
        let s = Summary::of(&[0.25]).unwrap();
        assert_eq!([s.min, s.q1, s.median, s.mean, s.q3, s.max], [0.25; 6]);
    }

    #[test]
    fn no_samples_or_a_sample_that_is_not_finite_have_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        assert_eq!(Summary::of(&[1.0, f64::INFINITY]), None);
    }
}
