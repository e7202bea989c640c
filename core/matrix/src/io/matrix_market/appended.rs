//! What may follow the entries of a matrix in its file: other Matrix Market files, or the vectors of AMGX,
//! which a line such as `%%AMGX 1 1 sorted rhs` after the banner announces.

use memchr::memmem;

use super::body::offset_of_entry;
use super::header::{BANNER, Header, Lines};
use crate::io::error::quoted;
use crate::io::scan::Cursor;
use crate::io::{Field, IoError};

/// First words of the line that announces the vectors.
const ANNOUNCERS: [&str; 2] = ["%%AMGX", "%%NVAMG"];

/// The vectors that an AMGX file announces, one number per row and line, in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::io) struct Announced {
    pub(in crate::io) rhs: bool,
    pub(in crate::io) solution: bool,
}

impl Announced {
    /// Reads the comments between banner and sizes.
    pub(in crate::io) fn of(text: &[u8], header: &Header) -> Result<Self, IoError> {
        let mut announced = Self::default();
        let mut lines = Lines::new(text.get(..header.body).unwrap_or_default());
        while let Some(line) = lines.next() {
            let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
            let first = words.next().unwrap_or_default();
            if !ANNOUNCERS.iter().any(|name| first.eq_ignore_ascii_case(name.as_bytes())) {
                continue;
            }
            for word in words {
                match word {
                    b"rhs" => announced.rhs = true,
                    b"solution" => announced.solution = true,
                    b"1" | b"sorted" => {}
                    _ => {
                        return Err(IoError::Unexpected {
                            line: lines.number,
                            expected: "blocks of size 1 1, then sorted, rhs or solution".to_owned(),
                            found: quoted(word),
                        });
                    }
                }
            }
        }
        Ok(announced)
    }

    /// Offset of the first vector, or the length of the text if there is none: the first line of one number after
    /// the declared entries, so that surplus entries are not taken for vectors.
    pub(in crate::io) fn begin(self, text: &[u8], header: &Header) -> usize {
        if self == Self::default() {
            return text.len();
        }
        let after = offset_of_entry(text, header, header.declared);
        let mut cursor = Cursor::new(text.get(after..).unwrap_or_default());
        while cursor.next_record() {
            let mut line = cursor;
            line.skip_token();
            if header.field == Field::Complex {
                line.skip_token();
            }
            if line.end_of_line() {
                break;
            }
            cursor.skip_line();
        }
        text.len() - cursor.remaining()
    }
}

/// Offsets of the banners after the matrix.
pub(in crate::io) fn banners(text: &[u8], header: &Header) -> impl Iterator<Item = usize> {
    let body = header.body;
    let rest = text.get(body..).unwrap_or_default();
    let is_begin = move |at: &usize| *at == 0 || rest.get(at - 1) == Some(&b'\n');
    memmem::find_iter(rest, BANNER).filter(is_begin).map(move |at| body + at)
}
