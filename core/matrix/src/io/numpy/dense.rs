//! Dense arrays: matrices, vectors and points.

use std::borrow::Cow;

use super::archive::Members;
use super::array::{Array, Kind, MAGIC, wrong};
use super::matrix::{AS_COLUMN, Rows, file_of};
use crate::io::error::rounded_integers;
use crate::io::{IoError, MatrixFile, MatrixForm, Progress};
use crate::matrix::{Extent, Points, PointsExtent};
use crate::memory::MemoryLimit;

/// Values between checks for cancellation.
const WAVE: u64 = 1 << 20;

/// The array of a `.npy` file or the only one of a `.npz` file, and what it leaves of the limit. Unless `whole`,
/// only its beginning is read.
fn open<'a>(
    data: &'a [u8],
    whole: bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Array<'a>, MemoryLimit), IoError> {
    let name = "the array";
    if !data.starts_with(MAGIC) {
        let mut members = Members::open(data, limit, progress)?;
        return Ok((members.only(whole)?, members.limit()));
    }
    let array = match whole {
        true => Array::whole(name, Cow::Borrowed(data))?,
        false => Array::beginning(name, Cow::Borrowed(data))?,
    };
    Ok((array, limit))
}

pub(super) fn matrix(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let (array, limit) = open(data, true, limit, progress)?;
    let (rows, cols) = array.sizes()?;
    let places = |take: &mut dyn FnMut(u64, u64, u64)| -> Result<(), IoError> {
        // Row by row, whatever the order in the file.
        let filled = if cols == 0 { 0 } else { rows };
        let mut passed = 0u64;
        for row in 0..filled {
            for col in 0..cols {
                let place = array.place(&[row, col]);
                if !array.is_zero(place) {
                    take(row, col, place);
                }
                if passed.is_multiple_of(WAVE) {
                    progress.check()?;
                }
                passed += 1;
            }
        }
        Ok(())
    };
    let what = (MatrixForm::Npy, (rows, cols), array.len());
    file_of(&array, what, &places, limit, progress)
}

/// The sizes of a matrix. Zeros are not stored.
pub(super) fn extent(data: &[u8], limit: MemoryLimit) -> Result<Extent, IoError> {
    let (array, _) = open(data, false, limit, Progress::none())?;
    let (rows, cols) = array.sizes()?;
    array.check_numbers()?;
    Ok(Extent { rows, cols, entries: array.len(), estimated: true })
}

/// Opens an array of real numbers; returns its rows and columns too.
fn open_real<'a>(
    data: &'a [u8],
    whole: bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Array<'a>, (u64, u64), MemoryLimit), IoError> {
    let (array, limit) = open(data, whole, limit, progress)?;
    array.check_numbers()?;
    if array.kind() == Kind::Complex {
        return Err(wrong(array.name, "real numbers", "complex numbers"));
    }
    let size = array.sizes()?;
    Ok((array, size, limit))
}

/// The values at this many places, in order.
fn collected(
    array: &Array<'_>,
    count: u64,
    place: &dyn Fn(u64) -> u64,
    (limit, progress): (MemoryLimit, Progress<'_>),
) -> Result<Vec<f64>, IoError> {
    limit.check("the values", u128::from(count) * 8)?;
    let mut values = Vec::with_capacity(count as usize);
    for k in 0..count {
        if k.is_multiple_of(WAVE) {
            progress.check()?;
        }
        values.push(array.real(place(k)));
    }
    Ok(values)
}

/// A vector, or a column (counted from 1) of an array.
pub(super) fn vector(
    data: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Vec<f64>, IoError> {
    let (array, (rows, cols), limit) = open_real(data, true, limit, progress)?;
    let how = (limit, progress);
    let values = match column.map(u64::from) {
        None if rows != 1 && cols != 1 => return Err(IoError::NotAVector { rows, cols }),
        None => collected(&array, array.len(), &|k| k, how)?,
        Some(column) => match column.checked_sub(1).filter(|col| *col < cols) {
            None => return Err(IoError::NoColumn { column, cols }),
            Some(col) => collected(&array, rows, &|row| array.place(&[row, col]), how)?,
        },
    };
    progress.advance(data.len());
    Ok(values)
}

/// The elements by rows, the order in which the file has them, and warnings.
pub(super) fn rows(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Rows, IoError> {
    let (array, (_, cols), limit) = open_real(data, true, limit, progress)?;
    let place = |k: u64| array.place(&[k / cols, k % cols]);
    let values = collected(&array, array.len(), &place, (limit, progress))?;
    let mut warnings: Vec<String> = rounded_integers(array.rounded()).into_iter().collect();
    if let [_] = array.shape() {
        warnings.push(AS_COLUMN.to_owned());
    }
    progress.advance(data.len());
    Ok((values, array.order(), warnings))
}

/// Opens an array of points, one per row; returns their number and dimensions too.
fn open_points<'a>(
    data: &'a [u8],
    whole: bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Array<'a>, PointsExtent, MemoryLimit), IoError> {
    let (array, (points, dimensions), limit) = open_real(data, whole, limit, progress)?;
    if !(1..=u64::from(u32::MAX)).contains(&dimensions) {
        return Err(wrong(array.name, "1 to 4294967295 columns", dimensions));
    }
    Ok((array, PointsExtent { dimensions, points, estimated: false }, limit))
}

/// Points, one per row.
pub(in crate::io) fn points(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Points, IoError> {
    let (array, PointsExtent { dimensions, .. }, limit) = open_points(data, true, limit, progress)?;
    let place = |k: u64| array.place(&[k / dimensions, k % dimensions]);
    let values = collected(&array, array.len(), &place, (limit, progress))?;
    Ok(Points::new(usize::try_from(dimensions).unwrap_or(usize::MAX), values)?)
}

/// The sizes of points. A `.npy` file may be cut off after its header.
pub(in crate::io) fn points_extent(data: &[u8]) -> Result<PointsExtent, IoError> {
    let limit = MemoryLimit::of_machine();
    open_points(data, false, limit, Progress::none()).map(|(_, extent, _)| extent)
}
