//! Small dense systems, symmetric positive definite, in f64: the root-free Cholesky factorisation
//! A = L·D·Lᵀ in panels of four rows ([`Packed`]).

mod eliminate;
mod packed;
mod panels;
#[cfg(test)]
mod tests;
mod vectors;

pub use packed::{Factored, Packed};
