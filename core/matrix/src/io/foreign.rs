//! Recognizes unsupported files of other programs by their first bytes, and suggests what to do instead.

use super::zipped::first_in_zip;
use super::{IoError, matlab, tar};

/// What such a file is, and what to do instead.
type Named = (&'static str, &'static str);

const DECOMPRESS: &str = "decompress it, or use gzip, bzip2, xz or Zstandard instead";
const SPREADSHEET: &str = "save it as CSV";
// Built with the feature, matrices and vectors are read.
const HDF5: &str = if cfg!(feature = "hdf5") {
    "load it with h5py and save it with numpy.save"
} else {
    "build with --features hdf5, or load it with h5py and save it with scipy.io.mmwrite(\"A.mtx\", A)"
};

/// First bytes of a file, and what the file is.
const BEGINNINGS: [(&[u8], Named); 16] = [
    (b"\x04\x22\x4d\x18", ("LZ4 data", DECOMPRESS)),
    (b"LZIP\x01", ("lzip data", DECOMPRESS)),
    (b"\x1f\x9d", ("compress (.Z) data", DECOMPRESS)),
    (b"7z\xbc\xaf\x27\x1c", ("a 7-Zip archive", "unpack it first")),
    (b"Rar!\x1a\x07", ("a RAR archive", "unpack it first")),
    (b"\x89HDF\r\n\x1a\n", ("an HDF5 file", HDF5)),
    (b"MATLAB 7.3 MAT-file", ("a MATLAB 7.3 file, which is HDF5", HDF5)),
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
    // A matrix in one was read before.
    if tar::is_tar(data) {
        return Some(("a tar archive", "unpack it first"));
    }
    if is_supplement(data) {
        return Some((
            "a Rutherford-Boeing supplementary file",
            "pass the matrix, or write a vector as text, one number per line",
        ));
    }
    // Matrices and vectors in such files were read before.
    if matlab::is_meant(data) {
        return Some(("a MATLAB file", SPREADSHEET));
    }
    let beginning = BEGINNINGS.iter().find(|(bytes, _)| data.starts_with(bytes));
    beginning.map(|(_, named)| *named)
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

/// Whether the second line is that of Rutherford-Boeing's vectors and orderings: a word that begins with their
/// kind, then sizes. Formats follow in the third.
fn is_supplement(data: &[u8]) -> bool {
    const KINDS: [&[u8; 3]; 15] = [
        b"ord", b"rhs", b"sln", b"est", b"evl", b"svl", b"evc", b"svc", b"sbv", b"sbm", b"sbp",
        b"ipt", b"icv", b"lvl", b"geo",
    ];
    let start = data.get(..data.len().min(400)).unwrap_or_default();
    let mut lines = start.split(|byte| *byte == b'\n').skip(1);
    let (Some(kind), Some(formats)) = (lines.next(), lines.next()) else { return false };
    let kind = kind.trim_ascii_end().to_ascii_lowercase();
    let is_kind = |name: &&[u8; 3]| kind.starts_with(name.as_slice());
    let last = kind.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    KINDS.iter().any(is_kind)
        && kind
            .get(3..5)
            .is_some_and(|more| more.iter().all(|b| b.is_ascii_lowercase() || *b == b' '))
        && last.iter().all(u8::is_ascii_digit)
        && formats.trim_ascii_start().starts_with(b"(")
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
            (b"\x7fELF\x02".to_vec(), "a program (ELF)"),
            (b"\xff\xfe1\0".to_vec(), "UTF-16 text"),
            (zip(b"manifest.json"), "a result bundle"),
            (b"PK\x05\x06\0\0".to_vec(), "a zip archive"),
        ] {
            let is_read =
                cfg!(feature = "hdf5") && (expected.contains("HDF5") || expected.contains("7.3"));
            let names = ["a.mtx", "a.mtx.gz", "a.txt", "a"];
            for name in names.into_iter().filter(|_| !is_read) {
                let error = message(name, &data);
                let begins = format!("expected a matrix, found {expected}");
                assert!(
                    error.starts_with(&begins) && error.contains(" (not supported): "),
                    "{error}"
                );
            }
            let limit = MemoryLimit::bytes(1 << 22);
            let error = vector::read_bytes(&data, limit, Progress::none()).unwrap_err().to_string();
            let begins = format!("expected a vector, found {expected}");
            assert!(is_read || error.starts_with(&begins), "{error}");
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
    fn supplements_of_rutherford_boeing_are_known_from_their_second_line() {
        let text = |kind: &str| {
            format!("{:<80}\n{kind}  matrix    r{:>15}{:>15}{:>15}\n(4E20.12)\n", "% b", 3, 1, 3)
        };
        for kind in ["rhsrd", "SLNGD", "ord  ", "geo  "] {
            let error = message("a.rb", text(kind).as_bytes());
            assert!(error.contains("found a Rutherford-Boeing supplementary file"), "{error}");
        }
        assert!(!is_supplement(text("abcrd").as_bytes()));
        assert!(!is_supplement(b"from\nord 1\nord 2\n"));
    }
}
