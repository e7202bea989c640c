//! CPU kernels for Y = A·X in f64 and f32, where X and Y have k columns and are stored by rows, or in `columns` by
//! columns. One file per format, one function per mapping. Like those of SpMV they run on the ambient rayon pool,
//! follow a partition made beforehand and overwrite Y.

mod columns;
mod csr;
mod hll;
#[cfg(not(target_family = "wasm"))]
mod products;
mod tiles;

#[cfg(test)]
mod tests;

pub use columns::columns;
pub use csr::{parts, serial, simd};
pub use hll::hll;
#[cfg(not(target_family = "wasm"))]
pub use products::Products;
pub use tiles::level_for;

/// Panics unless k is at least 1, X has k elements per column of A, and Y has k per row.
fn check_sizes<T>((rows, cols): (usize, usize), k: usize, x: &[T], y: &[T]) {
    assert!(k > 0, "X has at least one column");
    assert_eq!(x.len(), k * cols, "X has k elements per column of A");
    assert_eq!(y.len(), k * rows, "Y has k elements per row of A");
}
