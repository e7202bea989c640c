//! The error of a product in fewer bits than f64 against the result in f64, and how large it can be.

use super::block::{COLUMNS_AT_ONCE, ColumnRange};
use super::row_errors::{BLOCK, how_far_off};
use super::spmv::CHUNK;
use sparsescope_matrix::matrix::{Csr, Precision, Real};
use sparsescope_matrix::memory::zeroed;
use sparsescope_matrix::parallel::*;
use sparsescope_record::{Check, Rounding, Verdict};

/// The errors of some rows.
#[derive(Clone, Copy, Default)]
struct Errors {
    largest: f64,
    difference: f64,
    bound: f64,
    squared_difference: f64,
    squared_norm: f64,
    /// The first element beyond its bound: row and column, found, expected, allowed.
    beyond: Option<((usize, usize), f64, f64, f64)>,
}

impl Errors {
    fn add(mut self, at: (usize, usize), found: f64, expected: f64, bound: f64) -> Self {
        let difference = (found - expected).abs();
        // Whether infinities and NaN are right is checked in the precision itself.
        if !difference.is_finite() {
            return self;
        }
        self.largest = self.largest.max(expected.abs());
        self.difference = self.difference.max(difference);
        self.bound = self.bound.max(bound);
        self.squared_difference += difference * difference;
        self.squared_norm += expected * expected;
        if difference > bound {
            self.beyond = self.beyond.or(Some((at, found, expected, bound)));
        }
        self
    }

    /// Adds the elements of row i, which are compared with those of the first of `columns`.
    fn add_row(&mut self, i: usize, columns: &[Unrounded], row: &[f64]) {
        let mut row = row.iter().enumerate();
        for of in columns {
            let expected = &of.elements[i * of.columns..][..of.columns];
            for (&(expected, bound), (j, &found)) in expected.iter().zip(row.by_ref()) {
                *self = self.add((i, j), found, expected, bound);
            }
        }
    }

    fn join(self, next: Self) -> Self {
        Self {
            largest: self.largest.max(next.largest),
            difference: self.difference.max(next.difference),
            bound: self.bound.max(next.bound),
            squared_difference: self.squared_difference + next.squared_difference,
            squared_norm: self.squared_norm + next.squared_norm,
            beyond: self.beyond.or(next.beyond),
        }
    }

    /// Relative to y; `None` if y is zero, or the squares overflow.
    fn rounding(&self) -> Option<Rounding> {
        let max = self.difference / self.largest;
        let norm = (self.squared_difference / self.squared_norm).sqrt();
        let bound = self.bound / self.largest;
        let are_finite = [max, norm, bound, self.squared_norm].iter().all(|of| of.is_finite());
        are_finite.then_some(Rounding { max, norm, bound })
    }
}

/// y = A·x in f64, and how far each row of a result in another precision may deviate from it; or the same for adjacent
/// columns of Y = A·X.
#[derive(Debug)]
pub struct Unrounded {
    precision: Precision,
    columns: usize,
    /// Each element, and its bound; stored by rows.
    elements: Vec<(f64, f64)>,
}

impl Unrounded {
    /// For one column. Panics unless x has n elements.
    pub fn new(a: &Csr, x: &[f64], precision: Precision) -> Self {
        Self::of_columns(a, ColumnRange::new(x, 1, 0..1), precision)
    }

    /// For these columns of X, whose elements are those before rounding. Panics unless X has n rows.
    pub fn of_columns<T: Real>(a: &Csr, x: ColumnRange<'_, T>, precision: Precision) -> Self {
        assert_eq!(x.rows(), a.cols(), "X has a row for each column");
        let columns = x.count();
        let mut elements = zeroed((0.0, 0.0), a.rows() * columns);
        let chunks = elements.par_chunks_mut(CHUNK * columns).enumerate();
        chunks.for_each(|(chunk, elements)| {
            for (i, row) in (chunk * CHUNK..).zip(elements.chunks_mut(columns)) {
                set_row(a, x, i, precision, row);
            }
        });
        Self { precision, columns, elements }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// Sets row i of Y, whose elements are summed in the order of `cpu/csr/serial`, and how far each of a result may
/// deviate: a value a of the matrix is rounded by at most δa and an element x by at most δx, so that their product
/// deviates by δa·(|x| + δx) + |a|·δx, and the sum of the rounded products by 2·len·u times their size, as in
/// [`Reference`](super::Reference).
fn set_row<T: Real>(
    a: &Csr,
    x: ColumnRange<'_, T>,
    i: usize,
    precision: Precision,
    row: &mut [(f64, f64)],
) {
    let (values, vectors) = (precision.values(), precision.vectors());
    let of_x = |x: f64| if precision.in_f64() { 0.0 } else { vectors.rounding_error(x) };
    let (col, val) = a.row(i);
    let mut sums = [[0.0; COLUMNS_AT_ONCE]; 3];
    for (&c, &value) in col.iter().zip(val) {
        let value = (value, values.rounding_error(value.abs()));
        let x = x.row(c);
        match x.first_chunk::<COLUMNS_AT_ONCE>() {
            // The compiler knows the number of columns.
            Some(x) => add(&mut sums, value, x, of_x),
            None => add(&mut sums, value, x, of_x),
        }
    }
    let (len, [y, rounded, size]) = (col.len() as f64, sums);
    for (element, ((&y, &rounded), &size)) in row.iter_mut().zip(y.iter().zip(&rounded).zip(&size))
    {
        let bound = rounded + 2.0 * len * vectors.unit_roundoff() * size + len * vectors.smallest();
        *element = (y, bound);
    }
}

/// Adds the terms of a nonzero, given as its value and how far it is rounded, to the sum of each column, to what
/// rounding changes, and to the sum of the sizes.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn add<T: Real>(
    [y, rounded, size]: &mut [[f64; COLUMNS_AT_ONCE]; 3],
    (value, of_value): (f64, f64),
    x: &[T],
    of_x: impl Fn(f64) -> f64,
) {
    for (((y, rounded), size), &x) in y.iter_mut().zip(rounded).zip(size).zip(x) {
        let x: f64 = x.into();
        *y += value * x;
        let (value, x) = (value.abs(), x.abs());
        let of_x = of_x(x);
        *rounded += of_value * (x + of_x) + value * of_x;
        *size += (value + of_value) * (x + of_x);
    }
}

/// Adds the error of Z, a result in a precision that has passed its check, has k columns and is stored by rows. Its
/// columns are compared with those of `columns`, which follow each other; there may be more. It fails if rounding A and
/// X as the precision does cannot explain the error of an element. Panics unless Z has k elements per row.
pub fn against_f64<T: Real>(check: Check, columns: &[Unrounded], k: usize, z: &[T]) -> Check {
    let (Verdict::Pass, Some(first)) = (check.verdict, columns.first()) else { return check };
    let rows = first.elements.len() / first.columns;
    assert_eq!(z.len(), rows * k, "Z has m rows of k elements");
    assert!(columns.iter().map(Unrounded::columns).sum::<usize>() >= k, "all columns are there");
    let blocks: Vec<Errors> = (0..rows.div_ceil(BLOCK))
        .into_par_iter()
        .map(|b| {
            let (mut errors, mut row) = (Errors::default(), Vec::<f64>::with_capacity(k));
            for i in b * BLOCK..rows.min((b + 1) * BLOCK) {
                row.clear();
                row.extend(z[i * k..][..k].iter().map(|&z| -> f64 { z.into() }));
                errors.add_row(i, columns, &row);
            }
            errors
        })
        .collect();
    let errors = blocks.into_iter().fold(Errors::default(), Errors::join);
    match errors.beyond {
        None => Check { rounding: errors.rounding(), ..check },
        Some(((row, j), found, expected, allowed)) => {
            let off = how_far_off(found, expected, allowed);
            let column = if k > 1 { format!("column {j}: ") } else { String::new() };
            let name = first.precision.as_str();
            let reason = format!("{column}row {row} is {off}, which rounding to {name} allows");
            Check { verdict: Verdict::Fail, reason: Some(reason), row: Some(row as u64), ..check }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed() -> Check {
        Check { verdict: Verdict::Pass, ..Check::default() }
    }

    #[test]
    fn the_bound_is_the_rounding_of_the_values_and_that_of_the_sum() {
        // |a| = 3, |x| = 2, two terms.
        let a = Csr::from_triplets(1, 2, &[(0, 0, 3.0), (0, 1, -3.0)]).unwrap();
        let of = |precision| Unrounded::new(&a, &[2.0, 2.0], precision).elements[0].1;
        let terms = 12.0;
        // The matrix alone is rounded to f32, by 2⁻²⁴; sums of f64 add nearly nothing.
        let mixed = of(Precision::F32F64) / (2f64.powi(-24) * terms);
        assert!((1.0..1.0 + 1e-7).contains(&mixed), "{mixed}");
        // Values, x and 2·len·u.
        let single = of(Precision::F32) / (2f64.powi(-24) * terms * (1.0 + 1.0 + 4.0));
        assert!((1.0..1.0 + 1e-6).contains(&single), "{single}");
        // 2⁻⁸ and 2⁻¹¹ of the values, and five units of f32.
        for (precision, unit) in
            [(Precision::Bf16F32, 2f64.powi(-8)), (Precision::F16F32, 2f64.powi(-11))]
        {
            let share = of(precision) / (terms * (unit + 5.0 * 2f64.powi(-24)));
            assert!((1.0..1.0 + 1e-4).contains(&share), "{precision:?} {share}");
        }
        // Far below the smallest normal number, halves of the smallest subnormal one are what is lost.
        let tiny = Csr::from_triplets(1, 1, &[(0, 0, 2f64.powi(-30))]).unwrap();
        let lost = Unrounded::new(&tiny, &[1.0], Precision::F16F32).elements[0].1;
        assert!(lost >= 2f64.powi(-25) && lost < 1.01 * 2f64.powi(-25), "{lost:e}");
    }

    #[test]
    fn the_error_of_rounded_values_is_measured_and_within_its_bound() {
        let entries: Vec<_> =
            (0..900).map(|k| (k % 90, k / 90 * 7 % 70, 0.1 + (k as f64).sin())).collect();
        let a = Csr::from_triplets(90, 70, &entries).unwrap();
        let x: Vec<f64> = (0..70).map(|j| 1.0 + f64::from(j % 5)).collect();
        let product = |a: &Csr| {
            let mut y = vec![0.0; 90];
            crate::spmv::csr::serial(a, crate::spmv::Unscaled, &x, &mut y);
            y
        };
        let y = product(&a);
        for precision in Precision::ALL {
            let z = product(&a.map(|value| precision.values().rounded(value)));
            let check = against_f64(passed(), &[Unrounded::new(&a, &x, precision)], 1, &z);
            let Rounding { max, norm, bound } = check.rounding.unwrap();
            let most = y.iter().fold(0.0f64, |most, y| most.max(y.abs()));
            let off = y.iter().zip(&z).fold(0.0f64, |off, (y, z)| off.max((y - z).abs()));
            assert_eq!((check.verdict, max), (Verdict::Pass, off / most));
            let unit = precision.values().unit_roundoff();
            assert!(max <= bound && bound < 120.0 * unit, "{precision:?} {max:e} {bound:e}");
            assert!(precision == Precision::F64 || norm > unit / 50.0, "{precision:?} {norm:e}");
        }
    }

    #[test]
    fn an_error_that_rounding_does_not_explain_fails_and_names_its_row() {
        let a = Csr::from_triplets(2, 1, &[(0, 0, 1.0), (1, 0, 1.0 + 2f64.powi(-7))]).unwrap();
        let y = [1.0, 1.0 + 2f64.powi(-7)];
        let unrounded = [Unrounded::new(&a, &[1.0], Precision::Bf16F32)];
        let check = |z: [f64; 2]| against_f64(passed(), &unrounded, 1, &z);
        assert_eq!(check(y).rounding.map(|rounding| rounding.max), Some(0.0));
        // Two units in the last of eight digits.
        let off = check([1.0, 1.0 - 2f64.powi(-7)]);
        assert_eq!((off.verdict, off.row, off.rounding), (Verdict::Fail, Some(1), None));
        assert!(off.reason.unwrap().ends_with("which rounding to bf16:f32 allows"));
        let failed = Check { verdict: Verdict::Fail, ..Check::default() };
        let kept = against_f64(failed.clone(), &unrounded, 1, &y);
        assert_eq!(kept, failed);
        // Relative to nothing there is no error.
        let zero = Csr::from_triplets(1, 1, &[]).unwrap();
        let unrounded = [Unrounded::new(&zero, &[1.0], Precision::F32)];
        let none = against_f64(passed(), &unrounded, 1, &[0.0f32]);
        assert_eq!((none.verdict, none.rounding), (Verdict::Pass, None));
    }

    #[test]
    fn errors_of_several_columns_are_those_of_all_elements_and_a_wrong_one_is_named() {
        let a = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 1, 2.0)]).unwrap();
        // X has the rows (1, 3) and (2, 4), so Y has (3, 7) and (4, 8).
        let x = [1.0, 3.0, 2.0, 4.0];
        let unrounded =
            [Unrounded::of_columns(&a, ColumnRange::new(&x, 2, 0..2), Precision::Bf16F32)];
        let check = |z: [f32; 4]| against_f64(passed(), &unrounded, 2, &z);
        // Each value may be off by 2⁻⁸ of itself.
        let off = 2f32.powi(-7);
        let Rounding { max, norm, .. } = check([3.0, 7.0 + off, 4.0, 8.0 - off]).rounding.unwrap();
        assert_eq!(max, f64::from(off) / 8.0);
        let squares: f64 = 2.0 * f64::from(off).powi(2) / (9.0 + 49.0 + 16.0 + 64.0);
        assert_eq!(norm, squares.sqrt());
        let wrong = check([3.0, 7.0, 4.0, 8.0 - 8.0 * off]);
        assert_eq!((wrong.verdict, wrong.row), (Verdict::Fail, Some(1)));
        let reason = wrong.reason.unwrap();
        assert!(reason.starts_with("column 1: row 1 is 7.9375e0, expected 8e0"), "{reason}");
    }

    #[test]
    fn columns_computed_together_have_the_bits_of_each_alone() {
        // Every seventh row is empty, and one is full; there are more rows than a thread takes at a time.
        let (rows, cols, k) = (2 * CHUNK + 5, 40, 13);
        let of_row = |i: usize| {
            let len = if i == CHUNK + 1 { cols } else { i % 7 };
            (0..len).map(move |j| (i, (i * 3 + j) % cols, 0.1 + ((i * 31 + j) as f64).sin()))
        };
        let entries: Vec<_> = (0..rows).flat_map(of_row).collect();
        let a = Csr::from_triplets(rows, cols, &entries).unwrap();
        let x: Vec<f64> = (0..cols * k).map(|e| 1.0 + (e * 7 % 11) as f64).collect();
        let bits = |&(y, bound): &(f64, f64)| [y, bound].map(f64::to_bits);
        for precision in Precision::ALL {
            let together = [0..8, 8..13]
                .map(|of| Unrounded::of_columns(&a, ColumnRange::new(&x, k, of), precision));
            assert_eq!(together.each_ref().map(Unrounded::columns), [8, 5]);
            for j in 0..k {
                let column: Vec<f64> = x.iter().skip(j).step_by(k).copied().collect();
                let alone = Unrounded::new(&a, &column, precision);
                let Unrounded { columns, elements, .. } = &together[j / 8];
                let of_all = elements.iter().skip(j % 8).step_by(*columns).map(bits);
                let own: Vec<_> = alone.elements.iter().map(bits).collect();
                assert_eq!(of_all.collect::<Vec<_>>(), own, "column {j} in {precision:?}");
            }
        }
    }
}
