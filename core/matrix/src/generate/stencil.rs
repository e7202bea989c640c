//! Regular grids: finite differences.

use super::assemble::Rule;

/// A grid of n × n × nz points, x fastest.
#[derive(Clone, Copy)]
pub(super) struct Grid {
    pub(super) n: usize,
    pub(super) nz: usize,
}

impl Grid {
    fn points(self) -> usize {
        self.n * self.n * self.nz
    }

    /// The coordinates of point `i`, each with the number of points along its edge.
    fn point(self, i: usize) -> [(usize, usize); 3] {
        let n = self.n;
        [(i % n, n), (i / n % n, n), (i / n / n, self.nz)]
    }

    /// Calls `f` for each neighbour (itself included) that differs by at most one in each coordinate,
    /// with the number of coordinates in which it does.
    fn neighbours(self, i: usize, mut f: impl FnMut(usize, usize)) {
        let [x, y, z] = self.point(i);
        let range = |(c, n): (usize, usize)| c.saturating_sub(1)..=(c + 1).min(n - 1);
        for zz in range(z) {
            for yy in range(y) {
                for xx in range(x) {
                    let differing =
                        usize::from(xx != x.0) + usize::from(yy != y.0) + usize::from(zz != z.0);
                    f((zz * self.n + yy) * self.n + xx, differing);
                }
            }
        }
    }
}

/// Number of grid lines at distance ≤ 1 of coordinate `x` of `n`.
fn near((x, n): (usize, usize)) -> usize {
    1 + usize::from(x > 0) + usize::from(x + 1 < n)
}

/// 7 points: 6 on the diagonal, −1 for neighbours. Like atmosmodd, or the finest level of any
/// structured solver.
pub(super) struct Stencil7(pub(super) Grid);

impl Rule for Stencil7 {
    fn rows(&self) -> usize {
        self.0.points()
    }
    fn most_entries(&self) -> u128 {
        7 * self.rows() as u128
    }
    fn row_len(&self, i: usize) -> Option<usize> {
        Some(self.0.point(i).map(near).iter().sum::<usize>() - 2)
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        self.0.neighbours(i, |j, differing| match differing {
            0 => row.push((j as u32, 6.0)),
            1 => row.push((j as u32, -1.0)),
            _ => {}
        });
    }
}

/// 27 points: 26 on the diagonal, −1 elsewhere, as in HPCG.
pub(super) struct Stencil27(pub(super) Grid);

impl Rule for Stencil27 {
    fn rows(&self) -> usize {
        self.0.points()
    }
    fn most_entries(&self) -> u128 {
        27 * self.rows() as u128
    }
    fn row_len(&self, i: usize) -> Option<usize> {
        Some(self.0.point(i).map(near).iter().product())
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        self.0.neighbours(i, |j, differing| {
            row.push((j as u32, if differing == 0 { 26.0 } else { -1.0 }));
        });
    }
}

/// 5 points on an n² grid: 4 on the diagonal, −1 for neighbours. Like ecology1 or parabolic_fem.
pub(super) struct Poisson2d(pub(super) usize);

impl Rule for Poisson2d {
    fn rows(&self) -> usize {
        self.0.pow(2)
    }
    fn most_entries(&self) -> u128 {
        5 * self.rows() as u128
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let n = self.0;
        let (x, y) = (i % n, i / n);
        row.push((i as u32, 4.0));
        let beside = [(y > 0, n), (x > 0, 1)];
        row.extend(beside.iter().filter(|(is, _)| *is).map(|(_, step)| ((i - step) as u32, -1.0)));
        let beside = [(x + 1 < n, 1), (y + 1 < n, n)];
        row.extend(beside.iter().filter(|(is, _)| *is).map(|(_, step)| ((i + step) as u32, -1.0)));
    }
}
