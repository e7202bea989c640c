//! References for the tests of factorised inverses: computed from the definition, independent of the code.

pub(super) use super::Held;
use super::{Fsai, FsaiError, FsaiParameters, Merging, PatternRule, check_backward_errors};
use sparsescope_matrix::generate::{GeneratorSpec, generate};
use sparsescope_matrix::matrix::Csr;
use sparsescope_matrix::memory::MemoryLimit;

pub(super) fn made(recipe: &str) -> Csr {
    let spec = GeneratorSpec::parse(recipe).unwrap();
    generate(&spec, MemoryLimit::unlimited(), &false.into()).unwrap()
}

/// A symmetric matrix from its lower triangle.
pub(super) fn symmetric(n: usize, lower: &[(usize, usize, f64)]) -> Csr {
    let mut all = lower.to_vec();
    all.extend(lower.iter().filter(|(i, j, _)| i != j).map(|&(i, j, v)| (j, i, v)));
    Csr::from_triplets(n, n, &all).unwrap()
}

pub(super) fn tried(a: &Csr, parameters: &FsaiParameters) -> Result<Fsai, FsaiError> {
    let set_up = Fsai::set_up(a, parameters, MemoryLimit::unlimited(), &|| false);
    set_up.map(|done| done.expect("nothing cancels it"))
}

pub(super) fn set_up(a: &Csr, parameters: &FsaiParameters) -> Fsai {
    tried(a, parameters).unwrap()
}

pub(super) fn recursive(power: u32) -> FsaiParameters {
    FsaiParameters { pattern: PatternRule::Recursive { power }, ..FsaiParameters::default() }
}

pub(super) fn merged(power: u32, alpha: f64) -> FsaiParameters {
    FsaiParameters { merge: Some(Merging::new(alpha)), ..recursive(power) }
}

/// Runs the work on a pool with this many threads.
pub(super) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(work)
}

/// The rows of a matrix in dense form.
pub(super) fn dense(a: &Csr) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; a.cols()]; a.rows()];
    for (i, row) in rows.iter_mut().enumerate() {
        let (col, val) = a.row(i);
        for (&c, &v) in col.iter().zip(val) {
            row[c as usize] = v;
        }
    }
    rows
}

/// The solution of A·x = e_m by Gaussian elimination with row pivoting.
pub(super) fn last_of_inverse(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let m = a.len();
    for (i, row) in a.iter_mut().enumerate() {
        row.push(f64::from(u8::from(i + 1 == m)));
    }
    for k in 0..m {
        let pivot = (k..m).max_by(|&p, &q| a[p][k].abs().total_cmp(&a[q][k].abs())).unwrap();
        a.swap(k, pivot);
        let top = a[k].clone();
        for row in &mut a[k + 1..] {
            let factor = row[k] / top[k];
            for (value, top) in row.iter_mut().zip(&top).skip(k) {
                *value -= factor * top;
            }
        }
    }
    let mut x = vec![0.0; m];
    for k in (0..m).rev() {
        let known: f64 = (k + 1..m).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][m] - known) / a[k][k];
    }
    x
}

/// The row of G from its definition: A[P,P]·g = e_m, divided by the root of the last element.
pub(super) fn row_by_definition(a: &[Vec<f64>], pattern: &[u32]) -> Vec<f64> {
    let line = |&i: &u32| pattern.iter().map(|&j| a[i as usize][j as usize]).collect();
    let g = last_of_inverse(pattern.iter().map(line).collect());
    let root = g[g.len() - 1].sqrt();
    g.iter().map(|g| g / root).collect()
}

/// Asserts that the backward errors of G are small.
pub(super) fn has_small_backward_errors(a: &Csr, g: &Csr, held: Held) {
    check_backward_errors(a, g, held).unwrap();
}
