//! Fields in the fixed columns that a Fortran format describes. SciPy writes values a column narrower than
//! its format, so blanks between the fields count more where they separate as many as the line must hold.

use crate::io::IoError;
use crate::io::error::quoted;
use crate::io::matrix_market::Lines;

/// Fields and columns in a line.
const MOST: usize = 4096;

/// Where the fields of a line are, and how their numbers are written.
#[derive(Default)]
pub(super) struct Format {
    /// First column of each field and the one after it, from 0.
    fields: Vec<(usize, usize)>,
    pub(super) integer: bool,
    /// Whether Fortran puts a decimal point into numbers without one.
    has_decimals: bool,
    /// Whether Fortran scales numbers without exponent.
    is_scaled: bool,
}

impl Format {
    /// Reads `(16I5)`, `(1P,4D20.12)`, `(3(1X,E24.16E3))` and the like: fields of a line, at most in one
    /// repeated group.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let text: Vec<u8> = text.to_ascii_uppercase();
        let text: Vec<u8> = text.into_iter().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let mut rest = in_parentheses(&text)?;
        let mut format = Self { integer: true, ..Self::default() };
        format.scale(&mut rest);
        let mut ahead = rest;
        let repeat = count(&mut ahead);
        let groups = match in_parentheses(ahead) {
            Some(group) => {
                rest = group;
                repeat.unwrap_or(1)
            }
            None => 1,
        };
        let mut end = 0;
        while !rest.is_empty() {
            format.item(&mut rest, &mut end)?;
        }
        let group = format.fields.clone();
        for k in 1..groups {
            let shift = k.checked_mul(end)?;
            let shifted = |&(a, b): &(usize, usize)| (shift + a, shift + b);
            if shift >= MOST || format.fields.len() > MOST {
                return None;
            }
            format.fields.extend(group.iter().map(shifted));
        }
        (!format.fields.is_empty()).then_some(format)
    }

    /// Reads a field, or columns without one; `end` is the column after what was read.
    fn item(&mut self, rest: &mut &[u8], end: &mut usize) -> Option<()> {
        if let [b',', tail @ ..] = *rest {
            *rest = tail;
            return Some(());
        }
        if self.scale(rest) {
            return Some(());
        }
        let repeat = count(rest).unwrap_or(1);
        let [letter, tail @ ..] = *rest else { return None };
        *rest = tail;
        match letter {
            b'X' => *end += repeat,
            b'I' | b'E' | b'D' | b'F' | b'G' => {
                if let (b'E', [b'S' | b'N', tail @ ..]) = (letter, *rest) {
                    *rest = tail;
                }
                let width = count(rest)?;
                let mut decimals = 0;
                if let [b'.', tail @ ..] = *rest {
                    *rest = tail;
                    decimals = count(rest)?;
                }
                if let ([b'E', tail @ ..], true) = (*rest, *letter != b'I') {
                    *rest = tail;
                    count(rest)?;
                }
                self.integer &= *letter == b'I';
                self.has_decimals |= *letter != b'I' && decimals > 0;
                for _ in 0..repeat {
                    if width == 0 || *end > MOST {
                        return None;
                    }
                    self.fields.push((*end, *end + width));
                    *end += width;
                }
            }
            _ => return None,
        }
        (*end <= MOST).then_some(())
    }

    /// Reads a scale factor such as `1P`, if there is one.
    fn scale(&mut self, rest: &mut &[u8]) -> bool {
        let text = *rest;
        let mut ahead = text.strip_prefix(b"-").unwrap_or(text);
        match (count(&mut ahead), ahead) {
            (Some(power), [b'P', tail @ ..]) => {
                self.is_scaled |= power != 0;
                *rest = tail;
                true
            }
            _ => false,
        }
    }
}

fn in_parentheses(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(b"(")?.strip_suffix(b")")
}

/// Reads a count in a format, which is never large.
fn count(rest: &mut &[u8]) -> Option<usize> {
    let text = *rest;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, tail) = text.split_at_checked(digits)?;
    if digits.is_empty() {
        return None;
    }
    *rest = tail;
    Some(integer(digits).map_or(MOST + 1, |value| value.min(MOST as u64 + 1) as usize))
}

/// An unsigned integer.
pub(super) fn integer(text: &[u8]) -> Option<u64> {
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// A real number as Fortran writes it: the exponent may begin with D or with its sign, or with a blank in
/// place of the plus sign.
fn real(text: &[u8]) -> Option<f64> {
    if let Ok(value) = fast_float2::parse(text) {
        return Some(value);
    }
    let mut decimal = Vec::with_capacity(text.len() + 1);
    let mut has_exponent = false;
    for &byte in text {
        match byte {
            b'e' | b'E' | b'd' | b'D' | b'q' | b'Q' if !has_exponent => {
                decimal.push(b'e');
                has_exponent = true;
            }
            b'+' | b'-' if !has_exponent && !decimal.is_empty() => {
                decimal.extend([b'e', byte]);
                has_exponent = true;
            }
            b' ' if decimal.last() == Some(&b'e') => {}
            _ => decimal.push(byte),
        }
    }
    fast_float2::parse(&decimal).ok()
}

/// Numbers of one kind, which begin in a line of their own.
pub(super) struct Section<'a> {
    pub(super) lines: Lines<'a>,
    pub(super) format: Format,
    pub(super) what: &'static str,
    pub(super) count: u64,
}

impl<'a> Section<'a> {
    /// The lines after this section.
    pub(super) fn after(&self) -> Lines<'a> {
        let mut lines = self.lines;
        for _ in 0..self.count.div_ceil(self.format.fields.len().max(1) as u64) {
            if lines.next().is_none() {
                break;
            }
        }
        lines
    }

    pub(super) fn fields(&self) -> Fields<'_, 'a> {
        Fields {
            section: self,
            lines: self.lines,
            line: &[],
            by_blanks: false,
            place: self.format.fields.len(),
            end: 0,
            field: &[],
            read: 0,
            rounded: 0,
        }
    }
}

/// The numbers of a section, one after another.
pub(super) struct Fields<'s, 'a> {
    section: &'s Section<'a>,
    lines: Lines<'a>,
    line: &'a [u8],
    /// Whether the fields of the line are between blanks rather than in columns.
    by_blanks: bool,
    /// The next field of the line, and the column after the last one.
    place: usize,
    end: usize,
    /// The last field.
    field: &'a [u8],
    /// Fields so far.
    read: u64,
    /// Integers so far that f64 cannot represent exactly.
    pub(super) rounded: u64,
}

impl<'a> Fields<'_, 'a> {
    /// The next field without blanks around it; fails if it is blank.
    pub(super) fn next(&mut self) -> Result<&'a [u8], IoError> {
        let fields = &self.section.format.fields;
        if self.place >= fields.len() {
            self.end_of_line()?;
            let Some(line) = self.lines.next() else {
                self.read += 1;
                let line = self.lines.number + 1;
                return Err(unexpected(line, self.name(), "the end of the file".to_owned()));
            };
            (self.line, self.place, self.end) = (line, 0, 0);
            let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count();
            let left = self.section.count.saturating_sub(self.read);
            self.by_blanks = words as u64 == left.min(fields.len() as u64);
        }
        let &(mut begin, mut end) = fields.get(self.place).unwrap_or(&(0, 0));
        if self.by_blanks {
            let rest = self.line.get(self.end..).unwrap_or_default();
            let word = rest.trim_ascii_start();
            begin = self.line.len() - word.len();
            end = begin + word.iter().take_while(|byte| !byte.is_ascii_whitespace()).count();
        }
        if begin > self.end {
            self.blank_until(begin, "blanks")?;
        }
        let field = self.line.get(begin..end.min(self.line.len())).unwrap_or_default();
        self.field = field.trim_ascii();
        (self.place, self.end, self.read) = (self.place + 1, end, self.read + 1);
        if self.field.is_empty() {
            let rest = self.line.get(begin..).unwrap_or_default().trim_ascii();
            let found = if rest.is_empty() { "the end of the line" } else { "blanks" };
            return Err(unexpected(self.lines.number, self.name(), found.to_owned()));
        }
        Ok(self.field)
    }

    /// Reads an integer within these bounds.
    pub(super) fn integer(&mut self, low: u64, high: u64) -> Result<u64, IoError> {
        match integer(self.next()?) {
            Some(value) if (low..=high).contains(&value) => Ok(value),
            _ if low == high => Err(self.wrong(&format!(" to be {low}"))),
            _ => Err(self.wrong(&format!(", from {low} to {high}"))),
        }
    }

    /// Reads a finite number.
    pub(super) fn real(&mut self) -> Result<f64, IoError> {
        let field = self.next()?;
        let format = &self.section.format;
        if format.integer {
            let text = std::str::from_utf8(field).ok();
            let Some(value) = text.and_then(|text| text.parse::<i64>().ok()) else {
                return Err(self.wrong(", an integer"));
            };
            self.rounded += u64::from(value as f64 as i64 != value);
            return Ok(value as f64);
        }
        let has_exponent = || field.iter().skip(1).any(|byte| b"eEdDqQ+-".contains(byte));
        match real(field).filter(|value| value.is_finite()) {
            None => Err(self.wrong(", a finite number")),
            // Programs differ in what they make of such numbers.
            Some(value) if value != 0.0 && format.has_decimals && !field.contains(&b'.') => {
                Err(self.wrong(" with a decimal point"))
            }
            Some(value) if value != 0.0 && format.is_scaled && !has_exponent() => {
                Err(self.wrong(" with an exponent, because its format has a scale factor"))
            }
            Some(value) => Ok(value),
        }
    }

    /// Fails if something follows the last field in its line.
    pub(super) fn end_of_line(&self) -> Result<(), IoError> {
        self.blank_until(self.line.len(), "the end of the line")
    }

    fn blank_until(&self, column: usize, expected: &str) -> Result<(), IoError> {
        let text = self.line.get(self.end..column.min(self.line.len())).unwrap_or_default();
        let text = text.trim_ascii();
        if text.is_empty() {
            return Ok(());
        }
        let expected = format!("{expected} after {}", self.name());
        Err(unexpected(self.lines.number, expected, quoted(text)))
    }

    /// The error about the last field, with what it must be.
    pub(super) fn wrong(&self, must: &str) -> IoError {
        let expected = format!("{}{must}", self.name());
        unexpected(self.lines.number, expected, quoted(self.field))
    }

    fn name(&self) -> String {
        format!("{} {} of {}", self.section.what, self.read, self.section.count)
    }
}

pub(super) fn unexpected(line: u64, expected: String, found: String) -> IoError {
    IoError::Unexpected { line, expected, found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_give_the_columns_of_each_field() {
        let columns = |text: &str| {
            let format = Format::parse(text.as_bytes());
            format.map(|format| (format.fields, format.integer))
        };
        assert_eq!(columns("(3I5)"), Some((vec![(0, 5), (5, 10), (10, 15)], true)));
        assert_eq!(columns("(2I4.3)"), Some((vec![(0, 4), (4, 8)], true)));
        let two = Some((vec![(0, 20), (20, 40)], false));
        for text in [
            "(2E20.12)",
            "(1p,2d20.12)",
            "( 1P 2E20.12E3 )",
            "(2(G20.12))",
            "(E20.12,F20.12)",
            "(0P2ES20.12)",
        ] {
            assert_eq!(columns(text), two, "{text}");
        }
        assert_eq!(columns("(2(E25.16,1X))"), Some((vec![(0, 25), (26, 51)], false)));
        assert_eq!(columns("(2(1X,I3))"), Some((vec![(1, 4), (5, 8)], true)));
        assert_eq!(columns("(1X,I3,2X,I2)"), Some((vec![(1, 4), (6, 8)], true)));
        for text in [
            "",
            "()",
            "(I)",
            "(I0)",
            "(A8)",
            "(2I5",
            "2I5",
            "(2I5/)",
            "(1X,2(I5))",
            "(2(I5),I5)",
            "(99999I5)",
            "(I99999)",
            "(99999(I5))",
            "(3X)",
            "(E20.)",
            "(18446744073709551616I1)",
            "(4097(0X,I1))",
            "(99999(2(I1)))",
        ] {
            assert_eq!(columns(text), None, "{text}");
        }
    }

    #[test]
    fn numbers_are_those_that_fortran_writes() {
        for (text, expected) in [
            ("1.5", 1.5),
            ("-.5E+01", -5.0),
            ("+2.", 2.0),
            ("1.25D-02", 0.0125),
            ("1d3", 1000.0),
            ("1.0-100", 1e-100),
            ("-1.0+003", -1000.0),
            ("0.1E 05", 1e4),
            ("1.Q2", 100.0),
        ] {
            assert_eq!(real(text.as_bytes()), Some(expected), "{text}");
        }
        for text in ["", "-", "1 2", "1.0E", "1.0--5", "1.0E5E5", "*****", "1,5"] {
            assert_eq!(real(text.as_bytes()), None, "{text}");
        }
        assert_eq!(integer(b"+18446744073709551615"), Some(u64::MAX));
        assert!([&b"18446744073709551616"[..], b"", b"+", b"-1", b"1 2"].map(integer) == [None; 5]);
    }
}
