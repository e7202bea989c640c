//! Dense vectors: Matrix Market files, or plain text with one number per line.

use std::io::Write;

use crate::parallel::*;

use super::error::quoted;
use super::gzip::{beside, decompressed};
use super::matrix_market;
use super::scan::Cursor;
use super::{IoError, Progress};
use crate::memory::MemoryLimit;
use crate::pace::at_once;

/// Reads a dense vector from a Matrix Market file with one row or one column (missing elements of a
/// `coordinate` file are 0), or from plain text with one number per line, where blank lines and
/// lines that start with `%` are skipped. Gzip data is decompressed first.
pub fn read_bytes(
    data: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Vec<f64>, IoError> {
    let (text, progress, _) = at_once(decompressed(data, "a vector", limit, progress))?;
    let limit = beside(&text, limit);
    let is_number = |b: &u8| b.is_ascii_digit() || b"+-.%iInN".contains(b);
    let start = text.trim_ascii_start();
    if start.starts_with(b"%%") || !start.first().is_none_or(is_number) {
        // Not plain numbers: the Matrix Market reader reports what is wrong.
        return matrix_market::read_vector(&text, limit, progress);
    }
    read_numbers(&text, limit, progress)
}

fn read_numbers(
    text: &[u8],
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<Vec<f64>, IoError> {
    let lines = memchr::memchr_iter(b'\n', text).count() + 1;
    limit.check("the vector", lines as u128 * 8)?;
    let mut values = Vec::with_capacity(lines);
    let mut cursor = Cursor::new(text);
    while cursor.next_record() {
        let value = cursor.real().ok_or("a number");
        let value = value.and_then(|v| {
            if cursor.end_of_line() { Ok(v.value) } else { Err("one number per line") }
        });
        let value = value.map_err(|expected| {
            let read = text.get(..text.len() - cursor.remaining()).unwrap_or_default();
            IoError::Unexpected {
                line: memchr::memchr_iter(b'\n', read).count() as u64 + 1,
                expected: expected.to_owned(),
                found: quoted(cursor.token()),
            }
        })?;
        values.push(value);
        if values.len() % (1 << 16) == 0 {
            progress.check()?;
        }
    }
    progress.advance(text.len());
    Ok(values)
}

/// Writes `values` as Matrix Market `array real general`, n × 1, with 17 significant digits, so
/// that they read back bit for bit.
pub fn write(values: &[f64], out: &mut dyn Write, progress: Progress<'_>) -> Result<(), IoError> {
    const CHUNK: usize = 1 << 14;
    const WAVE: usize = CHUNK * 32;
    let put = |out: &mut dyn Write, text: &[u8]| {
        out.write_all(text).map_err(|error| IoError::System { doing: "write", error })
    };
    let header = format!("%%MatrixMarket matrix array real general\n{} 1\n", values.len());
    put(out, header.as_bytes())?;
    for wave in values.chunks(WAVE) {
        let texts: Vec<String> = wave
            .par_chunks(CHUNK)
            .map(|values| values.iter().map(|&v| format!("{}\n", scientific(v))).collect())
            .collect();
        for text in texts {
            progress.check()?;
            put(out, text.as_bytes())?;
            progress.advance(text.len());
        }
    }
    Ok(())
}

/// Formats like C's `%.16e`: 17 significant digits, an exponent with a sign and at least two
/// digits.
fn scientific(value: f64) -> String {
    let text = format!("{value:.16e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        // NaN, inf, -inf.
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Result<Vec<f64>, IoError> {
        read_bytes(text.as_bytes(), MemoryLimit::unlimited(), Progress::none())
    }

    fn message(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    #[test]
    fn columns_rows_sparse_vectors_and_plain_text_are_vectors() {
        let banner = "%%MatrixMarket matrix";
        let column = format!("{banner} array real general\n% x\n3 1\n1.5\n0\n-2\n");
        assert_eq!(read(&column).unwrap(), [1.5, 0.0, -2.0]);
        let row = format!("{banner} array integer general\n1 3\n1\n0\n-2\n");
        assert_eq!(read(&row).unwrap(), [1.0, 0.0, -2.0]);
        let sparse = format!("{banner} coordinate real general\n4 1 2\n4 1 7\n2 1 5\n");
        assert_eq!(read(&sparse).unwrap(), [0.0, 5.0, 0.0, 7.0]);
        let sparse_row = format!("{banner} coordinate real general\n1 4 2\n1 4 7\n1 2 5\n");
        assert_eq!(read(&sparse_row).unwrap(), [0.0, 5.0, 0.0, 7.0]);
        assert_eq!(read("1\n\n  2.5D1\r\n% note\n-3").unwrap(), [1.0, 25.0, -3.0]);
        assert_eq!(read("").unwrap(), [0.0; 0]);
    }

    #[test]
    fn what_is_no_vector_is_named() {
        let matrix = "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n";
        assert_eq!(message(matrix), "expected a vector, found a 2 x 2 matrix");
        assert_eq!(message("1\n2 3\n"), "line 2: expected one number per line, found \"3\"");
        assert_eq!(message("1\n2\nx\n"), "line 3: expected a number, found \"x\"");
        let complex = "%%MatrixMarket matrix array complex general\n1 1\n1 2\n";
        assert!(message(complex).contains("real matrices only"));
        assert!(message("<html>").contains("HTML page"));
    }

    #[test]
    fn numbers_are_written_as_c_prints_them() {
        // Output of printf("%.16e") for the same values.
        for (value, text) in [
            (1.0, "1.0000000000000000e+00"),
            (-0.1, "-1.0000000000000001e-01"),
            (6.02214076e23, "6.0221407599999999e+23"),
            (5e-324, "4.9406564584124654e-324"),
            (-0.0, "-0.0000000000000000e+00"),
        ] {
            assert_eq!(scientific(value), text);
        }
    }

    proptest! {
        #[test]
        fn any_vector_reads_back_bit_for_bit(bits in prop::collection::vec(any::<u64>(), 0..50)) {
            let values: Vec<f64> = bits
                .into_iter()
                .map(f64::from_bits)
                .map(|v| if v.is_nan() { f64::NAN } else { v })
                .collect();
            let mut text = Vec::new();
            write(&values, &mut text, Progress::none()).unwrap();
            let back = read_bytes(&text, MemoryLimit::unlimited(), Progress::none()).unwrap();
            let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&back), bits(&values));
        }
    }
}
