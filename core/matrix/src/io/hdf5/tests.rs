use hdf5_pure::{AttrValue, DatasetBuilder, FileBuilder, FinishedGroup, GroupBuilder};

use crate::io::vector::Companion::{RightSide, Start};
use crate::io::{
    AnyMatrix, Field, MatrixFile, MatrixForm, Progress, ReadOptions, read_named_extent_as,
    read_named_matrix_as, vector,
};
use crate::memory::MemoryLimit;

/// The bytes of a file.
fn file(fill: impl FnOnce(&mut FileBuilder)) -> Vec<u8> {
    let mut builder = FileBuilder::new();
    fill(&mut builder);
    builder.finish().unwrap()
}

fn text(word: &str) -> AttrValue {
    AttrValue::AsciiString(word.to_owned())
}

/// The group of a sparse matrix: where each line begins, the places and the values.
fn group(
    mut group: GroupBuilder,
    [begin, places]: [(&str, &[i64]); 2],
    values: impl FnOnce(&mut DatasetBuilder),
) -> GroupBuilder {
    for (name, numbers) in [begin, places] {
        group.create_dataset(name).with_i64_data(numbers);
    }
    values(group.create_dataset("data"));
    group
}

/// [1 0; 0 2; 3 0] by columns, as MATLAB stores it.
fn matlab(
    builder: GroupBuilder,
    class: &str,
    values: impl FnOnce(&mut DatasetBuilder),
) -> FinishedGroup {
    let mut group = group(builder, [("jc", &[0, 2, 3]), ("ir", &[0, 2, 1])], values);
    group.set_attr("MATLAB_sparse", AttrValue::U64(3));
    group.set_attr("MATLAB_class", text(class));
    group.finish()
}

fn doubles(data: &mut DatasetBuilder) {
    data.with_f64_data(&[1.0, 3.0, 2.0]);
}

/// Reads the matrix, whose sizes have to be those that `extent` says.
fn read_as(data: &[u8], variable: Option<&str>) -> Result<MatrixFile, String> {
    let options = ReadOptions { variable: variable.map(str::to_owned), ..ReadOptions::default() };
    let (limit, progress) = (MemoryLimit::bytes(1 << 20), Progress::none());
    let file = read_named_matrix_as("a.h5", data, &options, limit, progress);
    let file = file.map_err(|error| error.to_string())?;
    let said = read_named_extent_as("a.h5", data, &options).map_err(|error| error.to_string())?;
    let matrix = &file.matrix;
    assert_eq!((said.rows, said.cols), (matrix.rows() as u64, matrix.cols() as u64));
    let nnz = matrix.nnz() as u64;
    assert!(said.entries == nnz || said.estimated && said.entries > nnz, "{said:?}, {nnz}");
    assert_eq!(file.form, MatrixForm::Hdf5);
    Ok(file)
}

/// The real matrix as rows of values.
fn rows(file: &MatrixFile) -> Vec<Vec<f64>> {
    let a = file.matrix.real().unwrap();
    let mut rows = vec![vec![0.0; a.cols()]; a.rows()];
    for (i, row) in rows.iter_mut().enumerate() {
        let (cols, values) = a.row(i);
        cols.iter().zip(values).for_each(|(j, value)| row[*j as usize] = *value);
    }
    rows
}

/// The matrix of these tests.
fn expected() -> Vec<Vec<f64>> {
    vec![vec![1.0, 0.0], vec![0.0, 2.0], vec![3.0, 0.0]]
}

#[test]
fn sparse_matrices_of_matlab_are_read_with_their_field() {
    let real = file(|f| {
        let group = f.create_group("A");
        f.add_group(matlab(group, "double", doubles));
    });
    let read = read_as(&real, None).unwrap();
    assert_eq!((rows(&read), read.field, read.warnings.len()), (expected(), Field::Real, 0));
    let logical = file(|f| {
        let group = f.create_group("A");
        f.add_group(matlab(group, "logical", |data| {
            data.with_u8_data(&[1, 1, 1]);
        }));
    });
    let read = read_as(&logical, None).unwrap();
    let ones = vec![vec![1.0, 0.0], vec![0.0, 1.0], vec![1.0, 0.0]];
    assert_eq!((rows(&read), read.field), (ones, Field::Pattern));
    let complex = file(|f| {
        let group = f.create_group("A");
        f.add_group(matlab(group, "double", |data| {
            data.with_complex64_data(&[(1.0, -1.0), (3.0, 0.0), (2.0, 0.5)]);
        }));
    });
    let AnyMatrix::Complex(a) = read_as(&complex, None).unwrap().matrix else { unreachable!() };
    let values: Vec<(f64, f64)> = a.val().iter().map(|value| (value.re, value.im)).collect();
    assert_eq!(values, [(1.0, -1.0), (2.0, 0.5), (3.0, 0.0)]);
    // MATLAB stores only the pointers of a matrix without nonzeros.
    let empty = file(|f| {
        let mut group = f.create_group("A");
        group.create_dataset("jc").with_u64_data(&[0, 0, 0]);
        group.set_attr("MATLAB_sparse", AttrValue::U64(3));
        f.add_group(group.finish());
    });
    assert_eq!(rows(&read_as(&empty, None).unwrap()), vec![vec![0.0; 2]; 3]);
}

#[test]
fn dense_matrices_of_matlab_lie_column_by_column_and_others_row_by_row() {
    let dense = |class: Option<&str>| {
        file(|f| {
            let data = f.create_dataset("A");
            data.with_i32_data(&[1, 0, 3, 0, 2, 0]).with_shape(&[2, 3]);
            if let Some(class) = class {
                data.set_attr("MATLAB_class", text(class));
            }
        })
    };
    let read = read_as(&dense(Some("int32")), None).unwrap();
    assert_eq!((rows(&read), read.field), (expected(), Field::Integer));
    let read = read_as(&dense(None), None).unwrap();
    assert_eq!(rows(&read), [[1.0, 0.0, 3.0], [0.0, 2.0, 0.0]]);
}

#[test]
fn matrices_of_10x_have_a_column_per_cell() {
    let tenx = file(|f| {
        let lines = [("indptr", &[0i64, 2, 3][..]), ("indices", &[0, 2, 1])];
        let mut group = group(f.create_group("GRCh38"), lines, |data| {
            data.with_i32_data(&[1, 3, 2]).with_chunks(&[2]).with_deflate(4);
        });
        group.create_dataset("shape").with_i32_data(&[3, 2]);
        f.add_group(group.finish());
    });
    let read = read_as(&tenx, None).unwrap();
    assert_eq!((rows(&read), read.field), (expected(), Field::Integer));
}

/// An AnnData file with three matrices.
fn anndata() -> Vec<u8> {
    file(|f| {
        let lines = [("indptr", &[0i64, 1, 2, 3][..]), ("indices", &[0, 1, 0])];
        let mut x = group(f.create_group("X"), lines, |data| {
            data.with_f32_data(&[1.0, 2.0, 3.0]).with_lzf();
        });
        x.set_attr("encoding-type", text("csr_matrix"));
        x.set_attr("shape", AttrValue::I64Array(vec![3, 2]));
        f.add_group(x.finish());
        let mut layers = f.create_group("layers");
        let counts = layers.create_dataset("counts");
        counts.with_f64_data(&[1.0, 0.0, 0.0, 2.0, 3.0, 0.0]).with_shape(&[3, 2]);
        f.add_group(layers.finish());
        let lines = [("indptr", &[0i64, 2, 3][..]), ("indices", &[0, 2, 1])];
        let mut raw = f.create_group("raw");
        let mut x = group(raw.create_group("X"), lines, doubles);
        x.set_attr("h5sparse_format", text("csc"));
        x.set_attr("h5sparse_shape", AttrValue::I64Array(vec![3, 2]));
        raw.add_group(x.finish());
        f.add_group(raw.finish());
        for table in ["obs", "var"] {
            let group = f.create_group(table);
            f.add_group(group.finish());
        }
    })
}

#[test]
fn of_anndata_x_is_read_or_the_layer_that_is_asked_for() {
    for variable in [None, Some("X"), Some("layers/counts"), Some("raw/X"), Some("raw.X")] {
        let read = read_as(&anndata(), variable).unwrap();
        assert_eq!((rows(&read), read.field), (expected(), Field::Real), "{variable:?}");
    }
    let error = read_as(&anndata(), Some("layers/log")).unwrap_err();
    assert_eq!(error, "expected a matrix at \"layers/log\", found X, layers, raw, obs, var");
}

#[test]
fn the_choice_is_that_of_other_matlab_files() {
    let several = |names: &[&str]| {
        file(|f| {
            for name in names {
                let group = f.create_group(name);
                f.add_group(matlab(group, "double", doubles));
            }
            f.create_dataset("b").with_f64_data(&[1.0]);
        })
    };
    let warnings = read_as(&several(&["A"]), None).unwrap().warnings;
    assert_eq!(warnings, ["read variable A; the file also has b"]);
    let error = read_as(&several(&["A", "B"]), None).unwrap_err();
    assert_eq!(
        error,
        "expected one matrix in the file, found A, B; choose one with --variable NAME"
    );
    assert_eq!(rows(&read_as(&several(&["A", "B"]), Some("B")).unwrap()), expected());
    let error = read_as(&several(&[]), None).unwrap_err();
    assert_eq!(error, "expected a sparse or full matrix in the file, found b");
    let problem = file(|f| {
        let mut problem = f.create_group("Problem");
        let a = problem.create_group("A");
        problem.add_group(matlab(a, "double", doubles));
        f.add_group(problem.finish());
    });
    for variable in [None, Some("Problem.A"), Some("Problem/A")] {
        assert_eq!(rows(&read_as(&problem, variable).unwrap()), expected());
    }
}

#[test]
fn vectors_are_read_from_files_of_their_own_and_beside_the_matrix() {
    let limit = MemoryLimit::bytes(1 << 20);
    let read = |data: &[u8], column| {
        let read = vector::read_column(data, column, limit, Progress::none());
        read.map(|file| file.values).map_err(|error| error.to_string())
    };
    let companion = |data: &[u8], which, column| {
        let read = vector::read_companion(data, (which, column), limit, Progress::none());
        read.map(|file| file.values).map_err(|error| error.to_string())
    };
    // Two columns of MATLAB, one dimension of h5py.
    let columns = |data: &mut DatasetBuilder| {
        data.with_f64_data(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).with_shape(&[2, 3]);
        data.set_attr("MATLAB_class", text("double"));
    };
    let line = |data: &mut DatasetBuilder| {
        data.with_i32_data(&[7, 8, 9]);
    };
    let b = file(|f| line(f.create_dataset("b")));
    assert_eq!(read(&b, None).unwrap(), [7.0, 8.0, 9.0]);
    let array = file(|f| columns(f.create_dataset("b")));
    assert_eq!(read(&array, Some(2)).unwrap(), [4.0, 5.0, 6.0]);
    assert_eq!(read(&array, Some(3)).unwrap_err(), "expected a column from 1 to 2, found 3");
    assert_eq!(read(&array, None).unwrap_err(), "expected a vector in the file, found b");

    let beside = file(|f| {
        let group = f.create_group("A");
        f.add_group(matlab(group, "double", doubles));
        columns(f.create_dataset("b"));
        line(f.create_dataset("x"));
    });
    assert_eq!(companion(&beside, RightSide, Some(1)).unwrap(), [1.0, 2.0, 3.0]);
    assert_eq!(companion(&beside, Start, None).unwrap(), [7.0, 8.0, 9.0]);
    let problem = file(|f| {
        let mut problem = f.create_group("Problem");
        let a = problem.create_group("A");
        problem.add_group(matlab(a, "double", doubles));
        line(problem.create_dataset("b"));
        f.add_group(problem.finish());
    });
    assert_eq!(companion(&problem, RightSide, None).unwrap(), [7.0, 8.0, 9.0]);
    assert!(companion(&problem, Start, None).unwrap_err().ends_with("found none"));
}

/// A variable as Octave stores it.
fn octave(
    mut group: GroupBuilder,
    kind: &str,
    fill: impl FnOnce(&mut GroupBuilder),
) -> FinishedGroup {
    group.create_dataset("type").with_ascii_strings(&[kind]).unwrap();
    fill(&mut group);
    group.finish()
}

/// The matrix of these tests.
fn octave_sparse(group: GroupBuilder, kind: &str) -> FinishedGroup {
    octave(group, kind, |group| {
        let mut value = group.create_group("value");
        for (name, numbers) in
            [("nr", &[3i64][..]), ("nc", &[2]), ("cidx", &[0, 2, 3]), ("ridx", &[0, 2, 1])]
        {
            value.create_dataset(name).with_i64_data(numbers);
        }
        doubles(value.create_dataset("data"));
        group.add_group(value.finish());
    })
}

#[test]
fn fields_of_a_struct_of_octave_are_found_and_its_texts_are_no_matrices() {
    let vector = |group: &mut GroupBuilder| {
        group.create_dataset("value").with_f64_data(&[7.0, 8.0, 9.0]).with_shape(&[1, 3]);
    };
    let text = |group: &mut GroupBuilder| {
        group.create_dataset("value").with_i8_data(&[97, 98, 99, 100]).with_shape(&[2, 2]);
    };
    let problem = file(|f| {
        let group = f.create_group("Problem");
        f.add_group(octave(group, "scalar struct", |group| {
            let mut fields = group.create_group("value");
            let a = fields.create_group("A");
            fields.add_group(octave_sparse(a, "sparse matrix"));
            let b = fields.create_group("b");
            fields.add_group(octave(b, "matrix", vector));
            group.add_group(fields.finish());
        }));
        let name = f.create_group("name");
        f.add_group(octave(name, "sq_string", text));
    });
    for variable in [None, Some("Problem.A"), Some("Problem/A")] {
        let read = read_as(&problem, variable).unwrap();
        assert_eq!((rows(&read), read.field), (expected(), Field::Real), "{variable:?}");
        let told = "read variable Problem.A; the file also has name";
        assert!(variable.is_some() || read.warnings == [told], "{:?}", read.warnings);
    }
    let error = read_as(&problem, Some("Problem.C")).unwrap_err();
    assert_eq!(error, "expected a matrix at \"Problem.C\", found Problem, name");
    let (limit, none) = (MemoryLimit::bytes(1 << 20), Progress::none());
    let b = vector::read_companion(&problem, (RightSide, None), limit, none).unwrap();
    assert_eq!(b.values, [7.0, 8.0, 9.0]);
    let beside = file(|f| {
        let group = f.create_group("b");
        f.add_group(octave(group, "matrix", vector));
        let group = f.create_group("name");
        f.add_group(octave(group, "string", text));
    });
    let b = vector::read_column(&beside, Some(1), limit, none).unwrap();
    assert_eq!(b.values, [7.0, 8.0, 9.0]);
    let logical = file(|f| {
        let group = f.create_group("L");
        f.add_group(octave_sparse(group, "sparse bool matrix"));
    });
    assert_eq!(read_as(&logical, None).unwrap().field, Field::Pattern);
    let text = file(|f| {
        let group = f.create_group("name");
        f.add_group(octave(group, "string", text));
    });
    let error = read_as(&text, None).unwrap_err();
    assert_eq!(error, "expected a sparse or full matrix in the file, found name");
}

#[test]
fn what_does_not_fit_is_refused() {
    let sparse = |begin: &[i64], places: &[i64]| {
        let data = file(|f| {
            let lines = [("indptr", begin), ("indices", places)];
            let mut group = group(f.create_group("matrix"), lines, doubles);
            group.create_dataset("shape").with_i32_data(&[3, 2]);
            f.add_group(group.finish());
        });
        read_as(&data, None).unwrap_err()
    };
    for (begin, places, expected) in [
        (&[0, 2][..], &[0, 2, 1][..], "expected 3 column pointers for 2 columns, found 2 numbers"),
        (&[0, 2, 4], &[0, 2, 1], "expected 4 values, found 3"),
        (&[0, 3, 2], &[0, 2, 1], "pointers that begin with 0 and do not descend"),
        (&[0, 2, 3], &[0, 3, 1], "row 4, column 1, but the matrix has 3 rows and 2 columns"),
        (&[0, 2, 3], &[0, -1, 1], "expected an index for value 2"),
    ] {
        let error = sparse(begin, places);
        assert!(error.contains(expected), "{error}");
    }
    // Zeros that deflate makes a thousandth of do not fit into the limit.
    let zeros = file(|f| {
        let data = f.create_dataset("A");
        data.with_u8_data(&vec![0; 1 << 21]).with_shape(&[1 << 10, 1 << 11]);
        data.with_chunks(&[1 << 10, 1 << 11]).with_deflate(9);
    });
    let error = read_as(&zeros, None).unwrap_err();
    assert!(error.contains("the variable \"A\" needs") && error.contains("limit"), "{error}");
}

#[test]
fn a_damaged_file_is_read_or_refused_in_one_sentence() {
    let options = ReadOptions::default();
    let check = |data: &[u8]| {
        let (limit, progress) = (MemoryLimit::bytes(1 << 20), Progress::none());
        if let Err(error) = read_named_matrix_as("a.h5", data, &options, limit, progress) {
            let error = error.to_string();
            assert!(!error.is_empty() && !error.contains(char::is_control), "{error}");
        }
    };
    let whole = anndata();
    for place in 0..whole.len() {
        let mut data = whole.clone();
        data[place] ^= 0xff;
        check(&data);
        if place % 16 == 0 {
            check(&whole[..place]);
        }
    }
}
