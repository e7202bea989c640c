//! The small example matrices of the papers, for tests and lessons.

use super::Csr;

/// The 5 × 5 example of the Tor Vergata and Cranfield papers.
pub fn five_by_five() -> Csr {
    dense(&[
        [3.0, 4.0, 0.0, 0.0, 0.0],
        [0.0, 5.0, 1.0, 0.0, 0.0],
        [0.0, 1.0, 2.0, 0.0, 0.0],
        [0.0, 0.0, 2.0, 3.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 6.0],
    ])
}

/// The 4 × 4 example of the thesis's format chapter.
pub fn four_by_four() -> Csr {
    dense(&[[1.0, 7.0, 0.0, 0.0], [0.0, 2.0, 8.0, 0.0], [5.0, 0.0, 3.0, 9.0], [0.0, 6.0, 0.0, 4.0]])
}

/// The nonzeros of a small dense matrix given row by row.
pub fn dense<const N: usize>(rows: &[[f64; N]]) -> Csr {
    let triplets: Vec<(usize, usize, f64)> = rows
        .iter()
        .enumerate()
        .flat_map(|(i, row)| row.iter().enumerate().map(move |(j, &v)| (i, j, v)))
        .filter(|&(_, _, v)| v != 0.0)
        .collect();
    Csr::from_triplets(rows.len(), N, &triplets).expect("indices come from the array itself") // invariant
}
