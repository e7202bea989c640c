//! Finite elements on a box of bricks, assembled row by row: trilinear hexahedra, or linear
//! tetrahedra, six per brick.

use super::assemble::Rule;
use super::random::RowRandom;

/// Corners of a hexahedron, x fastest.
const CORNERS: usize = 8;

/// A box of nodes with `dof` unknowns each: isotropic elasticity (Poisson's ratio 0.3) for 3
/// unknowns, otherwise a diffusion operator that couples the unknowns. Stiffness varies between
/// elements over some decades. A small fraction of each element's diagonal is added, so that the
/// matrix is positive definite without boundary conditions.
pub(super) struct Fem {
    nodes: [usize; 3],
    /// Only the first `m` unknowns are kept: a principal submatrix is positive definite too.
    m: usize,
    dof: usize,
    seed: u64,
    decades: f64,
    /// Which of the 27 nodes around a node share an element with it.
    coupled: fn([isize; 3]) -> bool,
    /// Brick matrix for stiffness 1, (8·dof)², bitwise symmetric.
    element: Vec<f64>,
}

impl Fem {
    /// n³ nodes, two decades of stiffness, a thousandth of the diagonal added. Like cant, bcsstk17
    /// (3 unknowns), thermal2 (1) or af_1_k101 (5).
    pub(super) fn hexahedra(n: usize, dof: usize, seed: u64) -> Self {
        let element = brick_matrix(dof, 1.001, hexahedron);
        Self {
            nodes: [n; 3],
            m: n.pow(3) * dof,
            dof,
            seed,
            decades: 2.0,
            coupled: |_| true,
            element,
        }
    }

    /// Tetrahedra along the diagonals of the bricks, so that a node has at most 14 neighbours. With
    /// one unknown: flow through a medium with anisotropic permeability. Like Emilia_923 (3
    /// unknowns) or StocF-1465 (1).
    pub(super) fn tetrahedra(
        nodes: [usize; 3],
        m: usize,
        dof: usize,
        decades: f64,
        shift: f64,
        seed: u64,
    ) -> Self {
        let coupled =
            |step: [isize; 3]| step.iter().all(|s| *s >= 0) || step.iter().all(|s| *s <= 0);
        let element = brick_matrix(dof, 1.0 + shift, tetrahedra);
        Self { nodes, m, dof, seed, decades, coupled, element }
    }

    fn node(&self, i: usize) -> [usize; 3] {
        let [nx, ny, _] = self.nodes;
        [i % nx, i / nx % ny, i / nx / ny]
    }

    /// The node at the given steps (each plus 1) from `node`, if it exists and shares an element
    /// with it.
    fn neighbour(&self, node: [usize; 3], steps: [usize; 3]) -> Option<usize> {
        let along = |axis: usize| -> Option<usize> {
            let place = (node.get(axis)? + steps.get(axis)?).checked_sub(1)?;
            (place < *self.nodes.get(axis)?).then_some(place)
        };
        let [nx, ny, _] = self.nodes;
        let (x, y, z) = (along(0)?, along(1)?, along(2)?);
        (self.coupled)(steps.map(|step| step as isize - 1)).then_some((z * ny + y) * nx + x)
    }
}

impl Rule for Fem {
    fn rows(&self) -> usize {
        self.m
    }

    fn most_entries(&self) -> u128 {
        self.rows() as u128 * 27 * self.dof as u128
    }

    fn row_len(&self, i: usize) -> Option<usize> {
        let node = self.node(i / self.dof);
        let columns = |step: [usize; 3]| {
            let first = self.neighbour(node, step)? * self.dof;
            Some(self.m.saturating_sub(first).min(self.dof))
        };
        Some((0..27).filter_map(|slot| columns(steps(slot))).sum())
    }

    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let (node, component) = (self.node(i / self.dof), i % self.dof);
        let [x, y, z] = node;
        // Sums for the 27 nodes around this one, by ascending number.
        let mut sums = vec![0.0; 27 * self.dof];
        // Elements are visited in ascending order, as in every other row, so that a_ij and a_ji are
        // the same sum.
        for corner in (0..CORNERS).rev() {
            // In this element, our node is that corner.
            let at = |c: usize, bit: usize| c.checked_sub(corner >> bit & 1);
            let Some((ex, ey, ez)) =
                at(x, 0).zip(at(y, 1)).zip(at(z, 2)).map(|((a, b), c)| (a, b, c))
            else {
                continue;
            };
            let [nx, ny, nz] = self.nodes.map(|n| n - 1);
            if ex >= nx || ey >= ny || ez >= nz {
                continue;
            }
            let number = (ez * ny + ey) * nx + ex;
            let stiffness = RowRandom::new(self.seed, number).scale(self.decades);
            let size = CORNERS * self.dof;
            let line = corner * self.dof + component;
            let values = self.element.iter().skip(line * size).take(size);
            for (column, value) in values.enumerate() {
                let (other, d) = (column / self.dof, column % self.dof);
                // Offset of the other corner's node from ours, plus 1, along each axis.
                let step = |bit: usize| (other >> bit & 1) + 1 - (corner >> bit & 1);
                let slot = (step(2) * 3 + step(1)) * 3 + step(0);
                if let Some(sum) = sums.get_mut(slot * self.dof + d) {
                    *sum += stiffness * value;
                }
            }
        }
        for (slot, sums) in sums.chunks(self.dof).enumerate() {
            if let Some(j) = self.neighbour(node, steps(slot)) {
                let columns = (j * self.dof..self.m).zip(sums);
                row.extend(columns.map(|(column, &sum)| (column as u32, sum)));
            }
        }
    }
}

/// Steps along the axes, plus 1, to one of the 27 nodes around a node.
fn steps(slot: usize) -> [usize; 3] {
    [slot % 3, slot / 3 % 3, slot / 9]
}

/// Sides of a brick; they differ, so that no nonzero cancels by chance.
const SIDES: [f64; 3] = [1.0, 0.9, 0.8];

/// A point with its weight and the gradients of the brick's eight corner functions there.
struct Point {
    gradients: [[f64; 3]; CORNERS],
    weight: f64,
}

/// The half of the brick in which a corner lies.
fn bit(corner: usize, axis: usize) -> bool {
    corner >> axis & 1 == 1
}

/// 2 × 2 × 2 Gauss points.
fn hexahedron(_: usize) -> (Vec<Point>, [f64; 9]) {
    let volume: f64 = SIDES.iter().product();
    let gauss = 1.0 / 3f64.sqrt();
    let sign = |index: usize, axis: usize| if bit(index, axis) { 1.0 } else { -1.0 };
    let points = (0..CORNERS).map(|g| {
        let at = |axis: usize| sign(g, axis) * gauss;
        let gradients = std::array::from_fn(|a| {
            let factor = |axis: usize| 0.5 * (1.0 + sign(a, axis) * at(axis));
            let slope = |axis: usize, side: f64| sign(a, axis) / side;
            let [sx, sy, sz] = SIDES;
            [
                slope(0, sx) * factor(1) * factor(2),
                slope(1, sy) * factor(0) * factor(2),
                slope(2, sz) * factor(0) * factor(1),
            ]
        });
        Point { gradients, weight: volume / CORNERS as f64 }
    });
    (points.collect(), IDENTITY)
}

const IDENTITY: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// Permeability 1 along (2, 2, 1)/3 and a twentieth across it.
const ALONG_A_DIRECTION: [f64; 9] = [
    0.05 + 0.95 * 4.0 / 9.0,
    0.95 * 4.0 / 9.0,
    0.95 * 2.0 / 9.0,
    0.95 * 4.0 / 9.0,
    0.05 + 0.95 * 4.0 / 9.0,
    0.95 * 2.0 / 9.0,
    0.95 * 2.0 / 9.0,
    0.95 * 2.0 / 9.0,
    0.05 + 0.95 / 9.0,
];

/// The six tetrahedra whose edges lead from corner 0 to corner 7 along the axes, in any order of
/// axes; the gradients are constant in each.
fn tetrahedra(dof: usize) -> (Vec<Point>, [f64; 9]) {
    let volume: f64 = SIDES.iter().product();
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let points = orders.map(|order| {
        let mut gradients = [[0.0; 3]; CORNERS];
        let mut corner = 0;
        for axis in order {
            // Along this edge the function of one corner falls from 1 and that of the next rises to
            // 1.
            let slope = SIDES.get(axis).map_or(0.0, |side| 1.0 / side);
            let next = corner | 1 << axis;
            for (at, change) in [(corner, -slope), (next, slope)] {
                if let Some(g) = gradients.get_mut(at).and_then(|g: &mut [f64; 3]| g.get_mut(axis))
                {
                    *g += change;
                }
            }
            corner = next;
        }
        Point { gradients, weight: volume / 6.0 }
    });
    (points.into(), if dof == 1 { ALONG_A_DIRECTION } else { IDENTITY })
}

/// The stiffness matrix of one brick, row-major, with its diagonal multiplied by `diagonal`.
fn brick_matrix(
    dof: usize,
    diagonal: f64,
    points: fn(usize) -> (Vec<Point>, [f64; 9]),
) -> Vec<f64> {
    const LAMBDA: f64 = 0.3 / (1.3 * 0.4);
    const MU: f64 = 1.0 / 2.6;
    let size = CORNERS * dof;
    let (points, tensor) = points(dof);
    let mut matrix = vec![0.0; size * size];
    for Point { gradients, weight } in points {
        let gradient = |corner: usize| gradients.get(corner).copied().unwrap_or_default();
        for (k, value) in matrix.iter_mut().enumerate() {
            let (line, column) = (k / size, k % size);
            let (ga, gb) = (gradient(line / dof), gradient(column / dof));
            let (c, d) = (line % dof, column % dof);
            let dot: f64 = ga.iter().zip(gb).map(|(a, b)| a * b).sum();
            let flow: f64 = tensor
                .chunks(3)
                .zip(ga)
                .map(|(t, a)| a * t.iter().zip(gb).map(|(t, b)| t * b).sum::<f64>())
                .sum();
            let part = |g: [f64; 3], axis: usize| g.get(axis).copied().unwrap_or(0.0);
            *value += weight
                * match dof {
                    3 => {
                        let shear = if c == d { MU * dot } else { 0.0 };
                        LAMBDA * part(ga, c) * part(gb, d) + MU * part(ga, d) * part(gb, c) + shear
                    }
                    1 => flow * 1.1,
                    _ => dot * if c == d { 1.1 } else { 0.1 },
                };
        }
    }
    // Mirror one triangle, so that the sums above cannot differ by rounding.
    let upper = matrix.clone();
    for (k, value) in matrix.iter_mut().enumerate() {
        let (line, column) = (k / size, k % size);
        let (low, high) = (line.min(column), line.max(column));
        let mirrored = upper.get(low * size + high).copied().unwrap_or(0.0);
        *value = if line == column { mirrored * diagonal } else { mirrored };
    }
    matrix
}
