//! Tests of the round trip and of the written form.

use proptest::prelude::*;

use super::*;

fn round_trip<T: WriteValue>(matrix: &Csr<T>) -> MatrixFile {
    let mut text = Vec::new();
    write(matrix, &mut text, Progress::none()).unwrap();
    read_bytes(&text, MemoryLimit::unlimited(), Progress::none()).unwrap()
}

/// Any bit pattern, with a single NaN.
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

#[test]
fn a_symmetric_matrix_is_written_as_one_triangle_and_others_are_refused() {
    let text = |a: &Csr| {
        let mut text = Vec::new();
        write_symmetric(a, Field::Real, &mut text, Progress::none())
            .map(|()| String::from_utf8(text).unwrap())
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
        format!("{so} row 1, column 2 is 2.5, row 2, column 1 is 2")
    );
    assert_eq!(
        refused(3, &[(2, 0, 1.0)]),
        format!("{so} row 3, column 1 is 1, row 1, column 3 is missing")
    );
    assert_eq!(
        refused(4, &[]),
        "a 4 x 3 matrix is not square and cannot be written as one triangle"
    );
    let a = Csr::from_triplets(2, 2, &mirrored(&[(1, 0, 1.0)])).unwrap();
    let mut text = Vec::new();
    write_symmetric(&a, Field::Pattern, &mut text, Progress::none()).unwrap();
    assert_eq!(text, b"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n");
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
                "the value 0.5 in row 4, column 3 cannot be written to a file with field {field}"
            )
        );
    }
    for value in [f64::NAN, f64::INFINITY, 1e300] {
        let a = Csr::from_triplets(1, 1, &[(0, 0, value)]).unwrap();
        assert!(text(&a, Field::Integer).is_err(), "{value}");
    }
}
