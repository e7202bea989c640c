//! Files as PETSc writes them, built number by number.

use num_complex::Complex64;

use super::*;
use crate::io::{read_named_extent, read_named_matrix, vector};
use crate::matrix::Csr;

/// Integers of 4 or 8 bytes.
fn integers(is_wide: bool, numbers: &[i64]) -> Vec<u8> {
    let bytes = |n: &i64| match is_wide {
        true => n.to_be_bytes().to_vec(),
        false => (*n as i32).to_be_bytes().to_vec(),
    };
    numbers.iter().flat_map(bytes).collect()
}

fn doubles(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

fn singles(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_be_bytes()).collect()
}

/// The matrix 2 -1 0 / 0 0 0 / 5 0 0.5 up to its values.
fn places(is_wide: bool) -> Vec<u8> {
    integers(is_wide, &[MATRIX, 3, 3, 4, 2, 0, 2, 0, 1, 0, 2])
}

const VALUES: [f64; 4] = [2.0, -1.0, 5.0, 0.5];

fn three_by_three() -> Csr {
    let entries = [(0, 0, 2.0), (0, 1, -1.0), (2, 0, 5.0), (2, 2, 0.5)];
    Csr::from_triplets(3, 3, &entries).unwrap()
}

fn read_file(data: &[u8]) -> Result<MatrixFile, IoError> {
    read_named_matrix("a.petsc", data, MemoryLimit::bytes(1 << 20), Progress::none())
}

fn message(data: &[u8]) -> String {
    read_file(data).unwrap_err().to_string()
}

#[test]
fn integers_of_both_widths_and_real_values_of_both_are_read() {
    for is_wide in [false, true] {
        let single: Vec<f32> = VALUES.iter().map(|value| *value as f32).collect();
        for values in [doubles(&VALUES), singles(&single)] {
            let data = [places(is_wide), values].concat();
            let file = read_file(&data).unwrap();
            assert_eq!(file.matrix, AnyMatrix::Real(three_by_three()), "{is_wide}");
            assert_eq!((file.form, file.field), (MatrixForm::Petsc, Field::Real));
            assert_eq!(file.warnings, [""; 0]);
            let extent = read_named_extent("a.bin", &data).unwrap();
            let sizes = (extent.rows, extent.cols, extent.entries, extent.estimated);
            assert_eq!(sizes, (3, 3, 4, false));
        }
    }
}

#[test]
fn complex_values_are_told_from_real_ones() {
    let values = [(2.0, 0.0), (-1.0, 1.5), (5.0, -0.25), (0.5, 3.0)];
    let entries = [(0, 0), (0, 1), (2, 0), (2, 2)].iter().zip(values);
    let entries: Vec<_> =
        entries.map(|((i, j), (re, im))| (*i, *j, Complex64::new(re, im))).collect();
    let expected = AnyMatrix::Complex(Csr::from_triplets(3, 3, &entries).unwrap());
    let numbers: Vec<f64> = values.iter().flat_map(|(re, im)| [*re, *im]).collect();
    let file = read_file(&[places(false), doubles(&numbers)].concat()).unwrap();
    assert_eq!((&file.matrix, file.field), (&expected, Field::Complex));
    assert_eq!(file.warnings, [""; 0]);
    // Eight bytes: eight different second halves that are plausible numbers are no chance.
    let many: Vec<f32> = (1..9u8).flat_map(|k| [f32::from(k), 0.1 * f32::from(k)]).collect();
    let row = integers(false, &[MATRIX, 1, 8, 8, 8, 0, 1, 2, 3, 4, 5, 6, 7]);
    let file = read_file(&[row.clone(), singles(&many)].concat()).unwrap();
    let AnyMatrix::Complex(a) = &file.matrix else { panic!("{file:?}") };
    assert_eq!(a.val()[2], Complex64::new(3.0, f64::from(0.1f32 * 3.0)));
    assert!(file.warnings[0].starts_with("the values were read as complex numbers of 4 + 4"));
    // So are whole first halves.
    let stencil = [[4.0f32, 0.0], [-1.0, 0.0]].concat().repeat(4);
    let file = read_file(&[row.clone(), singles(&stencil)].concat()).unwrap();
    let AnyMatrix::Complex(a) = &file.matrix else { panic!("{file:?}") };
    assert_eq!(a.val()[1], Complex64::new(-1.0, 0.0));
    // Digits of real numbers are no plausible second halves.
    let thirds: Vec<f64> = (1..9u8).map(|k| f64::from(k) / 7.0).collect();
    let file = read_file(&[row.clone(), doubles(&thirds)].concat()).unwrap();
    assert_eq!(file.matrix.real().unwrap().val(), thirds);
    assert_eq!(file.warnings, [""; 0]);
    // The second half of 0.3 is 0x33333333, as a number 4e-8.
    let file = read_file(&[row, doubles(&[0.3; 8])].concat()).unwrap();
    assert_eq!(file.matrix.real().unwrap().val(), [0.3; 8]);
    assert!(file.warnings[0].starts_with("the values were read as real numbers of 8 bytes"));
}

#[test]
fn complex_numbers_of_any_size_are_not_taken_for_numbers_of_16_bytes() {
    let sizes = integers(false, &[MATRIX, 1, 1, 1, 1, 0]);
    for (re, im) in [
        (5e-324, f64::INFINITY),
        (f64::NAN, 1.0),
        (1.5, f64::NAN),
        (0.1, -5e-324),
        (-0.0, 1e-300),
        (1e300, 1e-300),
        (0.1, f64::NEG_INFINITY),
    ] {
        let file = read_file(&[sizes.clone(), doubles(&[re, im])].concat()).unwrap();
        let AnyMatrix::Complex(a) = &file.matrix else { panic!("{file:?}") };
        let parts = (a.val()[0].re.to_bits(), a.val()[0].im.to_bits());
        assert_eq!(parts, (re.to_bits(), im.to_bits()), "{re} + {im} i");
    }
}

/// The bits of whole numbers from 1 as `__float128`.
fn quadruple(n: u64) -> [u8; 16] {
    let exponent = n.ilog2();
    let digits = (n << (48 - exponent)) & ((1 << 48) - 1);
    let first = (u64::from(0x3fff + exponent) << 48) | digits;
    (u128::from(first) << 64).to_be_bytes()
}

#[test]
fn numbers_of_16_bytes_are_refused() {
    let whole: Vec<u8> = [1, 2, 3, 5].into_iter().flat_map(quadruple).collect();
    // 1/3 = 0x3ffd 5555...
    let mut third = [0x55; 16];
    third[..2].copy_from_slice(&[0x3f, 0xfd]);
    for values in [whole, [third; 4].concat()] {
        let error = message(&[places(true), values].concat());
        assert!(error.contains("numbers of 16 bytes (__float128)"), "{error}");
    }
}

#[test]
fn dense_values_come_row_by_row() {
    let data = [integers(false, &[MATRIX, 2, 3, -1]), doubles(&[1.0, 0.0, 2.5, 0.0, 4.0, -5.0])];
    let data = data.concat();
    let entries = [(0, 0, 1.0), (0, 2, 2.5), (1, 1, 4.0), (1, 2, -5.0)];
    let expected = AnyMatrix::Real(Csr::from_triplets(2, 3, &entries).unwrap());
    assert_eq!(read_file(&data).unwrap().matrix, expected);
    let extent = read_named_extent("a", &data).unwrap();
    assert_eq!((extent.rows, extent.cols, extent.entries, extent.estimated), (2, 3, 6, true));
}

#[test]
fn vectors_around_the_matrix_are_passed_and_those_after_it_are_its_companions() {
    use vector::Companion::{RightSide, Start};
    let vector = |values: &[f64]| {
        [integers(false, &[VECTOR, values.len() as i64]), doubles(values)].concat()
    };
    let before = [integers(false, &[INDICES, 2, 7, 8]), vector(&[9.0])].concat();
    let matrix = [places(false), doubles(&VALUES)].concat();
    let after = [vector(&[1.0, 0.1, 3.0]), vector(&[7.0, 8.0, 9.5])].concat();
    let data = [before.clone(), matrix, after.clone()].concat();
    assert_eq!(read_file(&data).unwrap().matrix, AnyMatrix::Real(three_by_three()));
    let limit = MemoryLimit::unlimited();
    let companion = |data: &[u8], which, column| {
        let read = vector::read_companion(data, (which, column), limit, Progress::none());
        read.map(|file| file.values).map_err(|error| error.to_string())
    };
    assert_eq!(companion(&data, RightSide, None).unwrap(), [1.0, 0.1, 3.0]);
    assert_eq!(companion(&data, Start, Some(1)).unwrap(), [7.0, 8.0, 9.5]);
    assert!(companion(&data, Start, Some(2)).unwrap_err().starts_with("expected a column"));
    let alone = [places(false), doubles(&VALUES)].concat();
    assert!(companion(&alone, RightSide, None).unwrap_err().ends_with("found none"));
    // A vector in a file of its own.
    let read = |data: &[u8]| vector::read_bytes(data, limit, Progress::none());
    assert_eq!(read(&after[..32]).unwrap(), [1.0, 0.1, 3.0]);
    assert_eq!(read(&alone).unwrap_err().to_string(), "expected a vector, found a 3 x 3 matrix");
    assert_eq!(message(&before), "expected a matrix, found a PETSc file with vectors only");
    let complex = [integers(true, &[VECTOR, 2]), doubles(&[1.0, 0.5, 2.0, -0.5])].concat();
    assert!(matches!(read(&complex), Err(IoError::RealOnly)));
}

#[test]
fn what_is_wrong_is_one_sentence() {
    let whole = [places(false), doubles(&VALUES)].concat();
    for (data, expected) in [
        (
            whole[..10].to_vec(),
            "byte 0: expected the sizes of a PETSc matrix, found the end of the file",
        ),
        (
            whole[..30].to_vec(),
            "expected the values after byte 44, found the end of the file after 30 bytes",
        ),
        (
            whole[..75].to_vec(),
            "expected 4 values of 4, 8, 16 or 32 bytes from byte 44 to the end of the file or the next object, found 31 bytes",
        ),
        (
            [integers(false, &[MATRIX, 2, 2, 2, 1, 2, 0, 1]), doubles(&[1.0, 2.0])].concat(),
            "expected a length from 0 to 1 of row 2 of the PETSc matrix, because it declares 2 nonzeros, found 2",
        ),
        (
            [integers(false, &[MATRIX, 2, 2, 2, 1, 0, 0, 1]), doubles(&[1.0, 2.0])].concat(),
            "the PETSc matrix declares 2 nonzeros, but the lengths of its rows add up to 1",
        ),
        (
            [integers(false, &[MATRIX, 1, 2, 1, 1, -3]), doubles(&[1.0])].concat(),
            "expected a column from 0 to 1 in row 1 of the PETSc matrix, found -3",
        ),
        (
            [integers(false, &[MATRIX, 1, 2, 1, 1, 2]), doubles(&[1.0])].concat(),
            "nonzero 1 of the file is in row 1, column 3, but the matrix has 1 rows and 2 columns",
        ),
        (
            integers(false, &[MATRIX, -1, 2, 0]),
            "byte 0: expected the sizes of a PETSc matrix, found -1",
        ),
    ] {
        assert_eq!(message(&data), expected);
    }
    let huge = integers(true, &[MATRIX, i64::MAX, i64::MAX, i64::MAX]);
    assert!(message(&huge).contains("too large"));
    assert!(message(&integers(true, &[MATRIX, 1 << 31, 0, -1])).contains("needs"));
}

#[test]
fn what_is_written_reads_back_bit_for_bit() {
    let complex = three_by_three().map(|value| Complex64::new(value, -value / 3.0));
    let empty = Csr::from_triplets(2, 5, &[]).unwrap();
    for a in [
        AnyMatrix::Real(three_by_three()),
        AnyMatrix::Real(three_by_three().map(|value| value / 3.0)),
        AnyMatrix::Complex(complex),
        AnyMatrix::Real(empty),
    ] {
        let mut data = Vec::new();
        write_petsc(&a, &mut data, Progress::none()).unwrap();
        assert_eq!(read_file(&data).unwrap().matrix, a);
    }
    let mut data = Vec::new();
    write_petsc(&AnyMatrix::Real(three_by_three()), &mut data, Progress::none()).unwrap();
    assert_eq!(data, [places(false), doubles(&VALUES)].concat());
}
