//! A matrix in the storage format used for SpMV.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::spmv::{RowParts, csr, hll, hyb};
use sparsescope_matrix::matrix::{Csr, DEFAULT_HACK_SIZE, FormatError, Hll, Hyb, Order};
use sparsescope_matrix::memory::MemoryLimit;

/// The formats that the iteration supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OperatorFormat {
    /// CSR.
    #[default]
    Csr,
    /// Up to this many nonzeros of each row in slots, the rest apart; none: [`Hyb::default_width`].
    Hyb {
        /// Slots per row.
        width: Option<usize>,
    },
    /// Hacks of [`DEFAULT_HACK_SIZE`] rows, each padded to its longest row.
    Hll,
}

impl OperatorFormat {
    /// The name used on the command line and in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Csr => "csr",
            Self::Hyb { .. } => "hyb",
            Self::Hll => "hll",
        }
    }
}

/// A square matrix ready to be applied.
#[derive(Clone, Debug)]
pub struct Operator {
    format: OperatorFormat,
    stored: Stored,
    rows: usize,
    nnz: usize,
    /// First row of each block, independent of the number of threads; a block ends where the next begins.
    bounds: Vec<usize>,
    /// For HYB, the tail nonzeros of each block.
    tails: Vec<Range<usize>>,
}

/// Approximate nonzeros per block: some ten microseconds of work, and small enough for a near cache.
const BLOCK: usize = 1 << 13;

#[derive(Clone, Debug)]
enum Stored {
    Csr(Arc<Csr>),
    Hyb(Arc<Hyb>),
    Hll(Arc<Hll>),
}

impl Operator {
    /// Converts the matrix to this format; CSR is shared, not copied. Fails before allocating if the format
    /// needs more than `limit`.
    pub fn new(
        a: &Arc<Csr>,
        format: OperatorFormat,
        limit: MemoryLimit,
    ) -> Result<Self, FormatError> {
        let stored = match format {
            OperatorFormat::Csr => Stored::Csr(Arc::clone(a)),
            OperatorFormat::Hyb { width } => {
                let width = width.unwrap_or_else(|| Hyb::default_width(a));
                Stored::Hyb(Arc::new(Hyb::from_csr(a, width, Order::RowMajor, limit)?))
            }
            OperatorFormat::Hll => {
                let hll = Hll::from_csr(a, DEFAULT_HACK_SIZE, Order::RowMajor, limit)?;
                Stored::Hll(Arc::new(hll))
            }
        };
        let count = a.nnz().div_ceil(BLOCK).clamp(1, a.rows().max(1));
        let mut bounds: Vec<usize> =
            RowParts::equal_entries(a.row_ptr(), count).iter().map(|rows| rows.start).collect();
        if matches!(stored, Stored::Hll(_)) {
            bounds.iter_mut().for_each(|row| *row = *row / DEFAULT_HACK_SIZE * DEFAULT_HACK_SIZE);
            bounds.dedup();
        }
        bounds.push(a.rows());
        let tails = match &stored {
            Stored::Hyb(a) => bounds.windows(2).map(|b| hyb::tail_of(a, &(b[0]..b[1]))).collect(),
            _ => Vec::new(),
        };
        Ok(Self { format, stored, rows: a.rows(), nnz: a.nnz(), bounds, tails })
    }

    /// The format.
    pub fn format(&self) -> OperatorFormat {
        self.format
    }

    /// Number of rows, which is also the number of columns.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of nonzeros.
    pub fn nnz(&self) -> usize {
        self.nnz
    }

    /// Bytes of the format's arrays.
    pub fn bytes(&self) -> u64 {
        match &self.stored {
            Stored::Csr(a) => a.bytes(),
            Stored::Hyb(a) => a.bytes(),
            Stored::Hll(a) => a.bytes(),
        }
    }

    /// Computes y = A·x, optionally in parallel on the ambient rayon pool, with identical bits. Panics unless
    /// x and y have one element per row.
    pub fn product(&self, x: &[f64], mut y: &mut [f64], parallel: bool) {
        assert_eq!(y.len(), self.rows, "y has one element a row");
        let mut parts = Vec::with_capacity(self.blocks());
        for block in 0..self.blocks() {
            let (part, rest) = std::mem::take(&mut y).split_at_mut(self.rows_of(block).len());
            parts.push((block, part));
            y = rest;
        }
        if parallel {
            parts.into_par_iter().for_each(|(block, y)| self.block(block, x, y));
        } else {
            parts.into_iter().for_each(|(block, y)| self.block(block, x, y));
        }
    }

    /// Number of blocks; the empty matrix has none.
    pub(super) fn blocks(&self) -> usize {
        self.bounds.len() - 1
    }

    /// The rows of a block.
    pub(super) fn rows_of(&self, block: usize) -> Range<usize> {
        self.bounds[block]..self.bounds[block + 1]
    }

    /// Computes y = (rows of a block) · x. Panics unless x has one element per column and y one per row of
    /// the block.
    pub(super) fn block(&self, block: usize, x: &[f64], y: &mut [f64]) {
        let rows = self.rows_of(block);
        match &self.stored {
            Stored::Csr(a) => csr::some_rows(a, rows, x, y),
            Stored::Hyb(a) => hyb::some_rows(a, rows, self.tails[block].clone(), x, y),
            Stored::Hll(a) => {
                let hack_size = a.shape().hack_size();
                let hacks = rows.start / hack_size..rows.end.div_ceil(hack_size);
                hll::some_hacks(a, hacks, x, y);
            }
        }
    }
}
