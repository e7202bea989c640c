//! Writing `coordinate general` files that read back bit for bit: the shortest decimal form of
//! each value that names no other f64, integers as such, or positions alone.

use std::io::Write;
use std::ops::Range;

use crate::parallel::*;
use num_complex::Complex64;

use crate::io::{Field, IoError, Progress};
use crate::matrix::{Csr, Scalar};

/// Entries formatted by one thread at a time.
const ENTRIES_PER_CHUNK: usize = 1 << 15;
/// Chunks a thread formats between two writes.
const CHUNKS_PER_THREAD: usize = 4;

/// A value as it stands in a Matrix Market file.
pub trait WriteValue: Scalar {
    /// Its field in the banner.
    const FIELD: Field;
    /// Appends the value's numbers, separated by a blank.
    fn append(self, text: &mut Vec<u8>);
}

impl WriteValue for f64 {
    const FIELD: Field = Field::Real;
    fn append(self, text: &mut Vec<u8>) {
        // Not finite: NaN, inf, -inf.
        text.extend_from_slice(zmij::Buffer::new().format(self).as_bytes());
    }
}

impl WriteValue for Complex64 {
    const FIELD: Field = Field::Complex;
    fn append(self, text: &mut Vec<u8>) {
        self.re.append(text);
        text.push(b' ');
        self.im.append(text);
    }
}

/// Writes `matrix` as `coordinate real general` or `coordinate complex general`, row by row.
/// Chunks of rows are formatted in parallel and written in order.
pub fn write<T: WriteValue>(
    matrix: &Csr<T>,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let append = |value: T, text: &mut Vec<u8>| {
        text.push(b' ');
        value.append(text);
    };
    write_entries(matrix, T::FIELD, append, out, progress)
}

/// Writes a real matrix as a file of another field: `integer`, whose values must be integers up to
/// 2⁵³, or `pattern`, whose values must be 1. What cannot be written so is found before anything
/// is written.
pub fn write_field(
    matrix: &Csr<f64>,
    field: Field,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    check_values(matrix, field)?;
    match field {
        Field::Integer => write_entries(matrix, field, append_integer, out, progress),
        Field::Pattern => write_entries(matrix, field, |_, _| {}, out, progress),
        Field::Real | Field::Complex => write(matrix, out, progress),
    }
}

/// Up to 2⁵³ every integer is an f64, and reads back as the same.
const LARGEST_INTEGER: f64 = (1u64 << f64::MANTISSA_DIGITS) as f64;

/// Fails on the first value that a file of this field cannot say.
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
    // The last row that begins at or before the entry.
    let row = matrix.row_ptr().partition_point(|offset| offset <= entry);
    let (col, value) = (matrix.col().get(entry), matrix.val().get(entry));
    Err(IoError::NotOfField {
        row: row as u64,
        col: col.map_or(0, |c| u64::from(*c) + 1),
        value: value.copied().unwrap_or_default(),
        field: field.as_str(),
    })
}

fn append_integer(value: f64, text: &mut Vec<u8>) {
    text.push(b' ');
    if value == 0.0 && value.is_sign_negative() {
        text.push(b'-');
    }
    text.extend_from_slice(itoa::Buffer::new().format(value as i64).as_bytes());
}

/// Writes a header and every entry, `append` adding what follows its indices.
fn write_entries<T: Scalar>(
    matrix: &Csr<T>,
    field: Field,
    append: impl Fn(T, &mut Vec<u8>) + Sync,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz());
    let field = field.as_str();
    let header = format!("%%MatrixMarket matrix coordinate {field} general\n{rows} {cols} {nnz}\n");
    put(out, header.as_bytes())?;
    let wave_length = CHUNKS_PER_THREAD * crate::parallel::current_num_threads();
    let mut texts: Vec<Vec<u8>> = (0..wave_length).map(|_| Vec::new()).collect();
    let mut first_row = 0;
    while first_row < rows {
        let mut wave = Vec::with_capacity(wave_length);
        while wave.len() < wave_length && first_row < rows {
            let chunk = rows_with_entries(matrix, first_row, ENTRIES_PER_CHUNK);
            first_row = chunk.end;
            wave.push(chunk);
        }
        wave.into_par_iter().zip(&mut texts).for_each(|(rows, text)| {
            text.clear();
            append_rows(matrix, rows, &append, text);
        });
        for text in &mut texts {
            progress.check()?;
            put(out, text)?;
            progress.advance(text.len());
            text.clear();
        }
    }
    Ok(())
}

/// Rows from `first` on that hold about `entries` entries; at least one row.
fn rows_with_entries<T: Scalar>(matrix: &Csr<T>, first: usize, entries: usize) -> Range<usize> {
    let target = matrix.row_ptr().get(first).saturating_add(entries);
    let end = matrix.row_ptr().partition_point(|offset| offset <= target).saturating_sub(1);
    first..end.clamp(first + 1, matrix.rows())
}

fn append_rows<T: Scalar>(
    matrix: &Csr<T>,
    rows: Range<usize>,
    append: impl Fn(T, &mut Vec<u8>),
    text: &mut Vec<u8>,
) {
    let mut row_digits = itoa::Buffer::new();
    let mut col_digits = itoa::Buffer::new();
    for i in rows {
        let row = row_digits.format(i as u64 + 1).as_bytes();
        let (col, val) = matrix.row(i);
        for (&c, &v) in col.iter().zip(val) {
            text.extend_from_slice(row);
            text.push(b' ');
            text.extend_from_slice(col_digits.format(u64::from(c) + 1).as_bytes());
            append(v, text);
            text.push(b'\n');
        }
    }
}

/// Writes all of `text`, or says that the disk did not take it.
pub(in crate::io) fn put(out: &mut dyn Write, text: &[u8]) -> Result<(), IoError> {
    out.write_all(text).map_err(|error| IoError::System { doing: "write", error })
}
