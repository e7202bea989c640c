//! Matrices of the Harwell-Boeing and Rutherford-Boeing collections (Duff, Grimes and Lewis, RAL-92-086, 1992,
//! and RAL-TR-97-031, 1997): a title; the numbers of lines, which are ignored; a type such as `rsa` and the
//! sizes; Fortran formats. Then in fixed columns where each column of the matrix begins, its row indices and its
//! values. Harwell-Boeing files name a fifth number of lines, and vectors may follow the matrix.

mod fields;
mod header;
#[cfg(test)]
mod tests;
mod write;

use std::cell::Cell;

use num_complex::Complex64;

use self::fields::{Section, integer, unexpected};
use self::header::{Header, Notes, WAVE, words};
pub use self::write::write_rb;
use super::build::{build, repeated};
use super::error::{counted, quoted, rounded_integers};
use super::matrix_market::{VECTORS_FOLLOW, not_real_diagonal};
use super::{AnyMatrix, Field, IoError, MatrixFile, Progress, ReadOptions, Symmetry};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// Whether the third line is that of such a file: a three-letter word for the kind of matrix, and its sizes.
pub(super) fn is_meant(_: &str, data: &[u8]) -> bool {
    const LONGEST: usize = 400;
    let start = data.get(..LONGEST).unwrap_or(data);
    let mut lines = start.split(|byte| *byte == b'\n').skip(1);
    let (Some(counts), Some(sizes)) = (lines.next(), lines.next()) else { return false };
    let is_count = |word: &&[u8]| word.iter().all(u8::is_ascii_digit);
    let (counts, sizes): (Vec<_>, Vec<_>) = (words(counts).collect(), words(sizes).collect());
    let Some((kind, sizes)) = sizes.split_first() else { return false };
    let is_kind = match kind.to_ascii_lowercase().as_slice() {
        [values, shape, assembled] => {
            b"rcpiqx".contains(values) && b"suhzr".contains(shape) && b"ae".contains(assembled)
        }
        _ => false,
    };
    is_kind
        && counts.len() >= 4
        && counts.iter().all(is_count)
        && sizes.len() >= 3
        && sizes.iter().all(is_count)
}

/// The sizes that the third line declares.
pub(super) fn extent(text: &[u8], _: &ReadOptions) -> Result<Extent, IoError> {
    let Header { rows, cols, entries, symmetry, .. } = Header::read(text)?;
    // A diagonal has no second triangle.
    let estimated = symmetry != Symmetry::General;
    let entries = if estimated { entries.saturating_mul(2) } else { entries };
    Ok(Extent { rows, cols, entries, estimated })
}

/// Reads a matrix. Symmetric storage is expanded, duplicates are summed in file order.
pub(super) fn read(
    text: &[u8],
    _: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let header = Header::read(text)?;
    let body = header.body()?;
    let notes = Cell::new(Notes::default());
    let complex = |take: &mut dyn FnMut(u64, u64, Complex64)| -> Result<(), IoError> {
        notes.set(header.entries(&body, progress, take)?);
        // The entries are read twice.
        progress.advance(text.len() / 2);
        Ok(())
    };
    let real = |take: &mut dyn FnMut(u64, u64, f64)| -> Result<(), IoError> {
        complex(&mut |row, col, value| take(row, col, value.re))
    };
    let Header { form, field, symmetry, rows, cols, .. } = header;
    // An entry takes at least a byte.
    let stored = (symmetry, header.entries.min(text.len() as u64));
    let built = if field == Field::Complex {
        let built = build::<Complex64>((rows, cols), stored, &complex, limit, progress);
        built.map(|built| (AnyMatrix::from(built.matrix), built.merged))
    } else {
        let built = build::<f64>((rows, cols), stored, &real, limit, progress);
        built.map(|built| (AnyMatrix::from(built.matrix), built.merged))
    };
    let (matrix, merged) = built.map_err(|error| header.first_error(&body, error, progress))?;
    let mut warnings = warnings(notes.get(), symmetry, merged);
    let mut rest = body.rest;
    while let Some(line) = rest.next() {
        let line = line.trim_ascii();
        if line.is_empty() {
            continue;
        }
        if header.vectors.is_none() {
            let expected = "the end of the file after the matrix".to_owned();
            return Err(unexpected(rest.number, expected, quoted(line)));
        }
        warnings.push(VECTORS_FOLLOW.to_owned());
        break;
    }
    progress.advance(text.len() % 2);
    Ok(MatrixFile { matrix, field, symmetry, form, warnings })
}

fn warnings(notes: Notes, symmetry: Symmetry, merged: usize) -> Vec<String> {
    let mut warnings = Vec::new();
    let Notes { unsorted, below, above, not_real, rounded } = notes;
    let columns = ["column has", "columns have"];
    warnings.extend(counted(unsorted, columns, "row indices that are not in ascending order"));
    warnings.extend(repeated(merged));
    if symmetry != Symmetry::General && below > 0 && above > 0 {
        warnings.push(format!(
            "a {} file should hold one triangle, but entries are in both, {below} below the diagonal and {above} above; each was mirrored",
            symmetry.as_str()
        ));
    }
    if symmetry == Symmetry::Hermitian {
        warnings.extend(not_real_diagonal(not_real));
    }
    warnings.extend(rounded_integers(rounded));
    warnings
}

/// Reads a right-hand side after the matrix, or an initial guess, if the file has any; the column counts from
/// 1.
pub(super) fn read_vector(
    text: &[u8],
    (is_guess, column): (bool, Option<u32>),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Option<Vec<f64>>, IoError> {
    let header = Header::read(text)?;
    let Some(line) = header.vectors else { return Ok(None) };
    let wrong = |expected: &str| unexpected(5, expected.to_owned(), quoted(line.trim_ascii()));
    let kind = line.get(..3).unwrap_or(line).to_ascii_uppercase();
    let counts = line.get(3..).unwrap_or_default();
    if kind.first() != Some(&b'F') {
        return Err(wrong("right-hand sides in full storage (F)"));
    }
    if is_guess && kind.get(1) != Some(&b'G') {
        return Ok(None);
    }
    if header.field == Field::Complex {
        return Err(IoError::RealOnly);
    }
    let cols = words(counts).next().and_then(integer);
    let cols = cols.ok_or_else(|| wrong("the number of right-hand sides"))?;
    let rows = header.rows;
    let before = match column.map(u64::from) {
        None if cols != 1 => return Err(IoError::NotAVector { rows, cols }),
        Some(column) if !(1..=cols).contains(&column) => {
            return Err(IoError::NoColumn { column, cols });
        }
        column => (column.unwrap_or(1) - 1).saturating_mul(rows),
    };
    let count = rows.saturating_mul(cols);
    let mut section = Section {
        lines: header.body()?.rest,
        // A pattern may lack the format of its values.
        format: header.format(if header.formats.len() > 3 { 3 } else { 2 }, "right-hand side")?,
        what: "right-hand side value",
        count,
    };
    if is_guess {
        section.lines = section.after();
        section.what = "initial guess value";
    }
    let room = rows.min(text.len() as u64) as usize;
    limit.check("the vector", room as u128 * 8)?;
    let mut values = Vec::with_capacity(room);
    let mut fields = section.fields();
    for k in 0..before.saturating_add(rows) {
        if k < before {
            fields.next()?;
        } else {
            values.push(fields.real()?);
        }
        if k.is_multiple_of(WAVE) {
            progress.check()?;
        }
    }
    progress.advance(text.len());
    Ok(Some(values))
}
