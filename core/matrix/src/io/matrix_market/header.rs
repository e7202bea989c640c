//! Banner and size line of a Matrix Market file.

use crate::io::error::quoted;
use crate::io::{Field, IoError, Symmetry};
use crate::matrix::FormatError;

/// How the file stores the nonzeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::io) enum Format {
    /// `row col value` lines.
    Coordinate,
    /// Values only, column by column.
    Array,
}

/// Everything before the nonzeros.
#[derive(Clone, Copy, Debug)]
pub(in crate::io) struct Header {
    pub(in crate::io) format: Format,
    pub(in crate::io) field: Field,
    pub(in crate::io) symmetry: Symmetry,
    pub(in crate::io) rows: u32,
    pub(in crate::io) cols: u32,
    /// The index of the first row and column: 1, or 0 in some edge lists.
    pub(in crate::io) base: u32,
    /// A warning about the banner.
    pub(in crate::io) banner: Option<&'static str>,
    /// Whether numbers after an entry are ignored with a warning.
    pub(in crate::io) ignores_numbers: bool,
    /// Number of lines with nonzeros that must follow.
    pub(in crate::io) declared: u64,
    /// 1-based line number of the sizes.
    pub(in crate::io) size_line: u64,
    /// Offset of the first byte after the size line.
    pub(in crate::io) body: usize,
}

pub(super) const BANNER: &str = "%%MatrixMarket";
const FULL_BANNER: &str = "the banner \"%%MatrixMarket matrix coordinate|array FIELD SYMMETRY\"";

impl Header {
    /// Reads up to the size line. Checks everything that can be checked from the header alone.
    pub(in crate::io) fn read(text: &[u8]) -> Result<Self, IoError> {
        refuse_other_kinds(text)?;
        let mut lines = Lines::new(text);
        let banner = lines.next().unwrap_or_default();
        let ((format, field, symmetry), warning) = read_banner(banner)?;
        let sizes = loop {
            match lines.next() {
                None => {
                    let expected = size_line_form(format).to_owned();
                    let found = "the end of the file".to_owned();
                    return Err(IoError::Unexpected { line: lines.number + 1, expected, found });
                }
                Some(line) => match line.trim_ascii_start().first() {
                    None | Some(b'%') => {}
                    Some(_) => break line,
                },
            }
        };
        let size_line = lines.number;
        let (rows, cols, declared) = read_sizes(sizes, size_line, format)?;
        if symmetry != Symmetry::General && rows != cols {
            let expected = format!("a square {} matrix", symmetry.as_str());
            let found = format!("{rows} x {cols}");
            return Err(IoError::Unexpected { line: size_line, expected, found });
        }
        let declared = match format {
            Format::Coordinate => declared,
            Format::Array => array_lines(rows, cols, symmetry),
        };
        let body = lines.position;
        Ok(Self {
            format,
            field,
            symmetry,
            rows,
            cols,
            base: 1,
            banner: warning,
            ignores_numbers: field == Field::Pattern,
            declared,
            size_line,
            body,
        })
    }
}

/// Number of values in an array file: all, or a triangle with or without the diagonal.
fn array_lines(rows: u32, cols: u32, symmetry: Symmetry) -> u64 {
    let (m, n) = (u64::from(rows), u64::from(cols));
    match symmetry {
        Symmetry::General => m * n,
        // m = n < 2³², so that m·(m + 1) < 2⁶⁴.
        Symmetry::Symmetric | Symmetry::Hermitian => m * (m + 1) / 2,
        Symmetry::SkewSymmetric => m * m.saturating_sub(1) / 2,
    }
}

/// Rejects files that are commonly mistaken for a matrix: a failed download, or a file that needs
/// one more step.
pub(in crate::io) fn refuse_other_kinds(text: &[u8]) -> Result<(), IoError> {
    let start = text.trim_ascii_start();
    let kind = if text.starts_with(&[0x1f, 0x8b]) {
        "gzip data that is still compressed"
    } else if start.starts_with(b"<") {
        "an HTML page (the download failed: the server sent a web page)"
    } else if start.starts_with(b"version https://git-lfs") {
        "a Git LFS pointer (fetch the file with `git lfs pull`)"
    } else if start.is_empty() {
        "an empty file"
    } else {
        return Ok(());
    };
    Err(IoError::NotAMatrix(kind))
}

/// The words of the banner, and a warning about it.
type Banner = ((Format, Field, Symmetry), Option<&'static str>);

fn read_banner(line: &[u8]) -> Result<Banner, IoError> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let unexpected = |expected: &str, found: Option<&[u8]>| IoError::Unexpected {
        line: 1,
        expected: expected.to_owned(),
        found: found.map_or("the end of the line".to_owned(), quoted),
    };
    let first = words.next().unwrap_or_default();
    let is_banner = first.eq_ignore_ascii_case(BANNER.as_bytes());
    if !is_banner && !BANNER.as_bytes().get(1..).is_some_and(|b| first.eq_ignore_ascii_case(b)) {
        return Err(unexpected(FULL_BANNER, Some(line.trim_ascii())));
    }
    let one_percent = (!is_banner).then_some("the banner begins with one % instead of two");
    let mut next_word = || words.next().map(<[u8]>::to_ascii_lowercase);
    let object = next_word();
    if object.as_deref() != Some(b"matrix") {
        return Err(unexpected("the object \"matrix\"", object.as_deref()));
    }
    let word = next_word();
    let format = match word.as_deref() {
        Some(b"coordinate") => Format::Coordinate,
        Some(b"array") => Format::Array,
        found => return Err(unexpected("the format coordinate or array", found)),
    };
    let word = next_word();
    let field = match word.as_deref() {
        Some(b"real" | b"double") => Field::Real,
        Some(b"integer" | b"unsigned-integer") => Field::Integer,
        Some(b"complex") => Field::Complex,
        Some(b"pattern") if format == Format::Coordinate => Field::Pattern,
        Some(found @ b"pattern") => {
            return Err(unexpected(
                "the field real, integer or complex in an array file",
                Some(found),
            ));
        }
        found => {
            return Err(unexpected("the field real, double, integer, pattern or complex", found));
        }
    };
    let word = next_word();
    let symmetry = match word.as_deref() {
        Some(b"general") => Symmetry::General,
        Some(b"symmetric") => Symmetry::Symmetric,
        Some(b"skew-symmetric") => Symmetry::SkewSymmetric,
        Some(b"hermitian") if field == Field::Complex => Symmetry::Hermitian,
        Some(b"hermitian") => {
            return Err(unexpected(
                "the field complex in a hermitian matrix",
                Some(field.as_str().as_bytes()),
            ));
        }
        found => {
            let expected = "the symmetry general, symmetric, skew-symmetric or hermitian";
            return Err(unexpected(expected, found));
        }
    };
    match next_word() {
        None => Ok(((format, field, symmetry), one_percent)),
        // In a text whose lines end with a carriage return only, everything would be a comment.
        Some(found) if found.starts_with(b"%") && !line.trim_ascii().contains(&b'\r') => {
            Ok(((format, field, symmetry), Some("the comment after the banner was ignored")))
        }
        Some(found) => Err(unexpected("the end of the banner", Some(&found))),
    }
}

fn size_line_form(format: Format) -> &'static str {
    match format {
        Format::Coordinate => "the size line \"rows columns entries\"",
        Format::Array => "the size line \"rows columns\"",
    }
}

fn read_sizes(line: &[u8], number: u64, format: Format) -> Result<(u32, u32, u64), IoError> {
    let unexpected = |expected: &str, found: &[u8]| IoError::Unexpected {
        line: number,
        expected: expected.to_owned(),
        found: quoted(found),
    };
    let words: Vec<&[u8]> =
        line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
    let (rows, cols, entries) = match (format, words.as_slice()) {
        (Format::Coordinate, &[rows, cols, entries]) => (rows, cols, entries),
        (Format::Array, &[rows, cols]) => (rows, cols, &b"0"[..]),
        _ => return Err(unexpected(size_line_form(format), line.trim_ascii())),
    };
    let count = |word: &[u8], what: &str| {
        let number = std::str::from_utf8(word).ok().and_then(|w| w.parse::<u64>().ok());
        number.ok_or_else(|| unexpected(what, word))
    };
    let rows = count(rows, "the number of rows, at most 4294967295")?;
    let cols = count(cols, "the number of columns, at most 4294967295")?;
    let declared = count(entries, "the number of entries, below 2^64")?;
    match (u32::try_from(rows), u32::try_from(cols)) {
        (Ok(rows), Ok(cols)) => Ok((rows, cols, declared)),
        _ => Err(FormatError::DimensionTooLarge { rows, cols }.into()),
    }
}

/// Lines of a text without their line ends, counted from 1.
#[derive(Clone, Copy)]
pub(in crate::io) struct Lines<'a> {
    text: &'a [u8],
    /// Bytes of the lines so far.
    pub(in crate::io) position: usize,
    /// Number of lines so far.
    pub(in crate::io) number: u64,
}

impl<'a> Lines<'a> {
    pub(in crate::io) fn new(text: &'a [u8]) -> Self {
        Self { text, position: 0, number: 0 }
    }

    pub(in crate::io) fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.text.get(self.position..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest);
        self.position += end.map_or(rest.len(), |at| at + 1);
        self.number += 1;
        rest.get(..end.unwrap_or(rest.len()))
    }
}
