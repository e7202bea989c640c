//! Small dense systems, symmetric positive definite, in f64: the root-free Cholesky factorisation
//! A = L·D·Lᵀ in panels of four rows ([`Packed`]), and the plain form A = L·Lᵀ over it ([`factor`],
//! [`solve`]).

mod eliminate;
mod packed;
mod panels;
mod plain;
mod vectors;

pub use packed::{Factored, Packed};
pub use plain::{factor, solve};
