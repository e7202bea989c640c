//! The check of Y = A·X: each column is checked as the result of an SpMV.

use super::block::{COLUMNS_AT_ONCE, ColumnRange};
use super::row_errors::{BLOCK, ROWS, RowErrors};
use super::spmv::{Reference, Row};
use sparsescope_matrix::matrix::{Csr, Real};
use sparsescope_matrix::parallel::*;
use sparsescope_record::{Check, Verdict};

/// The references of adjacent columns of Y: for each column what [`Reference::new`] computes, in one pass over A.
#[derive(Clone, Debug)]
pub struct BlockReference {
    columns: usize,
    /// Stored by rows.
    elements: Reference,
}

impl BlockReference {
    /// Computes the reference of results in the precision of `a` and X. Panics unless X has n rows.
    pub fn new<T: Real>(a: &Csr<T>, x: ColumnRange<'_, T>) -> Self {
        assert_eq!(x.rows(), a.cols(), "X has a row for each column");
        let elements = Reference::of_elements((a.rows(), x.count()), 0, |i, _, found| {
            let (col, val) = a.row(i);
            let mut sums = [[0.0; COLUMNS_AT_ONCE]; 2];
            for (&c, &v) in col.iter().zip(val) {
                let (v, x): (f64, _) = (v.into(), x.row(c));
                match x.first_chunk::<COLUMNS_AT_ONCE>() {
                    // The compiler knows the number of columns.
                    Some(x) => add(&mut sums, v, x),
                    None => add(&mut sums, v, x),
                }
            }
            let (len, [y, size]) = (col.len() as f64, sums);
            for (j, (&y, &size)) in y.iter().zip(&size).take(x.count()).enumerate() {
                let factors =
                    |(&c, &v): (&u32, &T)| -> (f64, f64) { (v.into(), x.row(c)[j].into()) };
                found.push(Row::of_sums::<T>([len, y, size], col.iter().zip(val).map(factors)));
            }
        });
        Self { columns: x.count(), elements }
    }

    /// The number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn rows(&self) -> usize {
        self.elements.y().len() / self.columns
    }
}

/// Adds the term of a nonzero to the sum of each column, and its size to the sum of the sizes.
#[cfg_attr(not(target_family = "wasm"), inline(always))]
fn add<T: Real>([y, size]: &mut [[f64; COLUMNS_AT_ONCE]; 2], v: f64, x: &[T]) {
    for ((y, size), &x) in y.iter_mut().zip(size).zip(x) {
        let x: f64 = x.into();
        let term = v * x;
        *y += term;
        *size += term.abs();
    }
}

/// Checks Y of k columns, stored by rows. The references of its columns follow each other; there may be more. The error
/// measures are those of all its elements; a wrong or undecided element is named with its column. Panics if a column
/// has no reference.
pub fn check_columns<T: Real>(references: &[BlockReference], k: usize, y: &[T]) -> Check {
    let rows = references.first().map_or(0, BlockReference::rows);
    if y.len() != rows * k {
        let reason = format!("the result has {} elements, expected {rows} x {k}", y.len());
        return Check { verdict: Verdict::Fail, reason: Some(reason), ..Check::default() };
    }
    // Each with the number of its first column.
    let mut numbered: Vec<(usize, &BlockReference)> = Vec::new();
    let mut next = 0;
    for reference in references {
        if next < k {
            numbered.push((next, reference));
            next += reference.columns;
        }
    }
    assert!(next >= k, "each column has a reference");
    let count = numbered.len();
    let parts: Vec<Vec<RowErrors>> = (0..rows.div_ceil(BLOCK) * count)
        .into_par_iter()
        .map(|part| {
            let (b, (first, reference)) = (part / count, numbered[part % count]);
            let mut errors = vec![RowErrors::default(); reference.columns.min(k - first)];
            let (end, mut found) = (rows.min((b + 1) * BLOCK), Vec::<f64>::new());
            for start in (b * BLOCK..end).step_by(ROWS) {
                let y = &y[start * k..end.min(start + ROWS) * k];
                for (j, errors) in errors.iter_mut().enumerate() {
                    found.clear();
                    found.extend(y.chunks_exact(k).map(|row| -> f64 { row[first + j].into() }));
                    let at = (start * reference.columns + j, reference.columns);
                    *errors = reference.elements.add_errors(*errors, start as u64, at, &found);
                }
            }
            errors
        })
        .collect();
    let mut errors = vec![RowErrors::default(); k];
    for (part, of_part) in parts.into_iter().enumerate() {
        let (first, _) = numbered[part % count];
        for (all, own) in errors.iter_mut().skip(first).zip(of_part) {
            *all = all.join(own);
        }
    }
    let all = errors.iter().fold(RowErrors::default(), |all, &column| all.join(column)).check();
    let of_columns = || errors.iter().map(RowErrors::check).enumerate();
    match of_columns().find(|(_, own)| own.verdict == all.verdict) {
        Some((j, own)) if all.verdict != Verdict::Pass => {
            let reason = own.reason.map(|reason| format!("column {j}: {reason}"));
            Check { reason, row: own.row, ..all }
        }
        _ => all,
    }
}

#[cfg(test)]
mod tests {
    use super::super::row_errors::Compared;
    use super::super::spmv::CHUNK;
    use super::*;
    use sparsescope_matrix::matrix::examples;

    /// The references for X of K columns.
    fn references<T: Real, const K: usize>(a: &Csr<T>, x: &[[T; K]]) -> Vec<BlockReference> {
        let firsts = (0..K).step_by(COLUMNS_AT_ONCE);
        let columns = |first: usize| first..K.min(first + COLUMNS_AT_ONCE);
        let of = |first: usize| {
            BlockReference::new(a, ColumnRange::new(x.as_flattened(), K, columns(first)))
        };
        firsts.map(of).collect()
    }

    /// Y of the 5 × 5 example for the columns 1…5 and ones, worked out by hand, and its references.
    fn example() -> (Vec<BlockReference>, Vec<f64>) {
        let x = [[1.0, 1.0], [2.0, 1.0], [3.0, 1.0], [4.0, 1.0], [5.0, 1.0]];
        let references = references(&examples::five_by_five(), &x);
        (references, vec![11.0, 7.0, 13.0, 6.0, 8.0, 3.0, 18.0, 5.0, 34.0, 7.0])
    }

    #[test]
    fn a_right_result_passes_and_its_measures_are_those_of_all_columns() {
        let (references, mut y) = example();
        let check = check_columns(&references, 2, &y);
        assert_eq!(
            (check.verdict, check.worst, check.rel_err),
            (Verdict::Pass, Some(0.0), Some(0.0))
        );
        // Row 4 of the first column: the bound is 2·2·2⁻⁵³·34, and neighbours of 34 are 2⁻⁴⁷ apart.
        y[8] = 34f64.next_up();
        let check = check_columns(&references, 2, &y);
        assert_eq!((check.verdict, check.worst), (Verdict::Pass, Some(64.0 / 136.0)));
        let norm: f64 = example().1.iter().map(|y| y * y).sum();
        assert_eq!(check.rel_err, Some((2f64.powi(-94) / norm).sqrt()));
    }

    #[test]
    fn a_wrong_element_is_named_with_its_column() {
        let (references, mut y) = example();
        y[5] = 3.000001;
        y[9] = f64::NAN;
        let check = check_columns(&references, 2, &y);
        assert_eq!((check.verdict, check.row), (Verdict::Fail, Some(2)));
        let reason = check.reason.unwrap();
        assert!(reason.starts_with("column 1: row 2 is 3.000001e0"), "{reason}");
        assert!(reason.ends_with("2 of 5 rows are wrong"), "{reason}");
    }

    #[test]
    fn every_column_of_every_block_of_rows_is_checked() {
        let a = Csr::from_triplets(1, 1, &[(0, 0, 2.0)]).unwrap();
        let of_19 = references(&a, &[std::array::from_fn::<f64, 19, _>(|j| j as f64)]);
        let mut y: Vec<f64> = (0..19).map(|j| 2.0 * f64::from(j)).collect();
        assert_eq!(check_columns(&of_19, 19, &y).verdict, Verdict::Pass);
        y[18] = 0.0;
        let reason = check_columns(&of_19, 19, &y).reason.unwrap();
        assert!(reason.starts_with("column 18: row 0 is 0e0, expected 3.6e1"), "{reason}");
        // The first columns have the same references.
        assert_eq!(check_columns(&of_19, 18, &y[..18]).verdict, Verdict::Pass);
        y[9] = 0.0;
        let reason = check_columns(&of_19, 10, &y[..10]).reason.unwrap();
        assert!(reason.starts_with("column 9: row 0 is 0e0, expected 1.8e1"), "{reason}");
        let last = 2 * BLOCK;
        let a = Csr::from_triplets(last + 1, 1, &[(last, 0, 1.0)]).unwrap();
        let references = references(&a, &[[2.0, 3.0]]);
        let mut y = vec![0.0; 2 * last];
        y.extend([2.0, 3.0]);
        assert_eq!(check_columns(&references, 2, &y).verdict, Verdict::Pass);
        y[2 * last + 1] = 2.0;
        let wrong = check_columns(&references, 2, &y);
        assert_eq!((wrong.verdict, wrong.row), (Verdict::Fail, Some(last as u64)));
        assert!(wrong.reason.unwrap().starts_with("column 1: "));
    }

    #[test]
    fn an_undecided_column_makes_the_result_undecided_unless_another_is_wrong() {
        let a = examples::dense(&[[1e308, 1e308, -1e308]; 3]);
        let references = references(&a, &[[1.0, 0.0]; 3]);
        let infinite = f64::INFINITY;
        let undecided = check_columns(&references, 2, &[infinite, 0.0, 1e308, 0.0, 1e308, 0.0]);
        assert_eq!((undecided.verdict, undecided.undecided), (Verdict::Refused, true));
        assert!(undecided.reason.unwrap().starts_with("column 0: row 0 is inf"));
        let wrong = check_columns(&references, 2, &[infinite, 0.0, 1e308, 0.0, 1e308, 1.0]);
        assert_eq!((wrong.verdict, wrong.row), (Verdict::Fail, Some(2)));
        assert!(wrong.reason.unwrap().starts_with("column 1: row 2 is 1e0"));
    }

    #[test]
    fn a_result_of_another_size_fails() {
        let check = check_columns(&example().0, 2, &[0.0; 5]);
        let reason = "the result has 5 elements, expected 5 x 2";
        assert_eq!((check.verdict, check.reason.as_deref()), (Verdict::Fail, Some(reason)));
    }

    /// Compares the references of X in f64 or f32 with those of its columns, element by element.
    fn each_column_has_the_bits_of_its_own_reference<T: Real>(a: &Csr<T>, x: &[[T; 13]]) {
        let bits = |of: Compared| {
            let numbers = [of.expected, of.allowed, of.share].map(f64::to_bits);
            (numbers, of.judged)
        };
        let together = references(a, x);
        assert_eq!(together.iter().map(BlockReference::columns).collect::<Vec<_>>(), [8, 5]);
        for j in 0..13 {
            let column: Vec<T> = x.iter().map(|row| row[j]).collect();
            let alone = Reference::new(a, &column);
            let BlockReference { columns, elements } = &together[j / COLUMNS_AT_ONCE];
            for i in 0..a.rows() {
                let at = i * columns + j % COLUMNS_AT_ONCE;
                for found in [alone.y()[i], 0.0, f64::INFINITY, f64::NAN] {
                    let [own, of_all] = [alone.compared(i, found), elements.compared(at, found)];
                    assert_eq!(bits(own), bits(of_all), "row {i}, column {j}, {found}");
                }
            }
        }
    }

    #[test]
    fn columns_computed_together_have_the_bits_of_each_alone_and_of_the_serial_product() {
        let (rows, cols) = (2 * CHUNK + 5, 40);
        let value = |i: usize, j: usize| 1.0 / (1.0 + (i * 31 + j * 17) as f64) - 0.001;
        // Every seventh row is empty, and one is full.
        let of_row = |i: usize| {
            let len = if i == CHUNK + 1 { cols } else { i % 7 };
            (0..len).map(move |j| (i, (i * 3 + j) % cols, value(i, j)))
        };
        let entries: Vec<_> = (0..rows).flat_map(of_row).collect();
        let a = Csr::from_triplets(rows, cols, &entries).unwrap();
        let x: Vec<[f64; 13]> = (0..cols)
            .map(|c| std::array::from_fn(|j| 0.1 + ((c * 7 + j * 5) % 11) as f64 / 3.0))
            .collect();
        each_column_has_the_bits_of_its_own_reference(&a, &x);
        let mut y = vec![0.0; rows * 13];
        crate::spmm::serial(&a, 13, x.as_flattened(), &mut y);
        for (k, reference) in references(&a, &x).iter().enumerate() {
            let of_serial = y.chunks(13).flat_map(|row| row[k * 8..].iter().take(8));
            let of_serial: Vec<u64> = of_serial.map(|y| y.to_bits()).collect();
            let of_reference = reference.elements.y().iter().map(|y| y.to_bits());
            assert_eq!(of_reference.collect::<Vec<_>>(), of_serial);
        }
        let single: Vec<[f32; 13]> = x.iter().map(|row| row.map(|x| x as f32)).collect();
        each_column_has_the_bits_of_its_own_reference(&a.map(|v| v as f32), &single);
        // Sums that overflow, and what is not finite.
        let odd = examples::dense(&[[1e308, 1e308, -1e308], [0.0, f64::INFINITY, 1.0]]);
        let x = [[1.0; 13], [0.5; 13], std::array::from_fn(|j| [1.0, f64::NAN][j % 2])];
        each_column_has_the_bits_of_its_own_reference(&odd, &x);
    }
}
