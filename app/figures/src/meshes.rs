//! Small matrices that views generate: diffusion on a grid with Dirichlet boundary.

use sparsescope_core::matrix::Csr;

use crate::state::Mesh;

/// Conductivity of the right half relative to the left, for two materials.
const JUMP: f64 = 1000.0;
/// Vertical coupling relative to horizontal.
const WEAK: f64 = 0.05;

/// The matrix of a mesh, symmetric positive definite: each row has −c for each neighbour coupled
/// with strength c, and the sum of all c, including those across the boundary, on the diagonal.
pub(crate) fn matrix(mesh: Mesh, side: u32) -> Csr<f64> {
    let side = side as usize;
    let deep = if mesh == Mesh::Seven { side } else { 1 };
    let rows = side * side * deep;
    let mut entries = Vec::new();
    for row in 0..rows {
        let (x, y, z) = (row % side, row / side % side, row / (side * side));
        let mut sum = 0.0;
        for [right, up, back] in steps(mesh) {
            let left = if right < 0 { x.saturating_sub(1) } else { x };
            let joined = conductance(mesh, left, up, side);
            let [x, y, z] =
                [(x, right), (y, up), (z, back)].map(|(at, by)| at.wrapping_add_signed(by));
            sum += joined;
            // Subtracting from 0 wraps around to a large number.
            if x < side && y < side && z < deep {
                entries.push((row, (z * side + y) * side + x, -joined));
            }
        }
        entries.push((row, row, sum));
    }
    Csr::from_triplets(rows, rows, &entries).expect("points and their neighbours lie in the mesh") // invariant
}

/// Offsets of the neighbours.
fn steps(mesh: Mesh) -> impl Iterator<Item = [isize; 3]> {
    let deep = isize::from(mesh == Mesh::Seven);
    let all = (-deep..=deep).flat_map(|z| (-1..=1).map(move |y| (y, z)));
    let all = all.flat_map(|(y, z)| (-1..=1).map(move |x| [x, y, z]));
    all.filter(move |step| match step.iter().filter(|along| **along != 0).count() {
        0 => false,
        1 => true,
        _ => mesh == Mesh::Nine,
    })
}

/// Coupling strength of a point and its neighbour, `up` rows above it; `left` is the left one of
/// the two.
fn conductance(mesh: Mesh, left: usize, up: isize, side: usize) -> f64 {
    match mesh {
        Mesh::Weak if up != 0 => WEAK,
        Mesh::Jump if left >= side / 2 => JUMP,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_mesh_are_joined_with_their_neighbours() {
        let five = matrix(Mesh::Five, 3);
        assert_eq!(five.row(4), (&[1, 3, 4, 5, 7][..], &[-1.0, -1.0, 4.0, -1.0, -1.0][..]));
        assert_eq!(five.row(0).0, [0, 1, 3]);
        let nine = matrix(Mesh::Nine, 3);
        assert_eq!(nine.row(4).0, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(nine.row(8).0, [4, 5, 7, 8]);
        assert_eq!(matrix(Mesh::Five, 1).nnz(), 1);
        let seven = matrix(Mesh::Seven, 3);
        assert_eq!(seven.row(13).0, [4, 10, 12, 13, 14, 16, 22]);
        assert_eq!(seven.row(13).1[3], 6.0);
        let weak = matrix(Mesh::Weak, 3);
        let (col, val) = weak.row(4);
        assert_eq!((col, &val[3..]), (&[1, 3, 4, 5, 7][..], &[-1.0, -0.05][..]));
        assert!((val[2] - 2.1).abs() < 1e-15, "{}", val[2]);
    }

    #[test]
    fn every_mesh_is_symmetric_and_its_rows_are_dominated_by_the_diagonal() {
        for mesh in Mesh::ALL {
            let a = matrix(*mesh, 5);
            for i in 0..a.rows() {
                let (col, val) = a.row(i);
                let mut rest = 0.0;
                for (&j, &value) in col.iter().zip(val) {
                    let (back, of) = a.row(j as usize);
                    let place = back.iter().position(|&k| k as usize == i).unwrap();
                    assert_eq!(of[place], value, "{mesh:?} {i} {j}");
                    rest += if j as usize == i { 0.0 } else { -value };
                }
                let diagonal = val[col.iter().position(|&j| j as usize == i).unwrap()];
                assert!(diagonal >= rest * (1.0 - 1e-12), "{mesh:?} {i}: {diagonal} and {rest}");
            }
        }
    }
}
