//! Vectors in text: what is read, what is refused and how, and what is written.

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
fn what_is_ignored_or_changed_in_reading_is_told() {
    let banner = "%MatrixMarket matrix array real general\n2 1\n1\n2\n";
    let told = "the banner begins with one % instead of two";
    let large = "1 number is too large for f64 and was read as infinity";
    let array = "%%MatrixMarket matrix array integer general\n2 1\n9007199254740993\n2\n";
    let rounded = "1 integer above 2^53 was rounded to f64";
    let infinity = f64::INFINITY;
    let sparse = "%matrixmarket matrix coordinate real general\n2 1 2\n1 1 1\n2 1 2\n";
    for (text, values, warning) in [
        (banner, [1.0, 2.0], told),
        (sparse, [1.0, 2.0], told),
        ("1e999\n2\n", [infinity, 2.0], large),
        (array, [9_007_199_254_740_992.0, 2.0], rounded),
    ] {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let packed = [encoder.finish().unwrap(), vec![0; 7]].concat();
        let padding = "7 zero bytes after the end of the gzip data were ignored";
        for (data, warnings) in
            [(text.as_bytes(), &[warning][..]), (&packed[..], &[padding, warning][..])]
        {
            let file = read_column(data, None, MemoryLimit::unlimited(), Progress::none()).unwrap();
            assert_eq!(file.values, values, "{text}");
            assert_eq!(file.warnings, warnings, "{text}");
        }
    }
    let matrix = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n";
    let (limit, none) = (MemoryLimit::unlimited(), Progress::none());
    let wanted = (Companion::RightSide, None);
    let amgx = matrix.replace("\n2 2", "\n%%AMGX 1 1 rhs\n2 2") + "1e999\n2\n";
    let read = read_companion(amgx.as_bytes(), wanted, limit, none).unwrap();
    assert_eq!(
        (&read.values[..], &read.warnings[..]),
        (&[infinity, 2.0][..], &[large.to_owned()][..])
    );
}

#[test]
fn surplus_entries_are_no_vectors() {
    let text = |announcer: &str| {
        format!("%%MatrixMarket matrix coordinate real general\n{announcer}2 2 1\n1 1 5\n2 2 4\n")
    };
    let message = |text: &str| {
        let read =
            crate::io::read_matrix(text.as_bytes(), MemoryLimit::unlimited(), Progress::none());
        read.unwrap_err().to_string()
    };
    let expected =
        "expected the end of the file after the 1 entry declared by the size line, found 2";
    assert_eq!(message(&text("")), format!("line 4: {expected}"));
    for vector in ["", "1\n2\n"] {
        let announced = text("%%AMGX 1 1 rhs\n") + vector;
        assert_eq!(message(&announced), format!("line 5: {expected}"));
    }
}

/// Reads a companion with lines counted as in the whole text.
fn companion(text: &str, which: Companion, column: Option<u32>) -> Result<Vec<f64>, String> {
    let limit = MemoryLimit::unlimited();
    let read = read_companion(text.as_bytes(), (which, column), limit, Progress::none());
    read.map(|file| file.values).map_err(|error| error.to_string())
}

#[test]
fn a_column_is_chosen_by_its_number() {
    let array = "%%MatrixMarket matrix array real general\n3 2\n1\n0\n3\n0\n1\n2\n";
    let sparse =
        "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 1\n3 1 3\n2 2 1\n3 2 2\n";
    for text in [array, sparse] {
        let column = |k| {
            let limit = MemoryLimit::unlimited();
            let read = read_column(text.as_bytes(), Some(k), limit, Progress::none());
            read.map(|file| file.values)
        };
        assert_eq!(column(1).unwrap(), [1.0, 0.0, 3.0]);
        assert_eq!(column(2).unwrap(), [0.0, 1.0, 2.0]);
        for k in [0, 3] {
            let expected = format!("expected a column from 1 to 2, found {k}");
            assert_eq!(column(k).unwrap_err().to_string(), expected);
        }
        assert_eq!(message(text), "expected a vector, found a 3 x 2 matrix");
    }
    let plain = |k| {
        let read = read_column(b"4\n5\n", Some(k), MemoryLimit::unlimited(), Progress::none());
        read.map(|file| file.values)
    };
    assert_eq!(plain(1).unwrap(), [4.0, 5.0]);
    assert_eq!(plain(2).unwrap_err().to_string(), "expected a column from 1 to 1, found 2");
}

#[test]
fn vectors_after_the_entries_of_a_matrix_are_read_apart_from_it() {
    let banner = "%%MatrixMarket matrix coordinate real general\n";
    let entries = "3 3 4\n1 1 2\n2 2 2\n% note\n\n2 3 -1\n3 3 1\n";
    let array = "%%MatrixMarket matrix array real general\n";
    let alone = format!("{banner}{entries}");
    let matrix = |text: &str| {
        let limit = MemoryLimit::unlimited();
        crate::io::read_matrix(text.as_bytes(), limit, Progress::none())
    };
    let amgx = format!("{banner}%%AMGX 1 1 sorted rhs\n{entries}1\n0\n3\n");
    let both = format!("{banner}%%NVAMG 1 1 rhs solution\n{entries}1\n0\n3\n7\n8\n9\n");
    let start = format!("{banner}%%AMGX solution\n{entries}7\n8\n9\n");
    let one = format!("{alone}{array}3 1\n1\n0\n3\n");
    let two = format!("{alone}{array}3 2\n4\n5\n6\n1\n0\n3\n{array}3 1\n7\n8\n9\n");
    let (b, x0) = (Companion::RightSide, Companion::Start);
    for (text, column, right_side, guess) in [
        (&amgx, None, true, false),
        (&both, None, true, true),
        (&start, None, false, true),
        (&one, None, true, false),
        (&two, Some(2), true, false),
    ] {
        let read = matrix(text).unwrap();
        assert_eq!(read.matrix, matrix(&alone).unwrap().matrix);
        assert!(read.warnings[0].starts_with("other data follows the matrix"));
        let missing = |what: &str| {
            Err(format!(
                "expected {what} with the matrix, in its archive or after its entries, found none"
            ))
        };
        let expected =
            if right_side { Ok(vec![1.0, 0.0, 3.0]) } else { missing("a right-hand side") };
        assert_eq!(companion(text, b, column), expected, "{text}");
        if column.is_none() {
            let expected =
                if guess { Ok(vec![7.0, 8.0, 9.0]) } else { missing("an initial guess") };
            assert_eq!(companion(text, x0, None), expected, "{text}");
        }
    }
    assert_eq!(companion(&two, x0, None).unwrap(), [7.0, 8.0, 9.0]);
    assert!(matrix(&alone).unwrap().warnings.is_empty());
    assert!(companion(&alone, b, None).unwrap_err().ends_with("found none"));
    assert!(companion("3 3 1\n1 1 1\n", b, None).unwrap_err().ends_with("found none"));
    // Lines count from the beginning of the file: 8 precede the second banner.
    let wrong = format!("{alone}{array}3 1\n1\nx\n3\n");
    assert_eq!(companion(&wrong, b, None).unwrap_err(), "line 12: expected a number, found \"x\"");
    let short = format!("{banner}%%AMGX 1 1 rhs\n{entries}1\n0\n");
    assert_eq!(
        companion(&short, b, None).unwrap_err(),
        "line 10: expected 3 numbers after the entries of the matrix, found 2"
    );
    let blocks = format!("{banner}%%AMGX 2 2 rhs\n{entries}");
    let message = matrix(&blocks).unwrap_err().to_string();
    assert_eq!(
        message,
        "line 2: expected blocks of size 1 1, then sorted, rhs or solution, found \"2\""
    );
    // A hostile size line costs no more than the text.
    let endless = format!("{banner}%%AMGX 1 1 rhs\n9 9 18446744073709551615\n1 1 1\n");
    assert!(matrix(&endless).is_err() && companion(&endless, b, None).is_err());
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

#[test]
fn an_array_given_by_rows_is_written_by_columns() {
    let mut text = Vec::new();
    write_columns(&[1.0, 4.0, 2.0, 5.0, 3.0, 6.0], 2, &mut text, Progress::none()).unwrap();
    let text = String::from_utf8(text).unwrap();
    let numbers: Vec<&str> = text.lines().skip(1).collect();
    let expected = ["3 2", "1.0", "2.0", "3.0", "4.0", "5.0", "6.0"];
    assert_eq!(numbers.len(), 7);
    assert!(numbers.iter().zip(expected).all(|(n, e)| n.starts_with(e)), "{text}");
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
        write_columns(&values, 1, &mut text, Progress::none()).unwrap();
        let back = read_bytes(&text, MemoryLimit::unlimited(), Progress::none()).unwrap();
        let bits = |values: &[f64]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&back), bits(&values));
    }
}
