//! Checks whether a matrix is suitable for conjugate gradients.

use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::parallel::*;

/// What prevents a matrix from being symmetric positive definite, as far as its nonzeros show. Rows and
/// columns are 0-based.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotSpd {
    /// The numbers of rows and columns differ.
    #[error("conjugate gradients need a square matrix, but this one is {rows} x {cols}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotSquare { rows: usize, cols: usize },
    /// A value is a NaN or infinity.
    #[error("row {row} has {value} in column {col} (0-based), which is not finite")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotFinite { row: usize, col: usize, value: f64 },
    /// A row has no diagonal entry.
    #[error(
        "conjugate gradients need a positive diagonal, but row {row} (0-based) has no diagonal \
        nonzero"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    MissingDiagonal { row: usize },
    /// A diagonal entry is not positive.
    #[error(
        "conjugate gradients need a positive diagonal, but row {row} (0-based) has {value} there"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    Diagonal { row: usize, value: f64 },
    /// Two mirrored entries differ; one that is not stored is 0.
    #[error(
        "conjugate gradients need a symmetric matrix, but row {row} (0-based) has {value} in \
        column {col} while row {col} has {mirrored} in column {row}"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotSymmetric { row: usize, col: usize, value: f64, mirrored: f64 },
}

/// Mirrored entries may differ by this fraction of the largest value.
pub const SYMMETRY: f64 = 1e-12;

/// Checks that the matrix is square and finite with a positive diagonal, and that |a_ij − a_ji| ≤
/// 1e-12·max|a|. The error names the first offending row. Whether the matrix is positive definite only shows
/// during the iteration.
pub fn check_spd(a: &Csr) -> Result<(), NotSpd> {
    let (rows, cols) = (a.rows(), a.cols());
    if rows != cols {
        return Err(NotSpd::NotSquare { rows, cols });
    }
    let first = |look: &(dyn Fn(usize) -> Option<NotSpd> + Sync)| {
        (0..rows).into_par_iter().find_map_first(look).map_or(Ok(()), Err)
    };
    first(&|row| {
        let (col, val) = a.row(row);
        let at = val.iter().position(|v| !v.is_finite())?;
        Some(NotSpd::NotFinite { row, col: col[at] as usize, value: val[at] })
    })?;
    let largest = a.val().iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
    first(&|row| {
        let (col, val) = a.row(row);
        match col.binary_search(&(row as u32)) {
            Err(_) => return Some(NotSpd::MissingDiagonal { row }),
            Ok(at) if val[at] <= 0.0 => return Some(NotSpd::Diagonal { row, value: val[at] }),
            Ok(_) => {}
        }
        col.iter().zip(val).find_map(|(&c, &value)| {
            let (mirror, values) = a.row(c as usize);
            let mirrored = mirror.binary_search(&(row as u32)).map_or(0.0, |at| values[at]);
            let differ = (value - mirrored).abs() > SYMMETRY * largest;
            differ.then_some(NotSpd::NotSymmetric { row, col: c as usize, value, mirrored })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentence(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> String {
        let a = Csr::from_triplets(rows, cols, triplets).unwrap();
        check_spd(&a).map_or_else(|error| error.to_string(), |()| String::new())
    }

    #[test]
    fn each_fault_has_its_sentence_with_the_row() {
        let good = [(0, 0, 2.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 2.0)];
        assert_eq!(sentence(2, 2, &good), "");
        assert!(sentence(2, 3, &good).contains("this one is 2 x 3"));
        let with = |k: usize, value| {
            let mut entries = good;
            entries[k].2 = value;
            sentence(2, 2, &entries)
        };
        assert!(with(3, -2.0).ends_with("row 1 (0-based) has -2 there"));
        assert!(with(0, 0.0).ends_with("row 0 (0-based) has 0 there"));
        assert!(with(2, f64::NAN).contains("row 1 has NaN in column 0"));
        assert!(with(3, f64::INFINITY).contains("row 1 has inf in column 1"));
        let upper = with(1, -1.5);
        assert!(
            upper.contains("row 0 (0-based) has -1.5 in column 1 while row 1 has -1"),
            "{upper}"
        );
        assert!(sentence(2, 2, &good[..3]).contains("row 1 (0-based) has no diagonal nonzero"));
        let one_sided = sentence(2, 2, &[good[0], good[2], good[3]]);
        assert!(one_sided.contains("row 1 (0-based) has -1 in column 0 while row 0 has 0"));
    }

    #[test]
    fn symmetry_is_measured_against_the_largest_entry() {
        let pair = |off: f64| [(0, 0, 1e3), (0, 1, 1.0), (1, 0, 1.0 + off), (1, 1, 1.0)];
        assert_eq!(sentence(2, 2, &pair(0.9e-9)), "");
        assert!(sentence(2, 2, &pair(1.1e-9)).contains("symmetric"));
    }
}
