//! The kernels: a block column of the elimination, and the substitution with Lᵀ.

#![expect(
    clippy::needless_range_loop,
    reason = "columns, rows and their vectors are counted together, as the formulas do"
)]

use super::panels::{column_start, panel_start};
use super::vectors::{LANES, Vector, Work};

/// Panels eliminated together: their sums fill 12 vectors.
const TOGETHER: usize = 3;

/// Turns the columns of one panel into those of L, in this panel and all later ones.
pub(super) struct Eliminate<'e> {
    pub(super) panel: usize,
    pub(super) panels: usize,
    pub(super) slots: &'e mut [f64],
    pub(super) scaled: &'e mut [f64],
    pub(super) pivots: &'e mut [f64],
}

impl Work for Eliminate<'_> {
    /// The first row whose pivot is not positive.
    type Output = Option<usize>;

    #[inline(always)]
    unsafe fn run<V: Vector>(self) -> Option<usize> {
        let Self { panel, panels, slots, scaled, pivots } = self;
        let before = panel * LANES;
        assert!(
            panel < panels
                && slots.len() >= panel_start(panels)
                && scaled.len() >= before * LANES
                && pivots.len() >= before + LANES
        );
        let own = panel_start(panel) + LANES;
        for k in 0..before {
            // SAFETY: a panel has four numbers for each column up to its last row; `scaled` has as many for
            // each column before the panel, as asserted.
            unsafe {
                let l = V::load(slots.as_ptr().add(own + k * LANES));
                let scaled = scaled.as_mut_ptr().add(k * LANES);
                l.times(V::splat(pivots[k])).store(scaled);
            }
        }
        // SAFETY: the panels exist, `scaled` was filled up to the panel; the rest is the caller's promise.
        unsafe {
            let mut at = panel;
            let mut diagonal = None;
            while at < panels {
                match panels - at {
                    1 => columns::<V, 1>(at, panel, slots, scaled),
                    2 => columns::<V, 2>(at, panel, slots, scaled),
                    _ => columns::<V, TOGETHER>(at, panel, slots, scaled),
                }
                let together = (panels - at).min(TOGETHER);
                let block: Diagonal = match diagonal {
                    Some(block) => block,
                    None => {
                        let block = Diagonal::factored(slots, own + before * LANES);
                        if let Some(row) = block.bad {
                            return Some(before + row);
                        }
                        pivots[before..before + LANES].copy_from_slice(&block.pivots);
                        block
                    }
                };
                diagonal = Some(block);
                for below in at.max(panel + 1)..at + together {
                    block.divide::<V>(slots, panel_start(below) + LANES * (before + 1));
                }
                at += together;
            }
        }
        None
    }
}

/// Subtracts L·D·Lᵀ of the columns before `panel` from its columns in N panels from `at` on.
///
/// # Safety
/// The CPU supports the vectors; the N panels end within `slots`, `panel` is at most `at`, and `scaled` has
/// four numbers for each column before `panel`.
#[inline(always)]
unsafe fn columns<V: Vector, const N: usize>(
    at: usize,
    panel: usize,
    slots: &mut [f64],
    scaled: &[f64],
) {
    let before = panel * LANES;
    // SAFETY: panel `at + n` has four numbers for each of its columns, of which `before + 4` are read and the
    // last four written; `scaled` is as promised.
    unsafe {
        let mut rows = [slots.as_mut_ptr(); N];
        let mut sums = [[V::splat(0.0); LANES]; N];
        for n in 0..N {
            rows[n] = rows[n].add(panel_start(at + n) + LANES);
            for c in 0..LANES {
                sums[n][c] = V::load(rows[n].add((before + c) * LANES));
            }
        }
        for k in 0..before {
            let mut l = [V::splat(0.0); N];
            for n in 0..N {
                l[n] = V::load(rows[n].add(k * LANES));
            }
            for c in 0..LANES {
                let factor = V::splat(*scaled.as_ptr().add(k * LANES + c));
                for n in 0..N {
                    sums[n][c] = sums[n][c].minus_product(l[n], factor);
                }
            }
        }
        for n in 0..N {
            for c in 0..LANES {
                sums[n][c].store(rows[n].add((before + c) * LANES));
            }
        }
    }
}

/// The factored diagonal block of a panel.
#[derive(Clone, Copy)]
struct Diagonal {
    /// Below the diagonal, `l[column][row]`.
    l: [[f64; LANES]; LANES],
    pivots: [f64; LANES],
    inverse: [f64; LANES],
    /// The first row whose pivot is not positive and finite.
    bad: Option<usize>,
}

impl Diagonal {
    /// Factors the 16 numbers at `start`, column by column, in place.
    #[inline(always)]
    fn factored(slots: &mut [f64], start: usize) -> Self {
        let block = &mut slots[start..start + LANES * LANES];
        let mut l: [[f64; LANES]; LANES] =
            std::array::from_fn(|c| std::array::from_fn(|row| block[c * LANES + row]));
        let (mut pivots, mut inverse, mut bad) = ([0.0; LANES], [0.0; LANES], None);
        for c in 0..LANES {
            let column = l[c];
            pivots[c] = column[c];
            if bad.is_none() && !(column[c] > 0.0 && column[c] < f64::INFINITY) {
                bad = Some(c);
            }
            inverse[c] = 1.0 / column[c];
            for row in c + 1..LANES {
                l[c][row] = column[row] * inverse[c];
            }
            for to in c + 1..LANES {
                for row in to..LANES {
                    l[to][row] -= l[c][to] * column[row];
                }
            }
        }
        for c in 0..LANES {
            for row in 0..LANES {
                block[c * LANES + row] = match row.cmp(&c) {
                    std::cmp::Ordering::Less => 0.0,
                    std::cmp::Ordering::Equal => 1.0,
                    std::cmp::Ordering::Greater => l[c][row],
                };
            }
        }
        Self { l, pivots, inverse, bad }
    }

    /// Turns the 16 numbers at `start`, the same columns in a later panel, into L.
    ///
    /// # Safety
    /// The CPU supports the vectors; the numbers lie within `slots`.
    #[inline(always)]
    unsafe fn divide<V: Vector>(&self, slots: &mut [f64], start: usize) {
        debug_assert!(start + LANES * LANES <= slots.len());
        // SAFETY: the caller's promise.
        unsafe {
            let block = slots.as_mut_ptr().add(start);
            let mut product = [V::splat(0.0); LANES];
            for c in 0..LANES {
                product[c] = V::load(block.add(c * LANES));
            }
            for c in 1..LANES {
                for k in 0..c {
                    product[c] = product[c].minus_product(product[k], V::splat(self.l[k][c]));
                }
            }
            for c in 0..LANES {
                product[c].times(V::splat(self.inverse[c])).store(block.add(c * LANES));
            }
        }
    }
}

/// Solves Lᵀ·x = `last`·e_p in the leading p + 1 rows.
pub(super) struct Substitute<'s> {
    pub(super) p: usize,
    pub(super) last: f64,
    pub(super) slots: &'s [f64],
    pub(super) x: &'s mut [f64],
}

impl Work for Substitute<'_> {
    type Output = ();

    #[inline(always)]
    unsafe fn run<V: Vector>(self) {
        let Self { p, last, slots, x } = self;
        let top = p / LANES;
        assert!(slots.len() >= panel_start(top + 1) && x.len() >= (top + 1) * LANES);
        for block in (0..=top).rev() {
            let mut sums = [[0.0; LANES]; LANES];
            // SAFETY: panels up to `top` lie within `slots` and have columns up to their last rows, and x has
            // a number for each of their rows, as asserted; the rest is the caller's promise.
            unsafe {
                let mut sum = [V::splat(0.0); LANES];
                for panel in block + 1..=top {
                    let rows = V::load(x.as_ptr().add(panel * LANES));
                    let start = panel_start(panel) + column_start(block * LANES);
                    for c in 0..LANES {
                        let l = V::load(slots.as_ptr().add(start + c * LANES));
                        sum[c] = sum[c].minus_product(l, rows);
                    }
                }
                for c in 0..LANES {
                    sum[c].store(sums[c].as_mut_ptr());
                }
            }
            let start = panel_start(block) + column_start(block * LANES);
            let own = &slots[start..start + LANES * LANES];
            let mut found = [0.0; LANES];
            for c in (0..LANES).rev() {
                let [a, b, d, e] = sums[c];
                let mut value = (a + b) + (d + e);
                for row in c + 1..LANES {
                    value -= own[c * LANES + row] * found[row];
                }
                found[c] = match (block * LANES + c).cmp(&p) {
                    std::cmp::Ordering::Less => value,
                    std::cmp::Ordering::Equal => last,
                    std::cmp::Ordering::Greater => 0.0,
                };
            }
            x[block * LANES..(block + 1) * LANES].copy_from_slice(&found);
        }
    }
}
