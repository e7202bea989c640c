//! What Gauss–Seidel requires of a matrix: it is square, and its diagonal has no missing or zero values.

use sparsescope_matrix::matrix::{Csr, Real};
use sparsescope_matrix::memory::{MemoryError, MemoryLimit, zeroed};
use sparsescope_matrix::parallel::*;

/// Why Gauss–Seidel cannot be applied to a matrix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OperandError {
    /// The numbers of rows and columns differ.
    #[error("Gauss–Seidel needs a square matrix, but this one is {rows} x {cols}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotSquare { rows: usize, cols: usize },
    /// A row has no diagonal nonzero.
    #[error(
        "Gauss–Seidel divides by the diagonal, but row {row} (0-based) has no diagonal nonzero"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    MissingDiagonal { row: usize },
    /// A diagonal value is zero.
    #[error("Gauss–Seidel divides by the diagonal, but row {row} (0-based) has a zero there")]
    #[expect(missing_docs, reason = "the message names the fields")]
    ZeroDiagonal { row: usize },
    /// The data structures do not fit into memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// The position of the diagonal in each row of a square matrix whose diagonal is complete and nonzero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagonal {
    /// Number of nonzeros of each row before its diagonal.
    before: Vec<u32>,
}

impl Diagonal {
    /// Finds the diagonal of every row; an error names the first row without one. The empty matrix is
    /// accepted.
    pub fn of<T: Real>(a: &Csr<T>, limit: MemoryLimit) -> Result<Self, OperandError> {
        let (rows, cols) = (a.rows(), a.cols());
        if rows != cols {
            return Err(OperandError::NotSquare { rows, cols });
        }
        limit.check("the places of the diagonal", 4 * rows as u128)?;
        let place = |i: usize| a.row(i).0.partition_point(|&c| (c as usize) < i);
        let bad = (0..rows).into_par_iter().find_map_first(|i| {
            let (col, val) = a.row(i);
            let at = place(i);
            if col.get(at) != Some(&(i as u32)) {
                return Some(OperandError::MissingDiagonal { row: i });
            }
            (val[at] == T::ZERO).then_some(OperandError::ZeroDiagonal { row: i })
        });
        match bad {
            Some(error) => Err(error),
            None => {
                const CHUNK: usize = 1 << 14;
                let mut before = zeroed(0u32, rows);
                before.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, before)| {
                    for (i, before) in (chunk * CHUNK..).zip(before) {
                        *before = place(i) as u32;
                    }
                });
                Ok(Self { before })
            }
        }
    }

    /// Whether these are the diagonal positions of `a`.
    pub fn is_of<T: Real>(&self, a: &Csr<T>) -> bool {
        let is_there = |i: usize| a.row(i).0.get(self.before[i] as usize) == Some(&(i as u32));
        (a.rows(), a.cols()) == (self.before.len(), self.before.len())
            && (0..a.rows()).into_par_iter().all(is_there)
    }

    /// Number of nonzeros of each row before its diagonal.
    pub fn before(&self) -> &[u32] {
        &self.before
    }

    /// Bytes of the positions.
    pub fn bytes(&self) -> u64 {
        4 * self.before.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Result<Diagonal, String> {
        let a = Csr::from_triplets(rows, cols, triplets).unwrap();
        Diagonal::of(&a, MemoryLimit::unlimited()).map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_row_without_a_diagonal_is_named_and_missing_is_not_zero() {
        let full = [(0, 0, 1.0), (1, 0, 1.0), (1, 1, -2.0), (2, 2, 3.0)];
        assert_eq!(of(3, 3, &full).unwrap().before(), [0, 1, 0]);
        let missing = of(3, 3, &[(0, 0, 1.0), (1, 0, 1.0), (1, 2, 1.0)]).unwrap_err();
        assert!(missing.contains("row 1 (0-based) has no diagonal nonzero"), "{missing}");
        let zero = of(2, 2, &[(0, 0, 1.0), (1, 1, -0.0)]).unwrap_err();
        assert!(zero.contains("row 1 (0-based) has a zero"), "{zero}");
        let wide = of(2, 3, &full[..1]).unwrap_err();
        assert!(wide.contains("this one is 2 x 3"), "{wide}");
        assert!(of(0, 0, &[]).is_ok());
    }

    #[test]
    fn a_diagonal_that_vanishes_in_single_precision_is_zero() {
        let a = Csr::from_triplets(1, 1, &[(0, 0, 1e-60)]).unwrap();
        assert!(Diagonal::of(&a, MemoryLimit::unlimited()).is_ok());
        let rounded = Diagonal::of(&a.map(|v| v as f32), MemoryLimit::unlimited());
        assert_eq!(rounded, Err(OperandError::ZeroDiagonal { row: 0 }));
    }

    #[test]
    fn memory_is_asked_for_first() {
        let a = Csr::from_triplets(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]).unwrap();
        let error = Diagonal::of(&a, MemoryLimit::bytes(7)).unwrap_err();
        assert!(matches!(error, OperandError::Memory(_)));
    }
}
