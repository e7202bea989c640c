//! Plain triplet text: a line `rows columns entries`, or `rows entries` for a square matrix, then one
//! line `row column value` per nonzero, 1-based and in any order. If no line has a value, the file is a
//! pattern. Comments begin with `%`.

use super::error::quoted;
use super::matrix_market::{self, Format, Header};
use super::scan::Cursor;
use super::{Field, IoError, MatrixFile, MatrixForm, Progress, Symmetry};
use crate::matrix::FormatError;
use crate::memory::MemoryLimit;

/// What the first line must contain.
const SIZES: &str = "the size line \"rows columns entries\" or \"rows entries\" of triplets, or an edge \"from to [weight]\"";

/// Whether a text in a file called `name` is triplet text. A Matrix Market file without its banner might
/// be symmetric or complex: its sizes alone do not say what the nonzeros mean.
pub(super) fn is_meant(name: &str, text: &[u8]) -> bool {
    !needs_banner(name) && !has_banner(text) && begins_with_number(text)
}

/// Whether a file of this name must begin with a Matrix Market banner.
pub(super) fn needs_banner(name: &str) -> bool {
    name.to_ascii_lowercase().ends_with(".mtx")
}

/// Whether the first line is a Matrix Market banner, possibly misspelled, rather than a comment of
/// another format.
pub(super) fn has_banner(text: &[u8]) -> bool {
    let first_line = text.split(|b| *b == b'\n').next().unwrap_or_default();
    first_line.starts_with(b"%%")
        || first_line.windows(12).any(|w| w.eq_ignore_ascii_case(b"MatrixMarket"))
}

/// Whether the first character of the text outside comments is a digit.
pub(super) fn begins_with_number(text: &[u8]) -> bool {
    let mut cursor = Cursor::new(text);
    cursor.next_record() && cursor.token().first().is_some_and(u8::is_ascii_digit)
}

/// Reads a matrix from triplet text, in parallel like a Matrix Market file. The file holds both
/// triangles of a symmetric matrix.
pub(super) async fn read_bytes(
    text: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let file = matrix_market::read_body(text, &header(text)?, limit, progress).await?;
    Ok(MatrixFile { form: MatrixForm::Triplets, ..file })
}

pub(super) fn header(text: &[u8]) -> Result<Header, IoError> {
    let mut cursor = Cursor::new(text);
    cursor.next_record();
    let at = text.len() - cursor.remaining();
    let size_line =
        memchr::memchr_iter(b'\n', text.get(..at).unwrap_or_default()).count() as u64 + 1;
    let line = text.get(at..).and_then(|rest| rest.split(|b| *b == b'\n').next());
    let line = line.unwrap_or_default().trim_ascii();
    let unexpected = || IoError::Unexpected {
        line: size_line,
        expected: SIZES.to_owned(),
        found: if line.is_empty() { "the end of the file".to_owned() } else { quoted(line) },
    };
    let mut sizes = Vec::new();
    while !cursor.end_of_line() {
        sizes.push(cursor.unsigned().filter(|_| sizes.len() < 3).ok_or_else(unexpected)?);
    }
    let (rows, cols, declared) = match *sizes.as_slice() {
        [rows, cols, entries] => (rows, cols, entries),
        [rows, entries] => (rows, rows, entries),
        _ => return Err(unexpected()),
    };
    let (Ok(small_rows), Ok(small_cols)) = (u32::try_from(rows), u32::try_from(cols)) else {
        return Err(FormatError::DimensionTooLarge { rows, cols }.into());
    };
    let body = text.len() - cursor.remaining();
    let field = match words_of_first_entry(cursor) {
        2 => Field::Pattern,
        _ => Field::Real,
    };
    Ok(Header {
        format: Format::Coordinate,
        field,
        symmetry: Symmetry::General,
        rows: small_rows,
        cols: small_cols,
        base: 1,
        banner: None,
        ignores_numbers: false,
        declared,
        size_line,
        body,
    })
}

/// Number of words of the next line that is not blank or a comment, at most 4; 0 at the end.
pub(super) fn words_of_first_entry(mut cursor: Cursor<'_>) -> usize {
    if !cursor.next_record() {
        return 0;
    }
    let mut words = 0;
    while words < 4 && !cursor.end_of_line() {
        cursor.skip_token();
        words += 1;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Csr;
    use crate::pace::at_once;

    fn read(text: &str) -> Result<MatrixFile, IoError> {
        at_once(read_bytes(text.as_bytes(), MemoryLimit::unlimited(), Progress::none()))
    }

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// The 4 x 4 example of the papers: rows 1 7 0 0 / 0 2 8 0 / 5 0 3 9 / 0 6 0 4.
    fn four_by_four() -> Csr {
        let entries = [
            (0, 0, 1.0),
            (0, 1, 7.0),
            (1, 1, 2.0),
            (1, 2, 8.0),
            (2, 0, 5.0),
            (2, 2, 3.0),
            (2, 3, 9.0),
            (3, 1, 6.0),
            (3, 3, 4.0),
        ];
        Csr::from_triplets(4, 4, &entries).unwrap()
    }

    #[test]
    fn both_size_lines_and_any_order_are_read() {
        let entries = "1 1 1\n1 2 7.\n2 2 2\n2 3 8\n3 1 5\n3 3 3\n3 4 9e0\n4 2 6\n4 4 4\n";
        let shuffled: String = entries.lines().rev().map(|line| format!("{line}\n")).collect();
        for text in [
            format!("4 4 9\n{entries}"),
            format!("4 9\n{entries}"),
            format!("4 4 9\n{shuffled}"),
            format!("% by hand\n\n  4\t9\r\n% then\n{}", entries.replace('\n', "\r\n")),
        ] {
            let file = read(&text).unwrap();
            assert_eq!(file.matrix.real().unwrap(), &four_by_four(), "{text}");
            assert_eq!((file.field, file.symmetry), (Field::Real, Symmetry::General));
            assert_eq!(file.warnings, [""; 0]);
        }
    }

    #[test]
    fn lines_without_values_are_a_pattern() {
        let file = read("2 3 2\n2 3\n1 1\n").unwrap();
        assert_eq!(file.field, Field::Pattern);
        let a = file.matrix.into_real().unwrap();
        assert_eq!((a.row(0), a.row(1)), ((&[0][..], &[1.0][..]), (&[2][..], &[1.0][..])));
        let mixed = message("2 3 2\n2 3\n1 1 5\n");
        assert_eq!(
            mixed,
            "line 3: expected the end of the line after a pattern entry, found \"5\""
        );
    }

    #[test]
    fn a_matrix_may_be_empty() {
        for (text, rows, cols) in [("0 0 0\n", 0, 0), ("3 0", 3, 3), ("2 5 0\n\n", 2, 5)] {
            let a = read(text).unwrap().matrix;
            assert_eq!((a.rows(), a.cols(), a.nnz()), (rows, cols, 0), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_one_sentence_with_its_line() {
        let sizes = "the size line \"rows columns entries\" or \"rows entries\" of triplets, or an edge \"from to [weight]\"";
        for (text, expected) in [
            ("1\n", format!("line 1: expected {sizes}, found \"1\"")),
            ("% c\n1 2 3 4\n", format!("line 2: expected {sizes}, found \"1 2 3 4\"")),
            ("2 2 x\n", format!("line 1: expected {sizes}, found \"2 2 x\"")),
            ("2 2 2.5\n", format!("line 1: expected {sizes}, found \"2 2 2.5\"")),
            ("% c\n", format!("line 2: expected {sizes}, found the end of the file")),
            (
                "2 2 1\n0 1 5\n",
                "line 2: expected a row index from 1 to 2, found \"0\"".to_owned(),
            ),
            (
                "2 1\n1 3 5\n",
                "line 2: expected a column index from 1 to 2, found \"3\"".to_owned(),
            ),
            ("2 1\n1 2 x\n", "line 2: expected a number, found \"x\"".to_owned()),
            (
                "2 1\n1 2 3 4\n",
                "line 2: expected the end of the line after a real entry, found \"4\"".to_owned(),
            ),
            (
                "2 2 2\n1 1 5\n",
                "line 1 declares 2 entries, but the file ends after 1".to_owned(),
            ),
            (
                "4294967296 2 0",
                "a 4294967296 x 2 matrix is too large: at most 4294967295 rows and columns are supported"
                    .to_owned(),
            ),
        ] {
            assert_eq!(message(text), expected, "{text:?}");
        }
        assert!(
            message("2 2 1\n1 1 5\n2 2 5\n").starts_with("line 3: expected the end of the file")
        );
        let hostile = at_once(read_bytes(
            b"2 2 18446744073709551615\n1 1 5\n",
            MemoryLimit::bytes(1 << 20),
            Progress::none(),
        ));
        assert!(matches!(hostile, Err(IoError::TooFewEntries { found: 1, .. })), "{hostile:?}");
    }
}
