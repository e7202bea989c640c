//! Tests of the messages for every kind of bad input.

use super::*;

#[test]
fn a_bad_banner_or_size_line_is_one_sentence_with_its_line() {
    let banner = |words: &str| message(&format!("%%MatrixMarket {words}\n1 1 1\n1 1 1\n"));
    for (found, expected) in [
        (
            message("1 1 1\n1 1 1\n"),
            "line 1: expected the banner \"%%MatrixMarket matrix coordinate|array FIELD SYMMETRY\", found \"1 1 1\"",
        ),
        (
            message("%Matrix Market matrix coordinate real general\n1 1 0\n"),
            "line 1: expected the banner \"%%MatrixMarket matrix coordinate|array FIELD SYMMETRY\", found \"%Matrix Market matrix coordinate real ge…\"",
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
            "line 1: expected the field real, integer or complex in an array file, found \"pattern\"",
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
            "line 2: expected a square symmetric matrix, found 2 x 3",
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
        (general("1 1 5\u{1}\n"), "line 3: expected a number, found \"5<U+0001>\""),
        (field("integer", "1 1 five\n"), "line 3: expected an integer, found \"five\""),
        (
            field("integer", "1 1 5 6\n"),
            "line 3: expected the end of the line after an integer entry, found \"6\"",
        ),
        (
            field("pattern", "1 1 x\n"),
            "line 3: expected the end of the line after a pattern entry, found \"x\"",
        ),
        (field("complex", "1 1 x 1\n"), "line 3: expected the real part, a number, found \"x\""),
        (
            field("complex", "1 1 1\n"),
            "line 3: expected the imaginary part, a number, found the end of the line",
        ),
        (
            message(&format!("{REAL}0 2 1\n1 1 1\n")),
            "line 3: expected no entries, because the matrix has no rows, found \"1\"",
        ),
        (
            message("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 2\n2 1 1\n2 2 4\n"),
            "line 4: expected zeros on the diagonal of a skew-symmetric matrix, found \"4\"",
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
        "line 6: expected the end of the file after the 1 entry declared by the size line, found 3"
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
    // Fewer nonzeros than declared fit.
    let few = format!("{REAL}1000 1000 90000\n{}", "1 1 1.00000000000000\n".repeat(30_000));
    assert!(matches!(read(few), IoError::TooFewEntries { declared: 90_000, found: 30_000, .. }));
}

#[test]
fn other_kinds_of_files_are_named() {
    for (text, kind) in [
        ("<!DOCTYPE html><html>", "an HTML page"),
        ("\n <html>", "an HTML page"),
        ("version https://git-lfs.github.com/spec/v1\noid", "a Git LFS pointer"),
        ("\x1f\u{8b}", "the banner"),
        ("", "an empty file"),
        (" \n", "an empty file"),
    ] {
        assert!(message(text).contains(kind), "{}", message(text));
    }
    let gzip = read_bytes(&[0x1f, 0x8b, 8], MemoryLimit::unlimited(), Progress::none());
    assert!(gzip.unwrap_err().to_string().contains("gzip data"));
}
