//! Recognizes unsupported files of other programs by their first bytes, and suggests what to do instead.

use super::IoError;

/// What such a file is, and what to do instead.
type Named = (&'static str, &'static str);

const DECOMPRESS: &str = "decompress it, or use gzip instead";
const SPREADSHEET: &str = "save it as CSV";

const LOADMAT: &str = "convert it with scipy.io.mmwrite(\"A.mtx\", scipy.io.loadmat(FILE)[NAME])";

/// First bytes of a file, and what the file is.
const BEGINNINGS: [(&[u8], Named); 21] = [
    (b"\xfd7zXZ\0", ("xz data", DECOMPRESS)),
    (b"\x28\xb5\x2f\xfd", ("Zstandard data", DECOMPRESS)),
    (b"\x04\x22\x4d\x18", ("LZ4 data", DECOMPRESS)),
    (b"LZIP\x01", ("lzip data", DECOMPRESS)),
    (b"\x1f\x9d", ("compress (.Z) data", DECOMPRESS)),
    (b"\x1f\x8b", ("gzip data within gzip data", "decompress it once with gunzip")),
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
    (b"MATLAB 5.0 MAT-file", ("a MATLAB 5 file", LOADMAT)),
    (
        b"\x93NUMPY",
        (
            "a NumPy array (.npy)",
            "save points and vectors as text with numpy.savetxt, matrices with scipy.io.mmwrite",
        ),
    ),
    (b"\x7fELF", ("a program (ELF)", "pass the file that it writes or reads")),
    (b"%PDF-", ("a PDF", "pass the file with the numbers")),
    (b"\x89PNG", ("a picture (PNG)", "pass the file with the numbers")),
    (b"PAR1\x15", ("a Parquet file", SPREADSHEET)),
    (b"ARROW1\0\0", ("an Arrow file", SPREADSHEET)),
    (b"SQLite format 3", ("an SQLite database", "export its table as CSV")),
    (b"\xd0\xcf\x11\xe0", ("an old Office document", SPREADSHEET)),
    (b"\xff\xfe", ("UTF-16 text", "save it as UTF-8")),
    (b"\xfe\xff", ("UTF-16 text", "save it as UTF-8")),
];

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
    if data.starts_with(b"BZh") && data.get(4..10) == Some(&b"1AY&SY"[..]) {
        return Some(("bzip2 data", DECOMPRESS));
    }
    if is_boeing(data) {
        return Some((
            "a Harwell-Boeing or Rutherford-Boeing file",
            "read it with scipy.io.hb_read, if supported, and save it with scipy.io.mmwrite(\"A.mtx\", A)",
        ));
    }
    if is_matlab_4(data) {
        return Some(("a MATLAB 4 file", LOADMAT));
    }
    let beginning = BEGINNINGS.iter().find(|(bytes, _)| data.starts_with(bytes));
    beginning.map(|(_, named)| *named)
}

/// Whether the first 20 bytes are the header of a matrix in a MATLAB 4 file, in either byte order: its type
/// MOPT, rows, columns, whether it is complex, and the length of its name, which ends with a NUL.
fn is_matlab_4(data: &[u8]) -> bool {
    let Some(header) = data.first_chunk::<20>() else { return false };
    let (words, _) = header.as_chunks::<4>();
    let fits = |from: fn([u8; 4]) -> u32, order: u32| {
        let words: Vec<u32> = words.iter().map(|word| from(*word)).collect();
        let &[kind, _, _, complex, length] = words.as_slice() else { return false };
        let name = data.get(20..).unwrap_or_default();
        let is_kind = kind / 100 == 10 * order && kind / 10 % 10 <= 5 && kind % 10 <= 2;
        let ends = length.checked_sub(1).is_some_and(|last| name.get(last as usize) == Some(&0));
        is_kind && complex <= 1 && ends && name.first().is_some_and(u8::is_ascii_alphabetic)
    };
    fits(u32::from_le_bytes, 0) || fits(u32::from_be_bytes, 1)
}

/// Determines what a zip archive is from the name of its first file.
fn zip(data: &[u8]) -> Named {
    let length = data
        .get(26..28)
        .and_then(|bytes| bytes.first_chunk())
        .map_or(0, |bytes| u16::from_le_bytes(*bytes));
    let name = data.get(30..).unwrap_or_default();
    let name = name.get(..usize::from(length)).unwrap_or(name);
    if name.ends_with(b".npy") {
        return (
            "a NumPy archive (.npz)",
            "convert it with scipy.io.mmwrite(\"A.mtx\", scipy.sparse.load_npz(FILE))",
        );
    }
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
            (b"BZh91AY&SY\x20\xed".to_vec(), "bzip2 data"),
            (b"\xfd7zXZ\0\0\x04".to_vec(), "xz data"),
            (b"\x28\xb5\x2f\xfd\x24\x88".to_vec(), "Zstandard data"),
            (b"\x89HDF\r\n\x1a\n\0\0".to_vec(), "an HDF5 file"),
            (b"MATLAB 5.0 MAT-file Platform: posix".to_vec(), "a MATLAB 5 file"),
            (b"MATLAB 7.3 MAT-file, Platform".to_vec(), "a MATLAB 7.3 file"),
            (b"\x93NUMPY\x01\0".to_vec(), "a NumPy array"),
            // A sparse big-endian 8 x 3 matrix named `ab`; a dense little-endian one.
            (
                b"\0\0\x03\xea\0\0\0\x08\0\0\0\x03\0\0\0\0\0\0\0\x03ab\0\0".to_vec(),
                "a MATLAB 4 file",
            ),
            (b"\0\0\0\0\x01\0\0\0\x01\0\0\0\0\0\0\0\x02\0\0\0x\0\0".to_vec(), "a MATLAB 4 file"),
            (b"\x7fELF\x02".to_vec(), "a program (ELF)"),
            (b"\xff\xfe1\0".to_vec(), "UTF-16 text"),
            (zip(b"indices.npy"), "a NumPy archive (.npz)"),
            (zip(b"manifest.json"), "a result bundle"),
            (zip(b"a.mtx"), "a zip archive"),
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
