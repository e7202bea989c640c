//! Preconditioned conjugate gradients (Hestenes and Stiefel, 1952) in f64: the check that a matrix is
//! suitable, the operators applied to vectors, the iteration (serial or on the ambient rayon pool), and what
//! is known of a solution: its true residual, its rounding floor, and the Ritz values.

mod breakdown;
mod iteration;
mod judgement;
mod operator;
mod parameters;
mod preconditioner;
mod residual;
mod ritz;
mod scale;
mod share;
mod solve;
mod solved;
mod spd;
mod team;
#[doc(hidden)]
pub mod vectors;

pub use breakdown::Breakdown;
pub use judgement::{Judgement, is_seen, rounding_floor};
pub use operator::{Operator, OperatorFormat};
pub use parameters::{SolveParameters, Start};
pub use preconditioner::{FsaiOperators, Jacobi, Preconditioner, PreconditionerError, Symgs};
pub use ritz::Ritz;
pub use scale::{Magnitude, Scale, largest, squares};
pub use solve::solve;
pub use solved::{Outcome, Recurrence, Solved};
#[doc(hidden)]
pub use spd::SYMMETRY;
pub use spd::{NotSpd, check_spd};

#[cfg(test)]
#[cfg(not(target_family = "wasm"))]
mod real_tests;
#[cfg(test)]
mod tests;
