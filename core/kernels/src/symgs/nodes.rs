//! Consecutive rows with the same columns, as finite elements with several unknowns per node have them. A sweep
//! solves the rows of a node together, and its nodes have fewer levels than its rows.

use sparsescope_matrix::matrix::{Csr, Scalar};

/// Maximum rows of a node.
pub const NODE_ROWS: usize = 8;

/// The rows of a square matrix by node, and the nodes by level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nodes {
    first: Vec<u32>,
    order: Vec<u32>,
    levels: usize,
}

impl Nodes {
    /// Finds the nodes. The level of each is above those of all nodes before it that it is coupled with, in A or
    /// its transpose, so that the levels serve both sweeps.
    pub fn of<T: Scalar>(a: &Csr<T>) -> Self {
        let rows = a.rows();
        let mut first: Vec<u32> = Vec::new();
        let mut node_of = vec![0u32; rows];
        for (i, node) in node_of.iter_mut().enumerate() {
            let goes_on = first.last().is_some_and(|&begin| {
                let begin = begin as usize;
                i - begin < NODE_ROWS && a.row(i).0 == a.row(begin).0
            });
            if !goes_on {
                first.push(i as u32);
            }
            *node = first.len() as u32 - 1;
        }
        let nodes = first.len();
        first.push(rows as u32);

        let mut level = vec![0u32; nodes];
        for (node, bounds) in first.windows(2).enumerate() {
            let (begin, end) = (bounds[0], bounds[1]);
            let (columns, _) = a.row(begin as usize);
            // Nodes before this one have raised it where only they name it.
            let mut own = level[node];
            for &c in columns.iter().filter(|&&c| c < begin) {
                own = own.max(level[node_of[c as usize] as usize] + 1);
            }
            level[node] = own;
            for &c in columns.iter().filter(|&&c| c >= end) {
                let other = &mut level[node_of[c as usize] as usize];
                *other = (*other).max(own + 1);
            }
        }

        let levels = level.iter().max().map_or(0, |&highest| highest as usize + 1);
        let mut place = vec![0usize; levels + 1];
        for &level in &level {
            place[level as usize + 1] += 1;
        }
        for k in 0..levels {
            place[k + 1] += place[k];
        }
        let mut order = vec![0u32; nodes];
        for (node, &level) in level.iter().enumerate() {
            let place = &mut place[level as usize];
            order[*place] = node as u32;
            *place += 1;
        }
        Self { first, order, levels }
    }

    /// First row of each node, followed by the number of rows.
    pub fn first(&self) -> &[u32] {
        &self.first
    }

    /// The nodes by level: none precedes one with smaller rows that it is coupled with.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// Number of levels.
    pub fn levels(&self) -> usize {
        self.levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symgs::{Diagonal, Mode, serial};
    use sparsescope_matrix::memory::MemoryLimit;

    /// Nodes of `dof` unknowns, coupled with those that `others` names, dominant.
    fn matrix(nodes: usize, dof: usize, others: impl Fn(usize) -> Vec<usize>) -> Csr {
        let mut triplets = Vec::new();
        for node in 0..nodes {
            let mut coupled = others(node);
            coupled.push(node);
            coupled.sort_unstable();
            coupled.dedup();
            let share = 1.0 / (dof * coupled.len()) as f64;
            for i in dof * node..dof * (node + 1) {
                for j in coupled.iter().flat_map(|&other| dof * other..dof * (other + 1)) {
                    let value = share * (0.2 + ((i * 31 + j * 17) % 64) as f64 / 64.0);
                    triplets.push((i, j, if i == j { 2.0 } else { -value }));
                }
            }
        }
        Csr::from_triplets(nodes * dof, nodes * dof, &triplets).unwrap()
    }

    /// Matrices of nodes, one of them not symmetric.
    fn matrices() -> Vec<Csr> {
        let near = |i: usize| vec![i.saturating_sub(1), (i + 1).min(39), (i + 7).min(39)];
        let both = |i: usize| vec![i.saturating_sub(6), i.saturating_sub(1), (i + 1) % 40];
        let far = |i: usize| vec![i * 7 % 40, (i * i + 3) % 40];
        vec![
            matrix(40, 3, near),
            matrix(40, 1, both),
            matrix(40, 5, far),
            matrix(3, 20, |_| vec![1]),
        ]
    }

    #[test]
    fn rows_with_the_same_columns_are_a_node_of_at_most_eight() {
        let a = matrix(4, 3, |i| vec![i.saturating_sub(1)]);
        let chain = Nodes::of(&a);
        assert_eq!((chain.first(), chain.order()), (&[0, 3, 6, 9, 12][..], &[0, 1, 2, 3][..]));
        assert_eq!(chain.levels(), 4);
        // Nodes that are not coupled are one level.
        let alone = Nodes::of(&matrix(4, 2, |_| Vec::new()));
        assert_eq!((alone.first(), alone.levels()), (&[0, 2, 4, 6, 8][..], 1));
        let large = Nodes::of(&matrix(1, 20, |_| Vec::new()));
        assert_eq!((large.first(), large.levels()), (&[0, 8, 16, 20][..], 3));
        let none = Nodes::of(&Csr::<f64>::from_triplets(0, 0, &[]).unwrap());
        assert_eq!((none.first(), none.order(), none.levels()), (&[0][..], &[][..], 0));
    }

    #[test]
    fn coupled_nodes_follow_one_another_whichever_names_the_other() {
        for a in matrices() {
            let nodes = Nodes::of(&a);
            let mut position = vec![0; nodes.order().len()];
            for (at, &node) in nodes.order().iter().enumerate() {
                position[node as usize] = at;
            }
            let node_of = |row: usize| nodes.first().partition_point(|&f| f as usize <= row) - 1;
            for i in 0..a.rows() {
                for &j in a.row(i).0 {
                    let (one, other) = (node_of(i), node_of(j as usize));
                    assert_eq!(one.cmp(&other), position[one].cmp(&position[other]), "{i} {j}");
                }
            }
        }
    }

    /// Half a sweep as the GPU kernel makes it, one node after the other.
    fn half(a: &Csr, nodes: &Nodes, backward: bool, b: &[f64], old: &[f64]) -> Vec<f64> {
        let mut new = vec![f64::NAN; a.rows()];
        let mut order = nodes.order().to_vec();
        if backward {
            order.reverse();
        }
        for node in order {
            let rows =
                nodes.first()[node as usize] as usize..nodes.first()[node as usize + 1] as usize;
            let mut sums: Vec<f64> = Vec::new();
            for i in rows.clone() {
                let is_new = |j: usize| if backward { j >= rows.end } else { j < rows.start };
                let is_old = |j: usize| if backward { j < i } else { j > i };
                let entries = || a.row(i).0.iter().map(|&c| c as usize).zip(a.row(i).1);
                let rest: f64 = entries().filter(|e| is_old(e.0)).map(|(j, v)| v * old[j]).sum();
                let made: f64 = entries().filter(|e| is_new(e.0)).map(|(j, v)| v * new[j]).sum();
                sums.push(b[i] - rest - made);
            }
            let inside = |i: usize, j: usize| {
                let (columns, values) = a.row(i);
                values[columns.binary_search(&(j as u32)).unwrap()]
            };
            let mut steps: Vec<usize> = rows.clone().collect();
            if backward {
                steps.reverse();
            }
            for k in steps {
                new[k] = sums[k - rows.start] / inside(k, k);
                for i in rows.clone().filter(|&i| if backward { i < k } else { i > k }) {
                    sums[i - rows.start] -= inside(i, k) * new[k];
                }
            }
        }
        new
    }

    #[test]
    fn sweeps_node_by_node_are_the_serial_loops_but_for_rounding() {
        for a in matrices() {
            let diagonal = Diagonal::of(&a, MemoryLimit::unlimited()).unwrap();
            let nodes = Nodes::of(&a);
            let b: Vec<f64> = (0..a.rows()).map(|i| (i * 7 % 11) as f64 - 4.5).collect();
            let start: Vec<f64> = (0..a.rows()).map(|i| (i * 5 % 13) as f64 / 4.0).collect();
            let mut expected = start.clone();
            serial::symgs(&a, &diagonal, Mode::Standard, &b, &mut expected, 1);
            let between = half(&a, &nodes, false, &b, &start);
            let found = half(&a, &nodes, true, &b, &between);
            for (found, expected) in found.iter().zip(&expected) {
                assert!((found - expected).abs() <= 1e-13 * (1.0 + expected.abs()));
            }
        }
    }
}
