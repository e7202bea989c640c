//! Four systems at a time: the same element of each in one vector, so that every step of the elimination is
//! one instruction for all four.

#![expect(
    clippy::needless_range_loop,
    reason = "rows and columns of tiles are indexed, as sums of products are written"
)]

use super::systems::Systems;
use super::vectors::{LANES, Vector, Work};

/// Rows and columns eliminated together: their 9 sums and what they read fill 15 vectors.
const TILE: usize = 3;

/// Offset of row i in the packed lower triangle, in vectors.
#[inline(always)]
const fn row_start(i: usize) -> usize {
    i * (i + 1) / 2
}

/// Work space for four systems of n unknowns.
#[derive(Debug)]
pub(super) struct Room {
    /// The lower triangle by rows, one vector per element, followed by b as one more row; and three vectors
    /// of padding, as rows are filled four vectors at a time.
    slots: Vec<f64>,
    /// The reciprocals of L's diagonal.
    inverse: Vec<f64>,
    /// The right-hand side, then the solution.
    x: Vec<f64>,
}

impl Room {
    pub(super) fn new(n: usize) -> Self {
        let vectors = |count: usize| vec![0.0; count * LANES];
        Self { slots: vectors(row_start(n + 1) + LANES), inverse: vectors(n), x: vectors(n) }
    }
}

/// Solves four systems, which may repeat.
pub(super) struct SolveFour<'s> {
    pub(super) systems: Systems<'s>,
    pub(super) numbers: [usize; LANES],
    pub(super) room: &'s mut Room,
    /// n numbers for each of the first systems, one after another; as many as fit.
    pub(super) x: &'s mut [f64],
}

impl Work for SolveFour<'_> {
    /// Which of the four are positive definite.
    type Output = [bool; LANES];

    #[inline(always)]
    unsafe fn run<V: Vector>(self) -> [bool; LANES] {
        let Self { systems, numbers, room, x } = self;
        let n = systems.unknowns();
        let Room { slots, inverse, x: own } = room;
        assert!(
            slots.len() >= (row_start(n + 1) + LANES) * LANES
                && inverse.len() >= n * LANES
                && own.len() >= n * LANES
        );
        load(numbers.map(|s| systems.matrix(s)), n, slots);
        let with_right = !systems.are_last_units();
        if with_right {
            for (lane, &s) in numbers.iter().enumerate() {
                systems.copy_right(s, &mut own[..n]);
                let row = slots[row_start(n) * LANES..].iter_mut().skip(lane).step_by(LANES);
                row.zip(&own[..n]).for_each(|(to, b)| *to = *b);
            }
        }
        let (slots, inverses) = (slots.as_mut_ptr(), inverse.as_mut_ptr());
        // SAFETY: the caller's promise; rows 0 to n and the n reciprocal pivots fit, as asserted.
        unsafe {
            let rows = n + usize::from(with_right);
            let mut i = 0;
            while i < rows {
                match rows - i {
                    1 => rows_from::<V, 1>(i, n, slots, inverses),
                    2 => rows_from::<V, 2>(i, n, slots, inverses),
                    _ => rows_from::<V, TILE>(i, n, slots, inverses),
                }
                i += TILE;
            }
            match with_right {
                true => own[..n * LANES].copy_from_slice(std::slice::from_raw_parts(
                    slots.add(row_start(n) * LANES),
                    n * LANES,
                )),
                // L⁻¹·e_n has a single nonzero.
                false => {
                    own[..n * LANES].fill(0.0);
                    let last = (n - 1) * LANES..n * LANES;
                    own[last.clone()].copy_from_slice(&inverse[last]);
                }
            }
            substitute::<V>(n, slots, inverse, own);
        }
        let positive = all_positive(&inverse[..n * LANES]);
        for (lane, to) in x.chunks_exact_mut(n).take(LANES).enumerate() {
            match positive[lane] {
                true => to.iter_mut().zip(own.iter().skip(lane).step_by(LANES)).for_each(copy),
                false => to.fill(f64::NAN),
            }
        }
        positive
    }
}

#[inline(always)]
fn copy((to, from): (&mut f64, &f64)) {
    *to = *from;
}

/// Fills the lower triangle by rows from four row-major matrices. Elements right of the diagonal spill into
/// the next row, which is written later.
#[inline(always)]
fn load(matrices: [&[f64]; LANES], n: usize, slots: &mut [f64]) {
    for i in 0..n {
        let rows = matrices.map(|a| &a[i * n..][..n]);
        let to = &mut slots[row_start(i) * LANES..];
        let whole = (i / LANES + 1) * LANES;
        // The last columns one by one where four would exceed the row.
        let whole = if whole > n { whole - LANES } else { whole };
        for j in (0..whole).step_by(LANES) {
            let from: [[f64; LANES]; LANES] =
                rows.map(|row| std::array::from_fn(|k| row[j..j + LANES][k]));
            let to = &mut to[j * LANES..][..LANES * LANES];
            for k in 0..LANES {
                for lane in 0..LANES {
                    to[k * LANES + lane] = from[lane][k];
                }
            }
        }
        for j in whole..=i {
            for lane in 0..LANES {
                to[j * LANES + lane] = rows[lane][j];
            }
        }
    }
}

/// Computes R rows of L from row i on; row n is not a row of L but L⁻¹·b.
///
/// # Safety
/// The CPU supports the vectors; `slots` holds rows 0 to n as far as they are used, those before i being rows
/// of L, and `inverses` a vector for each pivot.
#[inline(always)]
unsafe fn rows_from<V: Vector, const R: usize>(
    i: usize,
    n: usize,
    slots: *mut f64,
    inverses: *mut f64,
) {
    // SAFETY: row i + r has i + r + 1 vectors, and columns below i are read and written; of the diagonal
    // block, those up to the row's end.
    unsafe {
        let rows: [*mut f64; R] = std::array::from_fn(|r| slots.add(row_start(i + r) * LANES));
        let mut j = 0;
        while j < i {
            let columns: [*const f64; TILE] =
                std::array::from_fn(|c| slots.add(row_start(j + c) * LANES).cast_const());
            let mut sums: [[V; TILE]; R] = std::array::from_fn(|r| {
                std::array::from_fn(|c| V::load(rows[r].add((j + c) * LANES)))
            });
            for k in 0..j {
                let right: [V; TILE] = std::array::from_fn(|c| V::load(columns[c].add(k * LANES)));
                for r in 0..R {
                    let left = V::load(rows[r].add(k * LANES));
                    for c in 0..TILE {
                        sums[r][c] = sums[r][c].minus_product(left, right[c]);
                    }
                }
            }
            for c in 0..TILE {
                let inverse = V::load(inverses.add((j + c) * LANES));
                for r in 0..R {
                    for k in 0..c {
                        let right = V::load(columns[c].add((j + k) * LANES));
                        sums[r][c] = sums[r][c].minus_product(sums[r][k], right);
                    }
                    sums[r][c] = sums[r][c].times(inverse);
                    sums[r][c].store(rows[r].add((j + c) * LANES));
                }
            }
            j += TILE;
        }
        // The lower triangle of the diagonal block.
        let mut sums = [[V::splat(0.0); R]; R];
        for r in 0..R {
            for c in 0..=r {
                sums[r][c] = V::load(rows[r].add((i + c) * LANES));
            }
        }
        for k in 0..i {
            let own: [V; R] = std::array::from_fn(|r| V::load(rows[r].add(k * LANES)));
            for r in 0..R {
                for c in 0..=r {
                    sums[r][c] = sums[r][c].minus_product(own[r], own[c]);
                }
            }
        }
        for c in 0..R {
            if i + c == n {
                break;
            }
            let inverse = one_over_root::<V>(sums[c][c]);
            inverse.store(inverses.add((i + c) * LANES));
            for r in c + 1..R {
                sums[r][c] = sums[r][c].times(inverse);
                sums[r][c].store(rows[r].add((i + c) * LANES));
            }
            for r in c + 1..R {
                for to in c + 1..=r {
                    sums[r][to] = sums[r][to].minus_product(sums[r][c], sums[to][c]);
                }
            }
        }
    }
}

/// The reciprocal root of each pivot: positive and finite exactly where the pivot is.
///
/// # Safety
/// The CPU supports the vectors.
#[inline(always)]
unsafe fn one_over_root<V: Vector>(pivots: V) -> V {
    let mut numbers = [0.0; LANES];
    // SAFETY: there is space for four numbers; the rest is the caller's promise.
    unsafe {
        pivots.store(numbers.as_mut_ptr());
        V::load(numbers.map(|pivot: f64| 1.0 / pivot.sqrt()).as_ptr())
    }
}

/// Whether all pivots of each lane were positive and finite.
#[inline(always)]
fn all_positive(inverse: &[f64]) -> [bool; LANES] {
    let mut all = [true; LANES];
    for inverse in inverse.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            all[lane] &= (inverse[lane] > 0.0) & (inverse[lane] < f64::INFINITY);
        }
    }
    all
}

/// Solves Lᵀ·x = y, where x holds y on entry; three rows at a time.
///
/// # Safety
/// The CPU supports the vectors; `slots` holds L's rows below the diagonal, `inverse` and `x` a vector for
/// each row.
#[inline(always)]
unsafe fn substitute<V: Vector>(n: usize, slots: *const f64, inverse: &[f64], x: &mut [f64]) {
    let x = x.as_mut_ptr();
    let inverse = inverse.as_ptr();
    // SAFETY: rows and columns are below n.
    unsafe {
        let mut end = n;
        while end > 0 {
            match end % TILE {
                1 => substitute_rows::<V, 1>(end - 1, slots, inverse, x),
                2 => substitute_rows::<V, 2>(end - 2, slots, inverse, x),
                _ => substitute_rows::<V, TILE>(end - TILE, slots, inverse, x),
            }
            end = (end - 1) / TILE * TILE;
        }
    }
}

/// The same for R rows from row i on, subtracting them from the rows before.
///
/// # Safety
/// As for `substitute`.
#[inline(always)]
unsafe fn substitute_rows<V: Vector, const R: usize>(
    i: usize,
    slots: *const f64,
    inverse: *const f64,
    x: *mut f64,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let rows: [*const f64; R] = std::array::from_fn(|r| slots.add(row_start(i + r) * LANES));
        let mut found: [V; R] = std::array::from_fn(|r| V::load(x.add((i + r) * LANES)));
        for r in (0..R).rev() {
            for below in r + 1..R {
                let l = V::load(rows[below].add((i + r) * LANES));
                found[r] = found[r].minus_product(l, found[below]);
            }
            found[r] = found[r].times(V::load(inverse.add((i + r) * LANES)));
            found[r].store(x.add((i + r) * LANES));
        }
        for k in 0..i {
            let at = x.add(k * LANES);
            let mut sum = V::load(at);
            for r in 0..R {
                sum = sum.minus_product(V::load(rows[r].add(k * LANES)), found[r]);
            }
            sum.store(at);
        }
    }
}
