//! What the tests of backends for devices share: matrices that break kernels, and one execution.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_core::experiment::{
    Backend, Configuration, KernelError, Output, PrepareError, Prepared, Problem, SpmvProblem,
    Watch,
};
use sparsescope_core::matrix::Csr;
use sparsescope_core::measure::integer_vector;
use sparsescope_core::memory::MemoryLimit;

/// A kernel, prepared and set up; fails with the reason.
pub fn ready<'p>(
    backend: &'p dyn Backend,
    configuration: &Configuration,
    problem: &'p dyn Problem,
) -> Result<Box<dyn Prepared + 'p>, PrepareError> {
    let mut prepared = backend.prepare(configuration, problem, MemoryLimit::unlimited())?;
    let never = AtomicBool::new(false);
    prepared.set_up(&Watch::cancelled_by(&never)).wait()?;
    Ok(prepared)
}

/// The result of one execution; fails if the device does.
pub fn output(prepared: &mut Box<dyn Prepared + '_>) -> Result<Output, KernelError> {
    let never = AtomicBool::new(false);
    let output = prepared.output(&Watch::cancelled_by(&never)).wait()?;
    Ok(output.expect("nothing cancels it")) // invariant
}

/// Rows of these lengths with inexact values, and columns spread over `cols`.
pub fn matrix(cols: usize, lengths: impl IntoIterator<Item = usize>) -> Csr {
    let lengths: Vec<usize> = lengths.into_iter().collect();
    let mut triplets = Vec::new();
    for (i, &length) in lengths.iter().enumerate() {
        for j in 0..length {
            let value = 1.0 / (1.0 + (i * 31 + j * 17) as f64) - 0.1 * (j % 7) as f64;
            triplets.push((i, (i * 13 + j) % cols, value));
        }
    }
    Csr::from_triplets(lengths.len(), cols, &triplets).expect("columns below `cols`") // invariant
}

/// Matrices that break kernels, by what is unusual about them.
pub fn matrices() -> Vec<(&'static str, Csr)> {
    vec![
        ("no rows", matrix(3, [])),
        ("no columns", matrix(0, [0; 3])),
        ("no entries", matrix(5, [0; 40])),
        ("one row", matrix(100, [77])),
        ("one entry", matrix(1, [1])),
        ("empty first and last rows", matrix(50, [0, 0, 3, 7, 0, 40, 1, 0, 0])),
        ("one dense row", matrix(5000, (0..300).map(|i| if i == 117 { 5000 } else { 2 }))),
        ("only the last row", matrix(3000, (0..70).map(|i| if i == 69 { 3000 } else { 0 }))),
        ("more columns than rows", matrix(4000, (0..33).map(|i| i * 3))),
        ("more rows than columns", matrix(7, (0..4001).map(|i| i % 8))),
        ("rows that are no multiple of warp or hack", matrix(500, (0..1003).map(|i| i % 41))),
        ("rows of exactly one warp", matrix(64, [32; 64])),
        ("a dense row across many spans", matrix(20_000, [20_000, 1, 0, 20_000])),
        ("rows that end with spans", matrix(300, [128, 128, 256, 1, 127, 300, 84])),
        ("large enough for several blocks", matrix(9000, (0..9000).map(|i| 1 + i * i % 67))),
    ]
}

/// SpMV on a matrix, with an x of integers.
pub fn problem(a: Csr) -> SpmvProblem {
    let x = integer_vector(a.cols(), 42);
    SpmvProblem::new(Arc::new(a), x)
}
