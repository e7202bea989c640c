//! Makes any matrix diagonally dominant.

use super::assemble::Rule;

/// The rows of another rule with the diagonal replaced by 1.1·Σ|off-diagonal| + 1 wherever the matrix
/// has a diagonal. Each diagonal value exceeds the sum of the others by a tenth plus one, so that
/// Gauss–Seidel and Jacobi converge and, if the rule is symmetric, the matrix is positive definite.
pub(super) struct Dominant(pub(super) Box<dyn Rule>);

impl Rule for Dominant {
    fn rows(&self) -> usize {
        self.0.rows()
    }
    fn cols(&self) -> usize {
        self.0.cols()
    }
    fn most_entries(&self) -> u128 {
        self.0.most_entries() + self.rows() as u128
    }
    fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        self.0.row(i, row);
        if i < self.cols() {
            row.retain(|&(column, _)| column as usize != i);
            let others: f64 = row.iter().map(|(_, value)| value.abs()).sum();
            row.push((i as u32, 1.1 * others + 1.0));
        }
    }
}
