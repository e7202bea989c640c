//! Reordering: the same permutation of rows and columns.

use crate::parallel::*;
use serde::{Deserialize, Serialize};

use super::csr::check_dimensions;
use super::{Csr, FormatError, RowPtr, Scalar};
use crate::memory::MemoryLimit;

/// How to reorder rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reordering {
    /// Reverse Cuthill–McKee: reduces the bandwidth.
    Rcm,
}

impl Reordering {
    /// The word used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rcm => "rcm",
        }
    }

    /// The new order of the rows and columns of a square matrix: element k is the old number of
    /// what becomes k. Fails, before allocating, when that needs more than `limit`.
    pub fn order<T: Scalar>(self, a: &Csr<T>, limit: MemoryLimit) -> Result<Vec<u32>, FormatError> {
        match self {
            Self::Rcm => reverse_cuthill_mckee(a, limit),
        }
    }
}

/// P·A·Pᵀ: row and column `order[k]` of a square matrix become row and column k. Fails when
/// `order` is not a permutation of the rows, or before allocating more than `limit`.
pub fn permuted<T: Scalar>(
    a: &Csr<T>,
    order: &[u32],
    limit: MemoryLimit,
) -> Result<Csr<T>, FormatError> {
    check_square(a)?;
    limit.check("the reordered matrix", 2 * u128::from(a.bytes()) + 4 * a.rows() as u128)?;
    // The check used for formats with their own row order.
    let order = super::RowOrder::try_new(order.to_vec(), 0)?;
    super::csr::check_len("order", order.rows(), a.rows())?;
    let new_number = order.positions();
    let rows: Vec<Vec<(u32, T)>> = (0..a.rows())
        .into_par_iter()
        .map(|k| {
            let (col, val) = a.row(order.row_at(k));
            let renamed = col.iter().map(|&c| new_number[c as usize]);
            let mut row: Vec<(u32, T)> = renamed.zip(val.iter().copied()).collect();
            row.sort_unstable_by_key(|&(column, _)| column);
            row
        })
        .collect();
    let row_ptr = RowPtr::from_lengths(rows.iter().map(Vec::len));
    let col = rows.iter().flatten().map(|&(column, _)| column).collect();
    let val = rows.iter().flatten().map(|&(_, value)| value).collect();
    Csr::try_new(a.rows(), a.cols(), row_ptr, col, val)
}

fn check_square<T: Scalar>(a: &Csr<T>) -> Result<(), FormatError> {
    let (rows, cols) = (a.rows(), a.cols());
    if rows == cols {
        return check_dimensions(rows, cols);
    }
    Err(FormatError::Invariant(format!(
        "only a square matrix can be reordered symmetrically, found {rows} x {cols}"
    )))
}

/// Reverse Cuthill–McKee order on the pattern of A + Aᵀ (Cuthill and McKee, ACM 1969; George,
/// 1971): breadth first from a peripheral node, the neighbours of each node by ascending degree,
/// then reversed. Components follow one another by their lowest number. Ties go to the lower
/// number, so that the order depends on the matrix alone.
fn reverse_cuthill_mckee<T: Scalar>(
    a: &Csr<T>,
    limit: MemoryLimit,
) -> Result<Vec<u32>, FormatError> {
    check_square(a)?;
    let needed = u128::from(a.bytes()) + 8 * a.nnz() as u128 + 24 * a.rows() as u128;
    limit.check("reverse Cuthill–McKee reordering", needed)?;
    let graph = Graph::of(a);
    let mut order = Vec::with_capacity(a.rows());
    let mut search = Search { seen: vec![0; a.rows()], stamp: 0, levels: Vec::new() };
    let mut numbered = vec![false; a.rows()];
    for first in 0..a.rows() as u32 {
        if numbered[first as usize] {
            continue;
        }
        let start = search.rim(&graph, first);
        let mut next = order.len();
        order.push(start);
        numbered[start as usize] = true;
        while let Some(&node) = order.get(next) {
            next += 1;
            let from = order.len();
            for &other in graph.neighbours(node) {
                if !std::mem::replace(&mut numbered[other as usize], true) {
                    order.push(other);
                }
            }
            order[from..].sort_unstable_by_key(|&other| (graph.degree(other), other));
        }
    }
    order.reverse();
    Ok(order)
}

/// The pattern of A + Aᵀ without the diagonal.
struct Graph {
    row_ptr: RowPtr,
    neighbours: Vec<u32>,
}

impl Graph {
    fn of<T: Scalar>(a: &Csr<T>) -> Self {
        let at = a.transpose();
        let of_row = |i: usize| Union { left: a.row(i).0, right: at.row(i).0 };
        let others = |i: usize| of_row(i).filter(move |&c| c as usize != i);
        let degrees: Vec<usize> =
            (0..a.rows()).into_par_iter().map(|i| others(i).count()).collect();
        let row_ptr = RowPtr::from_lengths(degrees.into_iter());
        let neighbours = (0..a.rows()).flat_map(others).collect();
        Self { row_ptr, neighbours }
    }

    fn neighbours(&self, node: u32) -> &[u32] {
        &self.neighbours[self.row_ptr.range(node as usize)]
    }

    fn degree(&self, node: u32) -> usize {
        self.row_ptr.range(node as usize).len()
    }
}

/// The union of two ascending lists.
struct Union<'a> {
    left: &'a [u32],
    right: &'a [u32],
}

impl Iterator for Union<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let smallest = match (self.left.first(), self.right.first()) {
            (Some(&l), Some(&r)) => l.min(r),
            (Some(&only), None) | (None, Some(&only)) => only,
            (None, None) => return None,
        };
        for list in [&mut self.left, &mut self.right] {
            if list.first() == Some(&smallest) {
                *list = &list[1..];
            }
        }
        Some(smallest)
    }
}

/// State shared by all breadth-first searches.
struct Search {
    /// The last search that visited a node.
    seen: Vec<u32>,
    stamp: u32,
    levels: Vec<u32>,
}

impl Search {
    /// Finds a pseudo-peripheral node (George and Liu, ACM TOMS 5, 1979): the next search starts
    /// from the node of least degree in the last level, as long as the number of levels grows.
    fn rim(&mut self, graph: &Graph, first: u32) -> u32 {
        let mut start = first;
        let (mut depth, mut last) = self.levels(graph, start);
        loop {
            let least = last.iter().copied().min_by_key(|&node| (graph.degree(node), node));
            let Some(candidate) = least else { return start };
            let (deeper, next) = self.levels(graph, candidate);
            if deeper <= depth {
                return start;
            }
            (start, depth, last) = (candidate, deeper, next);
        }
    }

    /// Number of levels of the search from `start`, and the nodes of the last level.
    fn levels(&mut self, graph: &Graph, start: u32) -> (usize, Vec<u32>) {
        if self.stamp == u32::MAX {
            self.seen.fill(0);
            self.stamp = 0;
        }
        self.stamp += 1;
        self.levels.clear();
        self.levels.push(start);
        self.seen[start as usize] = self.stamp;
        let (mut level, mut depth) = (0..1, 1);
        loop {
            for k in level.clone() {
                for &other in graph.neighbours(self.levels[k]) {
                    if std::mem::replace(&mut self.seen[other as usize], self.stamp) != self.stamp {
                        self.levels.push(other);
                    }
                }
            }
            if self.levels.len() == level.end {
                return (depth, self.levels[level].to_vec());
            }
            (level, depth) = (level.end..self.levels.len(), depth + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Statistics;

    fn bandwidth(a: &Csr) -> u64 {
        let s = Statistics::of(a);
        s.lower_bandwidth.max(s.upper_bandwidth)
    }

    /// All nonzeros within `half` of the diagonal, with a distinct value at each position.
    fn full_band(m: usize, half: usize) -> Csr {
        let triplets: Vec<_> = (0..m)
            .flat_map(|i| {
                (i.saturating_sub(half)..m.min(i + half + 1))
                    .map(move |j| (i, j, (i * m + j) as f64))
            })
            .collect();
        Csr::from_triplets(m, m, &triplets).unwrap()
    }

    /// A permutation that moves everything far away: multiples of a number coprime to m.
    fn shuffle(m: usize, step: usize) -> Vec<u32> {
        (0..m).map(|k| (k * step % m) as u32).collect()
    }

    fn rcm(a: &Csr) -> (Vec<u32>, Csr) {
        let order = Reordering::Rcm.order(a, MemoryLimit::unlimited()).unwrap();
        let made = permuted(a, &order, MemoryLimit::unlimited()).unwrap();
        (order, made)
    }

    #[test]
    fn a_shuffled_band_matrix_gets_its_bandwidth_back() {
        for half in [1, 2, 7] {
            let a = full_band(500, half);
            let shuffled = permuted(&a, &shuffle(500, 137), MemoryLimit::unlimited()).unwrap();
            assert!(bandwidth(&shuffled) > 300);
            // Levels from a peripheral node are the bands themselves; within a level only ties
            // differ.
            assert!(bandwidth(&rcm(&shuffled).1) <= 2 * half as u64, "half {half}");
        }
        // A path has no ties.
        let path = permuted(&full_band(500, 1), &shuffle(500, 137), MemoryLimit::unlimited());
        assert_eq!(bandwidth(&rcm(&path.unwrap()).1), 1);
    }

    #[test]
    fn the_order_is_a_permutation_of_every_component_and_unsymmetric_patterns_count_both_ways() {
        // Two paths, one stored only above the diagonal, a node with only a diagonal nonzero, and
        // an empty node.
        let triplets =
            [(0, 7, 1.0), (7, 3, 2.0), (3, 9, 3.0), (1, 4, 4.0), (4, 1, 5.0), (2, 2, 6.0)];
        let a = Csr::from_triplets(10, 10, &triplets).unwrap();
        let (order, made) = rcm(&a);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..10));
        assert_eq!(bandwidth(&made), 1);
        assert_eq!(made.nnz(), a.nnz());
        // Back to the original, value by value.
        let mut back = vec![0u32; 10];
        for (k, &old) in order.iter().enumerate() {
            back[old as usize] = k as u32;
        }
        assert_eq!(permuted(&made, &back, MemoryLimit::unlimited()).unwrap(), a);
    }

    #[test]
    fn what_cannot_be_reordered_is_refused() {
        let wide = Csr::from_triplets(2, 3, &[(0, 2, 1.0)]).unwrap();
        let error = Reordering::Rcm.order(&wide, MemoryLimit::unlimited()).unwrap_err();
        assert!(error.to_string().contains("found 2 x 3"), "{error}");
        let a = full_band(4, 1);
        for order in [&[0u32, 1, 2][..], &[0, 1, 2, 2], &[0, 1, 2, 4]] {
            assert!(permuted(&a, order, MemoryLimit::unlimited()).is_err());
        }
        let order = Reordering::Rcm.order(&a, MemoryLimit::bytes(10));
        assert!(matches!(order, Err(FormatError::Memory(_))));
        let none = Csr::<f64>::from_triplets(0, 0, &[]).unwrap();
        assert!(rcm(&none).0.is_empty());
    }
}
