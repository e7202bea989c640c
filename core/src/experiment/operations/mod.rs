//! One file an operation: its problem with everything that the runner asks of it, and how the
//! processor's backend binds its kernels to it.

#[cfg(feature = "proof")]
pub(super) mod increment;
pub(super) mod spmv;

#[cfg(feature = "proof")]
pub use increment::IncrementProblem;
pub use spmv::{Converted, SpmvProblem};
