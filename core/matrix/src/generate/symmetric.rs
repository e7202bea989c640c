//! Symmetric structures with given figures: every coupling between two rows exists in both, with the
//! same value.

use crate::parallel::*;

use super::assemble::{GenerateError, Rule};
use super::keys::Values;
use super::lengths::{Lengths, Spread};
use super::random::RowRandom;
use super::shaped::{MOST_NODES, steps};
use crate::memory::MemoryLimit;

/// A symmetric matrix of full blocks of `dof` rows and columns: one for each pair of coupled nodes
/// and one on the diagonal for each node. The number of neighbours of every node is given. A node
/// takes the nearest nodes on the grid, each step with its opposite, if these take that step too:
/// both sides give the same answer. The neighbours still missing, and the fraction that lies
/// anywhere in the band, are coupled once for all rows and stored.
pub(super) struct Symmetric {
    dof: usize,
    /// Number of nodes that each node is coupled with, including itself; 0 if its rows are empty.
    coupled: Vec<u32>,
    /// How many elements of `ahead`, with their opposites, each node takes.
    taken: Vec<u32>,
    /// Distances to later nodes in the numbering, nearest on the grid first.
    ahead: Vec<usize>,
    /// Neighbours that are not near ones.
    others: Neighbours,
    /// Largest distance between coupled nodes in the numbering.
    reach: usize,
    /// One number per row, from 0 to 1; a_ij is computed from those of i and j.
    numbers: Vec<f64>,
}

/// The first stream of the nodes, separate from those of rows and runs.
const NODES: u64 = 5 << 33;

impl Symmetric {
    /// Fails when the lengths are not attainable.
    pub(super) fn new(spec: &Values, limit: MemoryLimit) -> Result<Self, GenerateError> {
        let [m, dof, nnz, max, half] = ["m", "dof", "nnz", "max", "half"].map(|key| spec.size(key));
        let seed = spec.value("seed");
        if m % dof != 0 || max % dof != 0 || half + 1 < dof {
            return Err(GenerateError::Parameters(format!(
                "with sym=1 and dof={dof}, m and max must be multiples of {dof} and half at least {}, found m={m}, max={max} and half={half}",
                dof - 1
            )));
        }
        let (nodes, blocks) = (m / dof, nnz.div_ceil(dof).div_ceil(dof));
        let bytes = 40 * blocks as u128 + 24 * nodes as u128 + 8 * m as u128;
        limit.check("the pattern of a symmetric matrix", bytes)?;
        let lengths = Lengths {
            m: nodes,
            nnz: blocks,
            min: spec.size("min").div_ceil(dof),
            max: max / dof,
            deviation: spec.value("dev") as f64 / 1e4,
            spread: Spread::TwoSided,
        };
        let coupled = lengths.scattered(spec.size("run").div_ceil(dof), seed, limit)?;
        let reach = (half + 1) / dof - 1;
        let nearest = steps(spec.size("nx"), spec.size("ny"), lengths.max.min(MOST_NODES));
        let ahead = nearest.into_iter().filter_map(|step| usize::try_from(step).ok());
        let ahead = ahead.filter(|step| (1..=reach).contains(step)).collect();
        let numbers = (0..m).into_par_iter().map(|i| RowRandom::new(seed, i).unit()).collect();
        let (taken, others) = (Vec::new(), Neighbours::default());
        let mut made = Self { dof, coupled, taken, ahead, others, reach, numbers };
        made.couple(spec.value("scatter") as f64 / 1000.0, seed);
        Ok(made)
    }

    /// Decides all couplings, and corrects the neighbour counts where the last few were not
    /// attainable.
    fn couple(&mut self, scatter: f64, seed: u64) {
        let nodes = self.coupled.len();
        let mut pairs = self.scattered(scatter, seed);
        pairs.extend(self.missing(&Neighbours::new(nodes, &pairs)));
        self.others = Neighbours::new(nodes, &pairs);
        let found = |node: usize| 1 + self.near(node).count() + self.others.of(node).len();
        let found: Vec<u32> = (0..nodes).into_par_iter().map(|node| found(node) as u32).collect();
        for (coupled, found) in self.coupled.iter_mut().zip(found) {
            *coupled = found.min(*coupled);
        }
    }

    /// Required number of neighbours of a node.
    fn wanted(&self, node: usize) -> u32 {
        self.coupled.get(node).map_or(0, |coupled| coupled.saturating_sub(1))
    }

    /// The near neighbours of this node: each takes the other.
    fn near(&self, node: usize) -> impl Iterator<Item = usize> {
        let takes = |node: usize| self.taken.get(node).map_or(0, |&taken| taken as usize);
        self.ahead.iter().take(takes(node)).enumerate().flat_map(move |(rank, step)| {
            let two = [node.checked_sub(*step), node.checked_add(*step)];
            two.into_iter().flatten().filter(move |other| takes(*other) > rank)
        })
    }

    /// Sets the number of near neighbours of each node, and couples the fraction of other ones:
    /// those in a window of the band are shuffled and paired.
    fn scattered(&mut self, share: f64, seed: u64) -> Vec<(u32, u32)> {
        let mut ends: Vec<(usize, u64, u32)> = Vec::new();
        for node in 0..self.coupled.len() {
            let (wanted, mut far) = (self.wanted(node), 0);
            if share > 0.0 {
                let mut random = RowRandom::stream(seed, NODES + node as u64);
                far = (0..wanted).filter(|_| random.chance(share)).count() as u32;
                let window = node / self.reach.max(1);
                ends.extend((0..far).map(|_| (window, random.bits(), node as u32)));
            }
            self.taken.push((wanted - far) / 2);
        }
        ends.par_sort_unstable();
        let two = ends.chunks_exact(2).filter_map(|two| match *two {
            [(one, _, u), (other, _, v)] => (one == other && u != v).then(|| (u.max(v), u.min(v))),
            _ => None,
        });
        let is_new = |&(u, v): &(u32, u32)| !self.near(u as usize).any(|near| near == v as usize);
        let mut pairs: Vec<(u32, u32)> = two.filter(is_new).collect();
        pairs.par_sort_unstable();
        pairs.dedup();
        pairs
    }

    /// Couples nodes that still need neighbours, each with the nearest such nodes before it.
    fn missing(&self, scattered: &Neighbours) -> Vec<(u32, u32)> {
        let mut pairs = Vec::new();
        // Nodes that need this many more, and those of them that the current node skips.
        let [mut open, mut passed] = [const { Vec::<(u32, u32)>::new() }; 2];
        for node in 0..self.coupled.len() {
            let known = scattered.of(node);
            let near = self.near(node).count();
            let mut wants = self.wanted(node).saturating_sub((near + known.len()) as u32);
            while wants > 0
                && let Some((other, others_wants)) = open.pop()
            {
                if node - other as usize > self.reach {
                    open.clear();
                    break;
                }
                if known.contains(&other) || self.near(node).any(|near| near == other as usize) {
                    passed.push((other, others_wants));
                    continue;
                }
                pairs.push((node as u32, other));
                wants -= 1;
                if others_wants > 1 {
                    passed.push((other, others_wants - 1));
                }
            }
            open.extend(passed.drain(..).rev());
            if wants > 0 {
                open.push((node as u32, wants));
            }
        }
        pairs
    }
}

impl Rule for Symmetric {
    fn rows(&self) -> usize {
        self.numbers.len()
    }

    fn most_entries(&self) -> u128 {
        let blocks: u128 = self.coupled.iter().map(|&coupled| u128::from(coupled)).sum();
        blocks * self.dof as u128 * self.dof as u128
    }

    fn row_len(&self, i: usize) -> Option<usize> {
        self.coupled.get(i / self.dof).map(|&coupled| coupled as usize * self.dof)
    }

    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let node = i / self.dof;
        let length = self.row_len(i).unwrap_or(0);
        if length == 0 {
            return;
        }
        let number = |i: usize| self.numbers.get(i).copied().unwrap_or(0.0);
        let others = self.others.of(node).iter().map(|&other| other as usize);
        for other in std::iter::once(node).chain(self.near(node)).chain(others) {
            row.extend((other * self.dof..(other + 1) * self.dof).map(|j| {
                // The sum is the same from either side, and its fractional part is as evenly spread
                // as its terms.
                let sum = number(i) + number(j);
                let value = if i == j { length as f64 } else { sum - sum.trunc() - 0.5 };
                (j as u32, value)
            }));
        }
    }
}

/// Neighbours of nodes, built from pairs: those of node u are `nodes[ends[u]..ends[u + 1]]`.
#[derive(Default)]
struct Neighbours {
    ends: Vec<usize>,
    nodes: Vec<u32>,
}

impl Neighbours {
    fn new(nodes: usize, pairs: &[(u32, u32)]) -> Self {
        let both = || pairs.iter().flat_map(|&(u, v)| [(u as usize, v), (v as usize, u)]);
        let mut ends = vec![0usize; nodes + 1];
        for (node, _) in both() {
            if let Some(end) = ends.get_mut(node + 1) {
                *end += 1;
            }
        }
        let mut end = 0;
        for length in &mut ends {
            end += *length;
            *length = end;
        }
        let (mut next, mut neighbours) = (ends.clone(), vec![0u32; end]);
        for (node, neighbour) in both() {
            if let Some(place) = next.get_mut(node) {
                if let Some(slot) = neighbours.get_mut(*place) {
                    *slot = neighbour;
                }
                *place += 1;
            }
        }
        Self { ends, nodes: neighbours }
    }

    fn of(&self, node: usize) -> &[u32] {
        let bounds = self.ends.get(node).zip(self.ends.get(node + 1));
        bounds.and_then(|(&from, &to)| self.nodes.get(from..to)).unwrap_or_default()
    }
}
