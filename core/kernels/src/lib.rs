//! The CPU kernels: SpMV, SpMM, symmetric Gauss–Seidel, conjugate gradients, FSAI, skylines and dense systems, and the
//! checks of results against references.
//!
//! Items hidden from the documentation are public for the other crates of the core only.

pub mod dense;
pub mod fsai;
pub mod gate;
pub mod pcg;
pub mod skyline;
pub mod spmm;
pub mod spmv;
pub mod symgs;
