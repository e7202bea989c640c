//! Rows in colours: no two rows of one colour have an entry in one another's column.

use super::{OperandError, RowGroups};
use crate::matrix::{Csr, RowPtr, Scalar};
use crate::memory::MemoryLimit;
use crate::parallel::*;

/// A colouring of the pattern of A + Aᵀ. Rows of one colour can be updated at once, in place, in
/// whichever structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coloring {
    groups: RowGroups,
}

impl Coloring {
    /// Greedy first fit, rows ascending: each row takes the smallest colour that none of its
    /// neighbours has yet, so that there are at most as many as the largest number of neighbours, and
    /// one more. Panics when `a` is not square; fails, before allocating, when that needs more than
    /// `limit`.
    pub fn greedy<T: Scalar>(a: &Csr<T>, limit: MemoryLimit) -> Result<Self, OperandError> {
        let n = a.rows();
        assert_eq!(n, a.cols(), "colours are those of a square matrix");
        let needed = RowGroups::most_bytes(n) + 20 * n as u128 + 4 * a.nnz() as u128;
        limit.check("the colouring", needed)?;
        let above = Above::of(a);
        let mut color_of = vec![0u32; n];
        // The last row that saw each colour in use.
        let mut seen_by: Vec<u32> = Vec::new();
        for i in 0..n {
            let own = a.row(i).0.iter().take_while(|&&c| (c as usize) < i);
            for &neighbour in own.chain(above.rows(i)) {
                seen_by[color_of[neighbour as usize] as usize] = i as u32;
            }
            // Row 0 has no neighbour before it: no colour is in use when it asks.
            let free = seen_by.iter().position(|&row| row != i as u32);
            color_of[i] = free.unwrap_or(seen_by.len()) as u32;
            if free.is_none() {
                // Not seen by any row that is still to come.
                seen_by.push(0);
            }
        }
        Ok(Self { groups: RowGroups::new(color_of) })
    }

    /// Colour of each row, and the rows of each colour.
    pub fn groups(&self) -> &RowGroups {
        &self.groups
    }

    /// Whether no entry off the diagonal of `a` joins two rows of one colour.
    pub fn is_proper<T: Scalar>(&self, a: &Csr<T>) -> bool {
        let color_of = self.groups.group_of();
        let alone = |i: usize| {
            let mut others = a.row(i).0.iter().filter(|&&c| c as usize != i);
            others.all(|&c| color_of[c as usize] != color_of[i])
        };
        color_of.len() == a.rows() && (0..a.rows()).into_par_iter().all(alone)
    }
}

/// The rows of the entries above the diagonal, column by column.
struct Above {
    ptr: RowPtr,
    rows: Vec<u32>,
}

impl Above {
    fn of<T: Scalar>(a: &Csr<T>) -> Self {
        let entries = |i: usize| a.row(i).0.iter().filter(move |&&c| c as usize > i);
        let mut lengths = vec![0usize; a.cols()];
        for &c in (0..a.rows()).flat_map(entries) {
            lengths[c as usize] += 1;
        }
        let ptr = RowPtr::from_lengths(lengths.iter().copied());
        let mut rows = vec![0u32; lengths.iter().sum()];
        // Filled from the back, so that what is left to fill says where.
        for i in (0..a.rows()).rev() {
            for &c in entries(i) {
                lengths[c as usize] -= 1;
                rows[ptr.get(c as usize) + lengths[c as usize]] = i as u32;
            }
        }
        Self { ptr, rows }
    }

    fn rows(&self, column: usize) -> &[u32] {
        &self.rows[self.ptr.range(column)]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::generate::{GeneratorSpec, generate};
    use crate::symgs::tests::unsymmetric;

    fn greedy(a: &Csr) -> Coloring {
        Coloring::greedy(a, MemoryLimit::unlimited()).unwrap()
    }

    fn made(spec: &str) -> Csr {
        let spec = GeneratorSpec::parse(spec).unwrap();
        generate(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
    }

    #[test]
    fn a_grid_of_27_points_takes_the_eight_colours_of_a_corner() {
        let n = 6u32;
        let colors = greedy(&made("stencil27?n=6"));
        for (i, &color) in colors.groups().group_of().iter().enumerate() {
            let i = i as u32;
            assert_eq!(color, i % n % 2 + 2 * (i / n % n % 2) + 4 * (i / (n * n) % 2), "row {i}");
        }
        assert!(colors.groups().widths().eq([27; 8]));
    }

    #[test]
    fn trees_and_checkerboards_take_two_colours() {
        for spec in ["poisson2d?n=9", "stencil7?n=5", "kmer?m=3000", "kmer?m=3000&near=9"] {
            assert_eq!(greedy(&made(spec)).groups().len(), 2, "{spec}");
        }
        assert_eq!(greedy(&made("diagonal?m=9")).groups().len(), 1);
        assert!(greedy(&Csr::from_triplets(0, 0, &[]).unwrap()).groups().is_empty());
    }

    #[test]
    fn two_rows_of_a_colour_that_touch_are_found() {
        let a = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 1.0)]).unwrap();
        assert!(greedy(&a).is_proper(&a));
        let one = Coloring { groups: RowGroups::new(vec![0, 0]) };
        assert!(!one.is_proper(&a) && !one.is_proper(&a.transpose()));
    }

    proptest! {
        #[test]
        fn colours_are_proper_and_no_more_than_neighbours_and_one(a in unsymmetric()) {
            let colors = greedy(&a);
            prop_assert!(colors.is_proper(&a) && colors.is_proper(&a.transpose()));
            let at = a.transpose();
            let neighbours = |i: usize| {
                let both: std::collections::BTreeSet<u32> =
                    a.row(i).0.iter().chain(at.row(i).0).copied().filter(|&c| c as usize != i).collect();
                both.len()
            };
            let most = (0..a.rows()).map(neighbours).max();
            prop_assert!(colors.groups().len() <= most.map_or(0, |most| most + 1));
        }
    }
}
