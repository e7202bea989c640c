//! The dialect of a table of points: its separator, and whether its first line holds column names.

use std::fmt;

use crate::io::IoError;
use crate::io::error::shown;

/// Whether the first line of a table holds column names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HeaderLine {
    /// It does if none of its fields is a number, begins like one, or is missing.
    #[default]
    Find,
    /// The first line holds names.
    Names,
    /// The first line is a point.
    Point,
}

/// How a file of points was interpreted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointsTaken {
    /// Its form: `text`, `binary`, `npy` or `csv`.
    pub form: &'static str,
    /// Separator of CSV with more than one column: `commas`, `semicolons`, `tabs` or `blanks`.
    pub separator: Option<&'static str>,
    /// Whether CSV uses decimal commas.
    pub decimal_comma: bool,
    /// The column names of CSV, if there are any.
    pub header: Option<Vec<String>>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl fmt::Display for PointsTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.form != "csv" {
            return write!(f, "{} form", self.form);
        }
        write!(f, "CSV")?;
        if let Some(separator) = self.separator {
            write!(f, " separated by {separator}")?;
        }
        if self.decimal_comma {
            write!(f, ", decimal commas")?;
        }
        match &self.header {
            None => write!(f, "; no header"),
            Some(names) => {
                let names: Vec<String> = names.iter().map(|name| shown(name.as_bytes())).collect();
                write!(f, "; header: {}", names.join(", "))
            }
        }
    }
}

/// The separator of the fields of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Semicolon,
    Tab,
    Comma,
    Blank,
}

impl Separator {
    /// In the order of detection: a comma may be a decimal comma where another character separates, and a
    /// blank may follow any other separator.
    const ALL: [Self; 4] = [Self::Semicolon, Self::Tab, Self::Comma, Self::Blank];

    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Semicolon => b';',
            Self::Tab => b'\t',
            Self::Comma => b',',
            Self::Blank => b' ',
        }
    }

    pub(super) fn plural(self) -> &'static str {
        match self {
            Self::Semicolon => "semicolons",
            Self::Tab => "tabs",
            Self::Comma => "commas",
            Self::Blank => "blanks",
        }
    }

    /// Whether a comma between digits can be a decimal comma.
    pub(super) fn leaves_commas(self) -> bool {
        matches!(self, Self::Semicolon | Self::Tab)
    }

    /// Detects the separator of a table from its first two lines that are not blank; `None` if it has one
    /// column.
    pub(super) fn of(text: &[u8]) -> Result<Option<Self>, IoError> {
        let lines = first_lines(text);
        let in_all = |s: &Self| !lines.is_empty() && lines.iter().all(|line| line.contains(s));
        if in_all(&Self::Semicolon) && in_all(&Self::Tab) {
            return Err(IoError::Unexpected {
                line: 1,
                expected: "fields separated by commas, semicolons, tabs or blanks".to_owned(),
                found: "both semicolons and tabs".to_owned(),
            });
        }
        let in_any = |s: &Self| *s != Self::Blank && lines.iter().any(|line| line.contains(s));
        Ok(Self::ALL.into_iter().find(in_all).or_else(|| Self::ALL.into_iter().find(in_any)))
    }
}

/// The separators outside quotes in the first two lines that are not blank.
fn first_lines(text: &[u8]) -> Vec<Vec<Separator>> {
    let mut lines = Vec::new();
    let mut rest = text;
    while lines.len() < 2 && !rest.is_empty() {
        let mut in_quotes = false;
        let ends = |byte: &u8| {
            in_quotes ^= *byte == b'"';
            !in_quotes && matches!(byte, b'\n' | b'\r')
        };
        let end = rest.iter().position(ends).unwrap_or(rest.len());
        let line = rest.get(..end).unwrap_or_default();
        rest = rest.get(end + 1..).unwrap_or_default();
        let begin = line.iter().position(|byte| *byte != b' ').unwrap_or(line.len());
        let end = line.iter().rposition(|byte| *byte != b' ').map_or(begin, |last| last + 1);
        let line = line.get(begin..end).unwrap_or_default();
        if !line.is_empty() {
            // Text between quotes, every second piece, contains no separators.
            let outside: Vec<&[u8]> = line.split(|byte| *byte == b'"').step_by(2).collect();
            let holds = |s: &Separator| outside.iter().any(|part| part.contains(&s.byte()));
            lines.push(Separator::ALL.into_iter().filter(holds).collect());
        }
    }
    lines
}

/// Parses a number with a decimal point or, if allowed, a decimal comma.
fn parsed(field: &[u8], decimal_comma: bool) -> Option<f64> {
    let parse = |field: &[u8]| fast_float2::parse::<f64, _>(field).ok();
    match field.iter().position(|byte| *byte == b',') {
        Some(at) if decimal_comma && !field.contains(&b'.') => {
            let mut decimal = field.to_vec();
            *decimal.get_mut(at)? = b'.';
            parse(&decimal)
        }
        _ => parse(field),
    }
}

/// Parses a coordinate: a number within the range of f64, or the word for infinity.
pub(super) fn number(field: &[u8], decimal_comma: bool) -> Option<f64> {
    let has_digits = field.iter().any(u8::is_ascii_digit);
    parsed(field, decimal_comma).filter(|v| v.is_finite() || v.is_infinite() && !has_digits)
}

/// Whether a field is a number beyond the range of f64.
pub(super) fn is_too_large(field: &[u8]) -> bool {
    field.iter().any(u8::is_ascii_digit) && parsed(field, true).is_some_and(f64::is_infinite)
}

/// Whether a field can be a column name: not missing, and not beginning like a number.
pub(super) fn is_name(field: &[u8]) -> bool {
    const MISSING: [&str; 12] = [
        "na", "n/a", "#n/a", "<na>", "n.a.", "nan", "inf", "infinity", "null", "none", "nil",
        "missing",
    ];
    let word = String::from_utf8_lossy(field).trim().to_lowercase();
    let unsigned = word.trim_start_matches(['+', '-']);
    let first = word.chars().find(|c| c.is_alphanumeric());
    first.is_some_and(char::is_alphabetic) && !MISSING.contains(&unsigned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found_from_two_lines() {
        for (text, expected) in [
            ("", None),
            ("v\n3\n", None),
            ("price per night\n3\n", None),
            ("1,2\n3,4\n", Some(Separator::Comma)),
            ("a, b\r\n1, 2\r\n", Some(Separator::Comma)),
            ("1,5;2,5\n", Some(Separator::Semicolon)),
            ("1,5\t2,5\n", Some(Separator::Tab)),
            ("\t9\n1\t2\n", Some(Separator::Tab)),
            ("1.5 2.5\n  3 4  \n", Some(Separator::Blank)),
            ("\n\n\"a;b\",c\n1,2\n", Some(Separator::Comma)),
            ("\"a\n;b\",c\n1,2\n", Some(Separator::Comma)),
            ("Park North;x\n1;2\n", Some(Separator::Semicolon)),
        ] {
            assert_eq!(Separator::of(text.as_bytes()).unwrap(), expected, "{text:?}");
        }
        let error = Separator::of(b"1;2\t3\n4;5\t6\n").unwrap_err().to_string();
        assert!(error.ends_with("found both semicolons and tabs"), "{error}");
    }

    #[test]
    fn numbers_and_missing_values_are_no_names() {
        for name in ["price", "O", "x1", "Größe", "e5", "distance (km)", "d-1"] {
            assert!(is_name(name.as_bytes()), "{name}");
        }
        for other in [
            "",
            " ",
            "NA",
            "n/a",
            "NaN",
            "-nan",
            "-",
            "?",
            "1",
            "-.5",
            "1O",
            "1,5",
            "null",
            "-inf",
            "\u{200b}1",
            "$5",
        ] {
            assert!(!is_name(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn a_decimal_comma_is_one_where_it_is_allowed() {
        for (field, allowed, expected) in [
            ("1,5", true, Some(1.5)),
            ("1,5", false, None),
            ("1.5", true, Some(1.5)),
            ("1.234,5", true, None),
            ("1,234,5", true, None),
            ("-,5", true, Some(-0.5)),
            ("nan", true, None),
            ("inf", false, Some(f64::INFINITY)),
            ("1e400", false, None),
            ("-1e999", true, None),
        ] {
            assert_eq!(number(field.as_bytes(), allowed), expected, "{field}");
        }
    }
}
