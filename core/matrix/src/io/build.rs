//! CSR from the nonzeros of a file in memory, in any order: for binary files and those of fixed columns. Text
//! with a nonzero per line is read in parallel by [`assemble`](super::assemble) alone.

use super::assemble::{Assembled, Counts, Entry};
use super::error::counted;
use super::{IoError, Progress, Symmetry};
use crate::matrix::{FormatError, Scalar};
use crate::memory::MemoryLimit;

/// Calls its argument with row, column (both from 0) and value of each nonzero of a file, in file order. Called
/// twice, it gives the same both times; it fails where the file is wrong.
pub(super) type Entries<'e, T> = &'e dyn Fn(&mut dyn FnMut(u64, u64, T)) -> Result<(), IoError>;

/// Builds a matrix of this size from the nonzeros of a file, of which there are at most `most`. With symmetric
/// storage each nonzero off the diagonal also has its mirror. Duplicates are summed in file order. Fails if an
/// index is out of range, and before the matrix exceeds `limit`.
pub(super) fn build<T: Scalar>(
    (rows, cols): (u64, u64),
    (symmetry, most): (Symmetry, u64),
    entries: Entries<'_, T>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Assembled<T>, IoError> {
    let (Ok(_), Ok(_)) = (u32::try_from(rows), u32::try_from(cols)) else {
        return Err(FormatError::DimensionTooLarge { rows, cols }.into());
    };
    let most = if symmetry == Symmetry::General { most } else { most.saturating_mul(2) };
    let mut counts = Counts::new(rows as usize, most, limit)?;
    let each =
        |take: &mut dyn FnMut(Entry<T>)| each(entries, (rows, cols), symmetry, progress, take);
    each(&mut |entry| counts.count(entry.row))?;
    let mut arrays = counts.into_arrays(cols as usize, limit)?;
    each(&mut |entry| arrays.append(entry))?;
    arrays.into_csr()
}

/// The warning for this many nonzeros merged into others at the same position.
pub(super) fn repeated(merged: usize) -> Option<String> {
    let rest = "the position of an earlier one; their values were summed";
    counted(merged as u64, ["entry repeats", "entries repeat"], rest)
}

/// Calls `take` with each nonzero and its mirror.
fn each<T: Scalar>(
    entries: Entries<'_, T>,
    (rows, cols): (u64, u64),
    symmetry: Symmetry,
    progress: Progress<'_>,
    take: &mut dyn FnMut(Entry<T>),
) -> Result<(), IoError> {
    /// Nonzeros between checks for cancellation.
    const WAVE: u64 = 1 << 20;
    let (mut found, mut fault) = (0u64, Ok(()));
    entries(&mut |row, col, val| {
        found += 1;
        if fault.is_err() {
            return;
        }
        if row >= rows || col >= cols {
            fault = Err(IoError::Stored(format!(
                "nonzero {found} of the file is in row {}, column {}, but the matrix has {rows} rows and {cols} columns",
                row.saturating_add(1),
                col.saturating_add(1)
            )));
            return;
        }
        if found.is_multiple_of(WAVE) {
            fault = progress.check();
        }
        let (row, col) = (row as u32, col as u32);
        take(Entry { row, col, val });
        if row == col {
            return;
        }
        let (row, col) = (col, row);
        match symmetry {
            Symmetry::General => {}
            Symmetry::Symmetric => take(Entry { row, col, val }),
            Symmetry::SkewSymmetric => take(Entry { row, col, val: -val }),
            Symmetry::Hermitian => take(Entry { row, col, val: val.conj() }),
        }
    })?;
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(
        size: (u64, u64),
        symmetry: Symmetry,
        nonzeros: &[(u64, u64, f64)],
    ) -> Result<Vec<(usize, u32, f64)>, String> {
        let entries = |take: &mut dyn FnMut(u64, u64, f64)| {
            nonzeros.iter().for_each(|&(row, col, val)| take(row, col, val));
            Ok(())
        };
        let most = nonzeros.len() as u64;
        let limit = MemoryLimit::bytes(1 << 20);
        let built = build(size, (symmetry, most), &entries, limit, Progress::none());
        let a = built.map_err(|error| error.to_string())?.matrix;
        let row = |i: usize| a.row_ptr().range(i).map(move |k| (i, k));
        let places = (0..a.rows()).flat_map(row);
        Ok(places.map(|(i, k)| (i, a.col()[k], a.val()[k])).collect())
    }

    #[test]
    fn nonzeros_in_any_order_become_sorted_rows_with_sums_and_mirrors() {
        let nonzeros = [(2, 1, 5.0), (0, 2, 1.0), (0, 0, 2.0), (2, 1, 0.5)];
        let general = built((3, 3), Symmetry::General, &nonzeros).unwrap();
        assert_eq!(general, [(0, 0, 2.0), (0, 2, 1.0), (2, 1, 5.5)]);
        let symmetric = built((3, 3), Symmetry::Symmetric, &nonzeros).unwrap();
        let expected = [(0, 0, 2.0), (0, 2, 1.0), (1, 2, 5.5), (2, 0, 1.0), (2, 1, 5.5)];
        assert_eq!(symmetric, expected);
        let skew = built((2, 2), Symmetry::SkewSymmetric, &[(1, 0, 3.0)]).unwrap();
        assert_eq!(skew, [(0, 1, -3.0), (1, 0, 3.0)]);
    }

    #[test]
    fn places_outside_the_matrix_and_sizes_beyond_the_limit_are_refused() {
        let outside = built((2, 3), Symmetry::General, &[(0, 0, 1.0), (1, 3, 1.0)]).unwrap_err();
        let expected =
            "nonzero 2 of the file is in row 2, column 4, but the matrix has 2 rows and 3 columns";
        assert_eq!(outside, expected);
        assert!(built((1 << 20, 1), Symmetry::General, &[]).unwrap_err().contains("needs"));
        assert!(built((1 << 33, 1), Symmetry::General, &[]).is_err());
    }
}
