//! IJ text of hypre: a line `ilower iupper jlower jupper` with the first and last row and column of a process,
//! then a line `row column value` per nonzero. Each process writes a file of its own, called NAME.00000,
//! NAME.00001 and so on, the pieces of the matrix. Indices count from 0 or 1. The file of a vector has a line
//! `jlower jupper`, then a line `index value` per element.

#[cfg(test)]
mod tests;

use std::path::Path;

use super::build::{build, repeated};
use super::error::quoted;
use super::scan::Cursor;
use super::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, Symmetry};
use crate::matrix::Extent;
use crate::memory::MemoryLimit;

/// What the first line must contain.
const RANGES: &str = "the line \"ilower iupper jlower jupper\" of a hypre matrix";

/// The text that a process wrote, and its file if it is not the only one.
pub(super) struct Piece<'a> {
    pub(super) path: Option<&'a Path>,
    /// The name in an archive, if it is in one.
    pub(super) member: Option<&'a str>,
    pub(super) text: &'a [u8],
}

impl<'a> Piece<'a> {
    /// The text of the only process.
    fn only(text: &'a [u8]) -> Self {
        Self { path: None, member: None, text }
    }
}

/// The name without the number of the piece that it ends with, and that number.
pub(super) fn numbered(name: &str) -> Option<(&str, u32)> {
    let (stem, number) = name.rsplit_once('.')?;
    let is_number = number.len() == 5 && number.bytes().all(|digit| digit.is_ascii_digit());
    Some((stem, number.parse::<u32>().ok().filter(|_| is_number)?))
}

/// Whether a file is such a piece: its first line has four integers, and its name ends in five digits or its
/// second line is a nonzero in the first row or below.
pub(super) fn is_meant(name: &str, data: &[u8]) -> bool {
    let Some(([ilower, iupper, ..], body)) = first_line::<4>(data) else { return false };
    let is_nonzero = || {
        let (line, _) = split_line(body.strip_prefix(b"\n")?)?;
        let mut words = line.split_ascii_whitespace();
        let row = words.next()?.parse::<i64>().ok()?;
        Some(words.count() == 2 && (ilower..=iupper).contains(&row))
    };
    numbered(name).is_some() || is_nonzero() == Some(true)
}

/// The first line, unless it is too long to be looked at, and the text from its end on.
fn split_line(text: &[u8]) -> Option<(&str, &[u8])> {
    const LONGEST: usize = 200;
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    let (line, rest) = text.split_at_checked(end).filter(|(line, _)| line.len() < LONGEST)?;
    Some((std::str::from_utf8(line).ok()?, rest))
}

/// The integers of the first line, and the text from its end on.
fn first_line<const N: usize>(text: &[u8]) -> Option<([i64; N], &[u8])> {
    let (line, rest) = split_line(text)?;
    let words = line.split_ascii_whitespace();
    let numbers: Vec<i64> = words.map(str::parse::<i64>).collect::<Result<_, _>>().ok()?;
    Some((numbers.try_into().ok()?, rest))
}

/// Reads a matrix that one process wrote.
pub(super) fn read(
    text: &[u8],
    _: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    read_pieces(&[Piece::only(text)], limit, progress)
}

/// The sizes of a matrix that one process wrote.
pub(super) fn extent(text: &[u8], _: &ReadOptions) -> Result<Extent, IoError> {
    extent_of_pieces(&[Piece::only(text)])
}

/// The sizes of the matrix of these pieces, whose lines are counted.
pub(super) fn extent_of_pieces(pieces: &[Piece<'_>]) -> Result<Extent, IoError> {
    let parts = parts(pieces)?;
    let (rows, cols) = sizes(&parts);
    let mut entries = 0;
    for part in &parts {
        let mut cursor = Cursor::new(part.body);
        while cursor.next_record() {
            cursor.next_line();
            entries += 1;
        }
    }
    Ok(Extent { rows, cols, entries, estimated: false })
}

/// Reads the matrix of these pieces, which are all of it in any order.
pub(super) fn read_pieces(
    pieces: &[Piece<'_>],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let parts = parts(pieces)?;
    let size = sizes(&parts);
    let lines = |part: &Part<'_>| memchr::memchr_iter(b'\n', part.body).count() as u64 + 1;
    let most: u64 = parts.iter().map(lines).sum();
    let cols = columns(&parts);
    let entries = |take: &mut dyn FnMut(u64, u64, f64)| -> Result<(), IoError> {
        for part in &parts {
            each(part, cols, progress, take).map_err(|error| named(error, part.piece))?;
        }
        Ok(())
    };
    let built = build(size, (Symmetry::General, most), &entries, limit, progress)?;
    pieces.iter().for_each(|piece| progress.advance(piece.text.len()));
    Ok(MatrixFile {
        matrix: AnyMatrix::Real(built.matrix),
        field: Field::Real,
        symmetry: Symmetry::General,
        form: MatrixForm::Hypre,
        warnings: repeated(built.merged).into_iter().collect(),
    })
}

/// A piece with the first and last of its rows and columns, and the text after its first line.
struct Part<'a> {
    piece: &'a Piece<'a>,
    rows: (i64, i64),
    cols: (i64, i64),
    /// The first row of the matrix.
    first: i64,
    body: &'a [u8],
}

impl Part<'_> {
    /// The error where the cursor stands.
    fn unexpected(&self, cursor: Cursor<'_>, expected: String) -> IoError {
        let text = self.piece.text;
        let before = text.get(..text.len() - cursor.remaining()).unwrap_or_default();
        let found = match cursor.token() {
            [] => "the end of the line".to_owned(),
            token => quoted(token),
        };
        IoError::Unexpected {
            line: memchr::memchr_iter(b'\n', before).count() as u64 + 1,
            expected,
            found,
        }
    }
}

/// The error with the file of the piece.
fn named(error: IoError, piece: &Piece<'_>) -> IoError {
    let error = error.in_member(piece.member);
    match piece.path {
        Some(path) => error.in_file(path),
        None => error,
    }
}

/// The pieces in the order of their rows, which must follow one another from 0 or 1. A process without rows wrote
/// a last row before the first.
fn parts<'a>(pieces: &'a [Piece<'a>]) -> Result<Vec<Part<'a>>, IoError> {
    let mut parts = Vec::new();
    for piece in pieces {
        let found = first_line::<4>(piece.text).filter(|([ilower, iupper, jlower, jupper], _)| {
            let is_range = |first: i64, last: i64| first >= 0 && last >= first - 1;
            is_range(*ilower, *iupper) && is_range(*jlower, *jupper)
        });
        let Some(([ilower, iupper, jlower, jupper], body)) = found else {
            let line = piece.text.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let (expected, found) = (RANGES.to_owned(), quoted(line.trim_ascii()));
            let error = IoError::Unexpected { line: 1, expected, found };
            return Err(named(error, piece));
        };
        let (rows, cols) = ((ilower, iupper), (jlower, jupper));
        parts.push(Part { piece, rows, cols, first: 0, body });
    }
    parts.sort_by_key(|part: &Part<'_>| part.rows);
    let first = i64::from(parts.first().is_some_and(|part| part.rows.0 == 1));
    let mut next = first;
    for part in &mut parts {
        part.first = first;
        let (lower, upper) = part.rows;
        if lower != next {
            let error = IoError::Stored(match lower > next {
                true => format!(
                    "expected a piece of the hypre matrix with the rows {next} to {}, found none: the file of another process is missing",
                    lower - 1
                ),
                false => format!("expected rows from {next}, found the row {lower} again"),
            });
            return Err(named(error, part.piece));
        }
        next = upper.saturating_add(1);
    }
    Ok(parts)
}

/// The first and last column of the matrix.
fn columns(parts: &[Part<'_>]) -> (i64, i64) {
    let first = parts.iter().map(|part| part.cols.0).min().unwrap_or(0);
    // Columns count from where rows do, unless they say otherwise.
    let first = first.min(parts.first().map_or(0, |part| part.first));
    (first, parts.iter().map(|part| part.cols.1).max().unwrap_or(-1))
}

/// The number of rows and of columns.
fn sizes(parts: &[Part<'_>]) -> (u64, u64) {
    let count = |(first, last): (i64, i64)| last.abs_diff(first.saturating_sub(1));
    let rows = parts.first().map_or(0, |part| part.first);
    let last = parts.last().map_or(-1, |part| part.rows.1);
    (count((rows, last)), count(columns(parts)))
}

/// Calls `take` with each nonzero of a piece.
fn each(
    part: &Part<'_>,
    cols: (i64, i64),
    progress: Progress<'_>,
    take: &mut dyn FnMut(u64, u64, f64),
) -> Result<(), IoError> {
    /// Nonzeros between checks for cancellation.
    const WAVE: u64 = 1 << 16;
    let mut cursor = Cursor::new(part.body);
    let mut found = 0u64;
    while cursor.next_record() {
        found += 1;
        if found.is_multiple_of(WAVE) {
            progress.check()?;
        }
        let row = index(&mut cursor, part.rows);
        let row = row.ok_or_else(|| part.unexpected(cursor, within("a row", part.rows)))?;
        cursor.skip_blanks();
        let col = index(&mut cursor, cols).ok_or_else(|| {
            let what = within("a column", cols);
            part.unexpected(cursor, format!("{what} (or the file of another process is missing)"))
        })?;
        cursor.skip_blanks();
        let value = cursor.real();
        let value = value.ok_or_else(|| part.unexpected(cursor, "a number".to_owned()))?;
        if !cursor.end_of_line() {
            let expected = "the end of the line after the value of a nonzero".to_owned();
            return Err(part.unexpected(cursor, expected));
        }
        take(row.abs_diff(part.first), col.abs_diff(cols.0), value.value);
    }
    Ok(())
}

/// Parses an index between two others; on `None` the cursor does not move.
fn index(cursor: &mut Cursor<'_>, (first, last): (i64, i64)) -> Option<i64> {
    let before = *cursor;
    let index = cursor.unsigned().and_then(|index| i64::try_from(index).ok());
    let index = index.filter(|index| (first..=last).contains(index));
    if index.is_none() {
        *cursor = before;
    }
    index
}

fn within(what: &str, (first, last): (i64, i64)) -> String {
    format!("{what} from {first} to {last}")
}

/// Reads a vector that one process wrote; `None` for other text. A vector of one number per line has no line of
/// two integers.
pub(super) fn read_vector(
    text: &[u8],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Option<Result<Vec<f64>, IoError>> {
    range_of_vector(text)?;
    Some(read_vector_pieces(&[Piece::only(text)], column, limit, progress))
}

/// Whether a file is a piece of a vector: its name ends in five digits, its first line has two integers.
#[cfg(not(target_family = "wasm"))]
pub(super) fn is_vector(name: &str, data: &[u8]) -> bool {
    numbered(name).is_some() && range_of_vector(data).is_some()
}

/// The first and last index of a piece of a vector, and the text of its elements.
fn range_of_vector(text: &[u8]) -> Option<([i64; 2], &[u8])> {
    let ([first, last], body) = first_line::<2>(text)?;
    let mut start = Cursor::new(body);
    let begins = u64::try_from(first)
        .is_ok_and(|first| start.next_record() && start.unsigned() == Some(first));
    (begins && last >= first && !start.end_of_line()).then_some(([first, last], body))
}

/// Reads a vector from the texts of all processes.
pub(super) fn read_vector_pieces(
    pieces: &[Piece<'_>],
    column: Option<u32>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Vec<f64>, IoError> {
    if let Some(column) = column.filter(|column| *column != 1) {
        return Err(IoError::NoColumn { column: column.into(), cols: 1 });
    }
    let (mut values, mut next) = (Vec::new(), None);
    for piece in pieces {
        let range = range_of_vector(piece.text);
        let ([first, last], body) = range.unwrap_or(([0, -1], &[]));
        if range.is_none() || next.map_or(first > 1, |next| first != next) {
            let next = next.map_or("0 or 1".to_owned(), |next: i64| next.to_string());
            return Err(IoError::Stored(format!(
                "expected a hypre vector from index {next}, found {}: the file of another process is missing",
                if range.is_some() { format!("one from {first}") } else { "none".to_owned() }
            )));
        }
        let rows = (first, last);
        let part = Part { piece, rows, cols: rows, first, body };
        elements(&part, &mut values, limit, progress)?;
        next = Some(last.saturating_add(1));
    }
    Ok(values)
}

/// Appends the elements of a vector, whose indices are those of the part's rows in order.
fn elements(
    part: &Part<'_>,
    values: &mut Vec<f64>,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let (first, last) = part.rows;
    let lines = memchr::memchr_iter(b'\n', part.body).count() as u64 + 1;
    let length = last.abs_diff(first).saturating_add(1).min(lines);
    limit.check("the vector", (values.len() as u128 + u128::from(length)) * 8)?;
    values.reserve_exact(length as usize);
    let mut cursor = Cursor::new(part.body);
    for next in first..=last {
        if values.len().is_multiple_of(1 << 16) {
            progress.check()?;
        }
        let is_there = cursor.next_record() && index(&mut cursor, (next, next)).is_some();
        cursor.skip_blanks();
        let value = if is_there { cursor.real() } else { None };
        match value.filter(|_| cursor.end_of_line()) {
            Some(real) => values.push(real.value),
            None => {
                return Err(part.unexpected(cursor, format!("\"{next} value\" of a hypre vector")));
            }
        }
    }
    if cursor.next_record() {
        let expected = format!("the end of the file after element {last} of a hypre vector");
        return Err(part.unexpected(cursor, expected));
    }
    progress.advance(part.piece.text.len());
    Ok(())
}
