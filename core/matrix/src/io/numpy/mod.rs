//! Files of NumPy and SciPy. `.npz` holds a sparse array as `scipy.sparse.save_npz` writes it, in the layouts
//! csr, csc, coo, bsr and dia, or one dense array; `.npy` holds a dense array. Of a dense array zeros are not
//! stored, as of a Matrix Market file `array`. An array of one dimension is a column.
//!
//! The forms are described in NumPy's `numpy.lib.format` and in the source of `scipy.sparse.save_npz`.

mod archive;
mod array;
mod dense;
mod matrix;
mod sparse;
#[cfg(test)]
mod tests;
#[cfg(not(target_family = "wasm"))]
mod write;

pub(super) use self::dense::{points, points_extent};
#[cfg(not(target_family = "wasm"))]
pub use self::write::{write_npy, write_npz};

use self::archive::Members;
use self::array::MAGIC;
use self::sparse::Sparse;
use super::{IoError, MatrixFile, Progress};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// Whether the data begins like a `.npy` file.
pub(super) fn is_array(data: &[u8]) -> bool {
    data.starts_with(MAGIC)
}

/// Whether the data begins like one of these files.
pub(super) fn is_meant(data: &[u8]) -> bool {
    is_array(data) || is_archive(data)
}

/// Whether the data begins like a `.npz` file: a zip archive whose first member is a `.npy` file.
pub(super) fn is_archive(data: &[u8]) -> bool {
    let Some(length) = data.get(26..28).and_then(|bytes| bytes.first_chunk::<2>()) else {
        return false;
    };
    let name = data.get(30..).unwrap_or_default();
    let name = name.get(..usize::from(u16::from_le_bytes(*length))).unwrap_or(name);
    data.starts_with(b"PK\x03\x04") && name.ends_with(b".npy")
}

/// Reads a sparse or dense matrix.
pub(super) fn read(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let read = match sparse_members(data, limit, progress)? {
        Some(mut members) => Sparse::read(&mut members, true)?.matrix(members.limit(), progress)?,
        None => dense::matrix(data, limit, progress)?,
    };
    progress.advance(data.len());
    Ok(read)
}

/// The sizes of a sparse or dense matrix.
pub(super) fn extent(data: &[u8]) -> Result<Extent, IoError> {
    let limit = MemoryLimit::of_machine();
    match sparse_members(data, limit, Progress::none())? {
        Some(mut members) => Sparse::read(&mut members, false)?.extent(),
        None => dense::extent(data, limit),
    }
}

/// Reads a vector, or a column of an array, if the data has one of these forms.
pub(super) fn vector(
    data: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Option<Result<Vec<f64>, IoError>> {
    is_meant(data).then(|| dense::vector(data, column, limit, progress))
}

/// The rows of a dense array; `None` for sparse arrays and other data.
pub(super) fn rows(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<matrix::Rows>, IoError> {
    if !is_meant(data) || sparse_members(data, limit, progress)?.is_some() {
        return Ok(None);
    }
    dense::rows(data, limit, progress).map(Some)
}

/// The archive of a sparse array.
fn sparse_members<'a, 'p>(
    data: &'a [u8],
    limit: MemoryLimit,
    progress: Progress<'p>,
) -> Result<Option<Members<'a, 'p>>, IoError> {
    if is_array(data) {
        return Ok(None);
    }
    Members::open(data, limit, progress).map(|members| Some(members).filter(Members::are_sparse))
}
