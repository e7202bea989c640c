//! Structures with given figures: row lengths, blocks of unknowns, near neighbours on a grid, and
//! some nonzeros anywhere in a band.

use super::assemble::{GenerateError, Rule};
use super::keys::Values;
use super::lengths::{Lengths, Spread};
use super::random::{RowRandom, distinct};
use crate::memory::MemoryLimit;

/// A square matrix whose rows have the requested lengths. Every `dof` consecutive unknowns belong
/// to a node. A row is filled with the nodes nearest to its own, as blocks of `dof` columns, on a
/// grid of lines of `nx` nodes and planes of `ny` lines. A fraction of the nonzeros lies anywhere
/// within `half` of the diagonal instead. The diagonal is full.
pub(super) struct Shaped {
    dof: usize,
    half: usize,
    scatter: f64,
    seed: u64,
    nnz: usize,
    lengths: Vec<u32>,
    /// Distances to other nodes in the numbering, nearest on the grid first.
    steps: Vec<isize>,
}

impl Shaped {
    pub(super) fn new(values: &Values, limit: MemoryLimit) -> Result<Self, GenerateError> {
        let (m, dof, seed) = (values.size("m"), values.size("dof"), values.value("seed"));
        let lengths = Lengths {
            m,
            nnz: values.size("nnz"),
            min: values.size("min"),
            max: values.size("max"),
            deviation: values.value("dev") as f64 / 1e4,
            spread: Spread::TwoSided,
        };
        let half = values.size("half");
        let steps =
            steps(values.size("nx"), values.size("ny"), lengths.max.div_ceil(dof).min(MOST_NODES));
        Ok(Self {
            dof,
            half,
            scatter: values.value("scatter") as f64 / 1000.0,
            seed,
            nnz: lengths.nnz,
            lengths: fitted(lengths.scattered(values.size("run"), seed, limit)?, half)?,
            steps,
        })
    }
}

/// Columns of row `i` of `m` within `half` of the diagonal.
fn band(i: usize, half: usize, m: usize) -> std::ops::Range<usize> {
    i.saturating_sub(half)..i.saturating_add(half).saturating_add(1).min(m)
}

/// Swaps rows at both ends that would not fit into the band, which is narrow there, with shorter
/// ones from elsewhere.
fn fitted(mut lengths: Vec<u32>, half: usize) -> Result<Vec<u32>, GenerateError> {
    let m = lengths.len();
    let fits = |length: u32, i: usize| length as usize <= band(i, half, m).len();
    let mut others = 0..m;
    for i in 0..m {
        let Some(&length) = lengths.get(i) else { continue };
        if fits(length, i) {
            continue;
        }
        let exchange = |j: &usize| lengths.get(*j).is_some_and(|&l| fits(l, i) && fits(length, *j));
        let Some(j) = others.find(exchange) else {
            return Err(GenerateError::Parameters(format!(
                "a row of {length} nonzeros does not fit within {half} columns of the diagonal"
            )));
        };
        lengths.swap(i, j);
    }
    Ok(lengths)
}

/// Longer rows continue anywhere in the band.
pub(super) const MOST_NODES: usize = 4096;

/// Distances in the numbering to the nodes of a line (no `nx`), a plane (no `ny`) or a box, at
/// least `nodes` of them, nearest first and each followed by its opposite.
pub(super) fn steps(nx: usize, ny: usize, nodes: usize) -> Vec<isize> {
    let (line, plane) = (nx as isize, (nx * ny) as isize);
    let dimensions = 1 + u32::from(nx > 0) + u32::from(ny > 0);
    // The box that contains the ball of that many nodes.
    let side = (1..).find(|side: &usize| side.pow(dimensions) >= 2 * nodes + 8).unwrap_or(1);
    let radius = side as isize;
    let span = |present: bool| if present { -radius..=radius } else { 0..=0 };
    let mut near = Vec::new();
    for z in span(ny > 0) {
        for y in span(nx > 0) {
            for x in -radius..=radius {
                let step = (z * plane) + y * line + x;
                let distance = x * x + y * y + z * z;
                // Opposite points are adjacent in this order.
                let ahead = (z, y, x) >= (0, 0, 0);
                let axis = if ahead { (z, y, x) } else { (-z, -y, -x) };
                near.push((distance, axis, !ahead, step));
            }
        }
    }
    near.sort_unstable();
    let mut seen = std::collections::BTreeSet::new();
    let steps = near.into_iter().map(|(.., step)| step);
    steps.filter(|step| seen.insert(*step)).take(2 * nodes + 8).collect()
}

impl Rule for Shaped {
    fn rows(&self) -> usize {
        self.lengths.len()
    }

    fn most_entries(&self) -> u128 {
        self.nnz as u128
    }

    fn row_len(&self, i: usize) -> Option<usize> {
        self.lengths.get(i).map(|&length| length as usize)
    }

    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let length = self.row_len(i).unwrap_or(0);
        if length == 0 {
            return;
        }
        let mut random = RowRandom::new(self.seed, i);
        let std::ops::Range { start: first, end } = band(i, self.half, self.rows());
        let scattered = match self.scatter > 0.0 {
            true => (1..length).filter(|_| random.chance(self.scatter)).count(),
            false => 0,
        };
        let near = length - scattered;
        // Columns relative to the left end of the band; the diagonal comes first.
        let mut columns = Vec::with_capacity(length);
        columns.push((i - first) as u32);
        let node = i / self.dof;
        'full: for step in &self.steps {
            let Some(other) = node.checked_add_signed(*step) else { continue };
            let block = other.saturating_mul(self.dof);
            for column in block.max(first)..block.saturating_add(self.dof).min(end) {
                if columns.len() >= near {
                    break 'full;
                }
                if column != i {
                    columns.push((column - first) as u32);
                }
            }
        }
        let width = end - first;
        distinct(&mut columns, length, width, || random.below(width));
        row.extend(columns.into_iter().map(|column| {
            let column = first + column as usize;
            let value = if column == i { length as f64 } else { random.unit() - 0.5 };
            (column as u32, value)
        }));
    }
}
