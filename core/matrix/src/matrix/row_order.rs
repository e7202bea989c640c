//! The row at each stored position of a format: rows sorted by length, long ones kept apart.

use crate::parallel::*;

use super::FormatError;

/// The order in which a format stores the rows of an m-row matrix: first those in its blocks, then
/// those kept apart in a tail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowOrder {
    rows: usize,
    /// Row at each position; absent when every row is at its own place.
    row_of: Option<Vec<u32>>,
    /// Number of positions in blocks; the tail follows.
    in_blocks: usize,
}

impl RowOrder {
    /// Every row at its own place, no tail.
    pub fn identity(rows: usize) -> Self {
        Self { rows, row_of: None, in_blocks: rows }
    }

    /// Moves rows longer than `spill` to the tail in their original order, and sorts each window of
    /// `sigma` of the others by descending length (SELL-C-σ: Kreutzer and others, 2014); ties keep
    /// their order. A `sigma` of 0 or 1 sorts nothing.
    pub fn sorted(row_len: &[u32], sigma: usize, spill: Option<usize>) -> Self {
        let is_long = |len: &u32| spill.is_some_and(|spill| *len as usize > spill);
        let has_tail = !row_len.par_iter().all(|len| !is_long(len));
        if sigma <= 1 && !has_tail {
            return Self::identity(row_len.len());
        }
        let all = 0..row_len.len() as u32;
        let (tail, mut row_of): (Vec<u32>, Vec<u32>) = match has_tail {
            true => all.partition(|&row| is_long(&row_len[row as usize])),
            false => (Vec::new(), all.collect()),
        };
        if sigma > 1 {
            row_of.par_chunks_mut(sigma).for_each(|window| {
                window.sort_by_key(|&row| std::cmp::Reverse(row_len[row as usize]));
            });
        }
        let in_blocks = row_of.len();
        row_of.extend(tail);
        Self { rows: row_len.len(), row_of: Some(row_of), in_blocks }
    }

    /// Takes the row at each position, the last `tail` of them being the tail, after checking that
    /// every row occurs exactly once.
    pub fn try_new(row_of: Vec<u32>, tail: usize) -> Result<Self, FormatError> {
        let rows = row_of.len();
        let Some(in_blocks) = rows.checked_sub(tail) else {
            return Err(FormatError::Invariant(format!(
                "expected a tail of at most {rows} rows, found {tail}"
            )));
        };
        let mut seen = vec![false; rows];
        for &row in &row_of {
            match seen.get_mut(row as usize) {
                None => return Err(FormatError::RowOutOfRange { row: row.into(), rows }),
                Some(true) => {
                    return Err(FormatError::Invariant(format!(
                        "row {row} (0-based) occurs twice"
                    )));
                }
                Some(seen) => *seen = true,
            }
        }
        Ok(Self { rows, row_of: Some(row_of), in_blocks })
    }

    /// Number of rows m, equal to the number of positions.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of positions in blocks; those from here on belong to the tail.
    #[inline]
    pub fn in_blocks(&self) -> usize {
        self.in_blocks
    }

    /// Number of rows in the tail.
    pub fn tail(&self) -> usize {
        self.rows - self.in_blocks
    }

    /// Row at each position; `None` when every row is at its own place.
    #[inline]
    pub fn row_of(&self) -> Option<&[u32]> {
        self.row_of.as_deref()
    }

    /// The row at a position below [`rows`](Self::rows). Panics otherwise. No two positions have
    /// the same row.
    #[inline]
    pub fn row_at(&self, position: usize) -> usize {
        match &self.row_of {
            Some(row_of) => row_of[position] as usize,
            None => position,
        }
    }

    /// Position of every row.
    pub fn positions(&self) -> Vec<u32> {
        let mut positions = vec![0u32; self.rows];
        for position in 0..self.rows {
            positions[self.row_at(position)] = position as u32;
        }
        positions
    }

    /// Bytes of the permutation.
    pub fn bytes(&self) -> u64 {
        self.row_of.as_ref().map_or(0, |row_of| 4 * row_of.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_sorted_by_length_and_long_rows_come_last() {
        let lengths = [1, 5, 2, 90, 3, 3, 70, 4];
        let order = RowOrder::sorted(&lengths, 3, Some(10));
        // Without rows 3 and 6: windows (0, 1, 2) and (4, 5, 7).
        assert_eq!(order.row_of(), Some(&[1, 2, 0, 7, 4, 5, 3, 6][..]));
        assert_eq!((order.in_blocks(), order.tail(), order.rows()), (6, 2, 8));
        assert_eq!(order.positions(), [2, 0, 1, 6, 4, 5, 7, 3]);
        assert_eq!(RowOrder::sorted(&lengths, 1, Some(90)), RowOrder::identity(8));
        let all = RowOrder::sorted(&lengths, 100, None);
        assert_eq!(all.row_of(), Some(&[3, 6, 1, 7, 4, 5, 2, 0][..]));
    }

    #[test]
    fn only_permutations_are_taken() {
        assert!(RowOrder::try_new(vec![2, 0, 1], 1).is_ok());
        for (row_of, tail) in [(vec![0, 0], 0), (vec![0, 2], 0), (vec![0, 1], 3)] {
            assert!(RowOrder::try_new(row_of, tail).is_err());
        }
    }
}
