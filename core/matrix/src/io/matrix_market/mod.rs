//! The Matrix Market exchange format (Boisvert, Pozo and Remington, NISTIR 5935, 1996): a reader
//! for every kind of file in use, and writers of `coordinate` files, `general` and `symmetric`.

mod appended;
mod array;
mod body;
mod coordinate;
mod count;
mod header;
#[cfg(any(not(target_family = "wasm"), test))]
mod share;
mod survey;
mod value;
mod write;

#[cfg(test)]
mod tests;

use std::pin::Pin;

use num_complex::Complex64;

pub(super) use self::appended::{Announced, banners};
pub(super) use self::header::{Format, Header, Lines, refuse_other_kinds};
#[cfg(any(not(target_family = "wasm"), test))]
pub use share::{FileShare, read_share};
pub(super) use survey::{Kept, Survey, ids, survey};
pub(super) use write::put;
pub use write::{WriteValue, write, write_field, write_symmetric};

use self::body::Notes;
use self::coordinate::Found;
use self::value::Value;
use super::assemble::Assembled;
use super::build::repeated;
use super::error::{counted, rounded_integers};
use super::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, Symmetry};
use crate::matrix::Csr;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// The warning about vectors after a matrix.
pub(super) const VECTORS_FOLLOW: &str =
    "other data follows the matrix in its file: `--b archive` and `--x0 archive` read it";

/// Reads a matrix from the text of a Matrix Market file.
///
/// Symmetric storage is expanded, duplicates are summed in file order, explicit zeros of a
/// `coordinate` file are stored nonzeros, zeros of an `array` file are not. The result does not
/// depend on the number of threads of the ambient rayon pool.
///
/// ```
/// use sparsescope_matrix::io::{Progress, matrix_market};
/// use sparsescope_matrix::memory::MemoryLimit;
/// let text = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n";
/// let file = matrix_market::read_bytes(text, MemoryLimit::of_machine(), Progress::none())?;
/// assert_eq!(file.matrix.real()?.row(0), (&[0u32, 1][..], &[4.0, -1.0][..]));
/// # Ok::<(), sparsescope_matrix::io::IoError>(())
/// ```
///
/// Errors name the 1-based line, what was expected there and what was found. Anything that would exceed
/// `limit` is rejected before it is allocated.
pub fn read_bytes(
    text: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    at_once(read_body(text, &Header::read(text)?, limit, progress))
}

/// Like [`read_body`], for a text in which vectors may follow the matrix, which a warning then says.
pub(super) async fn read_first(
    text: &[u8],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let alone = |end: usize| text.get(..end).unwrap_or(text);
    let announced = Announced::of(text, header)?.begin(text, header);
    let mut read = read_body(alone(announced), header, limit, progress).await;
    // Whatever has a banner after the entries makes reading the whole text fail.
    let second = match &read {
        Err(error) if !error.is_cancelled() => banners(text, header).next(),
        _ => None,
    };
    if let Some(end) = second {
        read = read_body(alone(end), header, limit, progress.uncounted()).await;
    }
    let mut file = read?;
    if second.is_some() || announced < text.len() {
        file.warnings.push(VECTORS_FOLLOW.to_owned());
    }
    Ok(file)
}

/// Reads the matrix described by `header` from the text after it.
pub(super) fn read_body<'r>(
    text: &'r [u8],
    header: &'r Header,
    limit: MemoryLimit,
    progress: Progress<'r>,
) -> Pin<Box<dyn Future<Output = Result<MatrixFile, IoError>> + 'r>> {
    // Boxed, because the code of a function's future is duplicated in every crate that awaits it.
    Box::pin(async move {
        match header.field {
            Field::Complex => read_field::<Complex64>(text, header, limit, progress).await,
            _ => read_field::<f64>(text, header, limit, progress).await,
        }
    })
}

async fn read_field<V: Value>(
    text: &[u8],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError>
where
    AnyMatrix: From<Csr<V>>,
{
    let Found { assembled, notes, pairs } = match header.format {
        Format::Coordinate => coordinate::read::<V>(text, header, limit, progress).await?,
        Format::Array => {
            let (values, mut notes) =
                array::read_values::<V>(text, header, limit, progress).await?;
            let (matrix, off_symmetry) = array::nonzeros(&values, header, limit)?;
            notes.off_symmetry = off_symmetry;
            Found { assembled: Assembled { matrix, merged: 0 }, notes, pairs: 0 }
        }
    };
    if header.symmetry == Symmetry::SkewSymmetric && notes.off_symmetry > 0 {
        return Err(coordinate::skew_diagonal::<V>(text, header));
    }
    let mut warnings = notes.warnings(header);
    if header.symmetry == Symmetry::Hermitian {
        warnings.extend(not_real_diagonal(notes.off_symmetry));
    }
    let symmetry = header.symmetry.as_str();
    let rest = format!("in both triangles of a {symmetry} file; their values were summed");
    let positions = ["off-diagonal position occurs", "off-diagonal positions occur"];
    warnings.extend(counted(pairs as u64, positions, &rest));
    // Each pair was merged twice: in its lower and in its upper position.
    warnings.extend(repeated(assembled.merged.saturating_sub(2 * pairs)));
    let matrix = AnyMatrix::from(assembled.matrix);
    let form = MatrixForm::MatrixMarket;
    Ok(MatrixFile { matrix, field: header.field, symmetry: header.symmetry, form, warnings })
}

impl Notes {
    fn warnings(self, header: &Header) -> Vec<String> {
        let mut warnings: Vec<String> = header.banner.map(str::to_owned).into_iter().collect();
        if self.numbers > 0 {
            warnings.push(format!(
                "further numbers after {} {} {} were ignored",
                self.numbers,
                header.field.as_str(),
                if self.numbers == 1 { "entry" } else { "entries" }
            ));
        }
        let comments = ["comment after an entry was", "comments after entries were"];
        warnings.extend(counted(self.remarks, comments, "ignored"));
        warnings.extend(rounded_integers(self.rounded));
        let values = [
            "value of an integer file is not an integer and was",
            "values of an integer file are not integers and were",
        ];
        warnings.extend(counted(self.misnamed, values, "read as real"));
        warnings.extend(overflow(self.overflowed));
        warnings
    }
}

/// A warning about this many numbers, if any.
pub(super) fn overflow(numbers: u64) -> Option<String> {
    let words = ["number is too large for f64 and was", "numbers are too large for f64 and were"];
    counted(numbers, words, "read as infinity")
}

/// The warning about this many entries on the diagonal of a Hermitian matrix.
pub(super) fn not_real_diagonal(entries: u64) -> Option<String> {
    let words = [
        "diagonal entry of a hermitian file is not real and was",
        "diagonal entries of a hermitian file are not real and were",
    ];
    counted(entries, words, "kept unchanged")
}

/// The values of a real `array` file of the symmetry `general`, column by column, and warnings for the user.
pub(super) fn read_array(
    text: &[u8],
    header: &Header,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Vec<f64>, Vec<String>), IoError> {
    let (values, notes) = at_once(array::read_values::<f64>(text, header, limit, progress))?;
    Ok((values, notes.warnings(header)))
}

/// Reads a dense vector from a Matrix Market file: `array` n × 1 or 1 × n, or `coordinate` n × 1 or 1 ×
/// n, whose missing elements are 0; or a column of a file of any size, counted from 1. Also returns warnings
/// for the user.
pub(super) fn read_vector(
    text: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Vec<f64>, Vec<String>), IoError> {
    let header = Header::read(text)?;
    if header.field == Field::Complex {
        return Err(IoError::RealOnly);
    }
    let (rows, cols) = (u64::from(header.rows), u64::from(header.cols));
    match column {
        None if rows != 1 && cols != 1 => return Err(IoError::NotAVector { rows, cols }),
        Some(column) if !(1..=cols).contains(&column.into()) => {
            return Err(IoError::NoColumn { column: column.into(), cols });
        }
        _ => {}
    }
    // Without a column, all values are the vector.
    let column = column.map(|column| column as usize - 1);
    if (header.format, header.symmetry) == (Format::Array, Symmetry::General) {
        let (mut values, warnings) = read_array(text, &header, limit, progress)?;
        if let Some(column) = column {
            let begin = column * header.rows as usize;
            values.truncate(begin + header.rows as usize);
            values.drain(..begin);
        }
        return Ok((values, warnings));
    }
    let MatrixFile { matrix, warnings, .. } = read_bytes(text, limit, progress)?;
    let matrix = matrix.into_real()?;
    let length = matrix.rows() * if column.is_some() { 1 } else { matrix.cols() };
    limit.check("the vector", length as u128 * 8)?;
    let mut dense = vec![0.0; length];
    for i in 0..matrix.rows() {
        let (col, val) = matrix.row(i);
        for (c, v) in col.iter().zip(val) {
            let place = match column {
                Some(column) if column != *c as usize => continue,
                Some(_) => i,
                // One of the two indices is always 0.
                None => i + *c as usize,
            };
            if let Some(slot) = dense.get_mut(place) {
                *slot = *v;
            }
        }
    }
    Ok((dense, warnings))
}

impl From<Csr<f64>> for AnyMatrix {
    fn from(matrix: Csr<f64>) -> Self {
        Self::Real(matrix)
    }
}

impl From<Csr<Complex64>> for AnyMatrix {
    fn from(matrix: Csr<Complex64>) -> Self {
        Self::Complex(matrix)
    }
}
