//! The matrices that the benchmarks share.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use sparsescope_core::generate::{GeneratorSpec, generate};
use sparsescope_core::matrix::Csr;
use sparsescope_core::memory::MemoryLimit;

/// Name and recipe of each: a stencil, which is regular, finite elements in blocks of 3, and a web, whose
/// rows are of all lengths. Each has more bytes than most last-level caches hold.
pub const MATRICES: [(&str, &str); 3] = [
    ("stencil", "stencil27?n=80"),
    ("elements", "fem-hex?n=32&dof=3"),
    ("web", "powerlaw?m=1000000&nnz=8000000&max=5000"),
];

/// The matrix of a recipe. Panics where there is none, as these benchmarks know theirs.
pub fn matrix(recipe: &str) -> Arc<Csr> {
    let spec = GeneratorSpec::parse(recipe).expect("a recipe of a generator");
    let made = generate(&spec, MemoryLimit::of_machine(), &AtomicBool::new(false));
    Arc::new(made.expect("a matrix that fits into memory"))
}

/// x_j from 1 to 5: products of such vectors are exact where the matrix holds small integers.
pub fn operand(n: usize) -> Vec<f64> {
    (0..n).map(|j| (j * 7 % 5 + 1) as f64).collect()
}
