//! Points of a space of D dimensions, the input of the skyline operator, from text or CSV.
//!
//! Text, as the program `rbox` writes it: a line that begins with D and whose rest says anything, a
//! line with the number of points N, then N lines of D numbers separated by blanks. CSV, for names
//! that end in `.csv` or `.csv.gz`: a line of D numbers a point, with or without a line of names
//! before them.

use super::error::quoted;
use super::gzip::decompressed;
use super::scan::Cursor;
use super::{IoError, Progress};
use crate::matrix::Points;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// Reads the points of a file of this name, which says whether they are CSV. Gzip data is
/// decompressed first.
pub fn read_named_points(
    name: &str,
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Points, IoError> {
    let (text, progress) = at_once(decompressed(data, limit, progress))?;
    let name = name.to_ascii_lowercase();
    let points = match name.strip_suffix(".gz").unwrap_or(&name).ends_with(".csv") {
        true => read_csv(&text, limit, progress)?,
        false => read_text(&text, limit, progress)?,
    };
    progress.advance(text.len());
    Ok(points)
}

/// How often a reader looks whether it is to stop, in points.
const WAVE: usize = 1 << 12;

fn read_text(text: &[u8], limit: MemoryLimit, progress: Progress<'_>) -> Result<Points, IoError> {
    let mut cursor = Cursor::new(text);
    let here = |cursor: &Cursor<'_>, expected: String| {
        let read = text.get(..text.len() - cursor.remaining()).unwrap_or_default();
        let found = match cursor.token() {
            [] if cursor.remaining() == 0 => "the end of the file".to_owned(),
            [] => "the end of the line".to_owned(),
            token => quoted(token),
        };
        IoError::Unexpected {
            line: memchr::memchr_iter(b'\n', read).count() as u64 + 1,
            expected,
            found,
        }
    };
    let count = |cursor: &mut Cursor<'_>, least: u64, what: &str| {
        cursor.next_record();
        let before = *cursor;
        let number = cursor.unsigned().filter(|number| *number >= least);
        number.ok_or_else(|| here(&before, what.to_owned()))
    };
    let d = count(&mut cursor, 1, "the number of dimensions, from 1")?;
    cursor.skip_line();
    let n = count(&mut cursor, 0, "the number of points")?;
    if !cursor.end_of_line() {
        return Err(here(&cursor, "the end of the line after the number of points".to_owned()));
    }
    let declared = u128::from(d) * u128::from(n);
    limit.check(format!("{n} points of {d} dimensions"), declared.saturating_mul(8))?;
    // A coordinate and what ends it take two bytes at least, whatever is declared.
    let possible = declared.min(text.len() as u128 / 2 + 1) as usize;
    let mut coordinates = Vec::with_capacity(possible);
    for point in 1..=n {
        cursor.next_record();
        for k in 1..=d {
            cursor.skip_blanks();
            let before = cursor;
            let value = cursor.real().map(|real| real.value).filter(|value| !value.is_nan());
            let expected = || format!("a number for coordinate {k} of {d} of point {point} of {n}");
            coordinates.push(value.ok_or_else(|| here(&before, expected()))?);
        }
        if !cursor.end_of_line() {
            let expected =
                format!("the end of the line after the {d} coordinates of point {point}");
            return Err(here(&cursor, expected));
        }
        if point.is_multiple_of(WAVE as u64) {
            progress.check()?;
        }
    }
    if cursor.next_record() {
        return Err(here(&cursor, format!("the end of the file after {n} points")));
    }
    let dimensions = usize::try_from(d).unwrap_or(usize::MAX);
    Ok(Points::new(dimensions, coordinates)?)
}

fn read_csv(text: &[u8], limit: MemoryLimit, progress: Progress<'_>) -> Result<Points, IoError> {
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text);
    let mut record = csv::ByteRecord::new();
    let (mut dimensions, mut coordinates) = (0, Vec::new());
    let number = |field: &[u8]| fast_float2::parse::<f64, _>(field).ok();
    let mut is_first = true;
    loop {
        let line = reader.position().line();
        let at = |expected: String, found: String| IoError::Unexpected { line, expected, found };
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return Err(at("a line of CSV".to_owned(), error.to_string())),
        }
        let line = record.position().map_or(line, csv::Position::line);
        let at = |expected: String, found: String| IoError::Unexpected { line, expected, found };
        let names = std::mem::take(&mut is_first) && record.iter().any(|f| number(f).is_none());
        if names {
            dimensions = record.len();
            continue;
        }
        if dimensions == 0 {
            dimensions = record.len();
        }
        if record.len() != dimensions {
            let found = format!("{} values", record.len());
            return Err(at(format!("{dimensions} values, as in the first line"), found));
        }
        let point = coordinates.len() / dimensions.max(1) + 1;
        limit.check("the points", (coordinates.len() as u128 + dimensions as u128) * 8)?;
        for (k, field) in record.iter().enumerate() {
            let value = number(field).filter(|value| !value.is_nan());
            let expected = || format!("a number for coordinate {} of point {point}", k + 1);
            coordinates.push(value.ok_or_else(|| at(expected(), quoted(field)))?);
        }
        if point.is_multiple_of(WAVE) {
            progress.check()?;
        }
    }
    if dimensions == 0 {
        let (expected, found) = ("a line of CSV", "the end of the file");
        return Err(IoError::Unexpected {
            line: 1,
            expected: expected.into(),
            found: found.into(),
        });
    }
    Ok(Points::new(dimensions, coordinates)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> Result<Points, IoError> {
        read_named_points(name, text.as_bytes(), MemoryLimit::bytes(1 << 20), Progress::none())
    }

    fn message(name: &str, text: &str) -> String {
        read(name, text).unwrap_err().to_string()
    }

    #[test]
    fn text_as_rbox_writes_it_is_read() {
        let points = read("a.txt", "2 rbox 3 D2\n3\n 0.5 -0.25\r\n\t1e-3   inf\n7 8\n").unwrap();
        assert_eq!((points.dimensions(), points.len(), points.is_empty()), (2, 3, false));
        assert_eq!(points.coordinates(), [0.5, -0.25, 1e-3, f64::INFINITY, 7.0, 8.0]);
        assert!(read("a.txt", "4\n0\n").unwrap().is_empty());
    }

    #[test]
    fn lines_may_have_any_length() {
        let line = vec!["0.125"; 5000].join(" ");
        let points = read("a.txt", &format!("5000\n2\n{line}\n{line}")).unwrap();
        assert_eq!((points.dimensions(), points.len()), (5000, 2));
    }

    #[test]
    fn csv_is_read_with_and_without_names() {
        let expected = [1.0, -2.5, 3.0, 4e2];
        for text in
            ["1,-2.5\n3,4e2\n", "price, size\n1, -2.5\r\n3,4e2", "\"1\",-2.5\n\n3,\"4e2\"\n"]
        {
            let points = read("A.CSV", text).unwrap();
            assert_eq!((points.dimensions(), points.coordinates()), (2, &expected[..]), "{text}");
        }
        assert!(read("a.csv", "x,y\n").unwrap().is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, expected) in [
            ("", "line 1: expected the number of dimensions, from 1, found the end of the file"),
            ("0\n1\n", "line 1: expected the number of dimensions, from 1, found \"0\""),
            ("2\nx\n", "line 2: expected the number of points, found \"x\""),
            (
                "2\n1 1\n",
                "line 2: expected the end of the line after the number of points, found \"1\"",
            ),
            (
                "2\n2\n1 2\n3\n",
                "line 4: expected a number for coordinate 2 of 2 of point 2 of 2, found the end of the line",
            ),
            (
                "2\n2\n1 2\n",
                "line 4: expected a number for coordinate 1 of 2 of point 2 of 2, found the end of the file",
            ),
            (
                "2\n1\n1 nan\n",
                "line 3: expected a number for coordinate 2 of 2 of point 1 of 1, found \"nan\"",
            ),
            (
                "2\n1\n1 2 3\n",
                "line 3: expected the end of the line after the 2 coordinates of point 1, found \"3\"",
            ),
            (
                "2\n1\n1 2\n3 4\n",
                "line 4: expected the end of the file after 1 points, found \"3\"",
            ),
        ] {
            assert_eq!(message("a.txt", text), expected, "{text:?}");
        }
        for (text, expected) in [
            ("", "line 1: expected a line of CSV, found the end of the file"),
            ("1,2\n3\n", "line 2: expected 2 values, as in the first line, found 1 values"),
            ("x,y\n3,y\n", "line 2: expected a number for coordinate 2 of point 1, found \"y\""),
            (
                "1,2\n3,NaN\n",
                "line 2: expected a number for coordinate 2 of point 2, found \"NaN\"",
            ),
        ] {
            assert_eq!(message("a.csv", text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_is_declared_does_not_decide_what_is_allocated() {
        let error = message("a.txt", "200\n18446744073709551615\n");
        assert!(error.contains("points of 200 dimensions"), "{error}");
        let error = message("a.txt", "3999999999999999999999\n9999999999999999999\n");
        assert!(error.contains("18446744073709551615 dimensions"), "{error}");
        let error = message("a.txt", "1000\n100\n1");
        assert!(error.starts_with("line 3: expected a number for coordinate 2 of 1000"), "{error}");
    }
}
