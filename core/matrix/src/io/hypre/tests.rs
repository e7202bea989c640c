//! Matrices and vectors as hypre writes them, and broken ones.

use super::*;
use crate::io::{read_named_extent, read_named_matrix, vector};
use crate::matrix::Csr;

fn read_file(name: &str, text: &str) -> Result<MatrixFile, String> {
    let limit = MemoryLimit::bytes(1 << 20);
    let read = read_named_matrix(name, text.as_bytes(), limit, Progress::none());
    read.map_err(|error| error.to_string())
}

/// The matrix 4 -1 0 / 0 0 0 / 2 0 0.5.
fn three_by_three() -> AnyMatrix {
    let entries = [(0, 0, 4.0), (0, 1, -1.0), (2, 0, 2.0), (2, 2, 0.5)];
    AnyMatrix::Real(Csr::from_triplets(3, 3, &entries).unwrap())
}

#[test]
fn a_file_of_one_process_is_read_with_indices_from_0_or_1() {
    for text in [
        "0 2 0 2\n0 0 4\n0 1 -1.0e+00\n2 0 2\n2 2 5e-1\n",
        "1 3 1 3\r\n3 3 0.5\r\n\r\n1 1 4\r\n1 2 -1\r\n3 1 2",
    ] {
        let file = read_file("ij.00000", text).unwrap();
        assert_eq!((file.matrix, file.form), (three_by_three(), MatrixForm::Hypre));
        assert_eq!(file.warnings, [""; 0]);
        let extent = read_named_extent("ij.00000", text.as_bytes()).unwrap();
        let sizes = (extent.rows, extent.cols, extent.entries, extent.estimated);
        assert_eq!(sizes, (3, 3, 4, false));
    }
    let wide = read_file("a.b.00000", "0 0 0 4\n0 4 1\n0 4 2\n").unwrap();
    assert_eq!((wide.matrix.rows(), wide.matrix.cols(), wide.matrix.nnz()), (1, 5, 1));
    assert!(wide.warnings[0].ends_with("their values were summed"));
    let empty = read_file("a.00000", "0 -1 0 -1\n").unwrap().matrix;
    assert_eq!((empty.rows(), empty.cols()), (0, 0));
    assert!(!is_meant("a.txt", b"0 2 0 2\n") && !is_meant("a.00000", b"0 2 0\n"));
    // Without such a name, as from standard input, a nonzero after the ranges says what it is.
    let piped = read_file("-", "0 2 0 2\n0 0 4\n0 1 -1\n2 0 2\n2 2 0.5\n").unwrap();
    assert_eq!((piped.matrix, piped.form), (three_by_three(), MatrixForm::Hypre));
    for ratings in ["1 2 0 2\n1 2 3 4\n", "0 2 0 2\n3 0 1\n", "0 2 0 2\n0 1\n", "0 2 0 2\n% 0 1\n"]
    {
        assert!(!is_meant("u.data", ratings.as_bytes()), "{ratings}");
    }
}

#[test]
fn pieces_become_one_matrix_in_the_order_of_their_rows() {
    let texts = ["2 2 2 2\n2 0 2\n2 2 0.5\n", "0 0 0 0\n0 0 4\n0 1 -1\n", "1 1 1 1\n"];
    let pieces = texts.map(|text| Piece::only(text.as_bytes()));
    let read = |pieces: &[Piece<'_>]| {
        read_pieces(pieces, MemoryLimit::bytes(1 << 20), Progress::none())
            .map_err(|error| error.to_string())
    };
    assert_eq!(read(&pieces).unwrap().matrix, three_by_three());
    let extent = extent_of_pieces(&pieces).unwrap();
    assert_eq!((extent.rows, extent.cols, extent.entries), (3, 3, 4));
    assert_eq!(
        read(&pieces[..2]).unwrap_err(),
        "expected a piece of the hypre matrix with the rows 1 to 1, found none: the file of another process is missing"
    );
    assert_eq!(
        read(&pieces[1..2]).unwrap_err(),
        "line 3: expected a column from 0 to 0 (or the file of another process is missing), found \"1\""
    );
    let twice = [0, 1, 1].map(|k| Piece::only(texts[k].as_bytes()));
    let error = read(&twice).unwrap_err();
    assert_eq!(error, "expected rows from 1, found the row 0 again");
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn the_files_of_all_processes_are_read_from_the_first() {
    use crate::io::{open_extent, open_matrix};
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("ij.00000");
    let put = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
    };
    let read = || {
        let read = open_matrix(&first, MemoryLimit::bytes(1 << 20), Progress::none());
        read.map(|file| file.matrix).map_err(|error| error.to_string())
    };
    put("ij.00000", "0 0 0 0\n0 0 4\n0 1 -1\n");
    put("ij.00002", "2 2 2 2\n2 0 2\n2 2 0.5\n");
    put("other.00003", "5 5 5 5\n");
    let missing = read().unwrap_err();
    assert!(missing.contains("ij.00001: cannot open the file"), "{missing}");
    put("ij.00001", "1 1 1 1\n");
    assert_eq!(read().unwrap(), three_by_three());
    let extent = open_extent(&first, &ReadOptions::default()).unwrap();
    assert_eq!((extent.rows, extent.cols, extent.entries), (3, 3, 4));
    put("ij.00001", "1 1 1 1\n1 3 1\n");
    let outside = read().unwrap_err();
    assert!(outside.contains("ij.00001: line 2: expected a column from 0 to 2"), "{outside}");
}

#[cfg(not(target_family = "wasm"))]
#[test]
fn compressed_files_of_all_processes_are_read_from_any() {
    use crate::io::{Overwrite, open_extent, open_matrix, open_vector, save};
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for (name, text) in [
        ("ij.00000.gz", "0 0 0 0\n0 0 4\n0 1 -1\n"),
        ("ij.00001.gz", "1 1 1 1\n"),
        ("ij.00002.gz", "2 2 2 2\n2 0 2\n2 2 0.5\n"),
        // Not one of them: the others are compressed.
        ("ij.00003", "3 3 3 3\n3 3 1\n"),
        ("b.00000.gz", "0 1\n0 1.5\n1 -2\n"),
        ("b.00001.gz", "2 2\n2 7\n"),
    ] {
        let put = |out: &mut dyn std::io::Write| {
            out.write_all(text.as_bytes())
                .map_err(|error| IoError::System { doing: "write", error })
        };
        save(&path(name), Overwrite::Never, put).unwrap();
    }
    let (limit, none) = (MemoryLimit::bytes(1 << 24), Progress::none());
    for name in ["ij.00000.gz", "ij.00002.gz"] {
        assert_eq!(open_matrix(&path(name), limit, none).unwrap().matrix, three_by_three());
        let extent = open_extent(&path(name), &ReadOptions::default()).unwrap();
        assert_eq!((extent.rows, extent.cols, extent.entries), (3, 3, 4));
    }
    assert_eq!(
        open_vector(&path("b.00001.gz"), None, limit, none).unwrap().values,
        [1.5, -2.0, 7.0]
    );
    std::fs::write(path("ij.00001.gz"), b"\x1f\x8b\x08").unwrap();
    let torn = open_matrix(&path("ij.00000.gz"), limit, none).unwrap_err().to_string();
    assert!(torn.contains("ij.00001.gz: the gzip data is"), "{torn}");
    std::fs::remove_file(path("ij.00001.gz")).unwrap();
    let missing = open_matrix(&path("ij.00000.gz"), limit, none).unwrap_err().to_string();
    assert!(missing.contains("ij.00001.gz: cannot open the file"), "{missing}");
}

#[test]
fn what_is_wrong_is_one_sentence_with_its_line() {
    for (text, expected) in [
        ("0 2 0 2\n3 0 1\n", "line 2: expected a row from 0 to 2, found \"3\""),
        ("0 2 0 2\n\n0 0 x\n", "line 3: expected a number, found \"x\""),
        ("0 2 0 2\n0 0\n", "line 2: expected a number, found the end of the line"),
        (
            "0 2 0 2\n0 0 1 2\n",
            "line 2: expected the end of the line after the value of a nonzero, found \"2\"",
        ),
        (
            "3 1 0 2\n0 0 1\n",
            "line 1: expected the line \"ilower iupper jlower jupper\" of a hypre matrix, found \"3 1 0 2\"",
        ),
    ] {
        assert_eq!(read_file("a.00000", text).unwrap_err(), expected);
    }
    let huge = format!("0 {} 0 1\n", i64::MAX);
    assert!(read_file("a.00000", &huge).unwrap_err().contains("too large"));
}

#[test]
fn vectors_are_known_by_their_first_line() {
    let read = |text: &str, column| {
        let limit = MemoryLimit::bytes(1 << 20);
        let read = vector::read_column(text.as_bytes(), column, limit, Progress::none());
        read.map(|file| file.values).map_err(|error| error.to_string())
    };
    assert_eq!(read("0 2\n0 1.5\n1 -2\n2 0\n", None).unwrap(), [1.5, -2.0, 0.0]);
    assert_eq!(read("1 2\n1 7\n2 8\n", Some(1)).unwrap(), [7.0, 8.0]);
    for (text, expected) in [
        ("0 2\n0 1\n2 1\n", "line 3: expected \"1 value\" of a hypre vector, found \"2\""),
        (
            "0 0\n0 1\n1 1\n",
            "line 3: expected the end of the file after element 0 of a hypre vector, found \"1\"",
        ),
        (
            "5 6\n5 1\n6 1\n",
            "expected a hypre vector from index 0 or 1, found one from 5: the file of another process is missing",
        ),
        ("1 2\n2 3\n", "line 1: expected one number per line, found \"2\""),
    ] {
        assert_eq!(read(text, None).unwrap_err(), expected);
    }
}
