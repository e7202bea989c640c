use std::io::{Cursor, Write};

use super::*;
use crate::io::points::{read_named_points, read_named_points_extent};
use crate::io::{
    AnyMatrix, Field, MatrixForm, read_named_extent, read_named_matrix, vector as vectors,
};
use crate::matrix::Csr;
use num_complex::Complex64;

/// An array of version 1 with the shortest header.
fn npy(descr: &str, fortran_order: &str, shape: &str, values: &[u8]) -> Vec<u8> {
    let text =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran_order}, 'shape': {shape}, }}\n");
    [MAGIC, &[1, 0], &(text.len() as u16).to_le_bytes(), text.as_bytes(), values].concat()
}

fn f64s(shape: &str, values: &[f64]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<f8", "False", shape, &bytes)
}

fn i32s(values: &[i32]) -> Vec<u8> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    npy("<i4", "False", &format!("({},)", values.len()), &bytes)
}

fn npz(members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in members {
        let options = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(content).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

/// A sparse array of 2 rows and 3 columns.
fn sparse(format: &str, members: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let shape: Vec<u8> = [2i64, 3].iter().flat_map(|size| size.to_le_bytes()).collect();
    let mut all = members.to_vec();
    for (name, content) in [
        ("format", npy("|S3", "False", "()", format.as_bytes())),
        ("shape", npy("<i8", "False", "(2,)", &shape)),
    ] {
        if all.iter().all(|(member, _)| *member != name) {
            all.push((name, content));
        }
    }
    npz(&all)
}

/// The matrix of [`SEEDS`] as csr, with some members replaced.
fn csr_with(replaced: &[(&'static str, Vec<u8>)]) -> Vec<u8> {
    let mut members = vec![
        ("indices", i32s(&[0, 2, 2])),
        ("indptr", i32s(&[0, 2, 3])),
        ("data", f64s("(3,)", &[1.5, 2.0, -3.0])),
    ];
    for (name, content) in replaced {
        members.retain(|(member, _)| member != name);
        members.push((*name, content.clone()));
    }
    sparse("csr", &members)
}

fn read(data: &[u8]) -> Result<crate::io::MatrixFile, String> {
    let limit = MemoryLimit::bytes(1 << 20);
    read_named_matrix("a.npz", data, limit, Progress::none()).map_err(|error| error.to_string())
}

fn real(data: &[u8]) -> Csr {
    read(data).unwrap().matrix.into_real().unwrap()
}

fn csr(rows: usize, cols: usize, triplets: &[(usize, usize, f64)]) -> Csr {
    Csr::from_triplets(rows, cols, triplets).unwrap()
}

/// Rows, columns and nonzeros, and whether the last is an estimate.
fn extent_of(data: &[u8]) -> (u64, u64, u64, bool) {
    let extent = read_named_extent("a.npz", data).unwrap();
    (extent.rows, extent.cols, extent.entries, extent.estimated)
}

/// Written by SciPy 1.17 from [[1.5, 0, 2], [0, 0, -3]]; coo holds int64.
const SEEDS: [(&str, &[u8]); 6] = [
    ("csr", include_bytes!("../../../../../fuzz/corpus/numpy/csr")),
    ("csc", include_bytes!("../../../../../fuzz/corpus/numpy/csc")),
    ("coo", include_bytes!("../../../../../fuzz/corpus/numpy/coo")),
    ("bsr", include_bytes!("../../../../../fuzz/corpus/numpy/bsr")),
    ("dia", include_bytes!("../../../../../fuzz/corpus/numpy/dia")),
    ("dense", include_bytes!("../../../../../fuzz/corpus/numpy/dense")),
];

#[test]
fn files_of_scipy_are_read_in_every_layout() {
    for (name, data) in SEEDS {
        let first = if name == "coo" { 1.0 } else { 1.5 };
        let mut nonzeros = vec![(0, 0, first), (0, 2, 2.0), (1, 2, -3.0)];
        if name == "bsr" {
            // SciPy stores all of a block.
            nonzeros.extend([(0, 1, 0.0), (1, 0, 0.0), (1, 1, 0.0)]);
        }
        let file = read(data).unwrap();
        assert_eq!(file.matrix.real().unwrap(), &csr(2, 3, &nonzeros), "{name}");
        assert_eq!(file.warnings, [""; 0], "{name}");
        let form = if name == "dense" { MatrixForm::Npy } else { MatrixForm::Npz };
        let field = if name == "coo" { Field::Integer } else { Field::Real };
        assert_eq!((file.form, file.field), (form, field), "{name}");
        // Diagonals and dense arrays have zeros, which are not stored.
        let (entries, estimated) = match name {
            "dia" => (5, true),
            "dense" => (6, true),
            _ => (nonzeros.len() as u64, false),
        };
        assert_eq!(extent_of(data), (2, 3, entries, estimated), "{name}");
    }
    let vector = read(include_bytes!("../../../../../fuzz/corpus/numpy/vector")).unwrap();
    let expected = [(0, 0, Complex64::new(1.0, 0.0)), (2, 0, Complex64::new(0.0, 3.0))];
    assert_eq!(vector.matrix, AnyMatrix::Complex(Csr::from_triplets(3, 1, &expected).unwrap()));
    assert_eq!(vector.warnings, ["the array of one dimension was read as a column"]);
}

#[test]
fn values_of_every_type_are_read_in_both_byte_orders() {
    // 0.333 as binary16 is 0x3554, which NumPy converts to 0.3330078125; 1 is its smallest subnormal number.
    for (descr, bytes, expected) in [
        ("b1", &[1u8][..], 1.0),
        ("i1", &[0xfe], -2.0),
        ("u1", &[0xfe], 254.0),
        ("i2", &[0xfe, 0xff], -2.0),
        ("u2", &[0xfe, 0xff], 65534.0),
        ("i4", &(-70_000i32).to_le_bytes(), -70_000.0),
        ("u4", &u32::MAX.to_le_bytes(), 4_294_967_295.0),
        ("i8", &(-5_000_000_000i64).to_le_bytes(), -5e9),
        ("u8", &(1u64 << 63).to_le_bytes(), 9_223_372_036_854_775_808.0),
        ("f2", &[0x54, 0x35], 0.333_007_812_5),
        ("f2", &[1, 0], 5.960_464_477_539_063e-8),
        ("f2", &[0xff, 0xfb], -65_504.0),
        ("f2", &[0, 0xfc], f64::NEG_INFINITY),
        ("f4", &0.1f32.to_le_bytes(), 0.100_000_001_490_116_12),
        ("f8", &0.1f64.to_le_bytes(), 0.1),
    ] {
        let reversed: Vec<u8> = bytes.iter().rev().copied().collect();
        for (order, bytes) in [("<", bytes), (">", &reversed)] {
            let descr = format!("{order}{descr}");
            let data = npy(&descr, "False", "(1, 1)", bytes);
            assert_eq!(real(&data), csr(1, 1, &[(0, 0, expected)]), "{descr}");
        }
    }
    for (descr, bytes) in [
        ("<c8", [1.5f32.to_le_bytes(), (-2f32).to_le_bytes()].concat()),
        (">c16", [1.5f64.to_be_bytes(), (-2f64).to_be_bytes()].concat()),
    ] {
        let file = read(&csr_with(&[("data", npy(descr, "False", "(3,)", &bytes.repeat(3)))]));
        let AnyMatrix::Complex(a) = file.unwrap().matrix else { unreachable!("complex") };
        assert_eq!(a.row(1), (&[2][..], &[Complex64::new(1.5, -2.0)][..]));
    }
    let large = ((1u64 << 53) + 1).to_le_bytes();
    let large = npy("<u8", "False", "(3,)", &[large, large, 7u64.to_le_bytes()].concat());
    let file = read(&csr_with(&[("data", large)])).unwrap();
    assert_eq!(file.warnings, ["2 integers above 2^53 were rounded to f64"]);
}

#[test]
fn orders_widths_and_spellings_that_scipy_accepts_are_read() {
    let expected = csr(2, 3, &[(0, 0, 1.5), (0, 2, 2.0), (1, 2, -3.0)]);
    let wide = |values: &[i64]| values.iter().flat_map(|v| v.to_be_bytes()).collect::<Vec<_>>();
    for replaced in [
        ("indices", npy(">i8", "False", "(3L,)", &wide(&[0, 2, 2]))),
        ("indices", npy("|u1", "True", "(3,)", &[0, 2, 2])),
        ("format", npy("<U3", "False", "()", b"c\0\0\0s\0\0\0r\0\0\0")),
        ("format", npy(">U3", "False", "()", b"\0\0\0c\0\0\0s\0\0\0r")),
        ("_is_array", npy("|b1", "False", "()", &[1])),
    ] {
        assert_eq!(real(&csr_with(std::slice::from_ref(&replaced))), expected, "{}", replaced.0);
    }
    // More values than the row pointers use.
    let pruned = csr_with(&[("indptr", i32s(&[0, 1, 2]))]);
    assert_eq!(real(&pruned), csr(2, 3, &[(0, 0, 1.5), (1, 2, 2.0)]));
    assert_eq!(extent_of(&pruned), (2, 3, 2, false));
    // Both indices in one array, by columns; a repeated position.
    let coords: Vec<u8> = [1i32, 2, 1, 2].iter().flat_map(|k| k.to_le_bytes()).collect();
    let coo = sparse(
        "coo",
        &[("coords", npy("<i4", "True", "(2, 2)", &coords)), ("data", f64s("(2,)", &[1.0, 4.0]))],
    );
    let file = read(&coo).unwrap();
    assert_eq!(file.matrix.real().unwrap(), &csr(2, 3, &[(1, 2, 5.0)]));
    assert_eq!(
        file.warnings,
        ["1 entry repeats the position of an earlier one; their values were summed"]
    );
    // As scipy.sparse.dia_array prints it: column k of a diagonal is column k of the matrix.
    let dia = sparse(
        "dia",
        &[
            ("offsets", i32s(&[0, -1, 2])),
            ("data", f64s("(3, 4)", &[1., 2., 3., 4., 5., 6., 7., 8., 9., 10., 11., 12.])),
        ],
    );
    let places = [(0, 0, 1.0), (0, 2, 11.0), (1, 0, 5.0), (1, 1, 2.0)];
    assert_eq!(real(&dia), csr(2, 3, &places));
    // Blocks whose values are stored with the first index fastest: 1 to 6 are those of two blocks of 1 x 3.
    let bytes: Vec<u8> =
        [1f64, 4., 2., 5., 3., 6.].iter().flat_map(|value| value.to_le_bytes()).collect();
    let bsr = sparse(
        "bsr",
        &[
            ("indptr", i32s(&[0, 1, 2])),
            ("indices", i32s(&[0, 0])),
            ("data", npy("<f8", "True", "(2, 1, 3)", &bytes)),
        ],
    );
    let rows = [(0, 0, 1.), (0, 1, 2.), (0, 2, 3.), (1, 0, 4.), (1, 1, 5.), (1, 2, 6.)];
    assert_eq!(real(&bsr), csr(2, 3, &rows));
}

#[test]
fn dense_arrays_are_vectors_columns_and_points() {
    let limit = MemoryLimit::bytes(1 << 20);
    let column = |data: &[u8], column| {
        let read = vectors::read_column(data, column, limit, Progress::none());
        read.map(|file| file.values).map_err(|error| error.to_string())
    };
    let vector = f64s("(3,)", &[1.0, 0.0, -2.0]);
    let zipped = npz(&[("arr_0", vector.clone())]);
    for data in [&vector, &zipped, &f64s("(1, 3)", &[1.0, 0.0, -2.0])] {
        assert_eq!(column(data, None).unwrap(), [1.0, 0.0, -2.0]);
    }
    assert_eq!(column(&vector, Some(1)).unwrap(), [1.0, 0.0, -2.0]);
    let none = "expected a column from 1 to 1, found 2";
    assert_eq!(column(&zipped, Some(2)).unwrap_err(), none);
    let by_rows = f64s("(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let values = [1.0f64, 4.0, 2.0, 5.0, 3.0, 6.0].map(f64::to_le_bytes).concat();
    let by_columns = npy("<f8", "True", "(2, 3)", &values);
    for (data, name) in [(&by_rows, "a.npy"), (&by_columns, "a.csv")] {
        assert_eq!(column(data, Some(2)).unwrap(), [2.0, 5.0]);
        assert_eq!(column(data, None).unwrap_err(), "expected a vector, found a 2 x 3 matrix");
        assert!(column(data, Some(0)).unwrap_err().contains("from 1 to 3, found 0"));
        let points = read_named_points(name, data, limit, Progress::none()).unwrap();
        assert_eq!((points.dimensions(), points.len()), (3, 2));
        assert_eq!(points.coordinates(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
    let points = npz(&[("arr_0", by_rows)]);
    let read = read_named_points("a.npz", &points, limit, Progress::none()).unwrap();
    assert_eq!(read.len(), 2);
    for data in [&points, &by_columns] {
        let extent = read_named_points_extent("a", data).unwrap();
        assert_eq!((extent.dimensions, extent.points, extent.estimated), (3, 2, false));
    }
    for (data, expected) in [
        (csr_with(&[]), "the .npz file: expected a dense array, found a sparse array"),
        (
            npy("<c16", "False", "(1,)", &[0; 16]),
            "the array: expected real numbers, found complex numbers",
        ),
    ] {
        assert_eq!(column(&data, None).unwrap_err(), expected);
        let error = read_named_points("a", &data, limit, Progress::none()).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(read_named_points_extent("a", &data).unwrap_err().to_string(), expected);
    }
    let file = super::read(&vector, limit, Progress::none()).unwrap();
    assert_eq!(file.matrix.real().unwrap(), &csr(3, 1, &[(0, 0, 1.0), (2, 0, -2.0)]));
    assert_eq!(file.warnings, ["the array of one dimension was read as a column"]);
}

#[test]
fn what_does_not_fit_is_refused_in_one_sentence() {
    let huge = "(4000000000, 4000000000)";
    for (name, content, expected) in [
        (
            "data",
            f64s("(2,)", &[1.0, 2.0]),
            "indices.npy: expected the shape (2), found the shape (3)",
        ),
        (
            "data",
            f64s("(3,)", &[1.0]),
            "data.npy: expected 24 bytes of values for the shape (3), found 8 bytes",
        ),
        (
            "data",
            f64s(huge, &[]),
            "data.npy: expected 128000000000000000000 bytes of values for the shape (4000000000, 4000000000), found 0 bytes",
        ),
        ("data", npy("|S1", "False", "(3,)", b"abc"), "data.npy: expected numbers, found text"),
        (
            "data",
            npy("|O", "False", "(3,)", b"\x80\x04"),
            "data.npy: expected numbers, found pickled Python objects, which are not read",
        ),
        (
            "data",
            npy("<f16", "False", "(3,)", &[0; 48]),
            "data.npy: expected bool, integers, float16 to float64, complex64 or complex128 (as \"<f8\"), found \"<f16\"",
        ),
        (
            "data",
            b"\x93NUMPY\x01".to_vec(),
            "data.npy: expected the header of a NumPy array, found the end of the data",
        ),
        (
            "data",
            b"\x93NUMPY\x07\0\0\0".to_vec(),
            "data.npy: expected version 1, 2 or 3 of NumPy's format, found 7",
        ),
        ("data", b"hello".to_vec(), "data.npy: expected a NumPy array, found \"hello\""),
        (
            "data",
            npy("<f8", "No", "(3,)", &[0; 24]),
            "data.npy: expected \"fortran_order\" in the header, found \"{'descr': '<f8', 'fortran_order': No, 's…\"",
        ),
        (
            "indices",
            i32s(&[0, -1, 2]),
            "indices.npy: expected integers from 0, found -1 in place 2",
        ),
        (
            "indices",
            i32s(&[0, 3, 2]),
            "nonzero 2 of the file is in row 1, column 4, but the matrix has 2 rows and 3 columns",
        ),
        (
            "indices",
            f64s("(3,)", &[0.0, 2.0, 2.0]),
            "indices.npy: expected integers, found numbers of another type",
        ),
        ("indptr", i32s(&[0, 2]), "indptr.npy: expected the shape (3), found the shape (2)"),
        ("indptr", i32s(&[1, 2, 3]), "indptr.npy: expected 0 in place 1, found 1"),
        ("indptr", i32s(&[0, 3, 2]), "indptr.npy: expected from 3 to 3 in place 3, found 2"),
        ("indptr", i32s(&[0, 2, 4]), "indptr.npy: expected from 2 to 3 in place 3, found 4"),
        (
            "format",
            npy("|S3", "False", "()", b"lil"),
            "format.npy: expected csr, csc, coo, bsr or dia, found \"lil\"",
        ),
        (
            "format",
            npy("|S3", "False", "()", b"coo"),
            "the .npz file: expected the member row.npy, found none",
        ),
        ("shape", i32s(&[2, 3, 4]), "shape.npy: expected 1 or 2 dimensions, found 3"),
        ("shape", i32s(&[2, -3]), "shape.npy: expected integers from 0, found -3 in place 2"),
    ] {
        assert_eq!(read(&csr_with(&[(name, content)])).unwrap_err(), expected);
    }
    let blocks = sparse("bsr", &[("indptr", i32s(&[0])), ("data", f64s("(1, 2, 2)", &[1.0; 4]))]);
    assert!(read(&blocks).unwrap_err().contains("the member indices.npy"));
    let indices = [("indptr", i32s(&[0])), ("indices", i32s(&[0]))];
    for (shape, values, found) in [("(1, 2, 2)", 4, "2 x 2"), ("(1, 0, 3)", 0, "0 x 3")] {
        let data = ("data", f64s(shape, &vec![1.0; values]));
        let blocks = sparse("bsr", &[&indices[..], &[data]].concat());
        let expected = format!(
            "data.npy: expected blocks that divide a 2 x 3 matrix, found blocks of {found}"
        );
        assert_eq!(read(&blocks).unwrap_err(), expected);
    }
    let two = npz(&[("a", i32s(&[1])), ("b", i32s(&[1]))]);
    let expected = "the .npz file: expected one array, or a sparse array with the member format.npy, found 2 members";
    assert_eq!(read(&two).unwrap_err(), expected);
    let cube = npy("|u1", "False", "(1, 1, 1)", &[1]);
    assert_eq!(read(&cube).unwrap_err(), "the array: expected 1 or 2 dimensions, found 3");
    for (_, data) in SEEDS {
        for end in [40, data.len() / 2, data.len() - 1] {
            let error = read(&data[..end]).unwrap_err();
            assert!(error.contains("damaged") || error.contains("expected"), "{error}");
        }
    }
    // A checksum that does not match.
    let mut data = csr_with(&[]);
    let last = data.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    data[last + 16] ^= 1;
    assert!(read(&data).unwrap_err().starts_with("the .npz file is damaged: "));
}

#[test]
fn the_memory_limit_holds_for_members_and_what_is_made_of_them() {
    let zeros = npz(&[("a", npy("|u1", "False", "(1000, 1000)", &vec![0; 1_000_000]))]);
    let refused = |limit| {
        let limit = MemoryLimit::bytes(limit);
        let read = read_named_matrix("a.npz", &zeros, limit, Progress::none());
        read.map(drop).map_err(|error| error.to_string())
    };
    assert!(refused(500_000).unwrap_err().starts_with("the array needs "));
    assert!(refused(1_001_000).unwrap_err().starts_with("the matrix needs "));
    assert_eq!(refused(1_100_000), Ok(()));
}
