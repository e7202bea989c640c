//! The constraints of a linear program: more columns than rows or the reverse, rows of very
//! different lengths, and a few columns that many rows share.

use super::assemble::{GenerateError, Rule};
use super::keys::Values;
use super::lengths::{Lengths, Spread};
use super::random::{RowRandom, distinct};
use crate::memory::MemoryLimit;

/// An m × n matrix whose row lengths follow a power law. The last `heavy` columns have a nonzero in
/// the fraction `fill` of the rows; the other nonzeros of row i lie within `half` columns of i·n/m,
/// as in staircase and network problems, or further away where a row is longer than that.
pub(super) struct Lp {
    /// Columns without the heavy ones.
    light: usize,
    heavy: usize,
    fill: f64,
    half: usize,
    seed: u64,
    nnz: usize,
    lengths: Vec<u32>,
}

impl Lp {
    /// Fails if the rows cannot have these lengths, or the longest does not fit beside the heavy
    /// columns.
    pub(super) fn new(values: &Values, limit: MemoryLimit) -> Result<Self, GenerateError> {
        let (n, heavy, seed) = (values.size("n"), values.size("heavy"), values.value("seed"));
        let lengths = Lengths {
            m: values.size("m"),
            nnz: values.size("nnz"),
            min: values.size("min"),
            max: values.size("max"),
            deviation: values.value("dev") as f64 / 1e4,
            spread: Spread::Power,
        };
        let light = n.saturating_sub(heavy);
        if lengths.max > light {
            return Err(GenerateError::Parameters(format!(
                "a row of {} nonzeros does not fit into {n} columns beside {heavy} that many rows share",
                lengths.max
            )));
        }
        Ok(Self {
            light,
            heavy,
            fill: values.value("fill") as f64 / 1000.0,
            half: values.size("half"),
            seed,
            nnz: lengths.nnz,
            lengths: lengths.scattered(1, seed, limit)?,
        })
    }
}

impl Rule for Lp {
    fn rows(&self) -> usize {
        self.lengths.len()
    }

    fn cols(&self) -> usize {
        self.light + self.heavy
    }

    fn most_entries(&self) -> u128 {
        self.nnz as u128
    }

    fn row_len(&self, i: usize) -> Option<usize> {
        self.lengths.get(i).map(|&length| length as usize)
    }

    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let length = self.row_len(i).unwrap_or(0);
        let mut random = RowRandom::new(self.seed, i);
        let shared: Vec<usize> = (0..self.heavy).filter(|_| random.chance(self.fill)).collect();
        row.extend(shared.iter().take(length).map(|k| ((self.light + k) as u32, 1.0)));
        let rest = length - shared.len().min(length);
        let width = self.half.saturating_mul(2).saturating_add(1).max(rest).min(self.light);
        let middle = i as u128 * self.light as u128 / self.rows().max(1) as u128;
        let first = (middle as usize).saturating_sub(width / 2).min(self.light - width);
        // Columns relative to the first of the window.
        let mut columns = Vec::with_capacity(rest);
        distinct(&mut columns, rest, width, || random.below(width));
        let value = |column: u32| ((first + column as usize) as u32, random.unit() - 0.5);
        row.extend(columns.into_iter().map(value));
    }
}
