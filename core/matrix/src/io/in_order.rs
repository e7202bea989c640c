//! Fills the arrays of a matrix with nonzeros that come row by row, whose rows need not be counted first.

use super::assemble::{Arrays, Entry, Places};
use crate::matrix::Scalar;

/// The places of all nonzeros, without those that were split off.
pub(super) struct InOrder<'a, T> {
    /// The ends of the rows from `row`.
    ends: Places<'a>,
    col: &'a mut [u32],
    val: &'a mut [T],
    row: u32,
    /// Number of nonzeros before these.
    before: u64,
}

impl<'a, T: Scalar> InOrder<'a, T> {
    /// The places in arrays that hold nothing yet.
    pub(super) fn of(arrays: &'a mut Arrays<T>) -> Self {
        let ends = Places::after_first(&mut arrays.row_ptr);
        Self { ends, col: &mut arrays.col, val: &mut arrays.val, row: 0, before: 0 }
    }

    /// Splits off the places of this many nonzeros, the last of which is in row `last`.
    pub(super) fn split_off(&mut self, count: usize, last: u32) -> Self {
        let front = Self {
            // More nonzeros of the last row may follow.
            ends: self.ends.split_off(last.saturating_sub(self.row) as usize),
            col: self.col.split_off_mut(..count).unwrap_or_default(),
            val: self.val.split_off_mut(..count).unwrap_or_default(),
            row: self.row,
            before: self.before,
        };
        self.row = last;
        self.before += count as u64;
        front
    }

    /// Puts the nonzeros for which these places were split off.
    pub(super) fn put(self, entries: impl Iterator<Item = Entry<T>>) {
        let places = self.col.iter_mut().zip(self.val.iter_mut());
        let rows = entries.zip(places).map(|(entry, (col, val))| {
            (*col, *val) = (entry.col, entry.val);
            entry.row
        });
        end_rows(self.ends, self.row, rows, self.before);
    }

    /// Ends the rows from that of the last nonzero.
    pub(super) fn finish(self) {
        end_rows(self.ends, self.row, std::iter::once(u32::MAX), self.before);
    }
}

/// Writes the ends of the rows from `first` that end before the last of these nonzeros, given their rows.
fn end_rows(ends: Places<'_>, first: u32, rows: impl Iterator<Item = u32>, before: u64) {
    match ends {
        Places::Narrow(ends) => write_ends(ends, first, rows, before),
        Places::Wide(ends) => write_ends(ends, first, rows, before),
    }
}

fn write_ends<O: Copy + TryFrom<u64>>(
    ends: &mut [O],
    mut first: u32,
    rows: impl Iterator<Item = u32>,
    before: u64,
) {
    let mut ends = ends.iter_mut();
    for (row, end) in rows.zip(before..) {
        for slot in ends.by_ref().take(row.saturating_sub(first) as usize) {
            // The width was chosen for the number of all nonzeros.
            *slot = O::try_from(end).unwrap_or(*slot);
        }
        first = row;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::assemble::Counts;
    use crate::matrix::Csr;
    use crate::memory::MemoryLimit;

    #[test]
    fn nonzeros_in_order_fill_a_matrix_whatever_pieces_they_come_in() {
        let rows = [1u32, 1, 1, 4, 5, 5];
        let triplets: Vec<_> = rows
            .iter()
            .zip(0u32..)
            .map(|(&row, k)| (row as usize, k as usize, f64::from(k + 1)))
            .collect();
        let expected = Csr::from_triplets(8, 6, &triplets).unwrap();
        for pieces in [vec![6usize], vec![0, 1, 5], vec![2, 2, 2], vec![1; 6], vec![3, 0, 3]] {
            let counts = Counts::new(8, 6, MemoryLimit::unlimited()).unwrap();
            let mut arrays = counts.with_room::<f64>(6, 6, MemoryLimit::unlimited()).unwrap();
            let mut free = InOrder::of(&mut arrays);
            let mut begin = 0usize;
            for &count in &pieces {
                let end = begin + count;
                let last = rows[..end].last().copied().unwrap_or(0);
                let entry = |k: usize| Entry { row: rows[k], col: k as u32, val: (k + 1) as f64 };
                free.split_off(count, last).put((begin..end).map(entry));
                begin = end;
            }
            free.finish();
            assert_eq!(arrays.into_csr().unwrap().matrix, expected, "{pieces:?}");
        }
    }
}
