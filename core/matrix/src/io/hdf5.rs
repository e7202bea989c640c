//! Matrices and vectors in HDF5 files, as MATLAB 7.3, Octave, 10x Genomics and AnnData store them. The library
//! hdf5-pure reads the file; the sizes that it declares are checked before.

mod dataset;
mod found;
#[cfg(test)]
mod tests;

use self::dataset::Source;
use self::found::{Found, Held, find, find_companion, find_vector};
use super::{IoError, MatrixFile, MatrixForm, Progress, ReadOptions};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// Whether the first bytes are those of an HDF5 file, also below a header of MATLAB.
pub(super) fn is_meant(_: &str, data: &[u8]) -> bool {
    data.starts_with(b"\x89HDF\r\n\x1a\n") || data.starts_with(b"MATLAB 7.3 MAT-file")
}

/// Reads the matrix.
pub(super) fn read(
    data: &[u8],
    options: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let wanted = options.variable.as_deref();
    let (held, warning) = apart(|| {
        let mut source = Source::open(data, limit, progress)?;
        let (found, warning) = find(&mut source, wanted)?;
        Ok((Held::read(&found, &mut source)?, warning))
    })?;
    let limit = MemoryLimit::bytes(limit.get().saturating_sub(held.bytes()));
    let mut file = held.array().read(MatrixForm::Hdf5, limit, progress)?;
    file.warnings.splice(0..0, warning);
    progress.advance(data.len());
    Ok(file)
}

/// The sizes of the matrix. Its values and their indices are not read.
pub(super) fn extent(data: &[u8], options: &ReadOptions) -> Result<Extent, IoError> {
    let wanted = options.variable.as_deref();
    apart(|| {
        let mut source = Source::open(data, MemoryLimit::of_machine(), Progress::none())?;
        let (found, _) = find(&mut source, wanted)?;
        found.extent(&mut source)
    })
}

/// The only vector of an HDF5 file, or a column of its only array; `None` for other files.
pub(super) fn vector(
    data: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Option<Result<Vec<f64>, IoError>> {
    is_meant("", data).then(|| {
        let any_size = column.is_some();
        let of = (column, limit, progress);
        let found = found_vector(data, of, |source| find_vector(source, any_size).map(Some))?;
        Ok(found.unwrap_or_default())
    })
}

/// The vector beside the matrix of an HDF5 file: the first of these names that it has, at the top or in the struct
/// `Problem`. `None` for other files.
pub(super) fn companion(
    data: &[u8],
    (names, column): (&[&str], Option<u32>),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Option<Result<Option<Vec<f64>>, IoError>> {
    is_meant("", data).then(|| {
        let of = (column, limit, progress);
        found_vector(data, of, |source| find_companion(source, names))
    })
}

/// The vector that is found, or a column of the array.
fn found_vector(
    data: &[u8],
    (column, limit, progress): (Option<u32>, MemoryLimit, Progress<'_>),
    find: impl FnOnce(&mut Source<'_>) -> Result<Option<Found>, IoError> + Send,
) -> Result<Option<Vec<f64>>, IoError> {
    let held = apart(|| {
        let mut source = Source::open(data, limit, progress)?;
        find(&mut source)?.map(|found| Held::read(&found, &mut source)).transpose()
    })?;
    let Some(held) = held else { return Ok(None) };
    let limit = MemoryLimit::bytes(limit.get().saturating_sub(held.bytes()));
    held.array().vector(column, limit, progress).map(Some)
}

/// Does the work on a thread of its own. The library may panic on a damaged file, which then ends only this
/// thread, and descends once per level of nested datatypes, of which a header of 64 KiB holds 8,192.
fn apart<T: Send>(work: impl FnOnce() -> Result<T, IoError> + Send) -> Result<T, IoError> {
    const STACK: usize = 128 << 20;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| IoError::System { doing: "start a thread", error })?;
        thread
            .join()
            .unwrap_or_else(|_| Err(IoError::Stored("the HDF5 file is damaged".to_owned())))
    })
}
