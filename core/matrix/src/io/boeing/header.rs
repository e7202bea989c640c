//! The lines before the numbers of such a file, and the entries that the numbers are.

use num_complex::Complex64;

use super::fields::{Fields, Format, Section, integer, unexpected};
use crate::io::error::quoted;
use crate::io::matrix_market::Lines;
use crate::io::{Field, IoError, MatrixForm, Progress, Symmetry};
use crate::matrix::FormatError;

/// What the third line must contain.
const TYPE: &str = "the type of a matrix, such as rua or psa, and its rows, columns and entries";

/// Entries or columns read between checks for cancellation.
pub(super) const WAVE: u64 = 1 << 16;

pub(super) fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// The lines before the numbers.
pub(super) struct Header<'a> {
    pub(super) form: MatrixForm,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    pub(super) rows: u64,
    pub(super) cols: u64,
    /// Entries in the file.
    pub(super) entries: u64,
    pub(super) formats: Vec<&'a [u8]>,
    /// The line that announces vectors after the matrix.
    pub(super) vectors: Option<&'a [u8]>,
    pub(super) body: Lines<'a>,
}

/// The numbers of a matrix, and the lines after them.
pub(super) struct Body<'a> {
    pub(super) pointers: Section<'a>,
    pub(super) indices: Section<'a>,
    pub(super) values: Section<'a>,
    pub(super) rest: Lines<'a>,
}

/// What was found in reading a matrix.
#[derive(Clone, Copy, Default)]
pub(super) struct Notes {
    /// Columns whose row indices do not ascend.
    pub(super) unsorted: u64,
    /// Entries below and above the diagonal.
    pub(super) below: u64,
    pub(super) above: u64,
    /// Entries on the diagonal of a Hermitian matrix that are not real.
    pub(super) not_real: u64,
    pub(super) rounded: u64,
}

fn next_line<'a>(lines: &mut Lines<'a>, expected: &str) -> Result<&'a [u8], IoError> {
    lines.next().ok_or_else(|| {
        let found = "the end of the file".to_owned();
        unexpected(lines.number + 1, expected.to_owned(), found)
    })
}

impl<'a> Header<'a> {
    pub(super) fn read(text: &'a [u8]) -> Result<Self, IoError> {
        let mut lines = Lines::new(text);
        next_line(&mut lines, "the title of a matrix")?;
        let counts = next_line(&mut lines, "the numbers of lines")?;
        let sizes = next_line(&mut lines, TYPE)?;
        let wrong = |expected: &str| unexpected(3, expected.to_owned(), quoted(sizes.trim_ascii()));
        let mut sizes = words(sizes);
        let kind = sizes.next().unwrap_or_default().to_ascii_lowercase();
        let &[values, shape, assembled] = kind.as_slice() else { return Err(wrong(TYPE)) };
        let field = match values {
            b'r' => Field::Real,
            b'c' => Field::Complex,
            b'p' => Field::Pattern,
            b'i' => Field::Integer,
            _ => return Err(wrong("a matrix with its values, of type r, c, i or p")),
        };
        let symmetry = match shape {
            b's' => Symmetry::Symmetric,
            b'z' => Symmetry::SkewSymmetric,
            b'h' => Symmetry::Hermitian,
            _ => Symmetry::General,
        };
        if assembled != b'a' {
            return Err(wrong("an assembled matrix (type ..a) instead of unassembled elements"));
        }
        let sizes: Option<Vec<u64>> = sizes.map(integer).collect();
        let Some(&[rows, cols, entries, ..]) = sizes.as_deref() else { return Err(wrong(TYPE)) };
        if u32::try_from(rows.max(cols)).is_err() {
            return Err(FormatError::DimensionTooLarge { rows, cols }.into());
        }
        if symmetry != Symmetry::General && rows != cols {
            return Err(wrong(&format!("a square {} matrix", symmetry.as_str())));
        }
        if rows.min(cols) == 0 && entries > 0 {
            return Err(wrong("no entries in a matrix without rows or columns"));
        }
        let formats = formats(next_line(&mut lines, "the Fortran formats of the numbers")?);
        let mut ahead = lines;
        let vectors = ahead.next().filter(|line| matches!(line, [b'F' | b'f' | b'M' | b'm', ..]));
        let form = match words(counts).count() {
            0..=4 => MatrixForm::RutherfordBoeing,
            _ => MatrixForm::HarwellBoeing,
        };
        let body = if vectors.is_some() { ahead } else { lines };
        Ok(Self { form, field, symmetry, rows, cols, entries, formats, vectors, body })
    }

    /// Reads the format at this place in the fourth line.
    pub(super) fn format(&self, place: usize, what: &str) -> Result<Format, IoError> {
        let text = self.formats.get(place).copied().unwrap_or_default();
        let is_integer = place < 2;
        let format = Format::parse(text).filter(|format| format.integer || !is_integer);
        format.ok_or_else(|| {
            let example = if is_integer { "(16I5)" } else { "(4E20.12)" };
            let expected = format!("the Fortran format of each {what}, such as {example}");
            unexpected(4, expected, if text.is_empty() { "none".to_owned() } else { quoted(text) })
        })
    }

    /// Finds where the numbers of each kind begin.
    pub(super) fn body(&self) -> Result<Body<'a>, IoError> {
        let per_entry = match self.field {
            Field::Pattern => 0,
            Field::Complex => 2,
            Field::Real | Field::Integer => 1,
        };
        let mut rest = self.body;
        let mut section = |place: usize, what: &'static str, count: u64| {
            let format = match count {
                0 => Format::default(),
                _ => self.format(place, what)?,
            };
            let section = Section { lines: rest, format, what, count };
            rest = section.after();
            Ok::<_, IoError>(section)
        };
        let pointers = section(0, "column pointer", self.cols + 1)?;
        let indices = section(1, "row index", self.entries)?;
        let values = section(2, "value", self.entries.saturating_mul(per_entry))?;
        Ok(Body { pointers, indices, values, rest })
    }

    /// Calls `take` with row, column (both from 0) and value of each entry.
    pub(super) fn entries(
        &self,
        body: &Body<'a>,
        progress: Progress<'_>,
        take: &mut dyn FnMut(u64, u64, Complex64),
    ) -> Result<Notes, IoError> {
        let mut pointers = body.pointers.fields();
        let (mut indices, mut values) = (body.indices.fields(), body.values.fields());
        let mut notes = Notes::default();
        let mut begin = pointers.integer(1, 1)?;
        for col in 0..self.cols {
            let next = self.next_pointer(&mut pointers, col, begin)?;
            let (mut previous, mut ascends) = (0, true);
            for entry in begin..next {
                let row = indices.integer(1, self.rows)? - 1;
                let mut value = Complex64::new(1.0, 0.0);
                if self.field != Field::Pattern {
                    value.re = values.real()?;
                }
                if self.field == Field::Complex {
                    value.im = values.real()?;
                }
                if row == col
                    && self.symmetry == Symmetry::SkewSymmetric
                    && value != Complex64::default()
                {
                    let fields = if self.field == Field::Pattern { &indices } else { &values };
                    return Err(fields.wrong(", zero on the diagonal of a skew-symmetric matrix"));
                }
                ascends &= row >= previous;
                previous = row;
                notes.below += u64::from(row > col);
                notes.above += u64::from(row < col);
                notes.not_real += u64::from(row == col && value.im != 0.0);
                take(row, col, value);
                if entry.is_multiple_of(WAVE) {
                    progress.check()?;
                }
            }
            notes.unsorted += u64::from(!ascends);
            begin = next;
            if col.is_multiple_of(WAVE) {
                progress.check()?;
            }
        }
        pointers.end_of_line()?;
        indices.end_of_line()?;
        values.end_of_line()?;
        Ok(Notes { rounded: values.rounded, ..notes })
    }

    /// Reads where the column after this one begins.
    fn next_pointer(
        &self,
        pointers: &mut Fields<'_, '_>,
        col: u64,
        begin: u64,
    ) -> Result<u64, IoError> {
        let end = self.entries.saturating_add(1);
        pointers.integer(if col + 1 == self.cols { end } else { begin }, end)
    }

    /// The first error in the pointers, else in the indices, else `error`.
    pub(super) fn first_error(
        &self,
        body: &Body<'a>,
        error: IoError,
        progress: Progress<'_>,
    ) -> IoError {
        let (mut pointers, mut indices) = (body.pointers.fields(), body.indices.fields());
        let mut check = || -> Result<(), IoError> {
            let mut begin = pointers.integer(1, 1)?;
            for col in 0..self.cols {
                begin = self.next_pointer(&mut pointers, col, begin)?;
            }
            pointers.end_of_line()?;
            for entry in 0..self.entries {
                indices.integer(1, self.rows)?;
                if entry.is_multiple_of(WAVE) {
                    progress.check()?;
                }
            }
            indices.end_of_line()
        };
        if error.is_cancelled() { error } else { check().err().unwrap_or(error) }
    }
}

/// The Fortran formats in a line, each with its parentheses.
fn formats(line: &[u8]) -> Vec<&[u8]> {
    let (mut formats, mut depth, mut begin) = (Vec::new(), 0u32, 0);
    for (at, byte) in line.iter().enumerate() {
        match byte {
            b'(' => {
                begin = if depth == 0 { at } else { begin };
                depth += 1;
            }
            b')' if depth > 0 => {
                depth -= 1;
                formats.extend(line.get(begin..=at).filter(|_| depth == 0));
            }
            _ => {}
        }
    }
    formats
}
