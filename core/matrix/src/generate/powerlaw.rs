//! Web graphs: a few pages with very many links, most with few.

use crate::parallel::*;

use super::assemble::{GenerateError, Rule};
use super::keys::Values;
use super::lengths::{Lengths, Spread, longest_first};
use super::random::{RowRandom, distinct};
use crate::memory::MemoryLimit;

/// Row lengths fall with the rank by a power law from `max`, with `nnz` in total; the ranks are
/// scattered over the rows. If a shortest row or an average deviation is given, the lengths follow
/// a power law that matches it. Half of a row's columns are popular pages, the others nearby ones.
/// Like webbase-1M or NotreDame_www.
pub(super) struct PowerLaw {
    seed: u64,
    /// Length of each row.
    lengths: Vec<u32>,
    /// The rows from the longest to the shortest: the popular pages come first.
    by_rank: Vec<u32>,
    nnz: usize,
    /// Numbers of nearby pages differ by less than this.
    near: usize,
}

/// The first stream of the rows' ranks, separate from those of their columns.
const RANKS: u64 = 1 << 33;

impl PowerLaw {
    /// Fails when the lengths are not attainable.
    pub(super) fn new(values: &Values, limit: MemoryLimit) -> Result<Self, GenerateError> {
        let [m, nnz, max, min] = ["m", "nnz", "max", "min"].map(|key| values.size(key));
        let (deviation, seed) = (values.value("dev") as f64 / 1e4, values.value("seed"));
        if max > m || nnz < max || nnz as u128 > m as u128 * max as u128 {
            return Err(GenerateError::Parameters(format!(
                "{m} rows, the longest with {max} nonzeros, cannot have {nnz} nonzeros in total"
            )));
        }
        limit.check("the row lengths of a power law", 24 * m as u128)?;
        let by_length = match min == 0 && deviation == 0.0 {
            true => lengths_by_rank(m, nnz, max),
            false => {
                let spread = Spread::Power;
                let lengths = Lengths { m, nnz, min, max, deviation, spread };
                longest_first(lengths.counts(limit)?, min).collect()
            }
        };
        let mut keyed: Vec<(u64, u32)> = (0..m)
            .into_par_iter()
            .map(|i| (RowRandom::stream(seed, RANKS + i as u64).bits(), i as u32))
            .collect();
        keyed.par_sort_unstable();
        let by_rank: Vec<u32> = keyed.into_iter().map(|(_, row)| row).collect();
        let mut lengths = vec![0u32; m];
        for (&row, length) in by_rank.iter().zip(by_length) {
            if let Some(slot) = lengths.get_mut(row as usize) {
                *slot = length;
            }
        }
        Ok(Self { seed, lengths, by_rank, nnz, near: values.size("near").min(m) })
    }
}

impl Rule for PowerLaw {
    fn rows(&self) -> usize {
        self.lengths.len()
    }
    fn most_entries(&self) -> u128 {
        self.nnz as u128
    }
    fn row_len(&self, i: usize) -> Option<usize> {
        self.lengths.get(i).map(|&length| length as usize)
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let m = self.rows();
        let length = self.row_len(i).unwrap_or(0);
        let mut random = RowRandom::new(self.seed, i);
        let mut columns = Vec::with_capacity(length);
        distinct(&mut columns, length, m, || {
            if random.chance(0.5) {
                let step = random.below(2 * self.near - 1);
                (i + m + step - (self.near - 1)) % m
            } else {
                let u = random.unit();
                let rank = (u * u * u * m as f64) as usize;
                self.by_rank.get(rank).map_or(i, |&popular| popular as usize)
            }
        });
        row.extend(columns.into_iter().map(|column| (column, random.unit())));
    }
}

/// Descending lengths max, …, with sum `nnz`: max·rank^−α rounded, α found by bisection, the
/// remainder spread over the ranks after the first.
fn lengths_by_rank(m: usize, nnz: usize, max: usize) -> Vec<u32> {
    let length = |rank: usize, alpha: f64| {
        let exact = max as f64 * libm::exp(-alpha * libm::log(rank as f64));
        (exact + 0.5) as u32
    };
    // Σ over ranks: the first thousand individually, then blocks by their midpoint.
    let sum = |alpha: f64| {
        let single = (1..=m.min(1024)).map(|rank| f64::from(length(rank, alpha))).sum::<f64>();
        let blocks = (1025..=m).step_by(64).map(|first| {
            let last = (first + 63).min(m);
            let exact = max as f64 * libm::exp(-alpha * libm::log((first + last) as f64 / 2.0));
            exact.max(0.0) * (last - first + 1) as f64
        });
        single + blocks.sum::<f64>()
    };
    let (mut flat, mut steep) = (0.0, 8.0);
    for _ in 0..60 {
        let middle = 0.5 * (flat + steep);
        if sum(middle) > nnz as f64 {
            flat = middle;
        } else {
            steep = middle;
        }
    }
    let mut lengths: Vec<u32> =
        (1..m + 1).into_par_iter().map(|rank| length(rank, steep)).collect();
    let mut total: i64 = lengths.iter().map(|&l| i64::from(l)).sum();
    // Add from the second rank on and subtract from the end, which keeps the order nearly
    // descending.
    while total != nnz as i64 {
        let before = total;
        if total < nnz as i64 {
            for l in lengths.iter_mut().skip(1).filter(|l| (**l as usize) < max) {
                if total == nnz as i64 {
                    break;
                }
                *l += 1;
                total += 1;
            }
        } else {
            for l in lengths.iter_mut().skip(1).rev().filter(|l| **l > 0) {
                if total == nnz as i64 {
                    break;
                }
                *l -= 1;
                total -= 1;
            }
        }
        if total == before {
            break;
        }
    }
    lengths
}
