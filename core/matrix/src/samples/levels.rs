//! Where a series of measurements changes its level.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

use super::random::below;

/// Fewest measurements at a level.
const FEWEST: usize = 4;
/// The share of series without a change in which one is found.
const FALSE_ALARMS: f64 = 0.01;
/// The same for the comparison of two levels that follow each other.
const OF_NEIGHBORS: f64 = 0.05;
/// Permutations from which the limits of the statistic are taken.
const PERMUTATIONS: usize = 1000;
/// Only the last measurements of a longer series are searched.
const MOST: usize = 200;
/// Fixed seed: the same series has the same levels everywhere.
const SEED: u64 = 0x5eed_1e7e;

/// Finds changes of level by circular binary segmentation (Olshen, Venkatraman, Lucito and Wigler, 2004) on
/// ranks: the part of a series whose ranks differ most from those of the rest is a level if a random order of
/// the same ranks has such a part in at most 1 % of cases. Ranks make this independent of the distribution
/// of the noise, and single measurements that are far off do not matter. A level has at least four
/// measurements, so a change is found once four measurements follow it.
#[derive(Debug, Default)]
pub struct Levels {
    /// Limits of the statistic for a part of a series, and for neighbours, by the length of the series.
    limits: BTreeMap<usize, [f64; 2]>,
}

impl Levels {
    /// The positions at which a new level begins, in ascending order; without the first.
    pub fn changes(&mut self, series: &[f64]) -> Vec<usize> {
        let skipped = series.len().saturating_sub(MOST);
        let series = series.get(skipped..).unwrap_or_default();
        let mut found = Vec::new();
        self.split(series, 0, &mut found);
        found.sort_unstable();
        self.merge_neighbors(series, &mut found);
        found.into_iter().map(|change| change + skipped).collect()
    }

    fn split(&mut self, part: &[f64], from: usize, found: &mut Vec<usize>) {
        if part.len() < 2 * FEWEST {
            return;
        }
        let (statistic, [first, end]) = extreme_part(&ranks(part));
        let [limit, _] = self.limits(part.len());
        if statistic <= limit {
            return;
        }
        let mut begin = 0;
        for edge in [first, end, part.len()] {
            if begin < edge {
                self.split(part.get(begin..edge).unwrap_or_default(), from + begin, found);
                found.extend((edge < part.len()).then_some(from + edge));
            }
            begin = edge;
        }
    }

    /// Drops changes between levels that do not differ, the least certain first: an edge of an extreme part
    /// may be one by chance.
    fn merge_neighbors(&mut self, series: &[f64], changes: &mut Vec<usize>) {
        loop {
            let begins = [0].into_iter().chain(changes.iter().copied());
            let ends = changes.iter().copied().chain([series.len()]).skip(1);
            let neighbors: Vec<[usize; 3]> = begins
                .zip(changes.iter().copied())
                .zip(ends)
                .map(|((begin, change), end)| [begin, change, end])
                .collect();
            let mut least = (0.0, None);
            for (place, [begin, change, end]) in neighbors.into_iter().enumerate() {
                let both = ranks(series.get(begin..end).unwrap_or_default());
                let first = both.iter().take(change - begin).sum();
                let [_, limit] = self.limits(both.len());
                let excess = standardized(first, change - begin, both.len()) - limit;
                if excess < least.0 {
                    least = (excess, Some(place));
                }
            }
            let Some(place) = least.1 else { return };
            changes.remove(place);
        }
    }

    /// The limits of the statistic for series of this length, from random orders.
    fn limits(&mut self, length: usize) -> [f64; 2] {
        *self.limits.entry(length).or_insert_with(|| {
            let mut random = ChaCha8Rng::seed_from_u64(SEED);
            random.set_stream(length as u64);
            let middle = (length as f64 + 1.0) / 2.0;
            let mut order: Vec<f64> = (1..=length).map(|rank| rank as f64 - middle).collect();
            let mut statistics: Vec<f64> = (0..PERMUTATIONS)
                .map(|_| {
                    for k in (1..length).rev() {
                        order.swap(k, below(k + 1, &mut random));
                    }
                    extreme_part(&order).0
                })
                .collect();
            statistics.sort_unstable_by(f64::total_cmp);
            [FALSE_ALARMS, OF_NEIGHBORS].map(|share| {
                let place = ((1.0 - share) * PERMUTATIONS as f64) as usize;
                statistics.get(place).copied().unwrap_or(f64::INFINITY)
            })
        })
    }
}

/// The rank of each value minus the mean rank; equal values share theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = (values.len() as f64 + 1.0) / 2.0;
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other.total_cmp(value).is_lt());
        let up_to = sorted.partition_point(|other| other.total_cmp(value).is_le());
        (below + 1 + up_to) as f64 / 2.0 - middle
    };
    values.iter().map(rank).collect()
}

/// The sum of `count` of `length` ranks in units of its standard deviation.
fn standardized(sum: f64, count: usize, length: usize) -> f64 {
    let (count, length) = (count as f64, length as f64);
    f64::abs(sum) / (count * (length - count) * (length + 1.0) / 12.0).sqrt()
}

/// The part whose ranks differ most from the rest: its statistic, its begin and its end. It and what is
/// before and after it have at least [`FEWEST`] values or none.
fn extreme_part(ranks: &[f64]) -> (f64, [usize; 2]) {
    let length = ranks.len();
    let mut sums = vec![0.0];
    let mut sum = 0.0;
    for rank in ranks {
        sum += rank;
        sums.push(sum);
    }
    let mut extreme = (0.0, [0, length]);
    for (first, before) in sums.iter().enumerate() {
        if first > 0 && first < FEWEST {
            continue;
        }
        for (end, up_to) in sums.iter().enumerate().skip(first + FEWEST) {
            let rest = length - (end - first);
            if rest == 0 || (end < length && length - end < FEWEST) {
                continue;
            }
            let statistic = standardized(up_to - before, end - first, length);
            if statistic > extreme.0 {
                extreme = (statistic, [first, end]);
            }
        }
    }
    extreme
}

#[cfg(test)]
mod tests {
    use super::super::random::{normal, uniform};
    use super::*;

    /// The changes found in each of 200 series of 40 measurements with this noise; `level` is the logarithm
    /// of the true time of each.
    fn found(noise: f64, level: impl Fn(usize) -> f64) -> Vec<Vec<usize>> {
        let mut random = ChaCha8Rng::seed_from_u64(31);
        let mut levels = Levels::default();
        let mut series = || -> Vec<f64> {
            let mut measured = |k| {
                // One of twenty is disturbed.
                let spike = if uniform(&mut random) < 0.05 { 0.7 } else { 0.0 };
                level(k) + noise * normal(&mut random) + spike
            };
            (0..40).map(&mut measured).collect()
        };
        (0..200).map(|_| levels.changes(&series())).collect()
    }

    fn share(found: &[Vec<usize>], is_it: impl Fn(&[usize]) -> bool) -> f64 {
        found.iter().filter(|changes| is_it(changes)).count() as f64 / found.len() as f64
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
    fn noise_of_5_to_20_percent_is_no_change() {
        for noise in [0.05, 0.1, 0.2] {
            // 200 series at 1 % have a standard deviation of 0.7 %: allow four of them.
            let alarms = share(&found(noise, |_| 0.0), |changes| !changes.is_empty());
            assert!(alarms <= 0.04, "{alarms} at {noise}");
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
    fn a_slowdown_of_twice_the_noise_is_found_where_it_is() {
        for (noise, slowdown) in [(0.05, 1.11), (0.2, 1.5)] {
            let step = f64::ln(slowdown);
            let found = found(noise, |k| if k < 20 { 0.0 } else { step });
            let one = share(&found, |changes| changes.len() == 1);
            let near = share(&found, |changes| changes.iter().any(|c| c.abs_diff(20) <= 2));
            assert!(one > 0.78 && near > 0.66, "{one} and {near} at {noise}");
        }
    }

    #[test]
    #[cfg_attr(target_family = "wasm", ignore = "takes minutes")]
    fn a_slowdown_that_was_repaired_has_two_ends() {
        let found = found(0.05, |k| if (15..24).contains(&k) { 0.2 } else { 0.0 });
        let both = share(&found, |changes| changes.len() == 2);
        assert!(both > 0.73, "{both}");
    }

    #[test]
    fn a_series_without_noise_changes_at_the_first_new_value() {
        let mut levels = Levels::default();
        let series: Vec<f64> = (0..30).map(|k| if k < 13 { 1.0 } else { 2.0 }).collect();
        assert_eq!(levels.changes(&series), [13]);
        assert_eq!(levels.changes(&series[..16]), [0usize; 0]);
        assert_eq!(levels.changes(&[1.0; 30]), [0usize; 0]);
        assert_eq!(levels.changes(&[]), [0usize; 0]);
        // Only the last 200 are searched; positions are those in the whole series.
        let long: Vec<f64> = (0..300).map(|k| if k < 250 { 1.0 } else { 2.0 }).collect();
        assert_eq!(levels.changes(&long), [250]);
    }
}
