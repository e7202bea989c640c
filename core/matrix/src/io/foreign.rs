//! Recognizes unsupported files of other programs by their first bytes, and suggests what to do instead.

use super::{IoError, matlab};

/// What such a file is, and what to do instead.
type Named = (&'static str, &'static str);

const DECOMPRESS: &str = "decompress it, or use gzip, bzip2, xz or Zstandard instead";
const SPREADSHEET: &str = "save it as CSV";

/// PETSc files begin with the class in 4 or 8 bytes.
const PETSC_MATRIX: Named =
    ("a PETSc binary matrix", "convert it with MatView and PETSC_VIEWER_ASCII_MATRIXMARKET");
const PETSC_VECTOR: Named = ("a PETSc binary vector", "write it as text, one number per line");

/// First bytes of a file, and what the file is.
const BEGINNINGS: [(&[u8], Named); 21] = [
    (b"\x04\x22\x4d\x18", ("LZ4 data", DECOMPRESS)),
    (b"LZIP\x01", ("lzip data", DECOMPRESS)),
    (b"\x1f\x9d", ("compress (.Z) data", DECOMPRESS)),
    (b"7z\xbc\xaf\x27\x1c", ("a 7-Zip archive", "unpack it first")),
    (b"Rar!\x1a\x07", ("a RAR archive", "unpack it first")),
    (
        b"\x89HDF\r\n\x1a\n",
        ("an HDF5 file", "load it with h5py and save it with scipy.io.mmwrite(\"A.mtx\", A)"),
    ),
    (
        b"MATLAB 7.3 MAT-file",
        (
            "a MATLAB 7.3 file, which is HDF5",
            "load it with h5py or MATLAB and save it with scipy.io.mmwrite or mmwrite",
        ),
    ),
    (b"\0\x12\x7b\x50", PETSC_MATRIX),
    (b"\0\0\0\0\0\x12\x7b\x50", PETSC_MATRIX),
    (b"\0\x12\x7b\x4e", PETSC_VECTOR),
    (b"\0\0\0\0\0\x12\x7b\x4e", PETSC_VECTOR),
    (b"\x7fELF", ("a program (ELF)", "pass the file that it writes or reads")),
    (b"%PDF-", ("a PDF", "pass the file with the numbers")),
    (b"\x89PNG", ("a picture (PNG)", "pass the file with the numbers")),
    (b"PAR1\x15", ("a Parquet file", SPREADSHEET)),
    (b"ARROW1\0\0", ("an Arrow file", SPREADSHEET)),
    (b"SQLite format 3", ("an SQLite database", "export its table as CSV")),
    (b"\xd0\xcf\x11\xe0", ("an old Office document", SPREADSHEET)),
    (b"\xff\xfe", ("UTF-16 text", "save it as UTF-8")),
    (b"\xfe\xff", ("UTF-16 text", "save it as UTF-8")),
    (b"p sp ", ("a DIMACS graph", EDGES)),
];

const EDGES: &str = "remove its lines c and p and the letters a, which leaves an edge list";

/// Rejects data in such a form where `expected` was required.
pub(super) fn refuse(data: &[u8], expected: &'static str) -> Result<(), IoError> {
    match of(data) {
        Some((found, instead)) => Err(IoError::Foreign { expected, found, instead }),
        None => Ok(()),
    }
}

fn of(data: &[u8]) -> Option<Named> {
    if data.starts_with(b"PK\x03\x04") || data.starts_with(b"PK\x05\x06") {
        return Some(zip(data));
    }
    if is_boeing(data) {
        return Some((
            "a Harwell-Boeing or Rutherford-Boeing file",
            "read it with scipy.io.hb_read, if supported, and save it with scipy.io.mmwrite(\"A.mtx\", A)",
        ));
    }
    // Matrices and vectors in such files were read before.
    if matlab::is_meant(data) {
        return Some(("a MATLAB file", SPREADSHEET));
    }
    let beginning = BEGINNINGS.iter().find(|(bytes, _)| data.starts_with(bytes));
    beginning.map(|(_, named)| *named)
}

/// The name of the first file of a zip archive; None for other data, and for an archive without files.
pub(super) fn first_in_zip(data: &[u8]) -> Option<&[u8]> {
    let header = data.strip_prefix(b"PK\x03\x04")?;
    let length = header.get(22..24).and_then(|bytes| bytes.first_chunk());
    let length = length.map_or(0, |bytes| u16::from_le_bytes(*bytes));
    let name = header.get(26..).unwrap_or_default();
    Some(name.get(..usize::from(length)).unwrap_or(name))
}

/// Determines what a zip archive is from the name of its first file.
fn zip(data: &[u8]) -> Named {
    let name = first_in_zip(data).unwrap_or_default();
    match name {
        b"manifest.json" => ("a result bundle", "open it in the viewer with `sparsescope FILE`"),
        b"[Content_Types].xml" => ("an Excel workbook or another Office document", SPREADSHEET),
        _ => ("a zip archive", "unpack it first"),
    }
}

/// Whether the third line matches Harwell-Boeing's: a three-letter word for the kind of matrix, and its
/// sizes.
fn is_boeing(data: &[u8]) -> bool {
    const LONGEST: usize = 400;
    let start = data.get(..LONGEST).unwrap_or(data);
    let mut lines = start.split(|byte| *byte == b'\n');
    let (Some(_), Some(counts), Some(kind)) = (lines.next(), lines.next(), lines.next()) else {
        return false;
    };
    let words = |line: &'_ [u8]| -> Vec<Vec<u8>> {
        let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_ascii_lowercase).collect()
    };
    let is_count = |word: &Vec<u8>| word.iter().all(u8::is_ascii_digit);
    let (counts, kind) = (words(counts), words(kind));
    let Some((kind, sizes)) = kind.split_first() else { return false };
    let is_kind = match kind.as_slice() {
        [values, shape, assembled] => {
            b"rcpiqx".contains(values) && b"suhzr".contains(shape) && b"ae".contains(assembled)
        }
        _ => false,
    };
    is_kind
        && counts.len() >= 4
        && counts.iter().all(is_count)
        && sizes.len() >= 3
        && sizes.iter().all(is_count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::points::{read_named_points, read_named_points_extent};
    use crate::io::{Progress, read_named_extent, read_named_matrix, vector};
    use crate::memory::MemoryLimit;

    /// The message for such a file where a matrix is expected.
    fn message(name: &str, data: &[u8]) -> String {
        let limit = MemoryLimit::bytes(1 << 22);
        let error = read_named_matrix(name, data, limit, Progress::none()).unwrap_err().to_string();
        let of_extent = read_named_extent(name, data).unwrap_err().to_string();
        assert_eq!(of_extent, error, "{name}");
        assert!(error.chars().all(|c| (' '..='~').contains(&c)), "{error}");
        error
    }

    #[test]
    fn forms_of_other_programs_are_named_with_what_to_do_wherever_they_turn_up() {
        let zip = |name: &[u8]| {
            let mut data = b"PK\x03\x04".to_vec();
            data.resize(26, 0);
            data.extend([name.len() as u8, 0, 0, 0]);
            [&data[..], name].concat()
        };
        for (data, expected) in [
            (b"LZIP\x01\x0c".to_vec(), "lzip data"),
            (b"\x89HDF\r\n\x1a\n\0\0".to_vec(), "an HDF5 file"),
            (b"MATLAB 7.3 MAT-file, Platform".to_vec(), "a MATLAB 7.3 file"),
            (b"\0\x12\x7b\x50\0\0\0\x03".to_vec(), "a PETSc binary matrix"),
            (b"\0\0\0\0\0\x12\x7b\x50\0\0\0\0".to_vec(), "a PETSc binary matrix"),
            (b"\x7fELF\x02".to_vec(), "a program (ELF)"),
            (b"\xff\xfe1\0".to_vec(), "UTF-16 text"),
            (zip(b"manifest.json"), "a result bundle"),
            (b"PK\x05\x06\0\0".to_vec(), "a zip archive"),
        ] {
            for name in ["a.mtx", "a.mtx.gz", "a.txt", "a"] {
                let error = message(name, &data);
                let begins = format!("expected a matrix, found {expected}");
                assert!(
                    error.starts_with(&begins) && error.contains(" (not supported): "),
                    "{error}"
                );
            }
            let limit = MemoryLimit::bytes(1 << 22);
            let error = vector::read_bytes(&data, limit, Progress::none()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("expected a vector, found {expected}")), "{error}");
            for name in ["a.txt", "a.csv"] {
                let error = read_named_points(name, &data, limit, Progress::none())
                    .unwrap_err()
                    .to_string();
                assert!(
                    error.starts_with(&format!("expected points, found {expected}")),
                    "{error}"
                );
                let of_extent = read_named_points_extent(name, &data).unwrap_err().to_string();
                assert_eq!(of_extent, error);
            }
        }
    }

    #[test]
    fn points_in_a_matlab_file_are_refused_by_name() {
        // A header of level 5, and a dense little-endian matrix of level 4.
        for data in [
            &b"MATLAB 5.0 MAT-file Platform: posix"[..],
            b"\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0x\0\0",
        ] {
            let limit = MemoryLimit::bytes(1 << 22);
            let error = read_named_points("a.csv", data, limit, Progress::none()).unwrap_err();
            let expected = "expected points, found a MATLAB file (not supported): save it as CSV";
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn harwell_boeing_is_known_from_its_third_line() {
        let text = |title: &str, kind: &str| {
            format!(
                "{title:<80}\n{:>14}{:>14}{:>14}{:>14}\n{kind:<14}{:>14}{:>14}{:>14}{:>14}\n(4I4)\n",
                3, 1, 1, 1, 3, 3, 5, 0
            )
        };
        for (title, kind) in [("A title", "RSA"), ("1138 is a number", "rsa"), ("% x", "PUA")] {
            let error = message("a.rb", text(title, kind).as_bytes());
            assert!(error.contains("found a Harwell-Boeing or Rutherford-Boeing file"), "{error}");
        }
        assert!(!is_boeing(text("A title", "RSQ").as_bytes()));
        assert!(!is_boeing(b"3 3 1\n1 1 1\nrsa\n"));
    }
}
