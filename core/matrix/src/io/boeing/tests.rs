use sparsescope_test_need::{Need, matrices, skip};

use super::*;
use crate::io::vector::{Companion, read_companion};
use crate::io::{MatrixForm, read_matrix, read_named_extent, read_named_matrix};
use crate::matrix::Csr;

const LIMIT: u64 = 1 << 20;

fn read_bytes(text: &[u8]) -> Result<MatrixFile, IoError> {
    read_named_matrix("a.rb", text, MemoryLimit::bytes(LIMIT), Progress::none())
}

/// A file of this type and these sizes, formats and further lines.
fn text(kind: &str, sizes: [u32; 3], formats: &str, lines: &str) -> String {
    let [rows, cols, entries] = sizes;
    format!(
        "{:<72}{:<8}\n{:>14}{:>14}{:>14}{:>14}\n{kind:<14}{rows:>14}{cols:>14}{entries:>14}{:>14}\n{formats}\n{lines}",
        "1138 numbers begin this title", "small", 3, 1, 1, 1, 0
    )
}

fn read(kind: &str, sizes: [u32; 3], formats: &str, lines: &str) -> MatrixFile {
    read_bytes(text(kind, sizes, formats, lines).as_bytes()).unwrap()
}

fn message(kind: &str, sizes: [u32; 3], formats: &str, lines: &str) -> String {
    read_bytes(text(kind, sizes, formats, lines).as_bytes()).unwrap_err().to_string()
}

fn real(rows: usize, cols: usize, entries: &[(usize, usize, f64)]) -> AnyMatrix {
    AnyMatrix::Real(Csr::from_triplets(rows, cols, entries).unwrap())
}

/// Rows 1 0 2.5 / 0 -3 0.
const BODY: &str = "  1  2  3  4\n  1  2  1\n  1.0E+00 -3.0E+00  2.5E+00\n";
const FORMATS: &str = "(4I3)           (3I3)           (3E9.1)";

#[test]
fn columns_become_rows_and_the_name_does_not_matter() {
    let expected = real(2, 3, &[(0, 0, 1.0), (0, 2, 2.5), (1, 1, -3.0)]);
    let plain = text("rra", [2, 3, 3], FORMATS, BODY);
    for text in [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.to_uppercase(),
        plain.replace("rra", "RUA").trim_end().to_owned(),
    ] {
        for name in ["a.rb", "a.rua", "a.mtx", "a"] {
            let limit = MemoryLimit::bytes(LIMIT);
            let file = read_named_matrix(name, text.as_bytes(), limit, Progress::none()).unwrap();
            assert_eq!(file.matrix, expected, "{text}");
            assert_eq!((file.form, file.field), (MatrixForm::RutherfordBoeing, Field::Real));
            assert_eq!(file.warnings, [""; 0]);
            let said = read_named_extent(name, text.as_bytes()).unwrap();
            assert_eq!((said.rows, said.cols, said.entries, said.estimated), (2, 3, 3, false));
        }
    }
}

#[test]
fn files_are_known_from_their_third_line() {
    let is_meant = |text: &str| super::is_meant("a", text.as_bytes());
    for kind in ["RSA", "pua", "cze", "Qra"] {
        assert!(is_meant(&text(kind, [3, 3, 5], "(4I4)", "")), "{kind}");
    }
    for kind in ["RSQ", "rs", "rsaa", "1"] {
        assert!(!is_meant(&text(kind, [3, 3, 5], "(4I4)", "")), "{kind}");
    }
    assert!(!is_meant("3 3 1\n1 1 1\nrsa\n"));
}

#[test]
fn compressed_files_are_read_and_their_sizes_found() {
    use std::io::Write;
    let text = text("psa", [2, 2, 2], "(3I2)           (2I2)", " 1 3 3\n 1 2\n");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let expected = real(2, 2, &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0)]);
    let limit = MemoryLimit::bytes(4 << 20);
    let read = read_named_matrix("a.psa.gz", &packed, limit, Progress::none());
    assert_eq!(read.unwrap().matrix, expected);
    let said = read_named_extent("a.psa.gz", &packed).unwrap();
    assert_eq!((said.rows, said.cols, said.entries, said.estimated), (2, 2, 4, true));
}

#[test]
fn fields_may_touch_and_exponents_may_lack_their_letter() {
    let touching = " 1 2 3 4\n1 2 1\n 1.00D+00-3.00+00025.0E-001\n";
    let file = read("rua", [2, 3, 3], "(1P,4I2)(3i2)(3D9.2)", touching);
    assert_eq!(file.matrix, real(2, 3, &[(0, 0, 1.0), (0, 2, 2.5), (1, 1, -3.0)]));
    // Blanks between the fields, several lines, and left-justified integers.
    let spread = "1   2   \n3   4   \n1 2 \n1 \n 1.0E0 \n-.3D1 \n 2.5E0 \n";
    let file = read("rua", [2, 3, 3], "(2I4) (2I2) (1(E6.1,1X))", spread);
    assert_eq!(file.matrix, real(2, 3, &[(0, 0, 1.0), (0, 2, 2.5), (1, 1, -3.0)]));
}

#[test]
fn blanks_separate_values_that_are_narrower_than_their_format() {
    // As `scipy.io.hb_write` writes them: each takes 24 columns.
    let values = [1.0, -3.0, 2.5].map(|value| format!("{value:>20.16}E+00")).concat();
    let body = format!(" 1 2 3 4\n 1 2 1\n{values}\n");
    let file = read("RUA", [2, 3, 3], "(40I2)          (40I2)          (3E25.16)", &body);
    assert_eq!(file.matrix, real(2, 3, &[(0, 0, 1.0), (0, 2, 2.5), (1, 1, -3.0)]));
}

#[test]
fn every_type_has_its_values_and_mirrors() {
    let formats = "(3I2) (2I2) (2I3)";
    let file = read("isa", [2, 2, 2], formats, " 1 3 3\n 1 2\n  7 -2\n");
    assert_eq!(file.matrix, real(2, 2, &[(0, 0, 7.0), (0, 1, -2.0), (1, 0, -2.0)]));
    assert_eq!((file.field, file.symmetry), (Field::Integer, Symmetry::Symmetric));
    let file = read("pza", [2, 2, 1], formats, " 1 2 2\n 2\n");
    assert_eq!(file.matrix, real(2, 2, &[(0, 1, -1.0), (1, 0, 1.0)]));
    assert_eq!((file.field, file.symmetry), (Field::Pattern, Symmetry::SkewSymmetric));
    let file =
        read("cha", [2, 2, 2], "(3I2) (2I2) (2F5.1)", " 1 3 3\n 1 2\n  4.0   .0\n  1.5 -2.0\n");
    let [four, low] = [Complex64::new(4.0, 0.0), Complex64::new(1.5, -2.0)];
    let entries = [(0, 0, four), (0, 1, low.conj()), (1, 0, low)];
    assert_eq!(file.matrix, AnyMatrix::Complex(Csr::from_triplets(2, 2, &entries).unwrap()));
    assert_eq!(file.warnings, [""; 0]);
    let said = read_named_extent("a", text("cha", [2, 2, 2], "", "").as_bytes()).unwrap();
    assert_eq!((said.rows, said.entries, said.estimated), (2, 4, true));
}

#[test]
fn what_is_unusual_but_clear_is_read_with_a_warning() {
    let formats = "(3I2) (3I2) (3F4.0)";
    for (kind, lines, value, expected) in [
        ("rua", " 1 4 4\n 2 1 2\n  3.  5.  4.\n", 7.0, "1 column has row indices that are not"),
        ("rua", " 1 4 4\n 1 2 2\n  5.  3.  4.\n", 7.0, "1 entry repeats the position"),
        ("rsa", " 1 3 4\n 1 2 1\n  5.  3.  4.\n", 7.0, "both, 1 below the diagonal and 1"),
        ("iua", " 1 4 4\n 1 2 2\n  5.  3.  4.\n", 7.0, "their values were summed"),
    ] {
        let file = read(kind, [2, 2, 3], formats, lines);
        let said = file.warnings.iter().any(|warning| warning.contains(expected));
        assert!(said, "{kind}: {:?}", file.warnings);
        assert_eq!(file.matrix.real().unwrap().row(1), (&[0u32][..], &[value][..]), "{kind}");
    }
    let file = read("iua", [1, 1, 1], "(2I2)(I2)(I17)", " 1 2\n 1\n 9007199254740993\n");
    assert_eq!(file.warnings, ["1 integer above 2^53 was rounded to f64"]);
    let complex = read("cha", [1, 1, 1], "(2I2)(I2)(2F4.0)", " 1 2\n 1\n  1.  2.\n");
    assert!(complex.warnings[0].starts_with("1 diagonal entry of a hermitian"));
}

#[test]
fn what_is_wrong_is_one_sentence_with_its_line() {
    let good = [2, 3, 3];
    let of = |lines: &str| message("rua", good, FORMATS, lines);
    for (lines, expected) in [
        ("", "line 5: expected column pointer 1 of 4, found the end of the file"),
        ("  1  2\n", "line 5: expected column pointer 3 of 4, found the end of the line"),
        ("  0  1  2  3\n", "line 5: expected column pointer 1 of 4 to be 1, found \"0\""),
        ("  1  5  3  4\n", "line 5: expected column pointer 2 of 4, from 1 to 4, found \"5\""),
        (
            "  1  3  2  4\n  1  2  1\n  1.0E+00 -3.0E+00  2.5E+00\n",
            "line 5: expected column pointer 3 of 4, from 3 to 4, found \"2\"",
        ),
        (
            "  1  2  3  3\n  1  2  1\n  1.0E+00 -3.0E+00  2.5E+00\n",
            "line 5: expected column pointer 4 of 4 to be 4, found \"3\"",
        ),
        (
            "  1  2  3  4  5\n  1  2  1\n  1.0E+00 -3.0E+00  2.5E+00\n",
            "line 5: expected the end of the line after column pointer 4 of 4, found \"5\"",
        ),
        ("  1  2  3  4\n  1  2\n", "line 6: expected row index 3 of 3, found the end of the line"),
        (
            "  1  2  3  4\n  1  3  1\n  1.0E+00 -3.0E+00  2.5E+00\n",
            "line 6: expected row index 2 of 3, from 1 to 2, found \"3\"",
        ),
        (
            "  1  2  3  4\n  1     1\n  1.0E+00 -3.0E+00  2.5E+00\n",
            "line 6: expected row index 2 of 3, found blanks",
        ),
        (
            "  1  2  3  4\n  1  2  1\n  1.0E+00      NaN  2.5E+00\n",
            "line 7: expected value 2 of 3, a finite number, found \"NaN\"",
        ),
        (
            "  1  2  3  4\n  1  2  1\n  1.0E+00   1.E999  2.5E+00\n",
            "line 7: expected value 2 of 3, a finite number, found \"1.E999\"",
        ),
        (
            "  1  2  3  4\n  1  2  1\n  1.0E+00       15  2.5E+00\n",
            "line 7: expected value 2 of 3 with a decimal point, found \"15\"",
        ),
        (
            "  1  2  3  4\n  1  2  1\n  1.0E+00 -3.0E+00\n",
            "line 7: expected value 3 of 3, found the end of the line",
        ),
        (
            "  1  2  3  4\n  1  2  1\n  1.0E+00 -3.0E+00  2.5E+00 4\n",
            "line 7: expected the end of the line after value 3 of 3, found \"4\"",
        ),
        (
            "  1  2  3  4\n  1  2  1\n  1.0E+00 -3.0E+00  2.5E+00\n\n 7\n",
            "line 9: expected the end of the file after the matrix, found \"7\"",
        ),
    ] {
        assert_eq!(of(lines), expected, "{lines}");
    }
    for (kind, formats, expected) in [
        ("qua", FORMATS, "line 3: expected a matrix with its values, of type r, c, i or p"),
        ("xua", FORMATS, "line 3: expected a matrix with its values, of type r, c, i or p"),
        ("rue", FORMATS, "line 3: expected an assembled matrix (type ..a) instead of unassembled"),
        ("rsa", FORMATS, "line 3: expected a square symmetric matrix"),
        (
            "rua",
            "(4A3) (3I3) (3E9.1)",
            "line 4: expected the Fortran format of each column pointer",
        ),
        ("rua", "(4I3) (3F3.0) (3E9.1)", "line 4: expected the Fortran format of each row index"),
        ("rua", "(4I3) (3I3)", "line 4: expected the Fortran format of each value, such as"),
    ] {
        let error = message(kind, good, formats, BODY);
        assert!(error.starts_with(expected), "{error}");
        assert!(error.contains(", found "), "{error}");
    }
    let error = message("rua", [0, 3, 3], FORMATS, BODY);
    assert!(error.starts_with("line 3: expected no entries"), "{error}");
    let skew = message("rza", [1, 1, 1], "(2I2)(I2)(F4.0)", " 1 2\n 1\n  1.\n");
    assert!(skew.starts_with("line 7: expected value 1 of 1, zero on the diagonal"), "{skew}");
    let scaled = message("rua", [1, 1, 1], "(2I2)(I2)(1P,F4.1)", " 1 2\n 1\n 1.5\n");
    assert!(scaled.contains("with an exponent"), "{scaled}");
    let huge = message("rua", [u32::MAX, 1, 1], "(2I2)(I2)(F4.1)", " 1 2\n 1\n 1.5\n");
    assert!(huge.contains("more than the memory limit"), "{huge}");
}

/// A 2 x 2 identity with two right-hand sides and guesses.
fn with_vectors(kind: &str, vectors: &str) -> String {
    let text = text("rua", [2, 2, 2], "(3I2) (2I2) (2F4.1) (3F5.1)", "");
    let counts = format!("{:>14}{:>14}{:>14}{:>14}", 3, 1, 1, 1);
    let text = text.replace(&counts, &format!("{counts}{:>14}", 4));
    format!("{text}{kind:<14}{:>14}{:>14}\n 1 2 3\n 1 2\n 1.0 1.0\n{vectors}", 2, 0)
}

#[test]
fn vectors_after_a_harwell_boeing_matrix_come_with_it() {
    let text = with_vectors("FGX", "  1.0  2.0  3.0\n  4.0\n  5.0  6.0  7.0\n  8.0\n");
    let file = read_bytes(text.as_bytes()).unwrap();
    assert_eq!(file.matrix, real(2, 2, &[(0, 0, 1.0), (1, 1, 1.0)]));
    assert_eq!(
        (file.form, file.warnings),
        (MatrixForm::HarwellBoeing, vec![VECTORS_FOLLOW.to_owned()])
    );
    let vector = |text: &str, which, column| {
        let limit = MemoryLimit::bytes(LIMIT);
        let read = read_companion(text.as_bytes(), (which, column), limit, Progress::none());
        read.map(|file| file.values).map_err(|error| error.to_string())
    };
    use Companion::{RightSide, Start};
    assert_eq!(vector(&text, RightSide, Some(1)), Ok(vec![1.0, 2.0]));
    assert_eq!(vector(&text, RightSide, Some(2)), Ok(vec![3.0, 4.0]));
    assert_eq!(vector(&text, Start, Some(2)), Ok(vec![7.0, 8.0]));
    assert_eq!(
        vector(&text, Start, Some(3)),
        Err("expected a column from 1 to 2, found 3".to_owned())
    );
    assert!(vector(&text, RightSide, None).is_err_and(|error| error.contains("2 x 2 matrix")));
    let without = with_vectors("F", "  1.0  2.0  3.0\n");
    assert!(vector(&without, Start, Some(1)).is_err_and(|error| error.contains("found none")));
    let short = vector(&without, RightSide, Some(2)).unwrap_err();
    assert_eq!(short, "line 10: expected right-hand side value 4 of 4, found the end of the file");
    let sparse = vector(&with_vectors("M", ""), RightSide, Some(1)).unwrap_err();
    assert!(
        sparse.starts_with("line 5: expected right-hand sides in full storage (F)"),
        "{sparse}"
    );
    let none = vector(&self::text("rra", [2, 3, 3], FORMATS, BODY), RightSide, None).unwrap_err();
    assert!(none.ends_with("found none"), "{none}");
}

#[test]
fn what_is_written_reads_back_bit_for_bit() {
    let extremes =
        [f64::MIN_POSITIVE, -5e-324, f64::MAX, -0.0, 1.0 / 3.0, -f64::MIN_POSITIVE / 3.0];
    let mut entries: Vec<_> =
        extremes.iter().enumerate().map(|(k, v)| (k % 3, k / 3, *v)).collect();
    entries.push((199, 3, 0.1));
    let a = Csr::from_triplets(200, 5, &entries).unwrap();
    let complex = a.transpose().map(|v| Complex64::new(v, -v));
    for a in [AnyMatrix::Real(a), AnyMatrix::Complex(complex), real(3, 3, &[]), real(0, 2, &[])] {
        let mut written = Vec::new();
        write_rb(&a, &mut written, MemoryLimit::unlimited(), Progress::none()).unwrap();
        let back = read_matrix(&written, MemoryLimit::unlimited(), Progress::none()).unwrap();
        assert_eq!(format!("{:?}", back.matrix), format!("{a:?}"));
        assert_eq!((back.form, back.warnings), (MatrixForm::RutherfordBoeing, Vec::new()));
        assert!(written.split(|b| *b == b'\n').all(|line| line.len() <= 80));
    }
    let not_finite = real(2, 2, &[(0, 0, 1.0), (1, 1, f64::NAN)]);
    let unlimited = MemoryLimit::unlimited();
    let refused = write_rb(&not_finite, &mut Vec::new(), unlimited, Progress::none());
    let error = refused.unwrap_err().to_string();
    assert!(error.starts_with("the value NaN in row 2, column 2 cannot be written"), "{error}");
}

#[test]
fn columns_without_nonzeros_count_for_the_memory_limit() {
    let a = real(1, 999, &[(0, 5, 1.0)]);
    let write =
        |limit: u64| write_rb(&a, &mut Vec::new(), MemoryLimit::bytes(limit), Progress::none());
    // 16 bytes per column and one more, and 12 per nonzero.
    let refused = write(16_011).unwrap_err().to_string();
    assert!(refused.starts_with("the matrix by columns needs 16012 bytes"), "{refused}");
    assert!(write(16_012).is_ok());
}

/// The layout that SciPy's `hb_read` needs: 14 columns per count, three formats, full lines of blanks and
/// numbers.
#[test]
fn the_header_is_in_the_columns_of_the_format() {
    let mut written = Vec::new();
    let a = real(2, 2, &[(1, 0, -0.5)]);
    write_rb(&a, &mut written, MemoryLimit::unlimited(), Progress::none()).unwrap();
    let expected = format!(
        "{:<71}|matrix  \n{:>14}{:>14}{:>14}{:>14}\nrua{:>25}{:>14}{:>14}{:>14}\n{:<16}{:<16}{:<20}\n 1 2 2\n 2\n{:>25}\n",
        "Written by Sparsescope",
        3,
        1,
        1,
        1,
        2,
        2,
        1,
        0,
        "(40I2)",
        "(40I2)",
        "(3E25.16)",
        "-5.0000000000000000E-1"
    );
    assert_eq!(String::from_utf8(written).unwrap(), expected);
}

/// Files of RBio's tests and of the collection: rows, columns, nonzeros and warnings, or part of the refusal.
#[test]
fn files_of_other_programs_are_read_or_refused_with_what_is_wrong() {
    let Some(folder) = matrices().map(|folder| folder.join("forms")).filter(|f| f.is_dir()) else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder with a folder forms");
    };
    let open = |name: &str| {
        let data = std::fs::read(folder.join(name)).unwrap();
        read_named_matrix(name, &data, MemoryLimit::bytes(LIMIT), Progress::none())
    };
    for (name, expected) in [
        ("bcsstk01.rsa", "48 48 400"),
        ("bcsstk01.rb", "48 48 400"),
        ("lap_25.rb", "25 25 169"),
        ("lap_25.pse", "line 3: expected an assembled matrix"),
        ("m4.rb", "4 4 16"),
        ("mangled1.rb", "line 5: expected column pointer 4 of 5, found the end of the line"),
        ("mangled2.rb", "line 5: expected column pointer 1 of 5 to be 1, found \"42\""),
        ("mangled3.rb", "line 5: expected column pointer 2 of 5, from 1 to 17, found \"42\""),
        ("mangled4.rb", "line 6: expected row index 10 of 16, found the end of the line"),
        ("mangled5.rb", "4 4 16 1 column has row indices that are not in ascending order"),
        ("mangled6.rb", "4 4 15 1 entry repeats the position of an earlier one"),
        ("mangled7.rb", "line 6: expected row index 9 of 16, from 1 to 4, found \"9\""),
        ("mangled8.rb", "line 7: expected value 9 of 16, found the end of the line"),
    ] {
        let found = match open(name) {
            Ok(MatrixFile { matrix: a, warnings, .. }) => {
                let warnings: String =
                    warnings.iter().map(|warning| format!(" {warning}")).collect();
                format!("{} {} {}{warnings}", a.rows(), a.cols(), a.nnz())
            }
            Err(error) => error.to_string(),
        };
        assert!(found.starts_with(expected), "{name}: {found}");
    }
    assert_eq!(open("bcsstk01.rsa").unwrap().matrix, open("bcsstk01.rb").unwrap().matrix);
}
