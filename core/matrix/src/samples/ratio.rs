//! How much slower one set of timed samples is than another, and how certain that is: the ratio of their
//! medians with a bootstrap interval (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter
//! 13).

use std::fmt;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::random::{below, normal};
use super::summary::quantile;

/// Confidence level: the fraction of intervals that contain the true ratio.
pub const CONFIDENCE: f64 = 0.95;
/// Number of bootstrap resamples of both sets.
const RESAMPLES: usize = 1000;
/// Minimum number of samples per side. With fewer, the interval would contain the true ratio noticeably less
/// often than stated.
const FEWEST: usize = 5;
/// With more samples than this, a resample is not counted out; the rank of its median is drawn instead.
const COUNTED: usize = 1000;
/// Fixed seed: the same samples give the same interval everywhere.
const SEED: u64 = 0x5eed_0f5a_b1e5;

/// The median time of the new measurement over that of the old one: above 1 is slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Its interval at [`CONFIDENCE`]; absent if there are too few samples.
    pub interval: Option<(f64, f64)>,
}

/// What a ratio shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The whole interval is below 1.
    Faster,
    /// The whole interval is above 1.
    Slower,
    /// The interval contains 1, or there is none.
    Unclear,
}

impl Change {
    /// The word used in tables and files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Unclear => "unclear",
        }
    }
}

impl Ratio {
    /// Returns faster or slower only if the interval says so.
    pub fn change(&self) -> Change {
        match self.interval {
            Some((_, high)) if high < 1.0 => Change::Faster,
            Some((low, _)) if low > 1.0 => Change::Slower,
            _ => Change::Unclear,
        }
    }

    /// Whether it is slower by more than the factor `limit`: significantly if there is an interval, otherwise
    /// by the medians.
    pub fn exceeds(&self, limit: f64) -> bool {
        self.interval.map_or(self.value, |(low, _)| low) > limit
    }
}

/// Formats as `1.25x`, with the interval if there is one.
impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.interval {
            Some((low, high)) => write!(f, "{:.3}x, {low:.3} to {high:.3}", self.value),
            None => write!(f, "{:.3}x, too few samples for an interval", self.value),
        }
    }
}

/// The ratio of two sets of samples, and the data for a geometric mean over several ratios.
#[derive(Clone, Debug)]
pub struct RatioEstimate {
    /// The ratio and its interval.
    pub ratio: Ratio,
    /// Logarithms of the ratio for each resample; empty without an interval.
    logs: Vec<f64>,
}

impl RatioEstimate {
    /// Estimates the ratio of two sets of times; `stream` separates the random draws of one pair from those
    /// of another. `None` when a set is empty or a median is not a positive number.
    pub fn of(before: &[f64], after: &[f64], stream: u64) -> Option<Self> {
        let (before, after) = (Sorted::of(before), Sorted::of(after));
        let value = after.median()? / before.median()?;
        if !(value.is_finite() && value > 0.0) {
            return None;
        }
        let mut logs = Vec::new();
        if before.0.len().min(after.0.len()) >= FEWEST {
            let mut random = ChaCha8Rng::seed_from_u64(SEED);
            random.set_stream(stream);
            let mut counts = Vec::new();
            let resampled = || {
                let after = after.resampled_median(&mut random, &mut counts)?;
                let before = before.resampled_median(&mut random, &mut counts)?;
                Some((after / before).ln())
            };
            logs = std::iter::repeat_with(resampled).take(RESAMPLES).flatten().collect();
        }
        // Samples of 0 seconds have no logarithm of their ratio.
        if logs.iter().any(|log| !log.is_finite()) {
            logs.clear();
        }
        let interval = interval_of(&logs);
        Some(Self { ratio: Ratio { value, interval }, logs })
    }
}

/// The geometric mean of ratios. Its interval says how precisely the mean over exactly these pairs is known,
/// not how another pair would behave; it is absent if a pair has no interval.
pub fn geometric_mean(ratios: &[RatioEstimate]) -> Option<Ratio> {
    let n = ratios.len() as f64;
    let mean = ratios.iter().map(|r| r.ratio.value.ln()).sum::<f64>() / n;
    let mut logs = vec![0.0; RESAMPLES];
    for estimate in ratios {
        if estimate.logs.len() != RESAMPLES {
            logs.clear();
        }
        for (sum, log) in logs.iter_mut().zip(&estimate.logs) {
            *sum += log / n;
        }
    }
    (!ratios.is_empty()).then(|| Ratio { value: mean.exp(), interval: interval_of(&logs) })
}

/// The middle of the resampled logarithms, as ratios.
fn interval_of(logs: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = logs.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some((quantile(&sorted, tail)?.exp(), quantile(&sorted, 1.0 - tail)?.exp()))
}

/// Samples in ascending order.
struct Sorted(Vec<f64>);

impl Sorted {
    fn of(samples: &[f64]) -> Self {
        let mut sorted = samples.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self(sorted)
    }

    fn median(&self) -> Option<f64> {
        quantile(&self.0, 0.5)
    }

    /// The median of as many samples, drawn with replacement. Draws are counted, because sorting each
    /// resample would take longer.
    fn resampled_median(&self, random: &mut ChaCha8Rng, counts: &mut Vec<u32>) -> Option<f64> {
        let n = self.0.len();
        if n > COUNTED {
            return quantile(&self.0, median_rank(n, random));
        }
        counts.clear();
        counts.resize(n, 0);
        for _ in 0..n {
            *counts.get_mut(below(n, random))? += 1;
        }
        let (low_rank, high_rank) = ((n - 1) / 2, n / 2);
        let (mut seen, mut low) = (0, None);
        for (count, sample) in counts.iter().zip(&self.0) {
            seen += *count as usize;
            if seen > low_rank && low.is_none() {
                low = Some(*sample);
            }
            if seen > high_rank {
                return low.map(|low| (low + sample) / 2.0);
            }
        }
        None
    }
}

/// The fraction of n samples that lies below the median of n draws from them: beta distributed around one
/// half, and for many samples normal with the same variance, 1 / 4n (David and Nagaraja, Order Statistics,
/// 2003, section 10.2).
fn median_rank(n: usize, random: &mut ChaCha8Rng) -> f64 {
    (0.5 + normal(random) / (2.0 * (n as f64).sqrt())).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use rand_core::Rng;

    use super::super::random::uniform;
    use super::*;

    /// Times as computers produce them: a floor, and a tail of disturbances above it.
    fn times(n: usize, scale: f64, random: &mut ChaCha8Rng) -> Vec<f64> {
        (0..n).map(|_| scale * (1.0 - 0.05 * uniform(random).ln())).collect()
    }

    /// Fraction of pairs whose interval contains `truth`, where the second set is `truth` times as slow.
    fn coverage(n: usize, m: usize, truth: f64) -> f64 {
        const PAIRS: u64 = 500;
        let mut random = ChaCha8Rng::seed_from_u64(7 + n as u64);
        let mut held = 0;
        for pair in 0..PAIRS {
            let (before, after) =
                (times(n, 1e-3, &mut random), times(m, 1e-3 * truth, &mut random));
            let found = RatioEstimate::of(&before, &after, pair).unwrap().ratio;
            let (low, high) = found.interval.unwrap();
            assert!(low <= found.value && found.value <= high);
            held += u64::from(low <= truth && truth <= high);
        }
        held as f64 / PAIRS as f64
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
    fn the_interval_holds_the_true_ratio_at_its_stated_rate() {
        // The bootstrap of a median is slightly wide for few samples. 500 trials at 0.95 have a standard
        // deviation of 0.01: allow four of them below, and stay well below 1.
        for (n, m, truth) in
            [(5, 5, 1.0), (20, 20, 1.0), (20, 7, 1.0), (20, 20, 1.3), (50, 50, 1.0)]
        {
            let found = coverage(n, m, truth);
            assert!((0.91..=0.995).contains(&found), "{n}, {m} samples, {truth}: {found}");
        }
    }

    #[test]
    fn of_many_samples_the_interval_is_that_of_counted_draws() {
        // The median of n samples from a uniform distribution over 1 to 2 has a standard deviation of 1 / (2
        // sqrt n) on both sides, so the interval is 2 * 1.96 * sqrt 2 times that, divided by the median.
        const PAIRS: u32 = 20;
        for n in [COUNTED - 1, COUNTED + 1, 20_000] {
            let mut random = ChaCha8Rng::seed_from_u64(13);
            let mut times = || (0..n).map(|_| 1.0 + uniform(&mut random)).collect::<Vec<f64>>();
            let mut width = 0.0;
            for pair in 0..PAIRS {
                let found = RatioEstimate::of(&times(), &times(), pair.into()).unwrap().ratio;
                let (low, high) = found.interval.unwrap();
                assert!(low <= found.value && found.value <= high);
                width += (high / low).ln() / f64::from(PAIRS);
            }
            let expected = 2.0 * 1.96 * 2f64.sqrt() / (2.0 * (n as f64).sqrt()) / 1.5;
            assert!((0.85..1.2).contains(&(width / expected)), "{n}: {width} for {expected}");
        }
    }

    #[test]
    fn a_draw_of_a_million_samples_takes_two_random_numbers_and_counts_nothing() {
        let samples = Sorted((0..1_000_000).map(f64::from).collect());
        let (mut random, mut counts) = (ChaCha8Rng::seed_from_u64(3), Vec::new());
        assert!(samples.resampled_median(&mut random, &mut counts).is_some());
        let mut fresh = ChaCha8Rng::seed_from_u64(3);
        let [_, _, third] = [(); 3].map(|()| fresh.next_u32());
        assert_eq!((random.next_u32(), counts.len()), (third, 0));
    }

    #[test]
    fn a_shift_is_found_and_called_by_its_name() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let (mut slower, mut faster) = (0, 0);
        for stream in 0..200 {
            let before = times(20, 1.0, &mut random);
            let after = times(20, 1.1, &mut random);
            let change =
                |a: &[f64], b: &[f64]| RatioEstimate::of(a, b, stream).unwrap().ratio.change();
            slower += usize::from(change(&before, &after) == Change::Slower);
            faster += usize::from(change(&after, &before) == Change::Faster);
        }
        // The ratio of the medians has a standard deviation of about 0.016, a sixth of the shift.
        assert!(slower >= 195 && faster >= 195, "{slower} and {faster} of 200");
    }

    #[test]
    fn the_same_samples_give_the_same_interval_whatever_their_order() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let (before, after) = (times(9, 1.0, &mut random), times(12, 1.0, &mut random));
        let turned: Vec<f64> = before.iter().rev().copied().collect();
        let ratio =
            |before: &[f64], stream| RatioEstimate::of(before, &after, stream).unwrap().ratio;
        assert_eq!(ratio(&before, 1), ratio(&turned, 1));
        assert_ne!(ratio(&before, 1).interval, ratio(&before, 2).interval);
    }

    #[test]
    fn few_samples_have_a_ratio_and_no_interval() {
        let found = RatioEstimate::of(&[1.0, 1.1, 1.2, 1.3], &[2.3; 20], 0).unwrap().ratio;
        assert!((found.value - 2.0).abs() < 1e-12 && found.interval.is_none());
        assert_eq!(found.change(), Change::Unclear);
        assert!(found.exceeds(1.9) && !found.exceeds(2.1));
        for (before, after) in
            [(&[][..], &[1.0][..]), (&[1.0], &[]), (&[0.0], &[1.0]), (&[1.0], &[0.0])]
        {
            assert!(RatioEstimate::of(before, after, 0).is_none());
        }
        // Zeros among the samples: a resample may have a median of 0.
        let zeros = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(RatioEstimate::of(&zeros, &[1.0; 7], 0).unwrap().ratio.interval, None);
    }

    #[test]
    fn constant_samples_are_known_exactly_and_the_geometric_mean_is_that_of_the_ratios() {
        let of = |before: f64, after: f64| RatioEstimate::of(&[before; 8], &[after; 8], 0).unwrap();
        let (double, eighth) = (of(1.0, 2.0), of(4.0, 0.5));
        assert_eq!(double.ratio.interval, Some((2.0, 2.0)));
        let mean = geometric_mean(&[double.clone(), eighth]).unwrap();
        // √(2 · 1/8) = 1/2.
        assert!((mean.value - 0.5).abs() < 1e-12);
        let (low, high) = mean.interval.unwrap();
        assert!((low - 0.5).abs() < 1e-12 && (high - 0.5).abs() < 1e-12);
        let few = RatioEstimate::of(&[1.0], &[2.0], 0).unwrap();
        let mean = geometric_mean(&[double, few]).unwrap();
        assert!((mean.value - 2.0).abs() < 1e-12 && mean.interval.is_none());
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn a_mean_over_many_pairs_is_known_better_than_each() {
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let pair = |stream| {
            let (before, after) = (times(20, 1.0, &mut random), times(20, 1.02, &mut random));
            RatioEstimate::of(&before, &after, stream).unwrap()
        };
        let pairs: Vec<RatioEstimate> = (0..64).map(pair).collect();
        let width = |r: &Ratio| r.interval.map(|(low, high)| (high / low).ln()).unwrap();
        let typical = pairs.iter().map(|p| width(&p.ratio)).sum::<f64>() / 64.0;
        let mean = geometric_mean(&pairs).unwrap();
        // Independent pairs: √64 times narrower.
        assert!(
            (0.8..1.25).contains(&(width(&mean) * 8.0 / typical)),
            "{}",
            width(&mean) / typical
        );
        assert_eq!(mean.change(), Change::Slower);
    }
}
