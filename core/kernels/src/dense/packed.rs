//! The lower triangle of a dense symmetric matrix in panels of four rows, in the order in which the
//! elimination reads it.

use super::eliminate::{Eliminate, Substitute};
use super::panels::{column_start, panel_start};
use super::vectors::{LANES, with_widest};

/// From this row on, the elimination takes so long that it checks for cancellation.
const LONG: usize = 512;

/// The outcome of a factorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factored {
    /// The factors are complete.
    Whole,
    /// The leading minor that ends in this row (0-based) is not positive, or not finite.
    NotPositive(usize),
    /// It was cancelled.
    Cancelled,
}

/// Storage for one m × m matrix after another, and for its factors A = L·D·Lᵀ, L with a unit diagonal.
///
/// Rows 4p to 4p + 3 are panel p: four numbers for each column up to the panel's last row, one per row. Each
/// panel starts with four unused numbers: entries outside all columns are written there, so that scattering a
/// sparse row needs no branch. Rows that pad the last panel are those of the unit matrix.
#[derive(Clone, Debug, Default)]
pub struct Packed {
    m: usize,
    slots: Vec<f64>,
    /// A panel of L with each column multiplied by its pivot.
    scaled: Vec<f64>,
    /// The pivots D, one for each row of a panel.
    pivots: Vec<f64>,
    /// The solution of the last substitution.
    x: Vec<f64>,
}

impl Packed {
    /// An empty matrix.
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes needed for a system of m rows.
    pub fn bytes(m: usize) -> u128 {
        let (panels, lanes) = (m.div_ceil(LANES) as u128, LANES as u128);
        let slots = lanes * lanes * (panels * (panels + 1) / 2) + lanes * panels;
        8 * (slots + panels * (lanes * lanes + 2 * lanes))
    }

    /// Number of rows of the stored matrix.
    pub fn rows(&self) -> usize {
        self.m
    }

    /// Resets to the m × m zero matrix.
    pub fn clear(&mut self, m: usize) {
        let panels = m.div_ceil(LANES);
        self.m = m;
        self.slots.clear();
        self.slots.resize(panel_start(panels), 0.0);
        for row in m..panels * LANES {
            let at = self.row_start(row) + Self::column(row);
            self.slots[at] = 1.0;
        }
    }

    /// Offset of this column from the start of a row. Offset zero belongs to no column.
    #[inline(always)]
    pub fn column(j: usize) -> usize {
        column_start(j)
    }

    #[inline(always)]
    fn row_start(&self, i: usize) -> usize {
        panel_start(i / LANES) + i % LANES
    }

    /// Row i, to be written at [`column`](Self::column) for j ≤ i or at 0. Panics if there is no row `i`.
    #[inline(always)]
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        let (start, end) = (self.row_start(i), panel_start(i / LANES + 1));
        &mut self.slots[start..end]
    }

    /// Entry (i, j), j ≤ i. Panics if there is none.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        assert!(j <= i && i < self.m, "the lower triangle has no such entry");
        self.slots[self.row_start(i) + Self::column(j)]
    }

    #[cfg(test)]
    pub(super) fn slots_for_tests(&self) -> &[f64] {
        &self.slots
    }

    /// The pivot of row i. Panics if there is no row `i` or nothing was factored.
    pub fn pivot(&self, i: usize) -> f64 {
        self.pivots[i]
    }

    /// Replaces A by L and stores D. The leading rows of L and D are the factors of the leading rows of A.
    pub fn factor(&mut self, cancelled: &(dyn Fn() -> bool + Sync)) -> Factored {
        let panels = self.m.div_ceil(LANES);
        self.scaled.resize(self.scaled.len().max(panels * LANES * LANES), 0.0);
        self.pivots.resize(self.pivots.len().max(panels * LANES), 0.0);
        let long = self.m >= LONG;
        for panel in 0..panels {
            if long && cancelled() {
                return Factored::Cancelled;
            }
            let step = Eliminate {
                panel,
                panels,
                slots: &mut self.slots,
                scaled: &mut self.scaled,
                pivots: &mut self.pivots,
            };
            if let Some(row) = with_widest(step) {
                return Factored::NotPositive(row);
            }
        }
        Factored::Whole
    }

    /// The row g of length p + 1 with g·A_p = e_p/(g's last element), A_p being the leading (p + 1) × (p + 1)
    /// part of A: the solution of A_p·x = e_p divided by the root of its last element. Needs the factors.
    /// Panics if there is no row `p`.
    pub fn normalised_row(&mut self, p: usize) -> &[f64] {
        assert!(p < self.m, "the factor has no such row");
        let panels = p / LANES + 1;
        self.x.resize(self.x.len().max(panels * LANES), 0.0);
        let last = 1.0 / self.pivots[p].sqrt();
        with_widest(Substitute { p, last, slots: &self.slots, x: &mut self.x });
        &self.x[..=p]
    }
}
