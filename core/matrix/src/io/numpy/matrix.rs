//! Builds a matrix from the values of an array and their places.

use super::array::{Array, Kind};
use crate::io::assemble::Assembled;
use crate::io::build::{build, repeated};
use crate::io::error::rounded_integers;
use crate::io::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, Symmetry};
use crate::matrix::{Csr, Order, Scalar};
use crate::memory::MemoryLimit;

/// Calls its argument with the row and column of each nonzero, and with the place of its value in the array.
pub(super) type Places<'p> = &'p dyn Fn(&mut dyn FnMut(u64, u64, u64)) -> Result<(), IoError>;

/// The matrix of these rows and columns with at most `most` nonzeros.
pub(super) fn file_of(
    values: &Array<'_>,
    (form, size, most): (MatrixForm, (u64, u64), u64),
    places: Places<'_>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    values.check_numbers()?;
    let how = (size, most);
    let (matrix, merged) = match values.kind() {
        Kind::Complex => built(how, &|place| values.complex(place), places, limit, progress)?,
        _ => built(how, &|place| values.real(place), places, limit, progress)?,
    };
    let field = match values.kind() {
        Kind::Complex => Field::Complex,
        Kind::Float => Field::Real,
        _ => Field::Integer,
    };
    let mut warnings = Vec::new();
    warnings.extend(rounded_integers(values.rounded()));
    warnings.extend(repeated(merged));
    if let [_] = values.shape()
        && form == MatrixForm::Npy
    {
        warnings.push(AS_COLUMN.to_owned());
    }
    Ok(MatrixFile { matrix, field, symmetry: Symmetry::General, form, warnings })
}

/// The elements of a dense array by rows, the order in which the file has them, and warnings.
pub(super) type Rows = (Vec<f64>, Order, Vec<String>);

/// The warning for an array of one dimension.
pub(super) const AS_COLUMN: &str = "the array of one dimension was read as a column";

/// Also returns the number of nonzeros at the position of an earlier one.
fn built<T: Scalar>(
    (size, most): ((u64, u64), u64),
    value: &dyn Fn(u64) -> T,
    places: Places<'_>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(AnyMatrix, usize), IoError>
where
    AnyMatrix: From<Csr<T>>,
{
    let entries = |take: &mut dyn FnMut(u64, u64, T)| {
        places(&mut |row, col, place| take(row, col, value(place)))
    };
    let most = (Symmetry::General, most);
    let Assembled { matrix, merged } = build(size, most, &entries, limit, progress)?;
    Ok((matrix.into(), merged))
}
