mod choice;

use std::io::Write as _;

use crate::io::vector::{Companion, read_column, read_companion};
use crate::io::{
    AnyMatrix, Field, IoError, MatrixFile, MatrixForm, Progress, ReadOptions, read_named_extent_as,
    read_named_matrix_as,
};
use crate::memory::MemoryLimit;

const LIMIT: u64 = 1 << 22;

/// Bytes from the digits that SciPy 1.17 wrote with `savemat`, for A = [[0, 2.5, 0], [-1, 0, 4]] and b = [1, 2].
fn bytes(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

/// Numbers of an element of this type of level 5.
fn numbers(kind: u32, values: &[f64], is_big: bool) -> Vec<u8> {
    let one = |value: &f64| {
        let value = *value;
        let mut bytes = match kind {
            1 => (value as i8).to_le_bytes().to_vec(),
            2 => (value as u8).to_le_bytes().to_vec(),
            3 => (value as i16).to_le_bytes().to_vec(),
            4 => (value as u16).to_le_bytes().to_vec(),
            5 => (value as i32).to_le_bytes().to_vec(),
            6 => (value as u32).to_le_bytes().to_vec(),
            7 => (value as f32).to_le_bytes().to_vec(),
            12 => (value as i64).to_le_bytes().to_vec(),
            13 => (value as u64).to_le_bytes().to_vec(),
            _ => value.to_le_bytes().to_vec(),
        };
        if is_big {
            bytes.reverse();
        }
        bytes
    };
    values.iter().flat_map(one).collect()
}

fn word(word: u32, is_big: bool) -> [u8; 4] {
    if is_big { word.to_be_bytes() } else { word.to_le_bytes() }
}

fn element(kind: u32, data: &[u8], is_big: bool) -> Vec<u8> {
    let length = data.len() as u32;
    let mut bytes = match length {
        1..=4 => word((length << 16) | kind, is_big).to_vec(),
        _ => [word(kind, is_big), word(length, is_big)].concat(),
    };
    bytes.extend(data);
    if kind != 15 {
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }
    bytes
}

/// A variable or field: its flags, class and sizes, and what follows its name, as type and numbers.
fn variable(
    (name, flags): (&str, u32),
    dims: &[f64],
    parts: &[(u32, &[f64])],
    is_big: bool,
) -> Vec<u8> {
    let mut bytes = element(6, &numbers(6, &[f64::from(flags), 0.0], is_big), is_big);
    bytes.extend(element(5, &numbers(5, dims, is_big), is_big));
    bytes.extend(element(1, name.as_bytes(), is_big));
    for (kind, values) in parts {
        bytes.extend(element(*kind, &numbers(*kind, values, is_big), is_big));
    }
    element(14, &bytes, is_big)
}

/// [[1, 0, 2], [0, t, 4]].
fn sparse(name: &str, kind: u32, t: f64, is_big: bool) -> Vec<u8> {
    let (row, begin, values) = (&[0.0, 1.0, 0.0, 1.0], &[0.0, 1.0, 2.0, 4.0], [1.0, t, 2.0, 4.0]);
    let parts = [(5, &row[..]), (5, &begin[..]), (kind, &values[..])];
    variable((name, 5), &[2.0, 3.0], &parts, is_big)
}

fn full(name: &str, dims: &[f64], values: &[f64]) -> Vec<u8> {
    variable((name, 6), dims, &[(9, values)], false)
}

fn structure(name: &str, fields: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let outer = variable((name, 2), &[1.0, 1.0], &[(5, &[32.0])], false);
    let mut bytes = outer[8..].to_vec();
    let padded = |name: &str| {
        let mut name = name.as_bytes().to_vec();
        name.resize(32, 0);
        name
    };
    let names: Vec<u8> = fields.iter().flat_map(|(name, _)| padded(name)).collect();
    bytes.extend(element(1, &names, false));
    fields.iter().for_each(|(_, field)| bytes.extend(field));
    element(14, &bytes, false)
}

fn packed(variable: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(variable).unwrap();
    element(15, &encoder.finish().unwrap(), false)
}

fn file(variables: &[Vec<u8>], is_big: bool) -> Vec<u8> {
    let mut bytes = b"MATLAB 5.0 MAT-file".to_vec();
    bytes.resize(124, b' ');
    bytes.extend(if is_big { b"\x01\0MI" } else { b"\0\x01IM" });
    bytes.extend(variables.concat());
    bytes
}

/// A matrix of level 4 with the digits P and T of its type.
fn level_4(
    (name, precision, kind): (&str, u32, u32),
    [rows, cols, complex]: [u32; 3],
    values: &[f64],
    is_big: bool,
) -> Vec<u8> {
    let mopt = 1000 * u32::from(is_big) + 10 * precision + kind;
    let words = [mopt, rows, cols, complex, name.len() as u32 + 1];
    let mut bytes = words.map(|it| word(it, is_big)).concat();
    bytes.extend(name.as_bytes());
    bytes.push(0);
    let widths = [9, 7, 5, 3, 4, 2];
    bytes.extend(numbers(widths[precision as usize], values, is_big));
    bytes
}

fn read_as(data: &[u8], variable: Option<&str>) -> Result<MatrixFile, String> {
    let options = ReadOptions { variable: variable.map(str::to_owned), ..ReadOptions::default() };
    let limit = MemoryLimit::bytes(LIMIT);
    let read = read_named_matrix_as("a.mat", data, &options, limit, Progress::none());
    let extent = read_named_extent_as("a.mat", data, &options);
    if let Ok(file) = &read {
        let (extent, matrix) = (extent.unwrap(), &file.matrix);
        let (rows, cols, nnz) = (matrix.rows(), matrix.cols(), matrix.nnz() as u64);
        assert_eq!((extent.rows, extent.cols), (rows as u64, cols as u64));
        assert!(extent.entries == nnz || extent.estimated && extent.entries > nnz, "{extent:?}");
    }
    read.map_err(|error| {
        let error = error.to_string();
        assert!(!error.contains(char::is_control) && error.len() < 500, "{error}");
        error
    })
}

fn read(data: &[u8]) -> Result<MatrixFile, String> {
    read_as(data, None)
}

/// The rows, zeros included, and the field.
fn rows(file: &MatrixFile) -> (Vec<Vec<f64>>, Field) {
    let a = file.matrix.real().unwrap();
    let row = |i: usize| {
        let mut values = vec![0.0; a.cols()];
        let (col, val) = a.row(i);
        col.iter().zip(val).for_each(|(col, val)| values[*col as usize] = *val);
        values
    };
    ((0..a.rows()).map(row).collect(), file.field)
}

#[test]
fn files_that_scipy_wrote_are_read() {
    let mut compressed = file(&[], false);
    compressed.extend(bytes(
        "0f0000003e000000789ce3636060a800623620e6006256206686d2203e1394cf08848e50711e301f026034485c00
         490ca68f1388251860e0c37e08cde200a1051c00978103840f0000002c000000789ce36360607000623620e680d2
         20c00ae5330131231833322401694e20166080810ff6508603003591025f",
    ));
    let level_4 = bytes(
        "0200000004000000030000000000000002000000410000000000000000400000 0000 0000f03f00000000000000
         400000000000000040000000000000f03f00000000000000400000000000000840 0000000000000840
         000000000000f0bf0000000000000440000000000000104000000000000000000000000002000000
         010000000000000002000000 6200 000000000000f03f0000000000000040",
    );
    for (data, form) in [(compressed, MatrixForm::Matlab5), (level_4, MatrixForm::Matlab4)] {
        let read = read(&data).unwrap();
        assert_eq!(read.form, form);
        assert_eq!(rows(&read), (vec![vec![0.0, 2.5, 0.0], vec![-1.0, 0.0, 4.0]], Field::Real));
        assert_eq!(read.warnings, ["read variable A; the file also has b"]);
        let limit = MemoryLimit::bytes(LIMIT);
        let b = read_column(&data, None, limit, Progress::none()).unwrap().values;
        assert_eq!(b, [1.0, 2.0]);
        let wanted = (Companion::RightSide, None);
        assert_eq!(read_companion(&data, wanted, limit, Progress::none()).unwrap().values, b);
        let none = read_companion(&data, (Companion::Start, None), limit, Progress::none());
        assert!(matches!(none, Err(IoError::NoVector(_))));
    }
}

#[test]
fn every_type_of_number_is_read_in_both_byte_orders() {
    for is_big in [false, true] {
        for (kind, class, t) in [
            (1, 8, -3.0),
            (2, 9, 3.0),
            (3, 10, -300.0),
            (4, 11, 60_000.0),
            (5, 12, -70_000.0),
            (6, 13, 4e9),
            (7, 7, 0.25),
            (9, 6, 1e-300),
            (12, 14, -9_007_199_254_740_992.0),
            (13, 15, 9_007_199_254_740_992.0),
        ] {
            let expected = vec![vec![1.0, 0.0, 2.0], vec![0.0, t, 4.0]];
            let found = read(&file(&[sparse("A", kind, t, is_big)], is_big)).unwrap();
            assert_eq!(rows(&found), (expected.clone(), Field::Real), "{kind} {is_big}");
            let values = [1.0, 0.0, 0.0, t, 2.0, 4.0];
            let full = variable(("A", class), &[2.0, 3.0], &[(kind, &values)], is_big);
            let field = if class < 8 { Field::Real } else { Field::Integer };
            let found = read(&file(&[full], is_big)).unwrap();
            assert_eq!((rows(&found), found.matrix.nnz()), ((expected, field), 4), "{kind}");
            assert_eq!(found.warnings, [""; 0]);
        }
        for (precision, t) in
            [(0, 1e-300), (1, 0.25), (2, -70_000.0), (3, -300.0), (4, 60_000.0), (5, 200.0)]
        {
            let expected = vec![vec![1.0, 0.0, 2.0], vec![0.0, t, 4.0]];
            let values = [1.0, 0.0, 0.0, t, 2.0, 4.0];
            let full = level_4(("A", precision, 0), [2, 3, 0], &values, is_big);
            assert_eq!(rows(&read(&full).unwrap()), (expected.clone(), Field::Real));
            let triplets =
                [1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 3.0, 3.0, 3.0, 1.0, t, 2.0, 4.0, 0.0];
            let text = level_4(("t", 0, 1), [1, 1, 0], &[65.0], is_big);
            let sparse = level_4(("A", precision, 2), [5, 3, 0], &triplets, is_big);
            let found = read(&[text, sparse].concat()).unwrap();
            assert_eq!(rows(&found), (expected, Field::Real), "{precision} {is_big}");
            assert_eq!(found.warnings, ["read variable A; the file also has t"]);
        }
    }
}

#[test]
fn logical_and_complex_arrays_and_reserved_space_are_read() {
    let (row, begin) = (&[0.0, 1.0, 7.0][..], &[0.0, 0.0, 2.0][..]);
    let logical = [(5, row), (5, begin), (2, &[1.0, 1.0, 0.0][..])];
    let expected = (vec![vec![0.0, 1.0], vec![0.0, 1.0]], Field::Pattern);
    // Octave calls it an array of bytes.
    for flags in [0x205, 0x209] {
        let found = read(&file(&[variable(("A", flags), &[2.0, 2.0], &logical, false)], false));
        assert_eq!(rows(&found.unwrap()), expected);
    }
    let full = [(2, &[0.0, 0.0, 1.0, 1.0][..])];
    let found = read(&file(&[variable(("A", 0x209), &[2.0, 2.0], &full, false)], false));
    assert_eq!(rows(&found.unwrap()), expected);
    let (real, imaginary) = (&[1.0, 2.0][..], &[0.0, -3.0][..]);
    let complex = [(5, row), (5, begin), (9, real), (3, imaginary)];
    let level_5 = file(&[variable(("A", 0x805), &[2.0, 2.0], &complex, false)], false);
    let triplets = [1.0, 2.0, 2.0, 2.0, 2.0, 2.0, 1.0, 2.0, 0.0, 0.0, -3.0, 0.0];
    let sparse_4 = level_4(("A", 0, 2), [3, 4, 0], &triplets, false);
    let full = [0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 0.0, -3.0];
    let full_4 = level_4(("A", 0, 0), [2, 2, 1], &full, true);
    for data in [level_5, sparse_4, full_4] {
        let found = read(&data).unwrap();
        assert_eq!(found.field, Field::Complex);
        let AnyMatrix::Complex(a) = found.matrix else { panic!("a real matrix") };
        assert_eq!(a.col(), [1, 1]);
        let values: Vec<_> = a.val().iter().map(|value| (value.re, value.im)).collect();
        assert_eq!(values, [(1.0, 0.0), (2.0, -3.0)]);
        let limit = MemoryLimit::bytes(LIMIT);
        let vector = read_column(&data, Some(1), limit, Progress::none());
        assert!(matches!(vector, Err(IoError::RealOnly)), "{vector:?}");
    }
    // 2^63 - 1, which f64 cannot hold.
    let mut large = variable(("A", 14), &[2.0, 2.0], &[(12, &[1.0, 2.0, 3.0, 4.0])], false);
    let end = large.len() - 8;
    large[end..].copy_from_slice(&i64::MAX.to_le_bytes());
    let warnings = read(&file(&[large], false)).unwrap().warnings;
    assert_eq!(warnings, ["1 integer above 2^53 was rounded to f64"]);
}

#[test]
fn damaged_arrays_say_what_is_wrong() {
    let with = |dims: [f64; 2], row: &[f64], begin: &[f64], values: &[f64]| {
        let parts = [(5, row), (5, begin), (9, values)];
        read(&file(&[variable(("A", 5), &dims, &parts, false)], false)).unwrap_err()
    };
    let (row, begin, values) = (&[0.0, 1.0][..], &[0.0, 1.0, 2.0][..], &[5.0, 6.0][..]);
    for (error, expected) in [
        (
            with([2.0, 2.0], row, &[0.0, 2.0, 1.0], values),
            "do not descend, found another at column 1",
        ),
        (
            with([2.0, 2.0], row, &[1.0, 1.0, 2.0], values),
            "do not descend, found another at column 1",
        ),
        (
            with([2.0, 2.0], row, &[0.0, -1.0, 2.0], values),
            "do not descend, found another at column 1",
        ),
        (
            with([2.0, 2.0], row, &[0.0, 2.0], values),
            "expected 3 column pointers for 2 columns, found 2 numbers",
        ),
        (with([2.0, 2.0], row, begin, &[5.0]), "variable \"A\": expected 2 values, found 1"),
        (with([2.0, 2.0], &[0.0], begin, values), "variable \"A\": expected 2 values, found 1"),
        (
            with([2.0, 2.0], &[0.0, 2.0], begin, values),
            "nonzero 2 of the file is in row 3, column 2, but the matrix has 2 rows",
        ),
        (
            with([2.0, 2.0], &[0.0, -1.0], begin, values),
            "expected an index for value 2, found a negative number or a fraction",
        ),
        (with([2_147_483_647.0, 2.0], row, begin, values), "the matrix needs"),
        (with([2.0, 2_147_483_647.0], row, begin, values), "expected 2147483648 column pointers"),
        (with([-1.0, 2.0], row, begin, values), "expected two sizes from 0"),
    ] {
        assert!(error.contains(expected), "{error}");
    }
    let large = full("A", &[2_147_483_647.0, 2_147_483_647.0], &[1.0; 6]);
    let error = read(&file(&[large], false)).unwrap_err();
    assert_eq!(error, "variable \"A\": expected 4611686014132420609 values, found 6");
    let error = read(&level_4(("A", 0, 0), [u32::MAX, u32::MAX, 1], &[1.0], false)).unwrap_err();
    assert!(error.starts_with("byte 0: expected a whole matrix of a MATLAB 4 file"), "{error}");
    let error = read(&level_4(("A", 0, 2), [2, 2, 0], &[1.0; 4], false)).unwrap_err();
    assert!(error.contains("a sparse one with 3 or 4 columns"), "{error}");
    let error = read(&file(&[element(7, &[0; 8], false)], false)).unwrap_err();
    assert_eq!(error, "byte 128: expected a MATLAB variable, found an element of type 7");
    let mut header = file(&[], false);
    header[125] = 2;
    let error = read(&header).unwrap_err();
    assert!(error.ends_with("that ends with version 1 and IM or MI, found other bytes"), "{error}");
}

#[test]
fn a_file_that_is_cut_off_anywhere_is_refused() {
    let problem = structure("Problem", &[("A", sparse("", 9, 3.0, false))]);
    for data in [
        file(&[sparse("A", 2, 3.0, true)], true),
        file(&[packed(&sparse("A", 9, 3.0, false))], false),
        file(&[problem], false),
        level_4(("A", 0, 0), [2, 2, 0], &[1.0, 2.0, 3.0, 4.0], true),
        level_4(("A", 3, 2), [2, 3, 0], &[1.0, 2.0, 1.0, 2.0, 5.0, 0.0], false),
    ] {
        assert!(read(&data).is_ok());
        for end in 0..data.len() {
            assert!(read(&data[..end]).is_err(), "{end} of {}", data.len());
        }
    }
}

#[test]
fn compressed_data_do_not_exceed_the_limit_and_nesting_costs_nothing() {
    let bomb = packed(&full("A", &[2.0, 1_000_000.0], &vec![0.0; 2_000_000]));
    assert!(bomb.len() < 1 << 20);
    let limit = MemoryLimit::bytes(LIMIT);
    let options = ReadOptions::default();
    let data = file(&[bomb], false);
    let read = read_named_matrix_as("a.mat", &data, &options, limit, Progress::none());
    let error = read.unwrap_err().to_string();
    assert!(error.starts_with("the decompressed variable needs"), "{error}");
    let mut damaged = file(&[packed(&sparse("A", 9, 3.0, false))], false);
    let end = damaged.len() - 1;
    damaged[end] ^= 1;
    let error = self::read(&damaged).unwrap_err();
    assert!(error.contains("damaged"), "{error}");

    const DEPTH: usize = 300;
    let mut nested = sparse("", 9, 3.0, false);
    for level in 0..DEPTH {
        nested = structure(if level + 1 == DEPTH { "S" } else { "" }, &[("f", nested)]);
    }
    let name = format!("S{}", ".f".repeat(DEPTH));
    assert_eq!(read_as(&file(&[nested], false), Some(&name)).unwrap().matrix.nnz(), 4);
}
