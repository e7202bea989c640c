//! The sparse arrays of `scipy.sparse.save_npz`.

use super::archive::Members;
use super::array::{Array, wrong};
use super::matrix::{AS_COLUMN, file_of};
use crate::io::error::quoted;
use crate::io::{IoError, MatrixFile, MatrixForm, Progress};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// Where nonzeros are.
enum Layout {
    /// Blocks, row by row or column by column; csr and csc have blocks of 1 × 1. The k-th row of blocks is
    /// at `pointers[k]..pointers[k + 1]` of `indices`, which has their columns.
    Compressed {
        by_column: bool,
        block: (u64, u64),
        pointers: Array<'static>,
        indices: Array<'static>,
    },
    /// Row and column of each nonzero.
    Coordinates { row: Array<'static>, col: Array<'static> },
    /// Both, one after the other, in an array of two rows, or of one for a vector.
    BothCoordinates { indices: Array<'static> },
    /// The diagonals at these distances above the main diagonal. The k-th value of each is in column k.
    Diagonals { offsets: Array<'static> },
}

/// A sparse array.
pub(super) struct Sparse {
    rows: u64,
    cols: u64,
    is_vector: bool,
    layout: Layout,
    values: Array<'static>,
}

impl Sparse {
    /// Reads the arrays and checks that they fit one another. Unless `whole`, indices and values are only read as
    /// far as [`extent`](Self::extent) needs them.
    pub(super) fn read(members: &mut Members<'_, '_>, whole: bool) -> Result<Self, IoError> {
        let word = members.array("format.npy", true)?.text();
        let shape = members.array("shape.npy", true)?;
        let (rows, cols, is_vector) = match shape.len() {
            1 => (shape.index(0)?, 1, true),
            2 => (shape.index(0)?, shape.index(1)?, false),
            count => return Err(wrong(shape.name, "1 or 2 dimensions", count)),
        };
        let values = members.array("data.npy", whole)?;
        values.check_numbers()?;
        let stored = values.shape().first().copied().unwrap_or(0);
        let layout = match word.as_slice() {
            b"csr" | b"csc" | b"bsr" => {
                // The one row that SciPy makes of a vector is read as a column.
                let by_column = is_vector || word == b"csc";
                let block = match *values.shape() {
                    [_, high, wide] if word == b"bsr" && !is_vector => (high, wide),
                    _ => {
                        values.check_shape(&[stored])?;
                        (1, 1)
                    }
                };
                let pointers = members.array("indptr.npy", true)?;
                let indices = members.array("indices.npy", whole)?;
                indices.check_shape(&[stored])?;
                let lines = lines((rows, cols), by_column, block)?;
                check_pointers(&pointers, lines, stored)?;
                Layout::Compressed { by_column, block, pointers, indices }
            }
            b"coo" => {
                values.check_shape(&[stored])?;
                if is_vector || members.has("coords.npy") {
                    let indices = members.array("coords.npy", whole)?;
                    indices.check_shape(&[if is_vector { 1 } else { 2 }, stored])?;
                    Layout::BothCoordinates { indices }
                } else {
                    let row = members.array("row.npy", whole)?;
                    row.check_shape(&[stored])?;
                    let col = members.array("col.npy", whole)?;
                    col.check_shape(&[stored])?;
                    Layout::Coordinates { row, col }
                }
            }
            b"dia" => {
                let width = values.shape().get(1).copied().unwrap_or(0);
                values.check_shape(&[stored, width])?;
                let offsets = members.array("offsets.npy", true)?;
                offsets.check_shape(&[stored])?;
                Layout::Diagonals { offsets }
            }
            _ => {
                let found = quoted(&word);
                return Err(wrong("format.npy", "csr, csc, coo, bsr or dia", found));
            }
        };
        Ok(Self { rows, cols, is_vector, layout, values })
    }

    pub(super) fn extent(&self) -> Result<Extent, IoError> {
        let (rows, cols, entries) = (self.rows, self.cols, self.most()?);
        // Zeros within diagonals are not stored, as by SciPy.
        let estimated = matches!(self.layout, Layout::Diagonals { .. });
        Ok(Extent { rows, cols, entries, estimated })
    }

    pub(super) fn matrix(
        &self,
        limit: MemoryLimit,
        progress: Progress<'_>,
    ) -> Result<MatrixFile, IoError> {
        let what = (MatrixForm::Npz, (self.rows, self.cols), self.most()?);
        let places = |take: &mut dyn FnMut(u64, u64, u64)| self.places(progress, take);
        let mut file = file_of(&self.values, what, &places, limit, progress)?;
        if self.is_vector {
            file.warnings.push(AS_COLUMN.to_owned());
        }
        Ok(file)
    }

    /// The number of nonzeros, or of the places on diagonals.
    fn most(&self) -> Result<u64, IoError> {
        match &self.layout {
            Layout::Compressed { block: (high, wide), pointers, .. } => {
                let blocks = pointers.index(pointers.len().saturating_sub(1))?;
                Ok(blocks.saturating_mul(*high).saturating_mul(*wide))
            }
            Layout::Diagonals { offsets } => {
                let mut most = 0u64;
                for k in 0..offsets.len() {
                    let (begin, end) = self.columns(offsets.integer(k)?);
                    most = most.saturating_add(end.saturating_sub(begin));
                }
                Ok(most)
            }
            _ => Ok(self.values.len()),
        }
    }

    /// The first column of a diagonal, and the one after the last.
    fn columns(&self, offset: i64) -> (u64, u64) {
        let width = self.values.shape().get(1).copied().unwrap_or(0);
        let end = i128::from(self.rows) + i128::from(offset);
        let end = u64::try_from(end).unwrap_or(0).min(self.cols).min(width);
        (u64::try_from(offset).unwrap_or(0), end)
    }

    /// Calls `take` with row and column of each nonzero, and the place of its value.
    fn places(
        &self,
        progress: Progress<'_>,
        take: &mut dyn FnMut(u64, u64, u64),
    ) -> Result<(), IoError> {
        /// Lines between checks for cancellation.
        const WAVE: u64 = 1 << 20;
        match &self.layout {
            Layout::Compressed { by_column, block, pointers, indices } => {
                let (high, wide) = *block;
                let mut put = |along: u64, across: u64, place: u64| match by_column {
                    true => take(across, along, place),
                    false => take(along, across, place),
                };
                for line in 0..lines((self.rows, self.cols), *by_column, *block)? {
                    if line.is_multiple_of(WAVE) {
                        progress.check()?;
                    }
                    for k in pointers.index(line)?..pointers.index(line + 1)? {
                        let at = indices.index(k)?;
                        if *block == (1, 1) {
                            put(line, at, k);
                            continue;
                        }
                        for (i, j) in (0..high).flat_map(|i| (0..wide).map(move |j| (i, j))) {
                            let along = line.saturating_mul(high).saturating_add(i);
                            let across = at.saturating_mul(wide).saturating_add(j);
                            put(along, across, self.values.place(&[k, i, j]));
                        }
                    }
                }
            }
            Layout::Coordinates { row, col } => {
                for k in 0..self.values.len() {
                    take(row.index(k)?, col.index(k)?, k);
                }
            }
            Layout::BothCoordinates { indices } => {
                for k in 0..self.values.len() {
                    let col = match self.is_vector {
                        true => 0,
                        false => indices.index(indices.place(&[1, k]))?,
                    };
                    take(indices.index(indices.place(&[0, k]))?, col, k);
                }
            }
            Layout::Diagonals { offsets } => {
                for k in 0..offsets.len() {
                    let offset = offsets.integer(k)?;
                    let (begin, end) = self.columns(offset);
                    for col in begin..end {
                        let place = self.values.place(&[k, col]);
                        let row = i128::from(col) - i128::from(offset);
                        if let Ok(row) = u64::try_from(row)
                            && !self.values.is_zero(place)
                        {
                            take(row, col, place);
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

/// The number of rows (or columns) of blocks.
fn lines(
    (rows, cols): (u64, u64),
    by_column: bool,
    (high, wide): (u64, u64),
) -> Result<u64, IoError> {
    match (rows.checked_rem(high), cols.checked_rem(wide)) {
        (Some(0), Some(0)) if by_column => Ok(cols / wide),
        (Some(0), Some(0)) => Ok(rows / high),
        _ => {
            let expected = format!("blocks that divide a {rows} x {cols} matrix");
            Err(wrong("data.npy", expected, format!("blocks of {high} x {wide}")))
        }
    }
}

/// Fails unless the pointers ascend from 0 to at most `stored`, one more than there are lines.
fn check_pointers(pointers: &Array<'_>, lines: u64, stored: u64) -> Result<(), IoError> {
    pointers.check_shape(&[lines.saturating_add(1)])?;
    let mut before = 0;
    for k in 0..pointers.len() {
        let pointer = pointers.index(k)?;
        if pointer < before || pointer > stored || (k == 0 && pointer > 0) {
            let expected = match k {
                0 => "0 in place 1".to_owned(),
                _ => format!("from {before} to {stored} in place {}", k + 1),
            };
            return Err(wrong(pointers.name, expected, pointer));
        }
        before = pointer;
    }
    Ok(())
}
