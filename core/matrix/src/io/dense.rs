//! Dense matrices by rows, such as X of Y = A·X: arrays of NumPy and Matrix Market, text with one row per line, and
//! the other forms of a matrix, whose missing elements are 0.

use super::error::quoted;
use super::form;
use super::matrix_market::{self, Format, Header};
use super::scan::Cursor;
use super::triplet_text::has_banner;
use super::unpack::{Unpacked, beside, unpack};
use super::{
    Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, Symmetry, foreign, numpy,
};
use crate::matrix::{Extent, Order, transposed, transposing_bytes};
use crate::memory::{MemoryLimit, zeroed};
use crate::pace::at_once;

#[cfg(test)]
mod tests;

/// A dense matrix and what a user should know about how it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct DenseFile {
    /// Number of rows.
    pub rows: usize,
    /// Number of columns.
    pub cols: usize,
    /// The elements, row by row.
    pub values: Vec<f64>,
    /// The order in which a NumPy file has them; other files count as row-major.
    pub order: Order,
    /// Warnings for the user: rounded integers, a sparse matrix, and the like.
    pub warnings: Vec<String>,
}

/// Reads a dense matrix from a file called `name`: a NumPy array, a Matrix Market file, any other form of a matrix with
/// a header, or text with one row per line. The numbers of a line are separated by commas or semicolons, if its first
/// line has some, otherwise by blanks or tabs; blank lines and lines that start with `%` or `#` are skipped. Text is
/// never read as triplets or edges. An array of one dimension is a column. Compressed data is decompressed first.
///
/// `fits` gets the numbers of rows and columns before any element is read. `None` if it returns false.
pub fn read_dense(
    name: &str,
    data: &[u8],
    fits: &mut dyn FnMut(u64, u64) -> bool,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<DenseFile>, IoError> {
    let Unpacked { name, member, text, progress, warnings } =
        at_once(unpack(name, data, limit, progress))?;
    let limit = beside(&text, limit);
    let mut check = |rows: u64, cols: u64| -> Result<bool, IoError> {
        let fits = fits(rows, cols);
        if fits {
            limit.check(format!("the dense {rows} x {cols} matrix"), bytes(rows, cols))?;
        }
        Ok(fits)
    };
    let read = read_unpacked(&name, &text, &mut check, limit, progress);
    let mut file = read.map_err(|error| error.in_member(member.as_deref()))?;
    if let Some(file) = &mut file {
        file.warnings.splice(0..0, warnings);
    }
    Ok(file)
}

/// Bytes of the elements of this many rows and columns.
fn bytes(rows: u64, cols: u64) -> u128 {
    (u128::from(rows) * u128::from(cols)).saturating_mul(8)
}

/// Whether a matrix of this many rows and columns is wanted; fails if it does not fit the memory limit.
type Check<'c> = &'c mut dyn FnMut(u64, u64) -> Result<bool, IoError>;

fn read_unpacked(
    name: &str,
    text: &[u8],
    check: Check<'_>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<DenseFile>, IoError> {
    if let Some(stored) = form::stored(name, text) {
        let options = ReadOptions::default();
        let Extent { rows, cols, estimated, .. } = (stored.extent)(text, &options)?;
        if !check(rows, cols)? {
            return Ok(None);
        }
        if let Some((values, order, warnings)) = numpy::rows(text, limit, progress)? {
            let (rows, cols) = (rows as usize, cols as usize);
            return Ok(Some(DenseFile { rows, cols, values, order, warnings }));
        }
        let file = (stored.read)(text, &options, limit, progress)?;
        // The nonzeros of a dense matrix are not known from its sizes. Those of a sparse one may not be known either, in
        // these forms, which are never dense here.
        let is_sparse = !estimated
            || matches!(
                stored.form,
                MatrixForm::Npz | MatrixForm::RutherfordBoeing | MatrixForm::Dimacs
            );
        return spread(file, is_sparse, limit).map(Some);
    }
    foreign::refuse(text, "a dense matrix")?;
    matrix_market::refuse_other_kinds(text)?;
    if has_banner(text.trim_ascii_start()) {
        return read_matrix_market(text, check, limit, progress);
    }
    read_lines(text, check, progress)
}

fn read_matrix_market(
    text: &[u8],
    check: Check<'_>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<DenseFile>, IoError> {
    let header = Header::read(text)?;
    if !check(header.rows.into(), header.cols.into())? {
        return Ok(None);
    }
    if header.field == Field::Complex {
        return Err(IoError::RealOnly);
    }
    if (header.format, header.symmetry) != (Format::Array, Symmetry::General) {
        let file = matrix_market::read_bytes(text, limit, progress)?;
        return spread(file, header.format == Format::Coordinate, limit).map(Some);
    }
    let (by_columns, warnings) = matrix_market::read_array(text, &header, limit, progress)?;
    let (rows, cols) = (header.rows as usize, header.cols as usize);
    let list = transposing_bytes(cols, rows);
    let both = 2 * bytes(header.rows.into(), header.cols.into()) + list;
    limit.check(format!("the dense {rows} x {cols} matrix by columns and by rows"), both)?;
    let values = transposed(&by_columns, rows);
    Ok(Some(DenseFile { rows, cols, values, order: Order::RowMajor, warnings }))
}

/// All elements of a matrix.
fn spread(file: MatrixFile, is_sparse: bool, limit: MemoryLimit) -> Result<DenseFile, IoError> {
    const FROM_SPARSE: &str =
        "the matrix is sparse: elements that are not in the file were read as 0";
    let MatrixFile { matrix, mut warnings, .. } = file;
    let matrix = matrix.into_real()?;
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let needed = bytes(rows as u64, cols as u64) + 12 * matrix.nnz() as u128;
    limit.check(format!("the dense {rows} x {cols} matrix beside its nonzeros"), needed)?;
    let mut values = zeroed(0.0, rows * cols);
    for (i, row) in values.chunks_exact_mut(cols.max(1)).enumerate() {
        let (col, val) = matrix.row(i);
        for (&c, &v) in col.iter().zip(val) {
            if let Some(element) = row.get_mut(c as usize) {
                *element = v;
            }
        }
    }
    warnings.extend(is_sparse.then(|| FROM_SPARSE.to_owned()));
    Ok(DenseFile { rows, cols, values, order: Order::RowMajor, warnings })
}

/// The lines with numbers and their places from 1, without blank lines and comments.
fn records(text: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    (1u64..).zip(lines).filter(|(_, line)| !matches!(line.first(), None | Some(b'%' | b'#')))
}

/// The fields of a line. Several blanks separate like one.
fn fields(line: &[u8], separator: Option<u8>) -> impl Iterator<Item = &[u8]> {
    let separates = move |byte: &u8| match separator {
        Some(separator) => *byte == separator,
        None => byte.is_ascii_whitespace(),
    };
    let fields = line.split(separates).map(<[u8]>::trim_ascii);
    fields.filter(move |field| separator.is_some() || !field.is_empty())
}

/// Reads text with one row per line.
fn read_lines(
    text: &[u8],
    check: Check<'_>,
    progress: Progress<'_>,
) -> Result<Option<DenseFile>, IoError> {
    /// Rows between checks for cancellation.
    const WAVE: usize = 1 << 12;
    let (first_line, first) = records(text).next().unwrap_or_default();
    let separator = [b';', b','].into_iter().find(|byte| first.contains(byte));
    let (rows, cols) = (records(text).count(), fields(first, separator).count());
    if !check(rows as u64, cols as u64)? {
        return Ok(None);
    }
    let mut values = Vec::with_capacity(rows * cols);
    let mut overflowed = 0;
    for (row, (line, record)) in records(text).enumerate() {
        if row.is_multiple_of(WAVE) {
            progress.check()?;
        }
        let unexpected = |expected, found| IoError::Unexpected { line, expected, found };
        let mut found = 0;
        for field in fields(record, separator) {
            found += 1;
            let mut cursor = Cursor::new(field);
            let Some(real) = cursor.real().filter(|_| cursor.remaining() == 0) else {
                let of_field = match field {
                    [] => "an empty field".to_owned(),
                    field => quoted(field),
                };
                return Err(unexpected(format!("a number in column {found}"), of_field));
            };
            overflowed += u64::from(real.overflowed);
            if found <= cols {
                values.push(real.value);
            }
        }
        if found != cols {
            let numbers = if cols == 1 { "number" } else { "numbers" };
            let expected = format!("{cols} {numbers}, as in line {first_line}");
            return Err(unexpected(expected, found.to_string()));
        }
    }
    progress.advance(text.len());
    let warnings = matrix_market::overflow(overflowed).into_iter().collect();
    Ok(Some(DenseFile { rows, cols, values, order: Order::RowMajor, warnings }))
}
