//! Writes Rutherford-Boeing files that read back bit for bit: 17 significant digits, with blanks between
//! all numbers, because most readers ignore the formats.

use std::io::Write;

use crate::io::{AnyMatrix, IoError, Progress};
use crate::matrix::{Csr, RowPtr, Scalar};
use crate::memory::MemoryLimit;

/// Digits of a line.
const LINE: usize = 80;
/// Columns of a value, the longest being `-1.2345678901234567E-308`.
const WIDTH: usize = 25;

/// Writes a matrix as a Rutherford-Boeing file of real or complex values, all entries stored. A matrix that is
/// not square has the type for rectangular ones. Rejects values that are not finite, and a copy by columns that needs
/// more than `limit`, before writing anything.
pub fn write_rb(
    a: &AnyMatrix,
    out: &mut dyn Write,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    match a {
        AnyMatrix::Real(a) => {
            let a = by_columns(a, limit)?;
            let number = |k: usize| a.val().get(k).copied().unwrap_or_default();
            let numbers = (b'r', 1, &number as &dyn Fn(usize) -> f64);
            write_columns((a.cols(), a.row_ptr(), a.col()), numbers, out, progress)
        }
        AnyMatrix::Complex(a) => {
            let a = by_columns(a, limit)?;
            let number = |k: usize| {
                let value = a.val().get(k / 2).copied().unwrap_or_default();
                if k.is_multiple_of(2) { value.re } else { value.im }
            };
            let numbers = (b'c', 2, &number as &dyn Fn(usize) -> f64);
            write_columns((a.cols(), a.row_ptr(), a.col()), numbers, out, progress)
        }
    }
}

/// The transpose. A short file may declare any number of columns.
fn by_columns<T: Scalar>(a: &Csr<T>, limit: MemoryLimit) -> Result<Csr<T>, IoError> {
    limit.check("the matrix by columns", a.transpose_bytes())?;
    Ok(a.transpose())
}

/// Writes a matrix of which each column is given, with this many numbers for each nonzero.
fn write_columns(
    (rows, pointers, indices): (usize, &RowPtr, &[u32]),
    (kind, per_entry, number): (u8, usize, &dyn Fn(usize) -> f64),
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let (cols, entries) = (pointers.len() - 1, indices.len());
    let values = entries.saturating_mul(per_entry);
    if let Some(k) = (0..values).find(|k| !number(*k).is_finite()) {
        let entry = k / per_entry;
        return Err(IoError::Stored(format!(
            "the value {} in row {}, column {} cannot be written to a Rutherford-Boeing file",
            number(k),
            indices.get(entry).map_or(0, |row| u64::from(*row) + 1),
            pointers.partition_point(|offset| offset <= entry)
        )));
    }
    let pointer_width = width(entries + 1);
    let index_width = width(rows);
    let lines = |count: usize, width: usize| count.div_ceil(LINE / width);
    let [p, i, v] =
        [lines(cols + 1, pointer_width), lines(entries, index_width), lines(values, WIDTH)];
    let shape = if rows == cols { 'u' } else { 'r' };
    let form = |width: usize, field: String| format!("({}{field})", LINE / width);
    let kind = format!("{}{shape}a", char::from(kind));
    let pointer_form = form(pointer_width, format!("I{pointer_width}"));
    let index_form = form(index_width, format!("I{index_width}"));
    let value_form = form(WIDTH, format!("E{WIDTH}.16"));
    let header = format!(
        "{:<71}|{:<8}\n{:>14}{p:>14}{i:>14}{v:>14}\n{kind:<14}{rows:>14}{cols:>14}{entries:>14}{:>14}\n{pointer_form:<16}{index_form:<16}{value_form:<20}\n",
        "Written by Sparsescope",
        "matrix",
        p + i + v,
        0,
    );
    put(out, header.as_bytes(), progress)?;
    write_lines(cols + 1, pointer_width, out, progress, &|k| (pointers.get(k) + 1).to_string())?;
    write_lines(entries, index_width, out, progress, &|k| {
        indices.get(k).map_or(0, |row| u64::from(*row) + 1).to_string()
    })?;
    write_lines(values, WIDTH, out, progress, &|k| format!("{:.16E}", number(k)))
}

/// Columns of an integer up to `last` and a blank.
fn width(last: usize) -> usize {
    last.to_string().len() + 1
}

fn write_lines(
    count: usize,
    width: usize,
    out: &mut dyn Write,
    progress: Progress<'_>,
    text_of: &dyn Fn(usize) -> String,
) -> Result<(), IoError> {
    const BLOCK: usize = 1 << 16;
    let mut text = String::with_capacity(BLOCK + LINE);
    for k in 0..count {
        text.push_str(&format!("{:>width$}", text_of(k)));
        if (k + 1).is_multiple_of(LINE / width) || k + 1 == count {
            text.push('\n');
            if text.len() >= BLOCK || k + 1 == count {
                put(out, text.as_bytes(), progress)?;
                text.clear();
            }
        }
    }
    Ok(())
}

fn put(out: &mut dyn Write, text: &[u8], progress: Progress<'_>) -> Result<(), IoError> {
    progress.check()?;
    out.write_all(text).map_err(|error| IoError::System { doing: "write", error })?;
    progress.advance(text.len());
    Ok(())
}
