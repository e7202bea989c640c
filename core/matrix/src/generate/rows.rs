//! Independent rows of a generated matrix, for callers that never hold all of it.

use super::assemble::{GenerateError, Rule};
use super::spec::GeneratorSpec;
use crate::memory::MemoryLimit;

/// The rows of a generated matrix, generated on request.
///
/// ```
/// use sparsescope_matrix::generate::{GeneratedRows, GeneratorSpec};
/// use sparsescope_matrix::memory::MemoryLimit;
/// let spec = GeneratorSpec::parse("stencil7?n=1000")?;
/// let rows = GeneratedRows::new(&spec, MemoryLimit::of_machine())?;
/// let mut row = Vec::new();
/// rows.row(500_500_500, &mut row);
/// assert_eq!((rows.rows(), row[3]), (1_000_000_000, (500_500_500, 6.0)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GeneratedRows(Box<dyn Rule>);

impl GeneratedRows {
    /// The rows of this recipe; data shared by all rows is built here, within `limit`.
    pub fn new(spec: &GeneratorSpec, limit: MemoryLimit) -> Result<Self, GenerateError> {
        Ok(Self(spec.rule(limit)?))
    }

    /// Rows m.
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// Columns n.
    pub fn cols(&self) -> usize {
        self.0.cols()
    }

    /// Number of nonzeros of row `i < rows()`, if it is known without generating the row.
    pub fn row_len(&self, i: usize) -> Option<usize> {
        self.0.row_len(i)
    }

    /// Replaces the contents of `row` by the nonzeros of row `i < rows()`, by ascending column.
    pub fn row(&self, i: usize, row: &mut Vec<(u32, f64)>) {
        row.clear();
        self.0.row(i, row);
        if !row.is_sorted_by_key(|&(column, _)| column) {
            row.sort_unstable_by_key(|&(column, _)| column);
        }
    }
}

impl std::fmt::Debug for GeneratedRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GeneratedRows").field("rows", &self.rows()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::generate;

    #[test]
    fn rows_on_their_own_are_those_of_the_matrix() {
        for spec in
            ["stencil27?n=4&nz=7", "random?m=50&row=9&n=30", "fem-hex?n=3&dof=2", "road?m=99"]
        {
            let spec = GeneratorSpec::parse(spec).unwrap();
            let a = generate(&spec, MemoryLimit::unlimited(), &false.into()).unwrap();
            let rows = GeneratedRows::new(&spec, MemoryLimit::unlimited()).unwrap();
            assert_eq!((rows.rows(), rows.cols()), (a.rows(), a.cols()));
            let mut row = Vec::new();
            for i in (0..a.rows()).rev() {
                rows.row(i, &mut row);
                let (col, val) = a.row(i);
                let whole: Vec<(u32, f64)> = col.iter().copied().zip(val.iter().copied()).collect();
                assert_eq!(row, whole, "row {i} of {spec}");
                assert_eq!(rows.row_len(i).unwrap_or(row.len()), row.len());
            }
        }
    }
}
