//! The rules of the reader, the messages of every kind of bad input, and the round trip.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use num_complex::Complex64;
use proptest::prelude::*;

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

/// Entries as (row, column, value), 0-based.
fn entries<T: Scalar>(a: &Csr<T>) -> Vec<(usize, u32, T)> {
    let row = |i| {
        let (col, val) = a.row(i);
        col.iter().copied().zip(val.iter().copied()).map(move |(c, v)| (i, c, v))
    };
    (0..a.rows()).flat_map(row).collect()
}

const REAL: &str = "%%MatrixMarket matrix coordinate real general\n";

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
    assert_eq!(error, "the matrix is complex, and kernels compute with real matrices only");
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
    assert!(warning.starts_with("1 off-diagonal positions are given in both triangles"));
    let skew = real(&format!("{banner} skew-symmetric\n2 2 2\n2 1 5\n1 2 0.5\n"));
    assert_eq!(entries(&skew), [(0, 1, -4.5), (1, 0, 4.5)]);
}

#[test]
fn duplicates_are_summed_and_said_and_explicit_zeros_are_kept() {
    let file = read(&format!("{REAL}2 2 5\n2 1 1e16\n1 1 0\n2 1 1\n1 2 -0\n2 1 -1e16\n")).unwrap();
    let a = file.matrix.real().unwrap();
    assert_eq!(entries(a), [(0, 0, 0.0), (0, 1, 0.0), (1, 0, (1e16 + 1.0) - 1e16)]);
    assert!(a.val()[1].is_sign_negative());
    assert!(file.warnings[0].starts_with("2 entries of the matrix repeat"), "{:?}", file.warnings);
}

#[test]
fn rounded_integers_and_overflowing_reals_are_counted_in_a_warning() {
    let banner = "%%MatrixMarket matrix coordinate integer general\n";
    let file = read(&format!("{banner}1 2 2\n1 1 9007199254740993\n1 2 7\n")).unwrap();
    assert_eq!(file.matrix.real().unwrap().val(), [9007199254740992.0, 7.0]);
    assert_eq!(file.warnings, ["1 integers above 2^53 were rounded to f64"]);
    let file = read(&format!("{banner}1 2 2\n1 1 -2.5e3\n1 2 inf\n")).unwrap();
    assert_eq!(file.matrix.real().unwrap().val(), [-2.5e3, f64::INFINITY]);
    assert!(file.warnings[0].starts_with("2 values of an integer file"), "{:?}", file.warnings);
    let file = read(&format!("{REAL}1 2 2\n1 1 1E9999\n1 2 inf\n")).unwrap();
    assert_eq!(file.warnings, ["1 numbers are too large for f64 and were read as infinite"]);
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
fn a_bad_banner_or_size_line_is_one_sentence_with_its_line() {
    let banner = |words: &str| message(&format!("%%MatrixMarket {words}\n1 1 1\n1 1 1\n"));
    for (found, expected) in [
        (
            message("1 1 1\n1 1 1\n"),
            "line 1: expected the banner \"%%MatrixMarket matrix coordinate|array FIELD SYMMETRY\", found \"1 1 1\"",
        ),
        (
            message("%MatrixMarket matrix coordinate real general\n1 1 0\n"),
            "line 1: expected the banner \"%%MatrixMarket matrix coordinate|array FIELD SYMMETRY\", found \"%MatrixMarket matrix coordinate real gen…\"",
        ),
        (
            banner("vector coordinate real general"),
            "line 1: expected the object \"matrix\", found \"vector\"",
        ),
        (
            banner("matrix dense real general"),
            "line 1: expected the format coordinate or array, found \"dense\"",
        ),
        (
            banner("matrix coordinate float general"),
            "line 1: expected the field real, double, integer, pattern or complex, found \"float\"",
        ),
        (
            banner("matrix coordinate real spd"),
            "line 1: expected the symmetry general, symmetric, skew-symmetric or hermitian, found \"spd\"",
        ),
        (
            banner("matrix coordinate real"),
            "line 1: expected the symmetry general, symmetric, skew-symmetric or hermitian, found the end of the line",
        ),
        (
            banner("matrix coordinate real general x"),
            "line 1: expected the end of the banner, found \"x\"",
        ),
        (
            banner("matrix coordinate real hermitian"),
            "line 1: expected the field complex in a hermitian matrix, found \"real\"",
        ),
        (
            banner("matrix array pattern general"),
            "line 1: expected values in an array file, real, integer or complex, found \"pattern\"",
        ),
        (
            message(&format!("{REAL}% only a comment\n")),
            "line 3: expected the size line \"rows columns entries\", found the end of the file",
        ),
        (
            message(&format!("{REAL}\n2 2\n")),
            "line 3: expected the size line \"rows columns entries\", found \"2 2\"",
        ),
        (
            message(&format!("{REAL}2 2 -1\n")),
            "line 2: expected the number of entries, below 2^64, found \"-1\"",
        ),
        (
            message(&format!("{REAL}2.0 2 1\n")),
            "line 2: expected the number of rows, at most 4294967295, found \"2.0\"",
        ),
        (
            message("%%MatrixMarket matrix array real general\n2 2 4\n"),
            "line 2: expected the size line \"rows columns\", found \"2 2 4\"",
        ),
        (
            message("%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n"),
            "line 2: expected as many rows as columns in a symmetric matrix, found 2 x 3",
        ),
        (
            message(&format!("{REAL}4294967296 2 0\n")),
            "a 4294967296 x 2 matrix is too large: at most 4294967295 rows and columns are supported",
        ),
    ] {
        assert_eq!(found, expected);
    }
    let digits = "9".repeat(100);
    assert_eq!(
        message(&format!("{REAL}2 {digits} 1\n")),
        format!(
            "line 2: expected the number of columns, at most 4294967295, found \"{}…\"",
            "9".repeat(40)
        )
    );
}

#[test]
fn a_bad_entry_is_one_sentence_with_its_line() {
    let general = |body: &str| message(&format!("{REAL}3 2 2\n{body}"));
    let field = |field: &str, body: &str| {
        message(&format!("%%MatrixMarket matrix coordinate {field} general\n3 2 2\n{body}"))
    };
    for (found, expected) in [
        (general("0 1 5\n"), "line 3: expected a row index from 1 to 3, found \"0\""),
        (general("1 1 5\n% c\n4 1 5\n"), "line 5: expected a row index from 1 to 3, found \"4\""),
        (general("1 3 5\n"), "line 3: expected a column index from 1 to 2, found \"3\""),
        (general("1 -1 5\n"), "line 3: expected a column index from 1 to 2, found \"-1\""),
        (general("1 1.0 5\n"), "line 3: expected a column index from 1 to 2, found \"1.0\""),
        (
            general("99999999999999999999 1 5\n"),
            "line 3: expected a row index from 1 to 3, found \"99999999999999999999\"",
        ),
        (general("one 1 5\n"), "line 3: expected a row index from 1 to 3, found \"one\""),
        (general("1\n"), "line 3: expected a column index from 1 to 2, found the end of the line"),
        (general("1 1 five\n"), "line 3: expected a number, found \"five\""),
        (general("1 1\n"), "line 3: expected a number, found the end of the line"),
        (general("1 1 \r\n"), "line 3: expected a number, found the end of the line"),
        (general("1 1 5\n2 1"), "line 4: expected a number, found the end of the file"),
        (
            general("1 1 5 6\n"),
            "line 3: expected the end of the line after a real entry, found \"6\"",
        ),
        (general("1 1 5\u{1}\n"), "line 3: expected a number, found \"5\u{fffd}\""),
        (field("integer", "1 1 five\n"), "line 3: expected an integer, found \"five\""),
        (
            field("pattern", "1 1 1\n"),
            "line 3: expected the end of the line after a pattern entry, found \"1\"",
        ),
        (field("complex", "1 1 x 1\n"), "line 3: expected the real part, a number, found \"x\""),
        (
            field("complex", "1 1 1\n"),
            "line 3: expected the imaginary part, a number, found the end of the line",
        ),
        (
            message(&format!("{REAL}0 2 1\n1 1 1\n")),
            "line 3: expected no entry, as the matrix has no rows, found \"1\"",
        ),
        (
            message("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 1\n2 2 4\n"),
            "line 4: expected no non-zero value on the diagonal of a skew-symmetric matrix, found 4.0",
        ),
        (
            message("%%MatrixMarket matrix array real general\n2 1\n1 2\n"),
            "line 3: expected the end of the line after a real entry, found \"2\"",
        ),
    ] {
        assert_eq!(found, expected);
    }
}

#[test]
fn wrong_counts_name_what_was_declared_and_what_was_found() {
    let too_few = message(&format!("{REAL}3 2 3\n1 1 5\n2 1 5\n"));
    assert_eq!(too_few, "line 2 declares 3 entries, but the file ends after 2");
    let too_many = message(&format!("{REAL}3 2 1\n1 1 5\n\n% c\n2 1 5\n3 1 5\n"));
    assert_eq!(
        too_many,
        "line 6: expected the end of the file after the 1 entries that the size line declares, found 3 entries"
    );
    let array = message("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n");
    assert_eq!(array, "line 2 declares 4 entries, but the file ends after 3");
}

#[test]
fn a_declared_size_that_the_file_cannot_hold_allocates_nothing() {
    let limit = MemoryLimit::bytes(1 << 20);
    let read = |text: String| read_bytes(text.as_bytes(), limit, Progress::none()).unwrap_err();
    let error = read(format!("{REAL}3 3 1000000000000000\n1 1 1\n"));
    assert!(matches!(
        error,
        IoError::TooFewEntries { declared: 1_000_000_000_000_000, found: 1, .. }
    ));
    let array = "%%MatrixMarket matrix array real general\n4000000000 4000000000\n1\n".to_owned();
    assert!(matches!(read(array), IoError::TooFewEntries { found: 1, .. }));
    let rows = read(format!("{REAL}4000000000 1 1\n1 1 1\n"));
    assert!(rows.to_string().contains("more than the memory limit"), "{rows}");
    let long = format!("{REAL}1000 1000 100000\n{}", "1 1 1\n".repeat(100_000));
    assert!(matches!(read(long), IoError::Memory(_)));
}

#[test]
fn other_kinds_of_files_are_named() {
    for (text, kind) in [
        ("<!DOCTYPE html><html>", "an HTML page"),
        ("\n <html>", "an HTML page"),
        ("version https://git-lfs.github.com/spec/v1\noid", "a git-lfs pointer"),
        ("\x1f\u{8b}", "the banner"),
        ("", "an empty file"),
        (" \n", "an empty file"),
    ] {
        assert!(message(text).contains(kind), "{}", message(text));
    }
    let gzip = read_bytes(&[0x1f, 0x8b, 8], MemoryLimit::unlimited(), Progress::none());
    assert!(gzip.unwrap_err().to_string().contains("gzip data"));
}

/// A file over several waves of chunks: rows in `order`, value k at line k + 3.
fn large_file(lines: usize) -> String {
    let mut text = format!("{REAL}{lines} 3 {lines}\n");
    for k in 0..lines {
        text += &format!("{} {} {k}.25\n", lines - k, k % 3 + 1);
    }
    text
}

#[test]
fn errors_far_into_a_large_file_name_their_line() {
    let lines = 300_000;
    let text = large_file(lines);
    let broken = text.replace(" 250000.25\n", " 250000.25x\n");
    assert_eq!(message(&broken), "line 250003: expected a number, found \"250000.25x\"");
    let more = format!("{text}1 1 1\n");
    assert!(message(&more).starts_with("line 300003: expected the end of the file"));
}

#[test]
fn the_first_of_two_errors_is_reported_on_any_number_of_threads() {
    let text = large_file(300_000).replace(" 1000.25\n", " a\n").replace(" 250000.25\n", " b\n");
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| message(&text)), "line 1003: expected a number, found \"a\"");
    }
}

#[test]
fn the_number_of_threads_does_not_change_the_matrix() {
    let text = large_file(300_000);
    let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let one = pool(1).install(|| real(&text));
    assert_eq!(one.row(0), (&[(299_999 % 3) as u32][..], &[299_999.25][..]));
    assert_eq!(pool(5).install(|| real(&text)), one);
}

#[test]
fn progress_ends_at_the_length_of_the_file_and_a_flag_stops_it() {
    let text = large_file(100_000);
    let (done, cancel) = (AtomicU64::new(0), AtomicBool::new(false));
    let progress = Progress::none().counting(&done).cancelled_by(&cancel);
    let read = || read_bytes(text.as_bytes(), MemoryLimit::unlimited(), progress);
    read().unwrap();
    assert_eq!(done.load(Ordering::Relaxed), text.len() as u64);
    cancel.store(true, Ordering::Relaxed);
    assert!(read().unwrap_err().is_cancelled());
}

fn round_trip<T: WriteValue>(matrix: &Csr<T>) -> MatrixFile {
    let mut text = Vec::new();
    write(matrix, &mut text, Progress::none()).unwrap();
    read_bytes(&text, MemoryLimit::unlimited(), Progress::none()).unwrap()
}

/// Any bit pattern, NaN as one.
fn any_value() -> impl Strategy<Value = f64> {
    any::<u64>().prop_map(|bits| {
        let value = f64::from_bits(bits);
        if value.is_nan() { f64::NAN } else { value }
    })
}

fn special_values() -> Vec<f64> {
    let tiny = f64::from_bits(1);
    vec![
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        tiny,
        0.1,
    ]
}

proptest! {
    #[test]
    fn a_written_real_matrix_reads_back_bit_for_bit(
        entries in prop::collection::btree_map(
            (0usize..40, 0usize..30),
            prop_oneof![any_value(), prop::sample::select(special_values())],
            0..200,
        ),
    ) {
        let entries: Vec<_> = entries.into_iter().map(|((r, c), v)| (r, c, v)).collect();
        let written = Csr::from_triplets(40, 30, &entries).unwrap();
        let file = round_trip(&written);
        let back = file.matrix.real().unwrap();
        let bits = |a: &Csr<f64>| a.val().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(back), bits(&written));
        prop_assert_eq!(back.col(), written.col());
        prop_assert_eq!(back.row_ptr(), written.row_ptr());
        prop_assert_eq!(file.field, Field::Real);
        prop_assert!(file.warnings.is_empty());
    }

    #[test]
    fn a_written_complex_matrix_reads_back(
        entries in prop::collection::btree_map((0usize..9, 0usize..9), (-1e3..1e3, any::<i32>()), 0..40),
    ) {
        let entries: Vec<_> = entries
            .into_iter()
            .map(|((r, c), (re, im))| (r, c, Complex64::new(re, f64::from(im))))
            .collect();
        let written = Csr::from_triplets(9, 9, &entries).unwrap();
        prop_assert_eq!(round_trip(&written).matrix, AnyMatrix::Complex(written));
    }

    #[test]
    fn any_text_after_a_header_is_read_or_refused_without_a_panic(body in "[ -~\n\r\t]{0,80}") {
        for banner in ["coordinate real general", "coordinate complex hermitian", "array integer symmetric"] {
            let _ = read(&format!("%%MatrixMarket matrix {banner}\n3 3 2\n{body}"));
            let _ = read(&format!("%%MatrixMarket matrix {banner}\n{body}"));
        }
        let _ = read(&body);
    }
}

/// Entries (row, column, value) as lines of a file of this symmetry, 0-based.
fn file_of(size: usize, symmetry: &str, entries: &[(usize, usize, f64)]) -> String {
    let banner = format!("%%MatrixMarket matrix coordinate real {symmetry}");
    let mut text = format!("{banner}\n{size} {size} {}\n", entries.len());
    for (row, col, value) in entries {
        text += &format!("{} {} {value:?}\n", row + 1, col + 1);
    }
    text
}

/// Each entry followed by its mirror image.
fn mirrored(entries: &[(usize, usize, f64)]) -> Vec<(usize, usize, f64)> {
    let both = entries
        .iter()
        .flat_map(|&(r, c, v)| [(r, c, v), (c, r, v)].into_iter().take(1 + usize::from(r != c)));
    both.collect()
}

#[test]
fn entries_in_any_order_over_many_chunks_are_summed_in_file_order_on_any_number_of_threads() {
    // 60 000 entries at 40 000 positions at most, of magnitudes whose sums depend on their order.
    let entry = |k: usize| {
        let (row, col) = (k * 7919 % 997, k * k % 401);
        (row, col, 3.0f64.powi((k * 31 % 80) as i32) * if k.is_multiple_of(2) { 1.0 } else { -1.0 })
    };
    let entries: Vec<_> = (0..60_000).map(entry).collect();
    let mut by_row = entries.clone();
    by_row.sort_by_key(|&(row, ..)| row);
    for (symmetry, entries, expanded) in [
        ("general", &entries, entries.clone()),
        ("general", &by_row, by_row.clone()),
        ("symmetric", &entries, mirrored(&entries)),
    ] {
        let text = file_of(997, symmetry, entries);
        let expected = Csr::from_triplets(997, 997, &expanded).unwrap();
        assert!(expected.nnz() < expanded.len(), "positions repeat");
        for threads in [1, 2, 7] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let file = pool.install(|| read(&text)).unwrap();
            assert_eq!(file.matrix.real().unwrap(), &expected, "{symmetry}, {threads} threads");
            assert!(!file.warnings.is_empty());
        }
    }
}

#[test]
fn a_wrong_line_is_told_before_a_wrong_number_of_entries_and_before_a_wrong_index_behind_it() {
    let body = "1 1 5\n2 1 x\n7 1 5\n";
    let expected = "line 4: expected a number, found \"x\"";
    assert_eq!(message(&format!("{REAL}3 2 3\n{body}")), expected);
    assert_eq!(message(&format!("{REAL}3 2 1\n{body}")), expected);
    assert_eq!(message(&format!("{REAL}3 2 9\n{body}")), expected);
}

#[test]
fn a_symmetric_matrix_is_written_as_one_triangle_and_others_are_refused() {
    let text = |a: &Csr| {
        let mut text = Vec::new();
        write_symmetric(a, &mut text, Progress::none()).map(|()| String::from_utf8(text).unwrap())
    };
    let entries = [(0, 0, 4.0), (2, 1, -0.0), (2, 0, f64::NAN), (2, 2, 0.0)];
    let a = Csr::from_triplets(3, 3, &mirrored(&entries)).unwrap();
    let written = text(&a).unwrap();
    let banner = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n";
    assert_eq!(written, format!("{banner}1 1 4.0\n3 1 NaN\n3 2 -0.0\n3 3 0.0\n"));
    let file = read(&written).unwrap();
    let bits = |a: &Csr| a.val().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(file.matrix.real().unwrap()), bits(&a));
    assert_eq!(file.matrix.real().unwrap().col(), a.col());
    assert_eq!(file.symmetry, Symmetry::Symmetric);

    let refused = |size, entries: &[_]| {
        text(&Csr::from_triplets(size, 3, entries).unwrap()).unwrap_err().to_string()
    };
    let so = "the matrix is not symmetric and cannot be written as one triangle:";
    assert_eq!(
        refused(3, &[(0, 1, 2.5), (1, 0, 2.0)]),
        format!("{so} row 1, column 2 holds 2.5, row 2, column 1 holds 2")
    );
    assert_eq!(
        refused(3, &[(2, 0, 1.0)]),
        format!("{so} row 3, column 1 holds 1, row 1, column 3 holds none")
    );
    assert_eq!(
        refused(4, &[]),
        "a 4 x 3 matrix is not symmetric and cannot be written as one triangle"
    );
}

#[test]
fn a_matrix_longer_than_a_wave_of_chunks_is_written_in_order() {
    let a = real(&large_file(400_000));
    assert_eq!(round_trip(&a).matrix, AnyMatrix::Real(a));
}

#[test]
fn integers_and_patterns_are_written_as_such_or_refused_by_their_position() {
    let text = |a: &Csr, field| {
        let mut text = Vec::new();
        write_field(a, field, &mut text, Progress::none())
            .map(|()| String::from_utf8(text).unwrap())
    };
    let integers = [(0, 1, -3.0), (1, 0, -0.0), (2, 2, 9_007_199_254_740_992.0)];
    let a = Csr::from_triplets(3, 3, &integers).unwrap();
    let written = text(&a, Field::Integer).unwrap();
    let banner = "%%MatrixMarket matrix coordinate integer general\n3 3 3\n";
    assert_eq!(written, format!("{banner}1 2 -3\n2 1 -0\n3 3 9007199254740992\n"));
    let back = read(&written).unwrap();
    assert_eq!((back.field, back.warnings.len()), (Field::Integer, 0));
    let bits = |a: &Csr| a.val().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(back.matrix.real().unwrap()), bits(&a));

    let ones = Csr::from_triplets(2, 3, &[(0, 2, 1.0), (1, 0, 1.0)]).unwrap();
    let written = text(&ones, Field::Pattern).unwrap();
    assert_eq!(written, "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 3\n2 1\n");
    assert_eq!(read(&written).unwrap().matrix, AnyMatrix::Real(ones));

    // Rows 1 and 3 are empty.
    let half = Csr::from_triplets(5, 3, &[(1, 1, 1.0), (3, 0, 1.0), (3, 2, 0.5)]).unwrap();
    for field in [Field::Integer, Field::Pattern] {
        let error = text(&half, field).unwrap_err().to_string();
        let field = field.as_str();
        assert_eq!(
            error,
            format!(
                "the value 0.5 in row 4, column 3 cannot be written into a file of the field {field}"
            )
        );
    }
    for value in [f64::NAN, f64::INFINITY, 1e300] {
        let a = Csr::from_triplets(1, 1, &[(0, 0, value)]).unwrap();
        assert!(text(&a, Field::Integer).is_err(), "{value}");
    }
}
