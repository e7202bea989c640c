//! Writes a matrix as PETSc's MatView does.

use std::io::Write;

use super::MATRIX;
use crate::io::{AnyMatrix, IoError, Progress};

/// Writes a matrix with values of 8 bytes, or 8 + 8 for complex ones, and integers of 4 bytes, or 8 where those do
/// not suffice.
pub fn write_petsc(
    a: &AnyMatrix,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let (row_ptr, col) = match a {
        AnyMatrix::Real(a) => (a.row_ptr(), a.col()),
        AnyMatrix::Complex(a) => (a.row_ptr(), a.col()),
    };
    let header = [MATRIX as u64, a.rows() as u64, a.cols() as u64, a.nnz() as u64];
    let is_wide = header.iter().any(|size| *size > i32::MAX as u64);
    let integer = |n: u64, block: &mut Vec<u8>| match is_wide {
        true => block.extend(n.to_be_bytes()),
        false => block.extend((n as u32).to_be_bytes()),
    };
    let sizes = |k: usize| header.get(k).copied().unwrap_or_default();
    let columns = |k: usize| u64::from(col.get(k).copied().unwrap_or_default());
    put(header.len(), &|k, block| integer(sizes(k), block), out, progress)?;
    put(a.rows(), &|i, block| integer(row_ptr.range(i).len() as u64, block), out, progress)?;
    put(a.nnz(), &|k, block| integer(columns(k), block), out, progress)?;
    let value = |k: usize, block: &mut Vec<u8>| match a {
        AnyMatrix::Real(a) => {
            block.extend(a.val().get(k).copied().unwrap_or_default().to_be_bytes());
        }
        AnyMatrix::Complex(a) => {
            let value = a.val().get(k).copied().unwrap_or_default();
            block.extend(value.re.to_be_bytes());
            block.extend(value.im.to_be_bytes());
        }
    };
    put(a.nnz(), &value, out, progress)
}

/// Writes what `append` appends for 0 to `count`.
fn put(
    count: usize,
    append: &dyn Fn(usize, &mut Vec<u8>),
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    const WAVE: usize = 1 << 15;
    let mut block = Vec::new();
    for first in (0..count).step_by(WAVE) {
        progress.check()?;
        block.clear();
        (first..count.min(first + WAVE)).for_each(|k| append(k, &mut block));
        out.write_all(&block).map_err(|error| IoError::System { doing: "write", error })?;
        progress.advance(block.len());
    }
    Ok(())
}
