//! Writes `coordinate` files that read back bit for bit: the shortest decimal form that identifies each
//! f64, integers, or positions alone; on request, only one triangle of a symmetric matrix.

use std::io::Write;
use std::ops::Range;

use crate::parallel::*;
use num_complex::Complex64;

use crate::io::{Field, IoError, Progress, Symmetry};
use crate::matrix::{Csr, Scalar};

/// Nonzeros formatted by one thread at a time.
const ENTRIES_PER_CHUNK: usize = 1 << 15;
/// Chunks that each thread formats between two writes.
const CHUNKS_PER_THREAD: usize = 4;

/// A value that can be written to a Matrix Market file.
pub trait WriteValue: Scalar {
    /// Its field in the banner.
    const FIELD: Field;
    /// Appends the value's numbers, separated by a blank.
    fn append(self, text: &mut Vec<u8>);
    /// [`write()`], compiled with this crate and not with each that calls it.
    fn write(
        matrix: &Csr<Self>,
        out: &mut dyn Write,
        progress: Progress<'_>,
    ) -> Result<(), IoError>;
}

impl WriteValue for f64 {
    const FIELD: Field = Field::Real;
    fn append(self, text: &mut Vec<u8>) {
        // Not finite: NaN, inf, -inf.
        text.extend_from_slice(zmij::Buffer::new().format(self).as_bytes());
    }

    fn write(
        matrix: &Csr<Self>,
        out: &mut dyn Write,
        progress: Progress<'_>,
    ) -> Result<(), IoError> {
        write_entries(matrix, (Self::FIELD, Symmetry::General), append_value, out, progress)
    }
}

impl WriteValue for Complex64 {
    const FIELD: Field = Field::Complex;
    fn append(self, text: &mut Vec<u8>) {
        self.re.append(text);
        text.push(b' ');
        self.im.append(text);
    }

    fn write(
        matrix: &Csr<Self>,
        out: &mut dyn Write,
        progress: Progress<'_>,
    ) -> Result<(), IoError> {
        write_entries(matrix, (Self::FIELD, Symmetry::General), append_value, out, progress)
    }
}

/// Writes `matrix` as `coordinate real general` or `coordinate complex general`, row by row. Chunks of
/// rows are formatted in parallel and written in order.
pub fn write<T: WriteValue>(
    matrix: &Csr<T>,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    T::write(matrix, out, progress)
}

/// Writes a symmetric matrix with this field as `coordinate symmetric`: the diagonal and everything below it,
/// row by row. Rejects a matrix that is not exactly symmetric, and values that the field cannot represent, before
/// writing anything.
pub fn write_symmetric(
    matrix: &Csr<f64>,
    field: Field,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    check_symmetric(matrix)?;
    write_real(matrix, (field, Symmetry::Symmetric), out, progress)
}

/// Fails on the first nonzero whose mirror image is missing or has another value.
fn check_symmetric(matrix: &Csr<f64>) -> Result<(), IoError> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    if rows != cols {
        return Err(IoError::NotSquare { rows: rows as u64, cols: cols as u64 });
    }
    // Column and value of the first nonzero of the row without a matching mirror image.
    let alone = |row: usize| {
        let (col, val) = matrix.row(row);
        let mut entries = col.iter().zip(val);
        entries.find_map(|(&c, &value)| {
            let (mirrored, values) = matrix.row(c as usize);
            let at = mirrored.binary_search(&(row as u32)).ok();
            let other = at.and_then(|at| values.get(at));
            let same = other.is_some_and(|other| other.to_bits() == value.to_bits());
            (!same).then_some((row, c, value, other.copied()))
        })
    };
    match (0..rows).into_par_iter().find_map_first(alone) {
        None => Ok(()),
        Some((row, col, value, other)) => {
            let other = other.map_or("missing".to_owned(), |other| other.to_string());
            let (row, col) = (row as u64 + 1, u64::from(col) + 1);
            Err(IoError::NotSymmetric { row, col, value, other })
        }
    }
}

/// Writes a real matrix with another field: `integer`, whose values must be integers up to 2⁵³, or
/// `pattern`, whose values must be 1. Rejects other values before writing anything.
pub fn write_field(
    matrix: &Csr<f64>,
    field: Field,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    write_real(matrix, (field, Symmetry::General), out, progress)
}

fn write_real(
    matrix: &Csr<f64>,
    kind: (Field, Symmetry),
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let (field, symmetry) = kind;
    check_values(matrix, field)?;
    match field {
        Field::Integer => write_entries(matrix, kind, append_integer, out, progress),
        Field::Pattern => write_entries(matrix, kind, |_, _| {}, out, progress),
        Field::Real | Field::Complex => {
            write_entries(matrix, (Field::Real, symmetry), append_value, out, progress)
        }
    }
}

/// Up to 2⁵³ every integer is an f64 and reads back unchanged.
const LARGEST_INTEGER: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// Fails on the first value that this field cannot represent.
fn check_values(matrix: &Csr<f64>, field: Field) -> Result<(), IoError> {
    let is_written = |value: f64| match field {
        Field::Integer => value.fract() == 0.0 && value.abs() <= LARGEST_INTEGER,
        Field::Pattern => value == 1.0,
        Field::Real => true,
        Field::Complex => false,
    };
    let Some(entry) = matrix.val().par_iter().position_first(|value| !is_written(*value)) else {
        return Ok(());
    };
    // The last row that begins at or before the nonzero.
    let row = matrix.row_ptr().partition_point(|offset| offset <= entry);
    let (col, value) = (matrix.col().get(entry), matrix.val().get(entry));
    Err(IoError::NotOfField {
        row: row as u64,
        col: col.map_or(0, |c| u64::from(*c) + 1),
        value: value.copied().unwrap_or_default(),
        field: field.as_str(),
    })
}

fn append_value<T: WriteValue>(value: T, text: &mut Vec<u8>) {
    text.push(b' ');
    value.append(text);
}

fn append_integer(value: f64, text: &mut Vec<u8>) {
    text.push(b' ');
    if value == 0.0 && value.is_sign_negative() {
        text.push(b'-');
    }
    text.extend_from_slice(itoa::Buffer::new().format(value as i64).as_bytes());
}

/// Writes a header and every nonzero, or those of the lower triangle; `append` adds what follows the
/// indices.
fn write_entries<T: Scalar>(
    matrix: &Csr<T>,
    (field, symmetry): (Field, Symmetry),
    append: impl Fn(T, &mut Vec<u8>) + Sync,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let (rows, cols) = (matrix.rows(), matrix.cols());
    let written = |i: usize| written(matrix, symmetry, i).0.len() as u64;
    let entries: u64 = (0..rows).map(written).sum();
    let (field, kind) = (field.as_str(), symmetry.as_str());
    let header =
        format!("%%MatrixMarket matrix coordinate {field} {kind}\n{rows} {cols} {entries}\n");
    put(out, header.as_bytes())?;
    let wave_length = CHUNKS_PER_THREAD * crate::parallel::current_num_threads();
    let mut texts: Vec<Vec<u8>> = (0..wave_length).map(|_| Vec::new()).collect();
    let mut chunks = matrix.row_ptr().pieces(ENTRIES_PER_CHUNK);
    loop {
        let wave: Vec<Range<usize>> = chunks.by_ref().take(wave_length).collect();
        if wave.is_empty() {
            return Ok(());
        }
        wave.into_par_iter().zip(&mut texts).for_each(|(rows, text)| {
            text.clear();
            append_rows(matrix, symmetry, rows, &append, text);
        });
        for text in &mut texts {
            progress.check()?;
            put(out, text)?;
            progress.advance(text.len());
            text.clear();
        }
    }
}

/// Columns and values of a row that are written to the file.
fn written<T: Scalar>(matrix: &Csr<T>, symmetry: Symmetry, row: usize) -> (&[u32], &[T]) {
    let (col, val) = matrix.row(row);
    let end = match symmetry {
        Symmetry::General => col.len(),
        _ => col.partition_point(|&c| c as usize <= row),
    };
    (col.get(..end).unwrap_or_default(), val.get(..end).unwrap_or_default())
}

fn append_rows<T: Scalar>(
    matrix: &Csr<T>,
    symmetry: Symmetry,
    rows: Range<usize>,
    append: impl Fn(T, &mut Vec<u8>),
    text: &mut Vec<u8>,
) {
    let mut row_digits = itoa::Buffer::new();
    let mut col_digits = itoa::Buffer::new();
    for i in rows {
        let row = row_digits.format(i as u64 + 1).as_bytes();
        let (col, val) = written(matrix, symmetry, i);
        for (&c, &v) in col.iter().zip(val) {
            text.extend_from_slice(row);
            text.push(b' ');
            text.extend_from_slice(col_digits.format(u64::from(c) + 1).as_bytes());
            append(v, text);
            text.push(b'\n');
        }
    }
}

/// Writes all of `text`, or reports that writing failed.
pub(in crate::io) fn put(out: &mut dyn Write, text: &[u8]) -> Result<(), IoError> {
    out.write_all(text).map_err(|error| IoError::System { doing: "write", error })
}
