//! Which variable is read, as the matrix and as a vector.

use super::*;

#[test]
fn the_matrix_is_the_only_one_or_the_one_asked_for() {
    let square = |name: &str| full(name, &[2.0, 2.0], &[1.0, 2.0, 3.0, 4.0]);
    let b = || full("b", &[2.0, 1.0], &[5.0, 6.0]);
    let text = || variable(("title", 4), &[1.0, 2.0], &[(4, &[72.0, 105.0])], false);
    let problem = || {
        let inner = full("", &[2.0, 2.0], &[9.0, 0.0, 0.0, 9.0]);
        let aux = structure("", &[("M", inner)]);
        let fields =
            [("title", text()), ("A", sparse("", 9, 3.0, false)), ("b", b()), ("aux", aux)];
        structure("Problem", &fields)
    };
    let cube = full("T", &[1.0, 2.0, 2.0], &[1.0; 4]);
    for (variables, wanted, nnz, warning) in [
        (vec![b(), sparse("A", 9, 3.0, false), square("M")], None, 4, "A; the file also has b, M"),
        (vec![problem()], None, 4, ""),
        (vec![packed(&problem()), square("M")], None, 4, "Problem.A; the file also has M"),
        (vec![b(), square("M"), text(), cube.clone()], None, 4, "M; the file also has b, title, T"),
        (vec![packed(&problem()), b()], Some("Problem.aux.M"), 2, ""),
        (vec![square("M"), b(), cube.clone()], Some("b"), 2, ""),
        (vec![sparse("B", 9, 3.0, false), sparse("A", 9, 3.0, false)], Some("A"), 4, ""),
    ] {
        let found = read_as(&file(&variables, false), wanted).unwrap();
        assert_eq!(found.matrix.nnz(), nnz, "{wanted:?}");
        let expected = (!warning.is_empty()).then(|| format!("read variable {warning}"));
        assert_eq!(found.warnings, Vec::from_iter(expected));
    }
    let many: Vec<_> = ["A", "B", "C", "D", "E", "F", "G"].map(square).to_vec();
    for (variables, wanted, expected) in [
        (
            many,
            None,
            "expected one matrix in the file, found A, B, C, D, E and 2 more; choose one with --variable NAME",
        ),
        (vec![b(), text()], None, "expected a sparse or full matrix in the file, found b, title"),
        (vec![], None, "expected a sparse or full matrix in the file, found no variable"),
        (vec![b()], Some("A"), "expected the variable \"A\", found b"),
        (vec![b()], Some("b.A"), "variable \"b\": expected a struct, found something else"),
        (
            vec![problem()],
            Some("Problem.x"),
            "variable \"Problem\": expected the field x, found none",
        ),
        (
            vec![problem()],
            Some("Problem.aux"),
            "variable \"Problem\": expected numbers, found a struct; give one of its fields as NAME.FIELD",
        ),
        (vec![text()], Some("title"), "variable \"title\": expected numbers, found text"),
        (vec![cube], Some("T"), "variable \"T\": expected two dimensions, found 3"),
        (
            vec![full("N", &[-1.0, 1.0], &[])],
            Some("N"),
            "variable \"N\": expected two sizes from 0, found a negative one",
        ),
        (
            vec![structure("S", &[("M", full("", &[2.0, 2.0], &[1.0; 4]))])],
            None,
            "expected a sparse or full matrix in the file, found S; choose a field of a struct with --variable NAME.FIELD",
        ),
    ] {
        assert_eq!(read_as(&file(&variables, false), wanted).unwrap_err(), expected);
    }
}

#[test]
fn vectors_are_variables_or_fields_of_the_problem() {
    let b = full("b", &[2.0, 1.0], &[5.0, 6.0]);
    let wide = full("b", &[2.0, 2.0], &[5.0, 6.0, 7.0, 8.0]);
    let x0 = full("x0", &[1.0, 2.0], &[1.0, 0.0]);
    let a = sparse("A", 9, 3.0, false);
    let column = [(5, &[1.0][..]), (5, &[0.0, 1.0][..]), (9, &[6.0][..])];
    let sparse_b = variable(("b", 5), &[2.0, 1.0], &column, false);
    let problem = structure("Problem", &[("A", a.clone()), ("b", wide.clone()), ("x", x0.clone())]);
    let limit = MemoryLimit::bytes(LIMIT);
    let (right, start) = (Companion::RightSide, Companion::Start);
    for (variables, wanted, expected) in [
        (vec![a.clone(), b.clone(), x0.clone()], (right, None), vec![5.0, 6.0]),
        (vec![a.clone(), b.clone(), packed(&x0)], (start, None), vec![1.0, 0.0]),
        (vec![a.clone(), packed(&wide)], (right, Some(2)), vec![7.0, 8.0]),
        (vec![a.clone(), sparse_b.clone()], (right, None), vec![0.0, 6.0]),
        (vec![packed(&problem)], (right, Some(1)), vec![5.0, 6.0]),
        (vec![problem], (start, None), vec![1.0, 0.0]),
    ] {
        let read = read_companion(&file(&variables, false), wanted, limit, Progress::none());
        assert_eq!(read.unwrap().values, expected);
    }
    let plain = |variables: &[Vec<u8>], column| {
        let read = read_column(&file(variables, false), column, limit, Progress::none());
        read.map(|file| file.values).map_err(|error| error.to_string())
    };
    let single = full("n", &[1.0, 1.0], &[2.0]);
    assert_eq!(plain(&[single.clone(), b.clone(), wide.clone()], None).unwrap(), [5.0, 6.0]);
    assert_eq!(plain(std::slice::from_ref(&single), None).unwrap(), [2.0]);
    assert_eq!(plain(std::slice::from_ref(&wide), Some(2)).unwrap(), [7.0, 8.0]);
    let error = plain(std::slice::from_ref(&wide), Some(3)).unwrap_err();
    assert_eq!(error, "expected a column from 1 to 2, found 3");
    let error = plain(&[b.clone(), x0], None).unwrap_err();
    assert_eq!(error, "expected one vector in the file, found b, x0");
    let error = plain(&[wide], None).unwrap_err();
    assert_eq!(error, "expected a vector in the file, found b");
    let outside = [(5, &[2.0][..]), (5, &[0.0, 1.0][..]), (9, &[6.0][..])];
    let error = plain(&[variable(("b", 5), &[2.0, 1.0], &outside, false)], None).unwrap_err();
    assert_eq!(error, "variable \"b\": an index is outside its 2 x 1 values");
}

#[test]
fn a_variable_is_named_for_matlab_files_only() {
    let limit = MemoryLimit::bytes(LIMIT);
    let of = |name: &str, data: &[u8], options: &ReadOptions| {
        let read = read_named_matrix_as(name, data, options, limit, Progress::none());
        let error = read.unwrap_err().to_string();
        let extent = read_named_extent_as(name, data, options);
        assert_eq!(extent.unwrap_err().to_string(), error);
        error
    };
    let named = ReadOptions { variable: Some("A".to_owned()), ..ReadOptions::default() };
    let text = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
    assert_eq!(
        of("a.mtx", text, &named),
        "line 1: expected a MATLAB or HDF5 file, because a variable is given, found a file of the form \"Matrix Market\""
    );
    assert!(of("a.edges", b"1 2\n", &named).contains("expected a MATLAB or HDF5 file"));
    let data = file(&[sparse("A", 9, 3.0, false)], false);
    let mirrored = ReadOptions { undirected: true, ..named };
    assert!(of("a.mat", &data, &mirrored).contains("expected an edge list"));
}
