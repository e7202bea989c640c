//! Tests of the reader's rules.

mod bad_input;
mod large_files;
mod writing;

use num_complex::Complex64;

use super::*;
use crate::matrix::{RowPtr, Scalar};

fn read(text: &str) -> Result<MatrixFile, IoError> {
    read_bytes(text.as_bytes(), MemoryLimit::unlimited(), Progress::none())
}

fn real(text: &str) -> Csr<f64> {
    read(text).unwrap().matrix.into_real().unwrap()
}

fn complex(text: &str) -> Csr<Complex64> {
    match read(text).unwrap().matrix {
        AnyMatrix::Complex(a) => a,
        AnyMatrix::Real(_) => panic!("read as real"),
    }
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// Nonzeros as (row, column, value), 0-based.
fn entries<T: Scalar>(a: &Csr<T>) -> Vec<(usize, u32, T)> {
    let row = |i| {
        let (col, val) = a.row(i);
        col.iter().copied().zip(val.iter().copied()).map(move |(c, v)| (i, c, v))
    };
    (0..a.rows()).flat_map(row).collect()
}

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

/// A file that takes several waves of chunks: rows in `order`, value k at line k + 3.
fn large_file(lines: usize) -> String {
    let mut text = format!("{REAL}{lines} 3 {lines}\n");
    for k in 0..lines {
        text += &format!("{} {} {k}.25\n", lines - k, k % 3 + 1);
    }
    text
}

/// A file of this symmetry with these 0-based nonzeros (row, column, value) as lines.
fn file_of(size: usize, symmetry: &str, entries: &[(usize, usize, f64)]) -> String {
    let banner = format!("%%MatrixMarket matrix coordinate real {symmetry}");
    let mut text = format!("{banner}\n{size} {size} {}\n", entries.len());
    for (row, col, value) in entries {
        text += &format!("{} {} {value:?}\n", row + 1, col + 1);
    }
    text
}

/// Each nonzero followed by its mirror image.
fn mirrored(entries: &[(usize, usize, f64)]) -> Vec<(usize, usize, f64)> {
    let both = entries
        .iter()
        .flat_map(|&(r, c, v)| [(r, c, v), (c, r, v)].into_iter().take(1 + usize::from(r != c)));
    both.collect()
}

#[test]
fn a_general_file_becomes_csr_whatever_its_order() {
    let a = real(&format!("{REAL}3 4 4\n3 1 5\n1 4 2\n3 2 -1e-3\n1 1 1\n"));
    assert_eq!((a.rows(), a.cols()), (3, 4));
    assert_eq!(a.row_ptr(), &RowPtr::Narrow(vec![0, 2, 2, 4]));
    assert_eq!(a.col(), [0, 3, 0, 1]);
    assert_eq!(a.val(), [1.0, 2.0, 5.0, -1e-3]);
}

#[test]
fn white_space_comments_and_letter_case_are_free() {
    let text = "%%mATRIXmARKET  MATRIX\tCoordinate  REAL General \r\n% c\r\n\r\n \t% d\n  \
        2   2\t 2  \r\n\n%e\n\t1 1   1D5\r\n   \r\n % f\n 2 2 \t+2.5";
    assert_eq!(entries(&real(text)), [(0, 0, 1e5), (1, 1, 2.5)]);
}

#[test]
fn each_field_is_read_and_named() {
    let file = |field: &str, entry: &str| {
        read(&format!("%%MatrixMarket matrix coordinate {field} general\n1 1 1\n1 1 {entry}\n"))
            .unwrap()
    };
    for (field, entry, name, value) in [
        ("real", "1.5", "real", 1.5),
        ("double", "inf", "real", f64::INFINITY),
        ("integer", "-3", "integer", -3.0),
        ("unsigned-integer", "3", "integer", 3.0),
        ("pattern", "", "pattern", 1.0),
    ] {
        let file = file(field, entry);
        assert_eq!(file.field.as_str(), name);
        assert_eq!(file.symmetry.as_str(), "general");
        assert_eq!(file.matrix.real().unwrap().val(), [value]);
        assert_eq!(file.warnings, [""; 0]);
    }
    let file = file("complex", "1 -2");
    assert_eq!(file.field, Field::Complex);
    assert_eq!((file.matrix.rows(), file.matrix.cols(), file.matrix.nnz()), (1, 1, 1));
    let error = file.matrix.real().unwrap_err().to_string();
    assert_eq!(error, "the matrix is complex, but kernels support real matrices only");
}

#[test]
fn symmetric_storage_is_expanded_from_either_triangle_with_the_diagonal_once() {
    let banner = "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n";
    let expected = [(0, 0, 1.0), (0, 2, 7.0), (1, 2, 8.0), (2, 0, 7.0), (2, 1, 8.0)];
    for positions in [["3 1", "3 2"], ["1 3", "3 2"], ["1 3", "2 3"]] {
        let text = format!("{banner}{} 7\n1 1 1\n{} 8\n", positions[0], positions[1]);
        let file = read(&text).unwrap();
        assert_eq!(entries(file.matrix.real().unwrap()), expected);
        assert_eq!(file.symmetry, Symmetry::Symmetric);
        assert_eq!(file.warnings, [""; 0]);
    }
}

#[test]
fn skew_symmetric_mirrors_change_sign_and_hermitian_ones_are_conjugated() {
    let skew = real("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 5\n1 1 0\n");
    assert_eq!(entries(&skew), [(0, 0, 0.0), (0, 1, -5.0), (1, 0, 5.0)]);
    let z = Complex64::new;
    let banner = "%%MatrixMarket matrix coordinate complex";
    let hermitian = complex(&format!("{banner} Hermitian\n2 2 2\n1 1 3 0\n2 1 1 2\n"));
    assert_eq!(
        entries(&hermitian),
        [(0, 0, z(3.0, 0.0)), (0, 1, z(1.0, -2.0)), (1, 0, z(1.0, 2.0))]
    );
    let symmetric = complex(&format!("{banner} symmetric\n2 2 1\n2 1 1 2\n"));
    assert_eq!(entries(&symmetric), [(0, 1, z(1.0, 2.0)), (1, 0, z(1.0, 2.0))]);
    let skew = complex(&format!("{banner} skew-symmetric\n2 2 1\n2 1 1 2\n"));
    assert_eq!(entries(&skew), [(0, 1, z(-1.0, -2.0)), (1, 0, z(1.0, 2.0))]);
}

#[test]
fn a_pair_in_both_triangles_is_summed_and_said() {
    let banner = "%%MatrixMarket matrix coordinate real";
    let file = read(&format!("{banner} symmetric\n2 2 3\n2 1 5\n1 2 0.5\n2 2 1\n")).unwrap();
    assert_eq!(entries(file.matrix.real().unwrap()), [(0, 1, 5.5), (1, 0, 5.5), (1, 1, 1.0)]);
    let [warning] = file.warnings.as_slice() else { panic!("{:?}", file.warnings) };
    assert!(warning.starts_with("1 off-diagonal position occurs in both triangles"));
    let skew = real(&format!("{banner} skew-symmetric\n2 2 2\n2 1 5\n1 2 0.5\n"));
    assert_eq!(entries(&skew), [(0, 1, -4.5), (1, 0, 4.5)]);
    let text = format!("{banner} symmetric\n2 2 2\n2 1 5\n1 2 0.5\n");
    let error = read_bytes(text.as_bytes(), MemoryLimit::bytes(31), Progress::none()).unwrap_err();
    let expected = "the check for entries in both triangles needs 32 bytes";
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn duplicates_are_summed_and_said_and_explicit_zeros_are_kept() {
    let file = read(&format!("{REAL}2 2 5\n2 1 1e16\n1 1 0\n2 1 1\n1 2 -0\n2 1 -1e16\n")).unwrap();
    let a = file.matrix.real().unwrap();
    assert_eq!(entries(a), [(0, 0, 0.0), (0, 1, 0.0), (1, 0, (1e16 + 1.0) - 1e16)]);
    assert!(a.val()[1].is_sign_negative());
    assert!(file.warnings[0].starts_with("2 entries repeat"), "{:?}", file.warnings);
}

#[test]
fn rounded_integers_and_overflowing_reals_are_counted_in_a_warning() {
    let banner = "%%MatrixMarket matrix coordinate integer general\n";
    let file = read(&format!("{banner}1 2 2\n1 1 9007199254740993\n1 2 7\n")).unwrap();
    assert_eq!(file.matrix.real().unwrap().val(), [9007199254740992.0, 7.0]);
    assert_eq!(file.warnings, ["1 integer above 2^53 was rounded to f64"]);
    let file = read(&format!("{banner}1 2 2\n1 1 -2.5e3\n1 2 inf\n")).unwrap();
    assert_eq!(file.matrix.real().unwrap().val(), [-2.5e3, f64::INFINITY]);
    assert!(file.warnings[0].starts_with("2 values of an integer file"), "{:?}", file.warnings);
    let file = read(&format!("{REAL}1 2 2\n1 1 1E9999\n1 2 inf\n")).unwrap();
    assert_eq!(file.warnings, ["1 number is too large for f64 and was read as infinity"]);
}

#[test]
fn array_files_are_read_by_columns_and_their_zeros_are_not_stored() {
    let banner = "%%MatrixMarket matrix array";
    let a = real(&format!("{banner} real general\n2 3\n1\n2\n0\n4\n-0\n6\n"));
    assert_eq!(entries(&a), [(0, 0, 1.0), (1, 0, 2.0), (1, 1, 4.0), (1, 2, 6.0)]);
    let a = real(&format!("{banner} integer symmetric\n2 2\n1\n2\n3\n"));
    assert_eq!(entries(&a), [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 3.0)]);
    let a = real(&format!("{banner} real skew-symmetric\n3 3\n1\n2\n3\n"));
    let upper = [(0, 1, -1.0), (0, 2, -2.0)];
    assert_eq!(entries(&a)[..2], upper);
    assert_eq!(entries(&a)[2..], [(1, 0, 1.0), (1, 2, -3.0), (2, 0, 2.0), (2, 1, 3.0)]);
    let a = complex(&format!("{banner} complex hermitian\n2 2\n1 0\n2 3\n4 0\n"));
    assert_eq!(a.row(0).1[1], Complex64::new(2.0, -3.0));
}

#[test]
fn matrices_without_rows_columns_or_entries_are_matrices() {
    for (rows, cols) in [(0, 0), (3, 0), (0, 4), (3, 4)] {
        let a = real(&format!("{REAL}{rows} {cols} 0\n"));
        assert_eq!((a.rows(), a.cols(), a.nnz()), (rows, cols, 0));
    }
    let a = real("%%MatrixMarket matrix array real skew-symmetric\n0 0\n");
    assert_eq!((a.rows(), a.nnz()), (0, 0));
    assert_eq!(real(&format!("{REAL}1 4294967295 1\n1 4294967295 2")).col(), [u32::MAX - 1]);
}

#[test]
fn files_that_other_programs_write_are_read_with_a_warning_about_what_was_ignored() {
    let banner = "%%MatrixMarket matrix coordinate";
    for (text, expected, warning) in [
        (
            "%MatrixMarket matrix coordinate real general\n2 2 1\n2 1 5\n".to_owned(),
            vec![(1, 0, 5.0)],
            "the banner begins with one % instead of two",
        ),
        (
            format!("{banner} real general % from X\r\n% r c n\r\n2 2 1\r\n2 1 5\r\n"),
            vec![(1, 0, 5.0)],
            "the comment after the banner was ignored",
        ),
        (
            format!("{banner} real general\n2 2 2\n1 1 1.0 % first\n2 2 3.0\n"),
            vec![(0, 0, 1.0), (1, 1, 3.0)],
            "1 comment after an entry was ignored",
        ),
        (
            format!("{banner} pattern symmetric\n4 4 3\n2 1 7\n3 1 2\n4 3 1\n"),
            vec![(0, 1, 1.0), (0, 2, 1.0), (1, 0, 1.0), (2, 0, 1.0), (2, 3, 1.0), (3, 2, 1.0)],
            "further numbers after 3 pattern entries were ignored",
        ),
        (
            "%%MatrixMarket matrix array real general\n1 2\n1 % one\n2\n".to_owned(),
            vec![(0, 0, 1.0), (0, 1, 2.0)],
            "1 comment after an entry was ignored",
        ),
    ] {
        let file = read(&text).unwrap();
        assert_eq!(entries(file.matrix.real().unwrap()), expected, "{text}");
        assert_eq!(file.warnings, [warning], "{text}");
    }
    assert!(message(&format!("{banner} real general\r% c\r1 1 0\r")).contains("of the banner"));
}
