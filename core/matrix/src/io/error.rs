//! Errors of reading and writing files, each in one sentence.

use std::path::{Path, PathBuf};

use crate::matrix::FormatError;
use crate::memory::MemoryError;

/// A file that could not be read or written. Line numbers are 1-based.
#[derive(Debug, thiserror::Error)]
pub enum IoError {
    /// Any other error, with the path of the file.
    #[error("{}: {error}", .path.display())]
    #[expect(missing_docs, reason = "the message names the fields")]
    InFile { path: PathBuf, error: Box<IoError> },
    /// Any error in a file of an archive, with the name of that file.
    #[error("member {}{}", shown(.name.as_bytes()), after_name(.error))]
    #[expect(missing_docs, reason = "the message names the fields")]
    InMember { name: String, error: Box<IoError> },
    /// An operation that the system refused.
    #[error("cannot {doing}: {error}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    System { doing: &'static str, error: std::io::Error },
    /// Writing would overwrite an existing file.
    #[error("the file already exists")]
    Exists,
    /// Text that the format does not allow at this place.
    #[error("line {line}: expected {expected}, found {found}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Unexpected { line: u64, expected: String, found: String },
    /// Fewer nonzeros than the size line declares.
    #[error("line {line} declares {declared} {}, but the file ends after {found}", entries(.declared))]
    #[expect(missing_docs, reason = "the message names the fields")]
    TooFewEntries { line: u64, declared: u64, found: u64 },
    /// More nonzeros than the size line declares; `line` holds the first extra one.
    #[error(
        "line {line}: expected the end of the file after the {declared} {} declared by the size line, found {found}",
        entries(.declared)
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    TooManyEntries { line: u64, declared: u64, found: u64 },
    /// A file of another kind.
    #[error("expected a matrix, found {0}")]
    NotAMatrix(&'static str),
    /// A file in a form that is recognized but not supported.
    #[error("expected {expected}, found {found} (not supported): {instead}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    Foreign { expected: &'static str, found: &'static str, instead: &'static str },
    /// A file that fits two forms and whose name does not decide.
    #[error(
        "ambiguous file: it is valid both as a METIS graph of {vertices} vertices and as triplets; rename it to .graph to read it as a graph, or give it the size line \"rows columns entries\" to read it as triplets"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    TwoForms { vertices: u64 },
    /// Compressed data that cannot be decompressed: it ends too early unless `error` says more.
    #[error("the {kind} data is {}", stopped(.decompressed, .error))]
    #[expect(missing_docs, reason = "the message names the fields")]
    Compressed { kind: &'static str, decompressed: u64, error: Option<String> },
    /// An archive that is damaged or does not contain exactly one matrix.
    #[error("{0}")]
    Archive(String),
    /// A binary file, or one of fixed columns, that is damaged or holds something else; says where.
    #[error("{0}")]
    Stored(String),
    /// A value that a Matrix Market field cannot represent.
    #[error(
        "the value {value} in row {row}, column {col} cannot be written to a file with field {field}"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotOfField { row: u64, col: u64, value: f64, field: &'static str },
    /// A matrix that is not square and cannot be written as one triangle.
    #[error("a {rows} x {cols} matrix is not square and cannot be written as one triangle")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotSquare { rows: u64, cols: u64 },
    /// A matrix that cannot be written as one triangle because the other triangle differs.
    #[error(
        "the matrix is not symmetric and cannot be written as one triangle: row {row}, column {col} is {value}, row {col}, column {row} is {other}"
    )]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotSymmetric { row: u64, col: u64, value: f64, other: String },
    /// A complex matrix where a kernel needs a real one.
    #[error("the matrix is complex, but kernels support real matrices only")]
    RealOnly,
    /// A matrix where a vector is expected.
    #[error("expected a vector, found a {rows} x {cols} matrix")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NotAVector { rows: u64, cols: u64 },
    /// A column that the array does not have; both are counted from 1.
    #[error("expected a column from 1 to {cols}, found {column}")]
    #[expect(missing_docs, reason = "the message names the fields")]
    NoColumn { column: u64, cols: u64 },
    /// A matrix without the vector that should come with it.
    #[error("expected {0} with the matrix, in its archive or after its entries, found none")]
    NoVector(&'static str),
    /// Points that are not available: a damaged binary file, or a missing program that generates them.
    #[error("{0}")]
    Points(String),
    /// Sizes or arrays that do not describe a matrix or points.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// More memory than the limit allows.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The user cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl IoError {
    /// Adds the path of the file; a path that is already there stays.
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::InFile { .. } => self,
            error => Self::InFile { path: path.to_owned(), error: Box::new(error) },
        }
    }

    /// Adds the name of the file in an archive, if it is in one; a name that is already there stays.
    pub(super) fn in_member(self, name: Option<&str>) -> Self {
        match (self, name) {
            (error @ Self::InMember { .. }, _) | (error, None) => error,
            (error, Some(name)) => Self::InMember { name: name.to_owned(), error: Box::new(error) },
        }
    }

    /// Shifts line numbers for text that follows this many other lines after line `above`.
    pub(super) fn further_down(self, above: u64, by: u64) -> Self {
        match self {
            Self::Unexpected { line, expected, found } if line > above => {
                Self::Unexpected { line: line + by, expected, found }
            }
            Self::TooFewEntries { line, declared, found } if line > above => {
                Self::TooFewEntries { line: line + by, declared, found }
            }
            Self::TooManyEntries { line, declared, found } if line > above => {
                Self::TooManyEntries { line: line + by, declared, found }
            }
            error => error,
        }
    }

    /// Whether the user cancelled.
    pub fn is_cancelled(&self) -> bool {
        match self {
            Self::Cancelled => true,
            Self::InFile { error, .. } | Self::InMember { error, .. } => error.is_cancelled(),
            _ => false,
        }
    }
}

/// Maximum number of characters of a file that a message shows.
const SHOWN: usize = 40;

/// A message about `n` things if there are any, such as `1 edge was lost` or `2 edges were lost`.
pub(super) fn counted(n: u64, [one, many]: [&str; 2], rest: &str) -> Option<String> {
    let words = if n == 1 { one } else { many };
    (n > 0).then(|| format!("{n} {words} {rest}"))
}

/// The warning about this many integers that f64 cannot represent.
pub(super) fn rounded_integers(n: u64) -> Option<String> {
    counted(n, ["integer above 2^53 was", "integers above 2^53 were"], "rounded to f64")
}

/// An error after the name of the file that it is in.
fn after_name(error: &IoError) -> String {
    match error {
        IoError::Unexpected { .. } | IoError::TooManyEntries { .. } => format!(", {error}"),
        error => format!(": {error}"),
    }
}

/// How decompressing ended.
fn stopped(decompressed: &u64, error: &Option<String>) -> String {
    match error {
        Some(error) => format!("damaged after {decompressed} decompressed bytes: {error}"),
        None => format!("cut off, or damaged, after {decompressed} decompressed bytes"),
    }
}

fn entries(n: &u64) -> &'static str {
    if *n == 1 { "entry" } else { "entries" }
}

/// Text from a file as shown in a message: quoted, cut to a readable length, and with names for everything
/// that is not visible ASCII.
pub(super) fn quoted(text: &[u8]) -> String {
    format!("\"{}\"", shown(text))
}

/// Like [`quoted`], without quotes.
pub(super) fn shown(text: &[u8]) -> String {
    let mut shown = String::new();
    let mut count = 0;
    for chunk in text.utf8_chunks() {
        let bytes = chunk.invalid().iter().map(|byte| format!("<byte 0x{byte:02X}>"));
        for piece in chunk.valid().chars().map(named).chain(bytes) {
            if count == SHOWN || shown.len() > 4 * SHOWN {
                shown.push('…');
                return shown;
            }
            shown.push_str(&piece);
            count += 1;
        }
    }
    shown
}

/// A character itself, or its number and name.
fn named(c: char) -> String {
    let what = match c {
        ' '..='~' => return c.to_string(),
        '\0' => " NUL",
        '\t' => " tab",
        '\n' => " line feed",
        '\r' => " carriage return",
        '\u{1b}' => " escape",
        '\u{a0}' => " no-break space",
        '\u{ad}' => " soft hyphen",
        '\u{200b}' => " zero width space",
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            " bidirectional control"
        }
        '\u{2212}' => " minus sign",
        '\u{feff}' => " byte order mark",
        '\u{fffd}' => " replacement character",
        _ => "",
    };
    format!("<U+{:04X}{what}>", u32::from(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_named() {
        for (text, expected) in [
            (&b"1 2 x"[..], "\"1 2 x\""),
            (b"\xef\xbb\xbf%%MatrixMarket", "\"<U+FEFF byte order mark>%%MatrixMarket\""),
            (b"1\0 2\t\x1b[0m", "\"1<U+0000 NUL> 2<U+0009 tab><U+001B escape>[0m\""),
            ("\u{2212}1\u{41e}".as_bytes(), "\"<U+2212 minus sign>1<U+041E>\""),
            (b"a\xff\xfe", "\"a<byte 0xFF><byte 0xFE>\""),
            (b"", "\"\""),
        ] {
            assert_eq!(quoted(text), expected);
        }
        assert_eq!(quoted(&[b'a'; 41]), format!("\"{}…\"", "a".repeat(40)));
        assert_eq!(quoted(&[b'a'; 40]), format!("\"{}\"", "a".repeat(40)));
        assert!(quoted(&[0; 1000]).len() < 250);
    }
}
