//! Rows in colours: no two rows of one colour are coupled by a nonzero.

use super::{OperandError, RowGroups};
use sparsescope_matrix::matrix::{Csr, Scalar, prefetch};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};
use sparsescope_matrix::parallel::*;

/// A colouring of the pattern of A + Aᵀ. Rows of one colour can be updated in parallel and in place, whatever
/// the structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coloring {
    groups: RowGroups,
}

impl Coloring {
    /// Greedy first fit, in ascending row order: each row takes the smallest colour that none of its coloured
    /// neighbours has, so that there are at most one more colours than the largest number of neighbours.
    /// Panics if `a` is not square; fails before allocating if that needs more than `limit`.
    pub fn greedy<T: Scalar>(a: &Csr<T>, limit: MemoryLimit) -> Result<Self, OperandError> {
        let n = a.rows();
        assert_eq!(n, a.cols(), "colours are those of a square matrix");
        limit.check("the coloring", RowGroups::most_bytes(n) + 16 * n as u128)?;
        let mut search =
            Search { a, first: 0, color_of: vec![u32::MAX; n], taken: zeroed(0u64, n) };
        let mut left: Vec<u32> = (0..n as u32).filter(|&i| !search.finds(i)).collect();
        while !left.is_empty() {
            search.first += u64::BITS;
            for &i in &left {
                search.taken[i as usize] = 0;
            }
            left.retain(|&i| !search.finds(i));
        }
        Ok(Self { groups: RowGroups::new(search.color_of) })
    }

    /// The colour of each row, and the rows of each colour.
    pub fn groups(&self) -> &RowGroups {
        &self.groups
    }

    /// Whether no off-diagonal nonzero of `a` couples two rows of one colour.
    pub fn is_proper<T: Scalar>(&self, a: &Csr<T>) -> bool {
        let color_of = self.groups.group_of();
        let alone = |i: usize| {
            let mut others = a.row(i).0.iter().filter(|&&c| c as usize != i);
            others.all(|&c| color_of[c as usize] != color_of[i])
        };
        color_of.len() == a.rows() && (0..a.rows()).into_par_iter().all(alone)
    }
}

/// First fit among 64 colours. Rows for which none is free are left for the next 64, on which the current
/// colours have no effect.
struct Search<'a, T> {
    a: &'a Csr<T>,
    /// The first of the 64 colours.
    first: u32,
    /// Colour of each row; `u32::MAX` while it has none.
    color_of: Vec<u32>,
    /// For each row, a bit mask of these colours: those taken by earlier rows with a nonzero in its column.
    taken: Vec<u64>,
}

/// Prefetch distance for what the search reads per row, in nonzeros.
const AHEAD: usize = 64;

impl<T: Scalar> Search<'_, T> {
    /// Gives row `i` the first colour that its earlier neighbours leave free; returns false if there is none.
    fn finds(&mut self, i: u32) -> bool {
        let range = self.a.row_range(i as usize);
        for &c in self.a.col().iter().skip(range.start + AHEAD).take(range.len()) {
            if c < i {
                prefetch(&self.color_of[c as usize]);
            } else {
                prefetch(&self.taken[c as usize]);
            }
        }
        let col = &self.a.col()[range];
        let (before, after) = col.split_at(col.partition_point(|&c| c < i));
        let taken = before.iter().fold(self.taken[i as usize], |taken, &c| {
            let color = self.color_of[c as usize].wrapping_sub(self.first);
            taken | u64::from(color < u64::BITS) << (color % u64::BITS)
        });
        let free = taken.trailing_ones();
        if free == u64::BITS {
            return false;
        }
        self.color_of[i as usize] = self.first + free;
        for &c in after {
            self.taken[c as usize] |= 1 << free;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::symgs::tests::unsymmetric;
    use sparsescope_matrix::generate::{GeneratorSpec, generate};

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
    fn many_neighbours_take_many_colours() {
        // 200 mutually neighbouring rows, by nonzeros above the diagonal alone, then 100 rows with one
        // neighbour each.
        let pairs = (0..200usize).flat_map(|i| (i..200).map(move |j| (i, j, 1.0)));
        let more = (200..300).flat_map(|i| [(i, i, 1.0), (i - 200, i, 1.0)]);
        let a = Csr::from_triplets(300, 300, &pairs.chain(more).collect::<Vec<_>>()).unwrap();
        for a in [a.transpose(), a] {
            let expected = (0..200).chain([1]).chain(std::iter::repeat_n(0, 99));
            assert!(greedy(&a).groups().group_of().iter().copied().eq(expected));
        }
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
