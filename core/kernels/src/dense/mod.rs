//! Small dense symmetric positive definite systems in f64: the root-free Cholesky factorisation A = L·D·Lᵀ in
//! panels of four rows ([`Packed`]), and batches of systems, solved by plain elimination ([`gauss`]), this
//! program's kernel ([`cholesky`]) and a library.

mod batched;
#[cfg(test)]
mod batched_tests;
mod eliminate;
#[cfg(all(feature = "faer", not(target_family = "wasm")))]
mod faer_cholesky;
mod flagged;
mod gauss;
mod interleaved;
mod packed;
mod panels;
mod systems;
#[cfg(test)]
mod tests;
mod vectors;

pub use batched::cholesky;
#[cfg(all(feature = "faer", not(target_family = "wasm")))]
pub use faer_cholesky::faer_cholesky;
pub use flagged::Flagged;
pub use gauss::gauss;
pub use packed::{Factored, Packed};
pub use systems::{Rhs, RightHandSides, Solutions, Systems, random_right_hand_sides};
