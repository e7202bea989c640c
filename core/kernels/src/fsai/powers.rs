//! Patterns of powers, row by row: the columns that steps along Ã reach from a row.

use super::error::Stop;
use super::pattern::Columns;
use sparsescope_matrix::memory::{MemoryLimit, zeroed};

/// For each row, the first of the consecutive rows with the same columns, as for the unknowns of a node: they
/// reach the same columns, so only one is visited.
pub(super) struct Leaders(Vec<u32>);

impl Leaders {
    pub(super) fn of(kept: &Columns<'_>, limit: MemoryLimit) -> Result<Self, Stop> {
        limit.check("rows with the same columns", 4 * kept.rows() as u128)?;
        let mut leaders = zeroed(0u32, kept.rows());
        for i in 1..kept.rows() {
            let same = kept.row(i) == kept.row(i - 1);
            leaders[i] = if same { leaders[i - 1] } else { i as u32 };
        }
        Ok(Self(leaders))
    }
}

/// Work space of one thread for rows of a pattern.
pub(super) struct Reach<'k> {
    kept: &'k Columns<'k>,
    leaders: &'k Leaders,
    /// For each column, 1 + the last row that reached it.
    reached: Vec<u32>,
    /// For each leader, 1 + the last row that visited its columns.
    looked_at: Vec<u32>,
    /// The columns of the row, in the order in which they were reached.
    columns: Vec<u32>,
    /// One bit per column.
    bits: Vec<u64>,
}

impl<'k> Reach<'k> {
    pub(super) fn new(kept: &'k Columns<'k>, leaders: &'k Leaders) -> Self {
        let rows = kept.rows();
        Self {
            kept,
            leaders,
            reached: zeroed(0, rows),
            looked_at: zeroed(0, rows),
            columns: Vec::new(),
            bits: zeroed(0, rows.div_ceil(64)),
        }
    }

    /// Bytes needed per thread.
    pub(super) fn bytes(rows: usize) -> u128 {
        13 * rows as u128 + 8
    }

    /// Appends the columns up to `i` that `power` steps reach from row `i`, ascending. Steps pass above `i`
    /// only if `climbing`.
    pub(super) fn row(&mut self, i: usize, power: u32, climbing: bool, to: &mut Vec<u32>) {
        let epoch = i as u32 + 1;
        let top = if climbing { u32::MAX } else { i as u32 };
        self.columns.clear();
        self.columns.push(i as u32);
        self.reached[i] = epoch;
        let mut from = 0;
        for _ in 0..power {
            let end = self.columns.len();
            for at in from..end {
                let leader = self.leaders.0[self.columns[at] as usize] as usize;
                if self.looked_at[leader] == epoch {
                    continue;
                }
                self.looked_at[leader] = epoch;
                let row = self.kept.row(leader);
                let row = match climbing {
                    true => row,
                    false => &row[..row.partition_point(|&c| c <= top)],
                };
                self.step(row, epoch);
            }
            from = end;
        }
        if climbing {
            self.columns.retain(|&c| c as usize <= i);
        }
        self.sorted(to);
    }

    /// Appends the columns that were not yet reached. The branch would be hard to predict: a column is
    /// written in any case, and counted if it is new.
    #[inline]
    fn step(&mut self, row: &[u32], epoch: u32) {
        let before = self.columns.len();
        self.columns.resize(before + row.len(), 0);
        let found = &mut self.columns[before..];
        let mut count = 0;
        for &c in row {
            let reached = &mut self.reached[c as usize];
            found[count] = c;
            count += usize::from(*reached != epoch);
            *reached = epoch;
        }
        self.columns.truncate(before + count);
    }

    /// Appends the columns in ascending order: through a bit set if they are dense, else by sorting.
    fn sorted(&mut self, to: &mut Vec<u32>) {
        let (Some(&least), Some(&most)) = (self.columns.iter().min(), self.columns.iter().max())
        else {
            return;
        };
        let words = least as usize / 64..most as usize / 64 + 1;
        if words.len() > 4 * self.columns.len() {
            self.columns.sort_unstable();
            to.extend_from_slice(&self.columns);
            return;
        }
        for &c in &self.columns {
            self.bits[c as usize / 64] |= 1 << (c % 64);
        }
        for word in words {
            let mut bits = std::mem::take(&mut self.bits[word]);
            while bits != 0 {
                to.push(word as u32 * 64 + bits.trailing_zeros());
                bits &= bits - 1;
            }
        }
    }
}
