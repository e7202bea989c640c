//! Binary triplets: a header, then row, column and value of each nonzero, all little-endian and without padding.
//!
//! | bytes | content |
//! |---|---|
//! | 8 | `SSTRIPLE` |
//! | 4 | version, 1 |
//! | 4 | f64 per nonzero: 1 for real values, 2 for complex ones |
//! | 4, 4, 8 | rows, columns, nonzeros |
//! | 4, 4, 8 or 16 per nonzero | row and column from 0, value |

use std::io::Write;

use num_complex::Complex64;

use super::build::{build, repeated};
use super::matrix_market::put;
use super::{AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, Symmetry};
use crate::matrix::{Csr, Extent, Scalar};
use crate::memory::MemoryLimit;

/// The first bytes of the file.
const MAGIC: [u8; 8] = *b"SSTRIPLE";

/// The version that is written and read.
const VERSION: u32 = 1;

/// Words of eight bytes before the first nonzero.
const HEADER: usize = 4;

/// Bytes between two writes.
const BLOCK: usize = 1 << 16;

/// Whether the data begins like a file of this form.
pub(super) fn is_meant(_: &str, data: &[u8]) -> bool {
    data.starts_with(&MAGIC)
}

/// What the header declares.
struct Header {
    rows: u32,
    cols: u32,
    nonzeros: u64,
    is_complex: bool,
}

fn header(data: &[u8]) -> Result<Header, IoError> {
    let (words, _) = data.as_chunks::<8>();
    let Some(&[_, kind, size, nonzeros]) = words.first_chunk::<HEADER>() else {
        return Err(IoError::Stored(format!(
            "expected binary triplets with a header of {} bytes, found {} bytes",
            8 * HEADER,
            data.len()
        )));
    };
    let (version, numbers) = halves(kind);
    if version != VERSION {
        return Err(IoError::Stored(format!(
            "expected version {VERSION} of binary triplets, found {version}"
        )));
    }
    let is_complex = match numbers {
        1 => false,
        2 => true,
        _ => {
            let expected = "expected 1 or 2 numbers per nonzero of binary triplets";
            return Err(IoError::Stored(format!("{expected}, found {numbers}")));
        }
    };
    let (rows, cols) = halves(size);
    Ok(Header { rows, cols, nonzeros: u64::from_le_bytes(nonzeros), is_complex })
}

/// The two numbers of four bytes in a word.
fn halves(word: [u8; 8]) -> (u32, u32) {
    let word = u64::from_le_bytes(word);
    (word as u32, (word >> 32) as u32)
}

/// The sizes that the header declares.
pub(super) fn extent(data: &[u8], _: &ReadOptions) -> Result<Extent, IoError> {
    let Header { rows, cols, nonzeros, .. } = header(data)?;
    let (rows, cols) = (rows.into(), cols.into());
    Ok(Extent { rows, cols, entries: nonzeros, estimated: false })
}

/// Reads the whole file.
pub(super) fn read(
    data: &[u8],
    _: &ReadOptions,
    limit: MemoryLimit,
    progress: Progress<'_>,
) -> Result<MatrixFile, IoError> {
    let Header { rows, cols, nonzeros, is_complex } = header(data)?;
    let content = data.get(8 * HEADER..).unwrap_or_default();
    let expected = u128::from(nonzeros) * if is_complex { 24 } else { 16 };
    if content.len() as u128 != expected {
        return Err(IoError::Stored(format!(
            "expected {expected} bytes after the header of binary triplets, for {nonzeros} nonzeros, found {}",
            content.len()
        )));
    }
    let (words, _) = content.as_chunks::<8>();
    let (size, most) = ((rows.into(), cols.into()), (Symmetry::General, nonzeros));
    let (matrix, merged) = if is_complex {
        let entries = |take: &mut dyn FnMut(u64, u64, Complex64)| {
            for &[place, re, im] in words.as_chunks::<3>().0 {
                let (row, col) = halves(place);
                let value = Complex64::new(f64::from_le_bytes(re), f64::from_le_bytes(im));
                take(row.into(), col.into(), value);
            }
            Ok(())
        };
        let built = build(size, most, &entries, limit, progress)?;
        (AnyMatrix::Complex(built.matrix), built.merged)
    } else {
        let entries = |take: &mut dyn FnMut(u64, u64, f64)| {
            for &[place, value] in words.as_chunks::<2>().0 {
                let (row, col) = halves(place);
                take(row.into(), col.into(), f64::from_le_bytes(value));
            }
            Ok(())
        };
        let built = build(size, most, &entries, limit, progress)?;
        (AnyMatrix::Real(built.matrix), built.merged)
    };
    progress.advance(data.len());
    Ok(MatrixFile {
        matrix,
        field: if is_complex { Field::Complex } else { Field::Real },
        symmetry: Symmetry::General,
        form: MatrixForm::BinaryTriplets,
        warnings: repeated(merged).into_iter().collect(),
    })
}

/// Writes a matrix row by row; it reads back bit for bit.
pub fn write_triplets(
    a: &AnyMatrix,
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    match a {
        AnyMatrix::Real(a) => {
            let append = |value: f64, to: &mut Vec<u8>| to.extend(value.to_le_bytes());
            write(a, 1, append, out, progress)
        }
        AnyMatrix::Complex(a) => {
            let append = |value: Complex64, to: &mut Vec<u8>| {
                to.extend(value.re.to_le_bytes());
                to.extend(value.im.to_le_bytes());
            };
            write(a, 2, append, out, progress)
        }
    }
}

/// Writes a matrix with this many numbers per nonzero, which `append` adds to a buffer.
fn write<T: Scalar>(
    a: &Csr<T>,
    numbers: u32,
    append: impl Fn(T, &mut Vec<u8>),
    out: &mut dyn Write,
    progress: Progress<'_>,
) -> Result<(), IoError> {
    let mut block = MAGIC.to_vec();
    // Both are u32 in every matrix.
    for word in [VERSION, numbers, a.rows() as u32, a.cols() as u32] {
        block.extend(word.to_le_bytes());
    }
    block.extend((a.nnz() as u64).to_le_bytes());
    let mut flush = |block: &mut Vec<u8>| {
        progress.check()?;
        put(out, block)?;
        progress.advance(block.len());
        block.clear();
        Ok::<(), IoError>(())
    };
    for row in 0..a.rows() {
        let (cols, values) = a.row(row);
        for (&col, &value) in cols.iter().zip(values) {
            block.extend((row as u32).to_le_bytes());
            block.extend(col.to_le_bytes());
            append(value, &mut block);
            if block.len() >= BLOCK {
                flush(&mut block)?;
            }
        }
    }
    flush(&mut block)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{read_named_extent, read_named_matrix};

    fn read(data: &[u8]) -> Result<MatrixFile, IoError> {
        read_named_matrix("a", data, MemoryLimit::bytes(1 << 20), Progress::none())
    }

    fn written(a: &AnyMatrix) -> Vec<u8> {
        let mut data = Vec::new();
        write_triplets(a, &mut data, Progress::none()).unwrap();
        data
    }

    /// 3 x 4 with 1.5 in row 0, column 3 and -0.0 in row 2, column 1.
    fn real() -> AnyMatrix {
        AnyMatrix::Real(Csr::from_triplets(3, 4, &[(0, 3, 1.5), (2, 1, -0.0)]).unwrap())
    }

    /// The bytes that the table at the top of this file says.
    fn bytes(nonzeros: u64, entries: &[(u32, u32, f64)]) -> Vec<u8> {
        let mut data = b"SSTRIPLE\x01\0\0\0\x01\0\0\0\x03\0\0\0\x04\0\0\0".to_vec();
        data.extend(nonzeros.to_le_bytes());
        for (row, col, value) in entries {
            data.extend([row.to_le_bytes(), col.to_le_bytes()].concat());
            data.extend(value.to_le_bytes());
        }
        data
    }

    #[test]
    fn a_file_has_the_documented_bytes_and_reads_back_bit_for_bit() {
        let data = written(&real());
        assert_eq!(data, bytes(2, &[(0, 3, 1.5), (2, 1, -0.0)]));
        let file = read(&data).unwrap();
        assert_eq!((file.form, file.field), (MatrixForm::BinaryTriplets, Field::Real));
        assert_eq!(file.matrix, real());
        assert!(file.matrix.real().unwrap().val().last().unwrap().is_sign_negative());
        let extent = read_named_extent("a", &data).unwrap();
        assert_eq!((extent.rows, extent.cols, extent.entries), (3, 4, 2));

        let values =
            [(1, 0, Complex64::new(1.0, -2.0)), (1, 1, Complex64::new(f64::INFINITY, 0.0))];
        let complex = AnyMatrix::Complex(Csr::from_triplets(2, 2, &values).unwrap());
        let file = read(&written(&complex)).unwrap();
        assert_eq!((file.matrix, file.field), (complex, Field::Complex));
    }

    #[test]
    fn a_matrix_longer_than_a_block_is_written_in_order() {
        let entries: Vec<_> = (0..9000usize).map(|k| (k, k / 2, k as f64)).collect();
        let a = AnyMatrix::Real(Csr::from_triplets(9000, 9000, &entries).unwrap());
        assert_eq!(read(&written(&a)).unwrap().matrix, a);
    }

    #[test]
    fn nonzeros_come_in_any_order_and_those_of_one_position_are_added() {
        let file = read(&bytes(3, &[(2, 1, 4.0), (0, 3, 1.5), (2, 1, 2.0)])).unwrap();
        let expected = Csr::from_triplets(3, 4, &[(0, 3, 1.5), (2, 1, 6.0)]).unwrap();
        assert_eq!(file.matrix, AnyMatrix::Real(expected));
        assert_eq!(
            file.warnings,
            ["1 entry repeats the position of an earlier one; their values were summed"]
        );
    }

    #[test]
    fn what_is_wrong_is_one_sentence() {
        let whole = bytes(2, &[(0, 3, 1.5), (2, 1, 1.0)]);
        let with = |at: usize, byte: u8| {
            let mut data = whole.clone();
            data[at] = byte;
            data
        };
        for (data, expected) in [
            (whole[..31].to_vec(), "expected binary triplets with a header of 32 bytes, found 31"),
            (with(8, 2), "expected version 1 of binary triplets, found 2"),
            (with(12, 3), "expected 1 or 2 numbers per nonzero of binary triplets, found 3"),
            (with(12, 2), "expected 48 bytes after the header of binary triplets, for 2 nonzeros"),
            (whole[..63].to_vec(), "for 2 nonzeros, found 31"),
            (bytes(u64::MAX, &[]), "for 18446744073709551615 nonzeros, found 0"),
            (with(32, 3), "nonzero 1 of the file is in row 4, column 4, but the matrix has 3 rows"),
        ] {
            let error = read(&data).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
