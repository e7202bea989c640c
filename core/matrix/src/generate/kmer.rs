//! Trees as in a k-mer graph: each row has at most one nonzero besides its diagonal.

use super::assemble::Rule;
use super::random::RowRandom;

/// Lower triangular: the diagonal from 1 to 2 and, with the given probability, one nonzero between −1
/// and 0 in the column of an earlier row, its parent. Like the kmer_* graphs of GenBank, whose
/// triangles have about one nonzero per row.
pub(super) struct Kmer {
    pub(super) m: usize,
    /// Parents are at most this many rows earlier; 0 for any earlier row.
    pub(super) near: usize,
    /// Probability that a row has a parent; row 0 has none.
    pub(super) probability: f64,
    pub(super) seed: u64,
}

impl Rule for Kmer {
    fn rows(&self) -> usize {
        self.m
    }
    fn most_entries(&self) -> u128 {
        2 * self.m as u128
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let mut random = RowRandom::new(self.seed, i);
        row.push((i as u32, 1.0 + random.unit()));
        if i > 0 && random.chance(self.probability) {
            let reach = if self.near == 0 { i } else { self.near.min(i) };
            let parent = i - 1 - random.below(reach);
            row.push((parent as u32, -random.unit().max(f64::EPSILON)));
        }
    }
}
