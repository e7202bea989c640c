//! Dependencies between the rows of a sweep: levels of mutually independent rows.

use super::{Diagonal, OperandError, RowGroups};
use sparsescope_matrix::matrix::{Csr, Real, Scalar, prefetch};
use sparsescope_matrix::memory::{MemoryLimit, zeroed};
use sparsescope_matrix::parallel::*;

/// The direction of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Rows ascending: a row waits for the rows of the columns before its diagonal.
    Forward,
    /// Rows descending: a row waits for the rows of the columns after its diagonal.
    Backward,
}

impl Direction {
    /// Both sweeps, in the order of execution.
    pub const ALL: [Self; 2] = [Self::Forward, Self::Backward];

    /// The columns that row `i` waits for.
    fn needed(self, i: usize, col: &[u32]) -> &[u32] {
        match self {
            Self::Forward => &col[..col.partition_point(|&c| (c as usize) < i)],
            Self::Backward => &col[col.partition_point(|&c| c as usize <= i)..],
        }
    }
}

/// The dependency levels of one sweep (level scheduling: Anderson and Saad, 1989): a row without dependencies
/// is in level 0, any other one level above the highest that it waits for.
///
/// A sweep that reads old and new values from two vectors has no further dependencies, however unsymmetric
/// the structure is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    sweep: Direction,
    groups: RowGroups,
}

/// Prefetch distance for the levels needed next, in nonzeros.
const AHEAD: usize = 64;

impl Levels {
    /// Computes the levels in one pass over the nonzeros of a square matrix; panics if it is not square.
    /// Fails before allocating if the levels need more than `limit`.
    pub fn of<T: Scalar>(
        a: &Csr<T>,
        sweep: Direction,
        limit: MemoryLimit,
    ) -> Result<Self, OperandError> {
        let n = a.rows();
        assert_eq!(n, a.cols(), "levels are those of a square matrix");
        limit.check("the dependency levels", RowGroups::most_bytes(n) + 4 * n as u128)?;
        let mut level_of = zeroed(0u32, n);
        let mut place = |i: usize| {
            for e in a.row_range(i) {
                let ahead = match sweep {
                    Direction::Forward => e + AHEAD,
                    Direction::Backward => e.wrapping_sub(AHEAD),
                };
                if let Some(&c) = a.col().get(ahead) {
                    prefetch(&level_of[c as usize]);
                }
            }
            let above = |&c: &u32| level_of[c as usize] + 1;
            level_of[i] = sweep.needed(i, a.row(i).0).iter().map(above).max().unwrap_or(0);
        };
        match sweep {
            Direction::Forward => (0..n).for_each(&mut place),
            Direction::Backward => (0..n).rev().for_each(&mut place),
        }
        Ok(Self { sweep, groups: RowGroups::new(level_of) })
    }

    /// The sweep that the levels belong to.
    pub fn sweep(&self) -> Direction {
        self.sweep
    }

    /// The level of each row, and the rows of each level.
    pub fn groups(&self) -> &RowGroups {
        &self.groups
    }

    /// One row per level, from level 0 up, each except the first waiting for the previous one: this is why
    /// the sweep cannot take fewer steps. `a` must be the matrix of the levels.
    pub fn critical_path<T: Scalar>(&self, a: &Csr<T>) -> Vec<u32> {
        let level_of = self.groups.group_of();
        let last = self.groups.iter().next_back().and_then(|rows| rows.first().copied());
        let before = |&i: &u32| {
            let level = level_of[i as usize].checked_sub(1)?;
            let needed = self.sweep.needed(i as usize, a.row(i as usize).0);
            needed.iter().copied().find(|&c| level_of[c as usize] == level)
        };
        let mut path: Vec<u32> = std::iter::successors(last, before).collect();
        path.reverse();
        path
    }
}

/// The levels that a bitwise exact schedule of a matrix follows.
#[derive(Clone, Debug)]
pub struct LevelSets<'a, T> {
    pub(super) a: &'a Csr<T>,
    pub(super) diagonal: &'a Diagonal,
    pub(super) forward: Levels,
    /// Levels of the descending sweep; none if it can run the ascending one in reverse.
    pub(super) backward: Option<Levels>,
}

impl<'a, T: Real> LevelSets<'a, T> {
    /// Computes the levels of the ascending sweep, and of the descending one if it needs its own. Panics if
    /// `diagonal` is not that of `a`. Fails before allocating if that needs more than `limit`.
    pub fn of(
        a: &'a Csr<T>,
        diagonal: &'a Diagonal,
        limit: MemoryLimit,
    ) -> Result<Self, OperandError> {
        assert!(diagonal.is_of(a), "the diagonal is the matrix's");
        let forward = Levels::of(a, Direction::Forward, limit)?;
        let mirrored = is_mirrored(a, diagonal, forward.groups().group_of());
        let own = || Levels::of(a, Direction::Backward, limit);
        let backward = (!mirrored).then(own).transpose()?;
        Ok(Self { a, diagonal, forward, backward })
    }
}

/// Whether every nonzero after a diagonal leads to a higher level. Then the ascending sweep updates no row
/// before all rows that need its old value, and its reverse is a valid order for the descending one.
fn is_mirrored<T: Real>(a: &Csr<T>, diagonal: &Diagonal, level_of: &[u32]) -> bool {
    (0..a.rows()).into_par_iter().all(|i| {
        let after = &a.row(i).0[diagonal.before()[i] as usize + 1..];
        after.iter().all(|&c| level_of[c as usize] > level_of[i])
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::symgs::tests::unsymmetric;
    use sparsescope_matrix::generate::{GeneratorSpec, generate};

    fn levels(a: &Csr, sweep: Direction) -> Levels {
        Levels::of(a, sweep, MemoryLimit::unlimited()).unwrap()
    }

    fn made(spec: &str) -> Csr {
        let spec = GeneratorSpec::parse(spec).unwrap();
        generate(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
    }

    #[test]
    fn a_grid_of_27_points_has_the_levels_x_2y_4z() {
        let n = 5u32;
        let a = made("stencil27?n=5");
        let [forward, backward] = Direction::ALL.map(|sweep| levels(&a, sweep));
        for (i, &level) in forward.groups().group_of().iter().enumerate() {
            let i = i as u32;
            assert_eq!(level, i % n + 2 * (i / n % n) + 4 * (i / (n * n)), "row {i}");
            // The box seen from the opposite corner.
            assert_eq!(backward.groups().group_of()[i as usize], 7 * (n - 1) - level);
        }
        assert_eq!(forward.groups().len(), 7 * (n as usize - 1) + 1);
    }

    #[test]
    fn chains_diagonals_and_arrows_have_the_levels_that_one_sees() {
        let chain: Vec<_> =
            (0..9).flat_map(|i: usize| [(i, i, 2.0), (i, i.max(1) - 1, -1.0)]).collect();
        let chain = Csr::from_triplets(9, 9, &chain).unwrap();
        assert!(levels(&chain, Direction::Forward).groups().group_of().iter().copied().eq(0..9));
        assert_eq!(levels(&chain, Direction::Backward).groups().len(), 1);
        assert_eq!(levels(&made("diagonal?m=7"), Direction::Forward).groups().len(), 1);
        // A full last row and column: it waits for all others, or they wait for it.
        let arrow: Vec<_> = (0..9).flat_map(|i| [(i, i, 2.0), (8, i, 1.0), (i, 8, 1.0)]).collect();
        let arrow = Csr::from_triplets(9, 9, &arrow).unwrap();
        assert!(levels(&arrow, Direction::Forward).groups().widths().eq([8, 1]));
        assert!(levels(&arrow, Direction::Backward).groups().widths().eq([1, 8]));
        let none = Csr::<f64>::from_triplets(0, 0, &[]).unwrap();
        assert!(levels(&none, Direction::Forward).groups().is_empty());
        assert!(levels(&none, Direction::Forward).critical_path(&none).is_empty());
    }

    #[test]
    fn trees_have_the_heights_that_theory_gives() {
        // Steps to a parent are 1 to 50, 25.5 on average.
        let near = levels(&made("kmer?m=100000&near=50&p=1000000"), Direction::Forward);
        let share = near.groups().len() as f64 / (100_000.0 / 25.5);
        assert!((0.95..1.1).contains(&share), "{share}");
        // The height of a random recursive tree of m nodes is about e·ln m (Pittel, 1994).
        let any = levels(&made("kmer?m=100000&p=1000000"), Direction::Forward);
        let share = any.groups().len() as f64 / (std::f64::consts::E * 1e5f64.ln());
        assert!((0.75..1.05).contains(&share), "{share}");
    }

    proptest! {
        #[test]
        fn a_row_is_one_level_above_the_highest_that_it_waits_for(a in unsymmetric()) {
            for sweep in Direction::ALL {
                let levels = levels(&a, sweep);
                let level_of = levels.groups().group_of();
                for (i, &level) in level_of.iter().enumerate() {
                    let waits = |c: usize| match sweep {
                        Direction::Forward => c < i,
                        Direction::Backward => c > i,
                    };
                    let needed = a.row(i).0.iter().map(|&c| c as usize).filter(|&c| waits(c));
                    let expected = needed.map(|c| level_of[c] + 1).max().unwrap_or(0);
                    prop_assert_eq!(level, expected);
                }
                let path = levels.critical_path(&a);
                prop_assert_eq!(path.len(), levels.groups().len());
                for (level, rows) in path.windows(2).enumerate() {
                    let [before, row] = [rows[0], rows[1]];
                    prop_assert_eq!(level_of[before as usize], level as u32);
                    prop_assert!(a.row(row as usize).0.contains(&before));
                    prop_assert_eq!(before < row, sweep == Direction::Forward);
                }
            }
        }
    }
}
