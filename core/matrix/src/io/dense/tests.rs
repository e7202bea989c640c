//! Dense matrices: what is read, in which order, what is refused, and when.

use super::*;

fn read(name: &str, data: &[u8]) -> Result<DenseFile, IoError> {
    let (limit, progress) = (MemoryLimit::unlimited(), Progress::none());
    read_dense(name, data, &mut |_, _| true, limit, progress).map(Option::unwrap)
}

fn message(text: &str) -> String {
    read("X.txt", text.as_bytes()).unwrap_err().to_string()
}

/// A `.npy` file of version 1.
fn npy(descr: &str, fortran: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let length = (text.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\0"[..], &length, text.as_bytes(), values].concat()
}

#[test]
fn text_has_a_row_per_line_and_is_no_list_of_edges_or_triplets() {
    // The second is what numpy.savetxt writes with a header; the last would be triplets with a size line.
    for text in [
        "1 2 3\n4 5 6\n",
        "# a b c\n1.000000000000000000e+00 2.0e+00 3\n4 5 6\n",
        "\n% note\n 1\t2   3\r\n\n4 5D0 6",
        "1,2,3\n4,5,6\n",
        " 1; 2;3\n4;5 ; 6\n",
    ] {
        for name in ["X.txt", "X.csv", "X", "X.graph", "X.mtx"] {
            let file = read(name, text.as_bytes()).unwrap();
            assert_eq!((file.rows, file.cols), (2, 3), "{text}");
            assert_eq!(file.values, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "{text}");
            assert!(file.warnings.is_empty(), "{:?}", file.warnings);
        }
    }
    let file = read("X.txt", b"3 3 1\n1 1 1\n").unwrap();
    assert_eq!((file.rows, file.cols, file.values[2]), (2, 3, 1.0));
    let file = read("X.txt", b"nan\n-inf\n1e999\n").unwrap();
    assert_eq!((file.rows, file.cols), (3, 1));
    assert!(file.values[0].is_nan() && file.values[1] == f64::NEG_INFINITY);
    let large = "1 number is too large for f64 and was read as infinity";
    assert_eq!((file.values[2], &file.warnings[..]), (f64::INFINITY, &[large.to_owned()][..]));
}

#[test]
fn lines_of_different_lengths_and_words_are_named_as_in_the_file() {
    for (text, expected) in [
        ("1 2\n\n3\n", "line 3: expected 2 numbers, as in line 1, found 1"),
        ("% c\n1\n2 3\n", "line 3: expected 1 number, as in line 2, found 2"),
        ("1,2\n3,x y\n", "line 2: expected a number in column 2, found \"x y\""),
        ("1,2\n3,\n", "line 2: expected a number in column 2, found an empty field"),
        ("1;2\n3;4,5\n", "line 2: expected a number in column 2, found \"4,5\""),
        ("a b\n", "line 1: expected a number in column 1, found \"a\""),
        ("", "expected a matrix, found an empty file"),
    ] {
        assert_eq!(message(text), expected);
    }
    assert!(message("<html>").contains("HTML page"));
}

#[test]
fn arrays_are_read_by_rows_whatever_their_order_and_type() {
    let by_rows: [f64; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let doubles = |values: [f64; 6]| values.map(f64::to_le_bytes).concat();
    let floats = by_rows.map(|v| (v as f32).to_le_bytes()).concat();
    let integers = by_rows.map(|v| (v as i16).to_be_bytes()).concat();
    let by_columns = doubles([1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let mm = b"%%MatrixMarket matrix array integer general\n2 3\n1\n4\n2\n5\n3\n6\n".to_vec();
    let by_row = Order::RowMajor;
    for (data, order) in [
        (npy("<f8", "False", "(2, 3)", &doubles(by_rows)), by_row),
        (npy("<f8", "True", "(2, 3)", &by_columns), Order::ColumnMajor),
        (npy("<f4", "False", "(2, 3)", &floats), by_row),
        (npy(">i2", "False", "(2, 3)", &integers), by_row),
        (mm, by_row),
    ] {
        let file = read("X", &data).unwrap();
        let found = (file.rows, file.cols, &file.values[..], file.order, file.warnings.len());
        assert_eq!(found, (2, 3, &by_rows[..], order, 0));
    }
    let column = read(
        "x.npy",
        &npy("<i8", "False", "(2,)", &[1i64, (1 << 53) + 1].map(i64::to_le_bytes).concat()),
    );
    let column = column.unwrap();
    assert_eq!((column.rows, column.cols), (2, 1));
    assert_eq!(column.values, [1.0, 9_007_199_254_740_992.0]);
    let warnings = [
        "1 integer above 2^53 was rounded to f64",
        "the array of one dimension was read as a column",
    ];
    assert_eq!(column.warnings, warnings);
    let complex = npy("<c8", "False", "(1, 1)", &[0; 8]);
    assert!(read("X", &complex).unwrap_err().to_string().contains("found complex numbers"));
    // The lower triangle of a symmetric array.
    let symmetric = b"%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n";
    let file = read("X", symmetric).unwrap();
    assert_eq!((&file.values[..], file.warnings.len()), (&[1.0, 2.0, 2.0, 3.0][..], 0));
}

#[test]
fn elements_that_a_sparse_matrix_does_not_store_are_zeros_and_a_warning_says_so() {
    let text = b"%%MatrixMarket matrix coordinate real general\n2 3 2\n2 3 5\n1 1 4\n";
    // The matrix that SciPy 1.17 wrote.
    let csr = &include_bytes!("../../../../../fuzz/corpus/numpy/csr")[..];
    let dia = &include_bytes!("../../../../../fuzz/corpus/numpy/dia")[..];
    let of_npz = [1.5, 0.0, 2.0, 0.0, 0.0, -3.0];
    let of_text = [4.0, 0.0, 0.0, 0.0, 0.0, 5.0];
    for (data, values) in [(&text[..], of_text), (csr, of_npz), (dia, of_npz)] {
        let file = read("X", data).unwrap();
        assert_eq!((file.rows, file.cols, &file.values[..]), (2, 3, &values[..]));
        let sparse = "the matrix is sparse: elements that are not in the file were read as 0";
        assert_eq!(file.warnings, [sparse]);
    }
    let dense = &include_bytes!("../../../../../fuzz/corpus/numpy/dense")[..];
    let file = read("X", dense).unwrap();
    assert_eq!((&file.values[..], file.warnings.len()), (&of_npz[..], 0));
}

#[test]
fn sizes_are_checked_before_the_elements_are_read() {
    let progress = Progress::none();
    // No element follows the headers, or one that is no number.
    let array = npy("<f8", "False", "(4000000, 1000)", &[]);
    let mm = b"%%MatrixMarket matrix array real general\n4000000 1000\nx\n".to_vec();
    for data in [&array, &mm] {
        let mut sizes = (0, 0);
        let mut fits = |rows, cols| {
            sizes = (rows, cols);
            false
        };
        let read = read_dense("X", data, &mut fits, MemoryLimit::unlimited(), progress).unwrap();
        assert_eq!((read, sizes), (None, (4_000_000, 1000)));
        let small = MemoryLimit::bytes(1 << 20);
        let error = read_dense("X", data, &mut |_, _| true, small, progress).unwrap_err();
        let start = "the dense 4000000 x 1000 matrix needs 32000000000 bytes";
        assert!(error.to_string().starts_with(start), "{error}");
    }
    let mut sizes = (0, 0);
    let mut fits = |rows, cols| {
        sizes = (rows, cols);
        false
    };
    let read = read_dense("X", b"1 2\nx\n3\n", &mut fits, MemoryLimit::unlimited(), progress);
    assert_eq!((read.unwrap(), sizes), (None, (3, 2)));
    // An array by columns is read by rows with a list of the pieces of its three rows in two tiles.
    let by_columns =
        format!("%%MatrixMarket matrix array real general\n3 128\n{}", "1\n".repeat(384));
    let list = 2 * (3 * size_of::<&[f64]>() + size_of::<Vec<&[f64]>>());
    let needed = (2 * 8 * 384 + list) as u64;
    for (bytes, is_read) in [(needed, true), (needed - 1, false)] {
        let limit = MemoryLimit::bytes(bytes);
        let read = read_dense("X", by_columns.as_bytes(), &mut |_, _| true, limit, progress);
        assert_eq!(read.is_ok(), is_read);
    }
    // The header promises more than the file has.
    let short = npy("<f8", "False", "(2, 3)", &[0; 47]);
    let error = read_dense("X", &short, &mut |_, _| true, MemoryLimit::unlimited(), progress);
    assert!(error.unwrap_err().to_string().contains("found 47 bytes"));
}

#[test]
fn compressed_files_are_read_too() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, b"1,2\n3,4\n").unwrap();
    let packed = [encoder.finish().unwrap(), vec![0; 3]].concat();
    let file = read("X.csv.gz", &packed).unwrap();
    assert_eq!((file.rows, file.cols, &file.values[..]), (2, 2, &[1.0, 2.0, 3.0, 4.0][..]));
    let padding = "3 zero bytes after the end of the gzip data were ignored";
    assert_eq!(file.warnings, [padding]);
}
