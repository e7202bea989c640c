//! Sources of a rank's rows: a recipe that generates any row, rows that were read, or a whole small
//! matrix.

use crate::generate::GeneratedRows;
use crate::matrix::{Csr, FormatError, RowOrder};

/// A matrix of which some rows can each be obtained independently, any number of times, always with the
/// same result. Rows and columns are numbered as in the whole matrix.
pub trait Rows: Sync {
    /// Rows m of the whole matrix.
    fn rows(&self) -> u64;
    /// Columns n of the whole matrix.
    fn cols(&self) -> u64;
    /// Number of nonzeros of row `i`, if it is known without generating the row.
    fn row_len(&self, i: u64) -> Option<usize>;
    /// Replaces the contents of `row` by the nonzeros of row `i`, by ascending column.
    fn row(&self, i: u64, row: &mut Vec<(u64, f64)>);
}

impl Rows for GeneratedRows {
    fn rows(&self) -> u64 {
        Self::rows(self) as u64
    }

    fn cols(&self) -> u64 {
        Self::cols(self) as u64
    }

    fn row_len(&self, i: u64) -> Option<usize> {
        Self::row_len(self, i as usize)
    }

    fn row(&self, i: u64, row: &mut Vec<(u64, f64)>) {
        let mut narrow = Vec::with_capacity(row.len());
        Self::row(self, i as usize, &mut narrow);
        row.clear();
        row.extend(narrow.into_iter().map(|(column, value)| (column.into(), value)));
    }
}

/// A whole matrix that fits in memory.
impl Rows for Csr {
    fn rows(&self) -> u64 {
        Self::rows(self) as u64
    }

    fn cols(&self) -> u64 {
        Self::cols(self) as u64
    }

    fn row_len(&self, i: u64) -> Option<usize> {
        Some(Self::row_len(self, i as usize))
    }

    fn row(&self, i: u64, row: &mut Vec<(u64, f64)>) {
        let (col, val) = Self::row(self, i as usize);
        row.clear();
        row.extend(col.iter().map(|&column| u64::from(column)).zip(val.iter().copied()));
    }
}

/// A contiguous range of rows of a matrix, with the columns of the whole matrix.
#[derive(Clone, Debug)]
pub struct RowBlock {
    first: u64,
    rows: u64,
    block: Csr,
}

impl RowBlock {
    /// The rows of `block` as rows `first..` of a matrix of `rows` rows; the columns are those of the
    /// whole matrix. Only these rows may be requested.
    pub fn new(first: u64, rows: u64, block: Csr) -> Self {
        Self { first, rows, block }
    }
}

impl Rows for RowBlock {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn cols(&self) -> u64 {
        self.block.cols() as u64
    }

    fn row_len(&self, i: u64) -> Option<usize> {
        Some(self.block.row_len((i - self.first) as usize))
    }

    fn row(&self, i: u64, row: &mut Vec<(u64, f64)>) {
        Rows::row(&self.block, i - self.first, row);
    }
}

/// P·A·Pᵀ row by row: a square matrix with renumbered rows and columns.
pub struct Renumbered<R> {
    source: R,
    order: RowOrder,
    positions: Vec<u32>,
}

impl<R: Rows> Renumbered<R> {
    /// Makes row and column `order[k]` of a square matrix row and column k. Fails when `order` is not a
    /// permutation of the rows.
    pub fn new(source: R, order: Vec<u32>) -> Result<Self, FormatError> {
        if source.rows() != source.cols() {
            let (rows, cols) = (source.rows(), source.cols());
            return Err(FormatError::Invariant(format!(
                "only a square matrix can be reordered symmetrically, found {rows} x {cols}"
            )));
        }
        let (found, expected) = (order.len() as u64, source.rows());
        if found != expected {
            return Err(FormatError::Length { array: "order", expected, found });
        }
        let order = RowOrder::try_new(order, 0)?;
        let positions = order.positions();
        Ok(Self { source, order, positions })
    }
}

impl<R: Rows> Rows for Renumbered<R> {
    fn rows(&self) -> u64 {
        self.source.rows()
    }

    fn cols(&self) -> u64 {
        self.source.cols()
    }

    fn row_len(&self, i: u64) -> Option<usize> {
        self.source.row_len(self.order.row_at(i as usize) as u64)
    }

    fn row(&self, i: u64, row: &mut Vec<(u64, f64)>) {
        self.source.row(self.order.row_at(i as usize) as u64, row);
        row.iter_mut().for_each(|(column, _)| *column = self.positions[*column as usize].into());
        row.sort_unstable_by_key(|&(column, _)| column);
    }
}
