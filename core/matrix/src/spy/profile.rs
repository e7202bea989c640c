//! The row-length profile: row lengths along the matrix, in at most 4096 bins.

use crate::parallel::*;

use crate::matrix::{Csr, Scalar};

/// Lengths of 2^shift consecutive rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LengthBin {
    /// Shortest row.
    pub min: u64,
    /// Longest row.
    pub max: u64,
    /// Nonzeros of all its rows.
    pub entries: u64,
}

/// Row lengths along the matrix; bin b covers the rows i with i ≫ shift = b.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowProfile {
    /// A bin covers 2^shift rows.
    pub shift: u32,
    /// The bins in order; empty if there are no rows.
    pub bins: Vec<LengthBin>,
}

impl RowProfile {
    /// Returns the shift that leaves at most 4096 bins for `rows` rows.
    pub fn shift_for(rows: usize) -> u32 {
        super::Pyramid::base_shift(rows, 0)
    }

    /// Computes the profile of `a`, in parallel on the ambient pool.
    pub fn of<T: Scalar>(a: &Csr<T>) -> Self {
        let shift = Self::shift_for(a.rows());
        let bins = (0..a.rows().div_ceil(1 << shift)).into_par_iter().map(|b| {
            let rows = b << shift..a.rows().min((b + 1) << shift);
            let lengths = || rows.clone().map(|i| a.row_len(i) as u64);
            LengthBin {
                min: lengths().min().unwrap_or(0),
                max: lengths().max().unwrap_or(0),
                entries: lengths().sum(),
            }
        });
        Self { shift, bins: bins.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_the_shortest_longest_and_all_entries_of_their_rows() {
        // Row i has i % 3 nonzeros; 5000 rows make 2500 bins of two rows.
        let t: Vec<_> = (0..5000usize).flat_map(|i| (0..i % 3).map(move |j| (i, j, 1.0))).collect();
        let a = Csr::from_triplets(5000, 3, &t).unwrap();
        let profile = RowProfile::of(&a);
        assert_eq!((profile.shift, profile.bins.len()), (1, 2500));
        let bin = |b: usize| profile.bins[b];
        assert_eq!(bin(0), LengthBin { min: 0, max: 1, entries: 1 });
        assert_eq!(bin(1), LengthBin { min: 0, max: 2, entries: 2 });
        let total: u64 = profile.bins.iter().map(|b| b.entries).sum();
        assert_eq!(total, a.nnz() as u64);
    }
}
