//! Points in the format of the program `rbox`.

use std::ops::RangeInclusive;

use crate::io::error::quoted;
use crate::io::scan::Cursor;
use crate::io::{IoError, Progress};
use crate::matrix::{Points, PointsExtent};
use crate::memory::MemoryLimit;

/// Points read between checks for cancellation.
const WAVE: u64 = 1 << 12;

/// A text and the current position in it.
struct Lines<'a> {
    text: &'a [u8],
    cursor: Cursor<'a>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self { text, cursor: Cursor::new(text) }
    }

    /// Error for unexpected text at the cursor.
    fn unexpected(&self, at: &Cursor<'_>, expected: String) -> IoError {
        let read = self.text.get(..self.text.len() - at.remaining()).unwrap_or_default();
        let found = match at.token() {
            [] if at.remaining() == 0 => "the end of the file".to_owned(),
            [] => "the end of the line".to_owned(),
            token => quoted(token),
        };
        let line = memchr::memchr_iter(b'\n', read).count() as u64 + 1;
        IoError::Unexpected { line, expected, found }
    }

    fn count(&mut self, range: RangeInclusive<u64>, what: &str) -> Result<u64, IoError> {
        self.cursor.next_record();
        let before = self.cursor;
        let number = self.cursor.unsigned().filter(|number| range.contains(number));
        number.ok_or_else(|| self.unexpected(&before, what.to_owned()))
    }

    /// Reads D and N.
    fn header(&mut self) -> Result<(u64, u64), IoError> {
        if self.text.starts_with(b"%%MatrixMarket") {
            let (expected, found) = ("points", "a Matrix Market file");
            let instead = "save the numbers as CSV";
            return Err(IoError::Foreign { expected, found, instead });
        }
        // As many as the binary form can record.
        let d =
            self.count(1..=u32::MAX.into(), "the number of dimensions, from 1 to 4294967295")?;
        self.cursor.skip_line();
        let n = self.count(0..=u64::MAX, "the number of points")?;
        if !self.cursor.end_of_line() {
            let expected = "the end of the line after the number of points".to_owned();
            return Err(self.unexpected(&self.cursor, expected));
        }
        Ok((d, n))
    }
}

/// The sizes that the first two lines declare.
pub(super) fn extent(text: &[u8]) -> Result<PointsExtent, IoError> {
    let (dimensions, points) = Lines::new(text).header()?;
    Ok(PointsExtent { dimensions, points, estimated: false })
}

/// Reads the whole text.
pub(super) fn read(
    text: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Points, IoError> {
    let mut lines = Lines::new(text);
    let (d, n) = lines.header()?;
    let declared = u128::from(d) * u128::from(n);
    limit.check(format!("{n} points in {d} dimensions"), declared.saturating_mul(8))?;
    // Whatever is declared, a coordinate and its separator take at least two bytes.
    let possible = declared.min(text.len() as u128 / 2 + 1) as usize;
    let mut coordinates = Vec::with_capacity(possible);
    let cursor = &mut lines.cursor;
    for point in 1..=n {
        cursor.next_record();
        for k in 1..=d {
            cursor.skip_blanks();
            let before = *cursor;
            let read = cursor.real();
            let value = read.filter(|real| !real.value.is_nan() && !real.overflowed);
            let Some(value) = value.map(|real| real.value) else {
                let number = match read.is_some_and(|real| real.overflowed) {
                    true => "a number within the range of f64",
                    false => "a number",
                };
                let expected =
                    format!("{number} for coordinate {k} of {d} of point {point} of {n}");
                return Err(lines.unexpected(&before, expected));
            };
            coordinates.push(value);
        }
        if !cursor.end_of_line() {
            let at = *cursor;
            let expected =
                format!("the end of the line after the {d} coordinates of point {point}");
            return Err(lines.unexpected(&at, expected));
        }
        if point.is_multiple_of(WAVE) {
            progress.check()?;
        }
    }
    if cursor.next_record() {
        let at = *cursor;
        return Err(lines.unexpected(&at, format!("the end of the file after {n} points")));
    }
    Ok(Points::new(usize::try_from(d).unwrap_or(usize::MAX), coordinates)?)
}
