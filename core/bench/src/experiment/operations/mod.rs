//! One file per operation (`side.rs` goes with `spmv.rs` and `spmm.rs`): its problem with everything that the runner needs.

pub(super) mod batched_dense;
mod side;
pub(super) mod skyline;
pub(super) mod solve;
mod spmm;
pub(super) mod spmv;
pub(super) mod symgs;

pub use batched_dense::BatchedDenseProblem;
pub use side::{Converted, Side, SpmvSide};
pub use skyline::SkylineProblem;
pub use solve::{Given, SolveProblem};
pub use spmm::{SpmmProblem, SpmmSide};
pub use spmv::SpmvProblem;
pub use symgs::{SymgsProblem, SymgsSide};
