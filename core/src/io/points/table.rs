//! Points as CSV.

use crate::io::error::quoted;
use crate::io::{IoError, Progress};
use crate::matrix::Points;
use crate::memory::MemoryLimit;

/// How often the reader looks whether it is to stop, in points.
const WAVE: usize = 1 << 12;

/// Whether a file of this name holds CSV.
pub(super) fn is_meant(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(".csv")
}

/// All of it.
pub(super) fn read(
    text: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Points, IoError> {
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
