//! Tests with real matrices and the unusual and malformed files of other parsers' test suites.

use std::path::Path;

use sparsescope_test_need::{Need, matrices, skip};

use super::*;
use crate::memory::MemoryLimit;
use crate::pace::at_once;

fn open(path: &Path) -> Result<MatrixFile, IoError> {
    open_matrix(path, MemoryLimit::unlimited(), Progress::none())
}

#[test]
fn every_real_matrix_has_the_rows_columns_and_entries_of_its_index() {
    let Some(folder) = matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let index = std::fs::read_to_string(folder.join("INDEX.md")).unwrap();
    let mut seen = 0;
    let mut differing = Vec::new();
    for line in index.lines().filter(|line| line.contains(".mtx")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[_, name, rows, cols, nnz, ..] = cells.as_slice() else { continue };
        let matrix = open(&folder.join(name)).unwrap().matrix;
        let found = [matrix.rows(), matrix.cols(), matrix.nnz()].map(|n| n.to_string());
        if found != [rows, cols, nnz] {
            differing.push(format!("{name} {}", found.join(" ")));
        }
        let (said, nnz) = (
            open_extent(&folder.join(name), &ReadOptions::default()).unwrap(),
            matrix.nnz() as u64,
        );
        assert_eq!([said.rows, said.cols].map(|n| n.to_string()), [rows, cols], "{name}");
        assert!(said.entries == nnz || said.estimated && said.entries > nnz, "{name} {said:?}");
        seen += 1;
    }
    // The index counts nonzeros; these files also hold explicit zeros, which are stored (SciPy
    // counts 559343, 207695, 112 and 132 as well).
    let with_explicit_zeros = [
        "c-62.mtx.gz 41731 41731 559343",
        "s3rmt3m3.mtx.gz 5357 5357 207695",
        "bcsstm03.mtx 112 112 112",
        "bcsstm04.mtx 132 132 132",
    ];
    assert_eq!(differing, with_explicit_zeros);
    assert!(seen > 100, "the index names only {seen} matrices");
}

/// A line `file rows cols nnz` or `file refused: part of the message` for each file of `parser/`.
/// Sizes are those of SciPy's reader after expanding symmetry and summing duplicates.
const VERDICTS: &str = include_str!("parser_verdicts.txt");

#[test]
fn every_file_of_other_parsers_suites_has_its_verdict() {
    let Some(folder) = matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let folder = folder.join("parser");
    let mut wrong = Vec::new();
    let verdicts = VERDICTS.lines().filter(|line| !line.starts_with('#'));
    for line in verdicts {
        let (name, expected) = line.split_once(' ').unwrap();
        let found = match open(&folder.join(name)) {
            Ok(MatrixFile { matrix: m, .. }) => format!("{} {} {}", m.rows(), m.cols(), m.nnz()),
            Err(error) => error.to_string(),
        };
        let agrees = match expected.strip_prefix("refused: ") {
            Some(part) => found.contains(part),
            None => found == expected,
        };
        if !agrees {
            wrong.push(format!("{name}: expected {expected}, found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for file in folder.read_dir().unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let listed = VERDICTS.lines().any(|line| line.split(' ').next() == Some(&name));
        assert!(listed || !name.contains(".mtx"), "{name} has no verdict");
    }
}

/// Files on which our verdict differs from that of the strict reader behind the `strict` column,
/// and why ours is right.
const OTHER_VERDICTS: [(&str, &str); 9] = [
    ("cysparse__togolo.mtx", "refused: rows and columns are 32-bit here"),
    ("cysparse__togolo__2.mtx", "refused: rows and columns are 32-bit here"),
    ("fmm__permissive_banner_one_percent_eye3.mtx", "read: one % instead of two is clear"),
    ("fmm__py_dim_over_32_bit.mtx", "refused: rows and columns are 32-bit here"),
    (
        "fmm__py_matrix_coordinate_real_skew-symmetric.mtx",
        "refused: a non-zero diagonal entry of a skew-symmetric matrix contradicts itself",
    ),
    ("misc__Ragusa16.mtx", "read: the values in a pattern file are ignored with a warning"),
    ("misc__Tina_AskCal_perm.mtx", "read: the values in a pattern file are ignored with a warning"),
    ("psblas__matrix1.mtx", "read: Fortran's exponent 1.000d+00 is a number"),
    ("psblas__matrix1_z.mtx", "read: Fortran's exponent 1.000d+00 is a number"),
];

#[test]
fn verdicts_differ_from_a_strict_readers_only_where_that_was_decided() {
    let Some(folder) = matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let folder = folder.join("parser");
    let index = std::fs::read_to_string(folder.join("INDEX.md")).unwrap();
    let mut differing = Vec::new();
    let mut seen = 0;
    for line in index.lines().filter(|line| line.contains(".mtx")) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let &[_, name, strict, ..] = cells.as_slice() else { continue };
        seen += 1;
        let size = strict.strip_prefix("valid ").and_then(|s| s.split(',').next());
        match (open(&folder.join(name)), size) {
            (Ok(file), Some(size)) => {
                let found = format!("{}x{}", file.matrix.rows(), file.matrix.cols());
                assert_eq!(found, size, "{name}");
            }
            (Err(_), None) => {}
            _ => differing.push(name),
        }
    }
    assert_eq!(differing, OTHER_VERDICTS.map(|(name, _)| name));
    assert!(seen > 400, "the index names only {seen} files");
}

/// The file's nonzeros under a size line, without banner and comments.
fn triplet_text(text: &[u8]) -> Vec<u8> {
    let lines = text.split_inclusive(|b| *b == b'\n');
    lines.skip_while(|line| line.first() == Some(&b'%')).flatten().copied().collect()
}

/// The file as the collection ships it: `NAME/NAME.mtx` in a gzipped archive (GNU's `tar`).
fn packed(folder: &Path, text: &[u8]) -> Option<std::path::PathBuf> {
    let written = std::fs::create_dir_all(folder.join("m"))
        .and_then(|()| std::fs::write(folder.join("m/m.mtx"), text));
    assert!(written.is_ok(), "{written:?}");
    let done = std::process::Command::new("tar")
        .args(["-czf", "m.tar.gz", "m/m.mtx"])
        .current_dir(folder)
        .status();
    done.is_ok_and(|status| status.success()).then(|| folder.join("m.tar.gz"))
}

#[test]
fn real_matrices_are_the_same_as_triplet_texts_and_out_of_archives() {
    let Some(folder) = matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let scratch = tempfile::tempdir().unwrap();
    let (mut texts, mut archives) = (0, 0);
    for file in folder.read_dir().unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.contains(".mtx") || path.metadata().unwrap().len() > 300_000 {
            continue;
        }
        let expected = open(&path).unwrap();
        let data = std::fs::read(&path).unwrap();
        let unpacked = unpack::unpack(&name, &data, MemoryLimit::unlimited(), Progress::none());
        let text = at_once(unpacked).unwrap().text;
        if expected.symmetry == Symmetry::General && expected.field != Field::Complex {
            let triplets = scratch.path().join("matrix.txt");
            std::fs::write(&triplets, triplet_text(&text)).unwrap();
            assert_eq!(open(&triplets).unwrap().matrix, expected.matrix, "{name}");
            texts += 1;
        }
        if let Some(archive) = packed(scratch.path(), &text) {
            assert_eq!(open(&archive).unwrap(), expected, "{name}");
            archives += 1;
        }
        if let (AnyMatrix::Real(a), Field::Integer | Field::Pattern) =
            (&expected.matrix, expected.field)
        {
            let mut written = Vec::new();
            let field = expected.field;
            matrix_market::write_field(a, field, &mut written, Progress::none()).unwrap();
            let back = read_matrix(&written, MemoryLimit::unlimited(), Progress::none()).unwrap();
            assert_eq!((back.field, &back.matrix), (field, &expected.matrix), "{name}");
        }
    }
    assert!(texts >= 40 && (archives > 100 || archives == 0), "{texts} texts, {archives} archives");
}

#[test]
fn petscs_own_files_hold_a_matrix_and_the_sums_of_its_rows() {
    let Some(folder) = matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    let folder = folder.join("forms");
    let limit = MemoryLimit::unlimited();
    for (name, field) in [
        ("spd-real-int32-float64.petsc", Field::Real),
        ("ns-real-int64-float64.petsc", Field::Real),
        ("nh-complex-int64-float64.petsc", Field::Complex),
    ] {
        let path = folder.join(name);
        let file = open(&path).unwrap();
        let m = &file.matrix;
        assert_eq!((m.rows(), m.cols(), m.nnz(), file.field), (12, 12, 46, field), "{name}");
        assert_eq!(file.warnings, [""; 0], "{name}");
        let wanted = (vector::Companion::RightSide, None);
        match m {
            AnyMatrix::Real(a) => {
                let sums: Vec<f64> = (0..12).map(|i| a.row(i).1.iter().sum()).collect();
                let b = open_companion(&path, wanted, limit, Progress::none()).unwrap();
                assert_eq!(b.values, sums, "{name}");
            }
            AnyMatrix::Complex(_) => {
                let refused = open_companion(&path, wanted, limit, Progress::none()).unwrap_err();
                assert!(refused.to_string().contains("real matrices only"), "{refused}");
            }
        }
    }
}
