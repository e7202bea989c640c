//! Real matrices and the odd, special and malformed files of other parsers' test suites.

use std::path::Path;

use super::test_files::matrices;
use super::*;
use crate::memory::MemoryLimit;

fn open(path: &Path) -> Result<MatrixFile, IoError> {
    open_matrix(path, MemoryLimit::unlimited(), Progress::none())
}

#[test]
fn every_real_matrix_has_the_rows_columns_and_entries_of_its_index() {
    let Some(folder) = matrices("every_real_matrix_has_the_rows_columns_and_entries_of_its_index")
    else {
        return;
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
        seen += 1;
    }
    // The index counts non-zeros; these files hold explicit zeros too, which are stored entries
    // (SciPy counts 559343, 207695, 112 and 132 as well).
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
/// Sizes are those that SciPy's reader gives after expanding and summing duplicates.
const VERDICTS: &str = include_str!("parser_verdicts.txt");

#[test]
fn every_file_of_other_parsers_suites_has_its_verdict() {
    let Some(folder) = matrices("every_file_of_other_parsers_suites_has_its_verdict") else {
        return;
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
