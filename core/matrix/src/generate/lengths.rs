//! Row lengths with a given sum, longest row and average deviation.

use super::assemble::GenerateError;
use super::random::RowRandom;
use crate::memory::MemoryLimit;

/// Distribution of row lengths between the shortest and the longest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    /// Exponential decay on both sides of the mean: the distribution of maximum entropy with this
    /// mean and average deviation.
    TwoSided,
    /// A power law, as in web graphs.
    Power,
}

/// Required row lengths of a matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    /// Rows.
    pub(super) m: usize,
    /// Sum of all lengths.
    pub(super) nnz: usize,
    /// Minimum row length.
    pub(super) min: usize,
    /// Maximum row length, which at least one row has.
    pub(super) max: usize,
    /// 1/m Σ|x_i − mean| as a fraction of the mean; an unattainable value becomes the nearest
    /// attainable one.
    pub(super) deviation: f64,
    /// Shape of the distribution.
    pub(super) spread: Spread,
}

impl Lengths {
    fn mean(&self) -> f64 {
        self.nnz as f64 / self.m as f64
    }

    /// Number of rows of each length min, min + 1, …, max. Sum and longest row are exact, the
    /// average deviation is as close as whole rows allow.
    pub(super) fn counts(&self, limit: MemoryLimit) -> Result<Vec<usize>, GenerateError> {
        let Self { m, nnz, min, max, .. } = *self;
        let least = min as u128 * (m as u128).saturating_sub(1) + max as u128;
        let most = max as u128 * m as u128;
        if min > max || !(least..=most).contains(&(nnz as u128)) {
            return Err(GenerateError::Parameters(format!(
                "{m} rows with {min} to {max} nonzeros per row cannot have {nnz} nonzeros in total"
            )));
        }
        limit.check("the distribution of the row lengths", 40 * (max - min + 1) as u128)?;
        let shares = self.shares();
        let (mut below, mut placed) = (0.0, 0usize);
        let mut counts: Vec<usize> = shares
            .iter()
            .map(|share| {
                below += share;
                let upto = ((below * m as f64 + 0.5) as usize).clamp(placed, m);
                let count = upto - placed;
                placed = upto;
                count
            })
            .collect();
        self.settle(&mut counts, m - placed);
        Ok(counts)
    }

    /// Gives `left` more rows the maximum length, at least one row in total, and moves rows between
    /// adjacent lengths, starting nearest the mean, until the sum is right.
    fn settle(&self, counts: &mut [usize], left: usize) {
        let mut by_distance: Vec<usize> = (0..counts.len()).collect();
        let distance = |k: usize| ((self.min + k) as f64 + 0.5 - self.mean()).abs();
        by_distance.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)));
        let fullest = (0..counts.len()).max_by_key(|&k| counts.get(k).copied());
        if let Some(last) = counts.last_mut() {
            *last += left;
            if *last == 0 {
                *last = 1;
                if let Some(count) = fullest.and_then(|k| counts.get_mut(k)) {
                    *count -= 1;
                }
            }
        }
        let sum = |counts: &[usize]| -> i128 {
            counts.iter().zip(self.min..).map(|(&c, l)| c as i128 * l as i128).sum()
        };
        let mut missing = self.nnz as i128 - sum(counts);
        while missing != 0 {
            let before = missing;
            for &k in &by_distance {
                let last = k + 2 == counts.len();
                let Some([short, long]) = counts.get_mut(k..k + 2) else { continue };
                if missing > 0 {
                    let moved = missing.min(*short as i128);
                    *short -= moved as usize;
                    *long += moved as usize;
                    missing -= moved;
                } else {
                    let free = long.saturating_sub(usize::from(last));
                    let moved = (-missing).min(free as i128);
                    *long -= moved as usize;
                    *short += moved as usize;
                    missing += moved;
                }
            }
            if missing == before {
                break;
            }
        }
    }

    /// The fraction of rows of each length.
    fn shares(&self) -> Vec<f64> {
        let wanted = self.deviation * self.mean();
        let deviation = |shares: &[f64]| -> f64 {
            shares.iter().zip(self.min..).map(|(p, l)| p * (l as f64 - self.mean()).abs()).sum()
        };
        // The steeper the distribution, the smaller the deviation.
        let (mut flat, mut steep) = match self.spread {
            Spread::TwoSided => (-64.0, 64.0),
            Spread::Power => (0.0, 16.0),
        };
        for _ in 0..52 {
            let middle = 0.5 * (flat + steep);
            if deviation(&self.shares_at(middle)) > wanted {
                flat = middle;
            } else {
                steep = middle;
            }
        }
        self.shares_at(steep)
    }

    /// Fractions with this steepness and the required mean.
    fn shares_at(&self, steepness: f64) -> Vec<f64> {
        let mean = self.mean();
        let lengths = || (self.min..=self.max).map(|l| l as f64);
        match self.spread {
            Spread::TwoSided => {
                let at = |tilt: f64| {
                    let exponent = |l: f64| tilt * (l - mean) - steepness * (l - mean).abs();
                    let top = lengths().map(exponent).fold(f64::NEG_INFINITY, f64::max);
                    normalized(lengths().map(|l| libm::exp(exponent(l) - top)).collect())
                };
                let bound = steepness.abs() + 64.0;
                let (mut low, mut high) = (-bound, bound);
                for _ in 0..56 {
                    let tilt = 0.5 * (low + high);
                    let found: f64 = at(tilt).iter().zip(lengths()).map(|(p, l)| p * l).sum();
                    if found < mean {
                        low = tilt;
                    } else {
                        high = tilt;
                    }
                }
                at(high)
            }
            Spread::Power => {
                let weight = |l: f64| libm::exp(-steepness * libm::log(l.max(0.5)));
                // Rows above the mean have weight `above`, chosen so that the mean is right.
                let short: f64 =
                    lengths().filter(|&l| l <= mean).map(|l| weight(l) * (mean - l)).sum();
                let long: f64 =
                    lengths().filter(|&l| l > mean).map(|l| weight(l) * (l - mean)).sum();
                let above = if long > 0.0 { short / long } else { 1.0 };
                let weights = lengths().map(|l| if l > mean { above } else { 1.0 } * weight(l));
                normalized(weights.collect())
            }
        }
    }

    /// The lengths of all rows: longest first over runs of `run` rows in random order, so that
    /// adjacent rows of a run have about the same length.
    pub(super) fn scattered(
        &self,
        run: usize,
        seed: u64,
        limit: MemoryLimit,
    ) -> Result<Vec<u32>, GenerateError> {
        let runs = self.m.div_ceil(run.max(1));
        limit.check("the row lengths of a matrix", 4 * self.m as u128 + 16 * runs as u128)?;
        let counts = self.counts(limit)?;
        let mut order: Vec<(u64, u32)> = (0..runs)
            .map(|k| (RowRandom::stream(seed, RUNS + k as u64).bits(), k as u32))
            .collect();
        order.sort_unstable();
        let mut longest_first = longest_first(counts, self.min);
        let mut lengths = vec![0u32; self.m];
        for (_, k) in order {
            let rows = lengths.iter_mut().skip(k as usize * run).take(run);
            for (slot, length) in rows.zip(longest_first.by_ref()) {
                *slot = length;
            }
        }
        Ok(lengths)
    }
}

/// The first stream of the runs, separate from those of the rows.
const RUNS: u64 = 3 << 33;

/// Lengths from the longest to the shortest, `counts[k]` rows of length `min` + k.
pub(super) fn longest_first(counts: Vec<usize>, min: usize) -> impl Iterator<Item = u32> {
    let longest = (min + counts.len()).saturating_sub(1) as u32;
    let descending = counts.into_iter().rev().enumerate();
    descending.flat_map(move |(k, count)| std::iter::repeat_n(longest - k as u32, count))
}

fn normalized(mut weights: Vec<f64>) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|w| *w /= total);
    weights
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::RowLengths;

    fn figures(
        m: usize,
        nnz: usize,
        range: (usize, usize),
        dev: f64,
        spread: Spread,
    ) -> RowLengths {
        let (min, max) = range;
        let lengths = Lengths { m, nnz, min, max, deviation: dev / 100.0, spread };
        let made = lengths.scattered(3, 42, MemoryLimit::unlimited()).unwrap();
        assert_eq!(made.iter().map(|&l| l as usize).sum::<usize>(), nnz);
        RowLengths::of(&made)
    }

    #[test]
    fn sum_longest_row_and_deviation_are_those_asked_for() {
        for (m, nnz, range, dev) in [
            (62_451, 4_007_383, (1, 78), 20.2),
            (377_002, 27_689_972, (26, 74), 1.45),
            (1000, 3996, (2, 6), 49.9),
            (5000, 60_000, (0, 400), 100.0),
        ] {
            let row = figures(m, nnz, range, dev, Spread::TwoSided);
            assert_eq!(row.max, range.1 as u64);
            assert!(row.min >= range.0 as u64);
            let found = row.percent_average_deviation;
            assert!((found - dev).abs() < 0.01 * dev, "{found} instead of {dev}");
        }
        let row = figures(1_000_005, 3_105_536, (1, 4700), 60.12, Spread::Power);
        assert_eq!((row.min, row.max), (1, 4700));
        assert!((row.percent_average_deviation - 60.12).abs() < 0.6, "{row:?}");
    }

    #[test]
    fn the_least_and_the_greatest_sum_are_met_and_those_beyond_refused() {
        assert_eq!(figures(10, 2 * 9 + 7, (2, 7), 0.0, Spread::TwoSided).max, 7);
        assert_eq!(figures(10, 70, (2, 7), 0.0, Spread::TwoSided).min, 7);
        for nnz in [24, 71] {
            let spread = Spread::TwoSided;
            let lengths = Lengths { m: 10, nnz, min: 2, max: 7, deviation: 0.1, spread };
            let counts = lengths.counts(MemoryLimit::unlimited());
            assert!(matches!(counts, Err(GenerateError::Parameters(_))), "{nnz}");
        }
    }
}
