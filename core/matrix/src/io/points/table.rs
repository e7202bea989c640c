//! Points as CSV.

use super::columns::{Chosen, Columns, Mismatch};
use super::dialect::{HeaderLine, PointsTaken, Separator, is_name, is_too_large, number};
use crate::io::error::quoted;
use crate::io::{IoError, Progress};
use crate::matrix::Points;
use crate::memory::MemoryLimit;

/// Points read between checks for cancellation.
const WAVE: usize = 1 << 12;

/// The byte order mark that Windows programs put before UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a file holds CSV: its name says so, or a comma or semicolon in a first line that does not begin with a
/// number of dimensions, as standard input has no name.
pub(super) fn is_meant(name: &str, text: &[u8]) -> bool {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii_start();
    let word = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    let separates = |byte: &u8| matches!(byte, b',' | b';');
    name.to_ascii_lowercase().ends_with(".csv")
        || (!word.iter().all(u8::is_ascii_digit) && line.iter().any(separates))
}

/// Error for a line of the table with unexpected content.
fn unexpected(line: u64, expected: String, found: String) -> IoError {
    IoError::Unexpected { line, expected, found }
}

fn found(field: &[u8]) -> String {
    match field {
        [] => "an empty field".to_owned(),
        _ if is_too_large(field) => format!("{}, which overflows f64", quoted(field)),
        _ => quoted(field),
    }
}

/// The field of a column, counted from 1.
fn field<'a>(fields: &[&'a [u8]], column: usize) -> &'a [u8] {
    fields.get(column - 1).copied().unwrap_or_default()
}

/// Bytes of a list with room for this many more; lists double.
fn room<T>(list: &Vec<T>, more: usize) -> u128 {
    let needed = list.len() + more;
    let capacity = match needed <= list.capacity() {
        true => list.capacity(),
        false => needed.max(2 * list.capacity()),
    };
    capacity as u128 * size_of::<T>() as u128
}

/// A table while it is being read.
struct Table<'a> {
    header: HeaderLine,
    columns: &'a Columns,
    chosen: Chosen,
    /// Bytes of the texts of the names of points so far.
    ids_bytes: usize,
    separator: Option<Separator>,
    /// The decimal mark of the numbers so far.
    decimal_mark: Option<u8>,
    names: Option<Vec<String>>,
    /// Fields of the first line.
    width: usize,
    first_line: u64,
    coordinates: Vec<f64>,
}

impl Table<'_> {
    /// Interprets the first line as names or as a point; returns whether it holds names.
    fn begin(&mut self, fields: &[&[u8]], line: u64) -> Result<bool, IoError> {
        (self.width, self.first_line) = (fields.len(), line);
        let columns = self.columns;
        let chosen = |names: Option<&[String]>| {
            columns
                .chosen(names, fields.len())
                .map_err(|Mismatch { expected, found }| unexpected(line, expected, found))
        };
        let are_names = match self.header {
            HeaderLine::Names => true,
            HeaderLine::Point => false,
            HeaderLine::Find if columns.need_names(fields) => true,
            HeaderLine::Find => {
                let found = chosen(None)?;
                found.compared.iter().all(|column| is_name(field(fields, column.number)))
            }
        };
        if are_names {
            let name = |field: &&[u8]| String::from_utf8_lossy(field).into_owned();
            let names: Vec<String> = fields.iter().map(name).collect();
            self.chosen = chosen(Some(&names))?;
            self.names = Some(names);
            return Ok(true);
        }
        self.chosen = chosen(None)?;
        let leaves_commas = self.leaves_commas();
        let mut compared = self.chosen.compared.iter().map(|column| column.number);
        let other = compared.find(|k| number(field(fields, *k), leaves_commas).is_none());
        match (other, self.header) {
            (Some(column), HeaderLine::Find) => {
                let expected = format!(
                    "a number in column {column}, or a header with names in all columns (use --header to read this line as one)"
                );
                Err(unexpected(line, expected, found(field(fields, column))))
            }
            _ => Ok(false),
        }
    }

    fn leaves_commas(&self) -> bool {
        self.separator.is_some_and(Separator::leaves_commas)
    }

    /// Bytes that the points take once there is room for another one.
    fn bytes_with_another(&self) -> u128 {
        let (dimensions, names) = (self.chosen.compared.len(), self.chosen.id.iter().len());
        room(&self.coordinates, dimensions) + room(&self.chosen.ids, names) + self.ids_bytes as u128
    }

    /// Appends a point.
    fn add(&mut self, fields: &[&[u8]], line: u64) -> Result<(), IoError> {
        let (expected, values) = (self.width, fields.len());
        if values != expected {
            let by = self.separator.map_or("", Separator::plural);
            let by = if by.is_empty() { String::new() } else { format!(" separated by {by}") };
            let first = self.first_line;
            let word = if expected == 1 { "value" } else { "values" };
            let expected = format!("{expected} {word}{by}, as in line {first}");
            return Err(unexpected(line, expected, values.to_string()));
        }
        for column in &self.chosen.compared {
            let column = column.number;
            let field = field(fields, column);
            let value = number(field, self.leaves_commas()).ok_or_else(|| {
                unexpected(line, format!("a number in column {column}"), found(field))
            })?;
            if let Some(mark) = field.iter().copied().find(|byte| matches!(byte, b'.' | b',')) {
                if self.decimal_mark.is_some_and(|before| before != mark) {
                    let mark = if mark == b'.' { "comma" } else { "point" };
                    let expected =
                        format!("a decimal {mark} in column {column}, as in the lines above");
                    return Err(unexpected(line, expected, found(field)));
                }
                self.decimal_mark = Some(mark);
            }
            self.coordinates.push(value);
        }
        if let Some(column) = &self.chosen.id {
            let id = String::from_utf8_lossy(field(fields, column.number)).into_owned();
            // A block of the heap takes a multiple of 16 bytes, with its size before it.
            self.ids_bytes += (id.len() + 8).next_multiple_of(16);
            self.chosen.ids.push(id);
        }
        Ok(())
    }
}

/// Reads the whole table.
pub(super) fn read(
    text: &[u8],
    (header, columns): (HeaderLine, &Columns),
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<(Points, PointsTaken, Chosen), IoError> {
    let text = text.strip_prefix(MARK).unwrap_or(text);
    let separator = Separator::of(text)?;
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .trim(csv::Trim::All)
        .delimiter(separator.unwrap_or(Separator::Comma).byte())
        .from_reader(text);
    let mut table = Table {
        header,
        columns,
        chosen: Chosen::default(),
        ids_bytes: 0,
        separator,
        decimal_mark: None,
        names: None,
        width: 0,
        first_line: 1,
        coordinates: Vec::new(),
    };
    let mut record = csv::ByteRecord::new();
    let mut lines = 0usize;
    loop {
        let line = reader.position().line();
        match reader.read_byte_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                return Err(unexpected(line, "a line of CSV".to_owned(), error.to_string()));
            }
        }
        let line = record.position().map_or(line, csv::Position::line);
        // Several blanks separate like a single one.
        let is_field = |field: &&[u8]| separator != Some(Separator::Blank) || !field.is_empty();
        let fields: Vec<&[u8]> = record.iter().filter(is_field).collect();
        if fields.is_empty() {
            return Err(unexpected(line, "a number in column 1".to_owned(), found(b"")));
        }
        lines += 1;
        if lines == 1 && table.begin(&fields, line)? {
            continue;
        }
        limit.check("the points", table.bytes_with_another())?;
        table.add(&fields, line)?;
        if lines.is_multiple_of(WAVE) {
            progress.check()?;
        }
    }
    if lines == 0 {
        let found = "the end of the file".to_owned();
        return Err(unexpected(1, "a line of CSV".to_owned(), found));
    }
    if table.coordinates.is_empty() && header == HeaderLine::Find {
        let expected =
            "a point after the header line (use --header if there are no points)".to_owned();
        return Err(unexpected(table.first_line + 1, expected, "the end of the file".to_owned()));
    }
    let taken = PointsTaken {
        form: "csv",
        separator: separator.map(Separator::plural),
        decimal_comma: table.decimal_mark == Some(b','),
        header: table.names,
        warnings: Vec::new(),
    };
    let points = Points::new(table.chosen.compared.len(), table.coordinates)?;
    Ok((points, taken, table.chosen))
}
