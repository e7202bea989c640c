//! The saddle-point matrix of a control problem on a grid.

use super::assemble::Rule;
use super::random::RowRandom;

/// [H Aᵀ; A 0] of a control problem on an n³ grid: n³ states, 6n² controls on the layer of points
/// outside its faces, n³ constraints. H is a positive diagonal; A is a 27-point operator on states
/// and controls, without edges and corners of the outer layer. Symmetric and indefinite. With n =
/// 80 it has the rows, nonzeros and longest row of nlpkkt80.
pub(super) struct Kkt {
    n: usize,
    seed: u64,
}

/// The role of a point on or next to the grid.
enum Unknown {
    State(usize),
    Control(usize),
}

impl Kkt {
    pub(super) fn new(n: usize, seed: u64) -> Self {
        Self { n, seed }
    }

    fn states(&self) -> usize {
        self.n.pow(3)
    }

    /// Number of states and controls.
    fn unknowns(&self) -> usize {
        self.states() + 6 * self.n.pow(2)
    }

    /// The unknown at a point with coordinates from 0 to n + 1, the grid being 1 to n; `None` on
    /// edges and corners of the outer layer.
    fn unknown(&self, point: [usize; 3]) -> Option<Unknown> {
        let n = self.n;
        let outside = |c: usize| c == 0 || c == n + 1;
        let inside = point.map(|c| c.saturating_sub(1));
        let [x, y, z] = inside;
        let upper = |c: usize| usize::from(c > 0);
        match point.map(outside) {
            [false, false, false] => Some(Unknown::State((z * n + y) * n + x)),
            [true, false, false] => Some(Unknown::Control((upper(x) * n + z) * n + y)),
            [false, true, false] => Some(Unknown::Control(((2 + upper(y)) * n + z) * n + x)),
            [false, false, true] => Some(Unknown::Control(((4 + upper(z)) * n + y) * n + x)),
            _ => None,
        }
    }

    /// The point of a control.
    fn control_point(&self, control: usize) -> [usize; 3] {
        let n = self.n;
        let (face, v, u) = (control / n / n, control / n % n + 1, control % n + 1);
        let normal = if face % 2 == 0 { 0 } else { n + 1 };
        match face / 2 {
            0 => [normal, u, v],
            1 => [u, normal, v],
            _ => [u, v, normal],
        }
    }

    /// The point of a state or constraint.
    fn grid_point(&self, i: usize) -> [usize; 3] {
        [i % self.n + 1, i / self.n % self.n + 1, i / self.n / self.n + 1]
    }

    /// Calls `f` for each unknown at or adjacent to `point`, and whether it is the point itself.
    fn around(&self, [x, y, z]: [usize; 3], mut f: impl FnMut(Unknown, bool)) {
        let range = |c: usize| c.saturating_sub(1)..=(c + 1).min(self.n + 1);
        for zz in range(z) {
            for yy in range(y) {
                for xx in range(x) {
                    if let Some(unknown) = self.unknown([xx, yy, zz]) {
                        f(unknown, [xx, yy, zz] == [x, y, z]);
                    }
                }
            }
        }
    }
}

impl Rule for Kkt {
    fn rows(&self) -> usize {
        self.unknowns() + self.states()
    }

    fn most_entries(&self) -> u128 {
        28 * self.rows() as u128
    }

    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        let (states, unknowns) = (self.states(), self.unknowns());
        let value = |itself: bool| if itself { 26.0 } else { -1.0 };
        if let Some(constraint) = i.checked_sub(unknowns) {
            self.around(self.grid_point(constraint), |unknown, itself| {
                let column = match unknown {
                    Unknown::State(j) => j,
                    Unknown::Control(j) => states + j,
                };
                row.push((column as u32, value(itself)));
            });
            return;
        }
        row.push((i as u32, 0.5 + RowRandom::new(self.seed, i).unit()));
        let point = match i.checked_sub(states) {
            Some(control) => self.control_point(control),
            None => self.grid_point(i),
        };
        // The constraints that contain this unknown: those of the states around it.
        self.around(point, |unknown, itself| {
            if let Unknown::State(j) = unknown {
                row.push(((unknowns + j) as u32, value(itself)));
            }
        });
    }
}
