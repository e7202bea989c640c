//! The descriptors of all kernels and the memory model: which lane or worker reads which slot when, and the sectors
//! and cache lines this costs.

pub mod kernel;
pub mod layout;
