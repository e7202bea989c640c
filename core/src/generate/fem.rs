//! Finite elements: trilinear hexahedra on a box, assembled row by row.

use super::assemble::Rule;
use super::random::RowRandom;

/// Corners of a hexahedron, x fastest.
const CORNERS: usize = 8;

/// n³ nodes with `dof` unknowns each. With 3 unknowns isotropic elasticity (Poisson's ratio 0.3),
/// otherwise a diffusion operator coupled among the unknowns. Stiffness varies from element to
/// element over two decades; a thousandth of each element's diagonal is added, so that the matrix
/// is positive definite without boundary conditions. Like cant, bcsstk17 or Emilia_923 (3
/// unknowns), thermal2 (1), af_1_k101 (5).
pub(super) struct FemHex {
    n: usize,
    dof: usize,
    seed: u64,
    /// Element matrix of stiffness 1, (8·dof)², bitwise symmetric.
    element: Vec<f64>,
}

impl FemHex {
    pub(super) fn new(n: usize, dof: usize, seed: u64) -> Self {
        Self { n, dof, seed, element: element_matrix(dof) }
    }

    fn node(&self, i: usize) -> [usize; 3] {
        [i % self.n, i / self.n % self.n, i / self.n / self.n]
    }

    /// Nodes that share an element with this one, itself included.
    fn near(&self, node: [usize; 3]) -> usize {
        let lines = |c: usize| 1 + usize::from(c > 0) + usize::from(c + 1 < self.n);
        node.map(lines).iter().product()
    }
}

impl Rule for FemHex {
    fn rows(&self) -> usize {
        self.n.pow(3) * self.dof
    }

    fn most_entries(&self) -> u128 {
        self.rows() as u128 * 27 * self.dof as u128
    }

    fn row_len(&self, i: usize) -> Option<usize> {
        Some(self.near(self.node(i / self.dof)) * self.dof)
    }

    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let (node, component) = (self.node(i / self.dof), i % self.dof);
        let [x, y, z] = node;
        // Sums for the 27 nodes around, in ascending order of their numbers.
        let mut sums = vec![0.0; 27 * self.dof];
        // Elements are visited in ascending order, here as in every other row, so that a_ij and
        // a_ji are the same sum.
        for corner in (0..CORNERS).rev() {
            // In this element, our node is that corner.
            let at = |c: usize, bit: usize| c.checked_sub(corner >> bit & 1);
            let Some((ex, ey, ez)) =
                at(x, 0).zip(at(y, 1)).zip(at(z, 2)).map(|((a, b), c)| (a, b, c))
            else {
                continue;
            };
            let elements = self.n - 1;
            if ex >= elements || ey >= elements || ez >= elements {
                continue;
            }
            let number = (ez * elements + ey) * elements + ex;
            let stiffness = RowRandom::new(self.seed, number).scale(2.0);
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
        for (k, sum) in sums.into_iter().enumerate() {
            let (slot, d) = (k / self.dof, k % self.dof);
            let along = |c: usize, step: usize| (c + step).checked_sub(1).filter(|&c| c < self.n);
            let (xx, yy, zz) = (along(x, slot % 3), along(y, slot / 3 % 3), along(z, slot / 9));
            if let (Some(xx), Some(yy), Some(zz)) = (xx, yy, zz) {
                let j = (zz * self.n + yy) * self.n + xx;
                row.push(((j * self.dof + d) as u32, sum));
            }
        }
    }
}

/// The stiffness matrix of one brick by 2 × 2 × 2 Gauss points, row by row. Its sides differ, so
/// that no entry vanishes by chance.
fn element_matrix(dof: usize) -> Vec<f64> {
    const SIDES: [f64; 3] = [1.0, 0.9, 0.8];
    const LAMBDA: f64 = 0.3 / (1.3 * 0.4);
    const MU: f64 = 1.0 / 2.6;
    let size = CORNERS * dof;
    let volume: f64 = SIDES.iter().product();
    let gauss = 1.0 / 3f64.sqrt();
    let sign = |index: usize, bit: usize| if index >> bit & 1 == 1 { 1.0 } else { -1.0 };
    let mut matrix = vec![0.0; size * size];
    for g in 0..CORNERS {
        let at = |axis: usize| sign(g, axis) * gauss;
        // ∂N_a/∂x_axis at this Gauss point.
        let gradient = |a: usize| -> [f64; 3] {
            let factor = |axis: usize| 0.5 * (1.0 + sign(a, axis) * at(axis));
            let slope = |axis: usize, side: f64| sign(a, axis) / side;
            let [sx, sy, sz] = SIDES;
            [
                slope(0, sx) * factor(1) * factor(2),
                slope(1, sy) * factor(0) * factor(2),
                slope(2, sz) * factor(0) * factor(1),
            ]
        };
        for (k, value) in matrix.iter_mut().enumerate() {
            let (line, column) = (k / size, k % size);
            let (ga, gb) = (gradient(line / dof), gradient(column / dof));
            let (c, d) = (line % dof, column % dof);
            let dot: f64 = ga.iter().zip(gb).map(|(a, b)| a * b).sum();
            let part = |g: [f64; 3], axis: usize| g.get(axis).copied().unwrap_or(0.0);
            *value += volume / CORNERS as f64
                * match dof {
                    3 => {
                        let shear = if c == d { MU * dot } else { 0.0 };
                        LAMBDA * part(ga, c) * part(gb, d) + MU * part(ga, d) * part(gb, c) + shear
                    }
                    _ => dot * if c == d { 1.1 } else { 0.1 },
                };
        }
    }
    // One triangle for both, so that the sums above cannot differ by rounding.
    let upper = matrix.clone();
    for (k, value) in matrix.iter_mut().enumerate() {
        let (line, column) = (k / size, k % size);
        let (low, high) = (line.min(column), line.max(column));
        let mirrored = upper.get(low * size + high).copied().unwrap_or(0.0);
        *value = if line == column { mirrored * 1.001 } else { mirrored };
    }
    matrix
}
