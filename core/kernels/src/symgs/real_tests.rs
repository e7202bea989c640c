//! Real matrices: schedules against the serial loops, and matrices that Gauss–Seidel rejects.

use std::path::Path;

use super::tests::agrees_in_both;
use super::{Diagonal, OperandError};
use sparsescope_matrix::io::{AnyMatrix, Progress, open_matrix};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;
use sparsescope_test_need::{Need, matrices, skip};

fn open(folder: &Path, name: &str) -> Csr {
    let plain = folder.join(format!("{name}.mtx"));
    let path = if plain.is_file() { plain } else { folder.join(format!("{name}.mtx.gz")) };
    match open_matrix(&path, MemoryLimit::unlimited(), Progress::none()).unwrap().matrix {
        AnyMatrix::Real(a) => a,
        AnyMatrix::Complex(_) => panic!("{name} is complex"),
    }
}

#[test]
fn real_matrices_have_the_bits_of_the_two_loops() {
    let Some(folder) = matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    for name in [
        "xenon1",
        "cage10",
        "teko_nsjac",
        "teko_lsc_F_2",
        "c-62",
        "olm1000",
        "rdb450",
        "steam1",
        "mcca",
        "bcsstk16",
        "Dubcova1",
        "lap3d_40",
        "arrow",
    ] {
        let a = open(&folder, name);
        agrees_in_both(&a, if a.nnz() > 100_000 { super::steps::GRAIN } else { 100 });
    }
}

#[test]
fn real_matrices_without_a_whole_diagonal_are_refused_by_the_first_row_that_lacks_it() {
    let Some(folder) = matrices() else {
        skip!(Need::Matrices, "SPARSESCOPE_MATRICES names no folder");
    };
    for name in ["cavity14", "mhd4800a", "tols340", "west0381", "NSR8K"] {
        let a = open(&folder, name);
        let entry = |i: usize| {
            let (col, val) = a.row(i);
            col.iter().position(|&c| c as usize == i).map(|at| val[at])
        };
        let first = (0..a.rows()).find(|&i| entry(i).is_none_or(|v| v == 0.0)).unwrap();
        let expected = match entry(first) {
            None => OperandError::MissingDiagonal { row: first },
            Some(_) => OperandError::ZeroDiagonal { row: first },
        };
        assert_eq!(Diagonal::of(&a, MemoryLimit::unlimited()), Err(expected), "{name}");
    }
}
