//! Generated batches of small dense systems, their named suites, and the spec that selects the systems of
//! a matrix that form a batch. Each matrix has its own random stream, so that the result does not depend
//! on the number of threads.

mod rows;
mod spec;
mod suites;
#[cfg(test)]
mod tests;

pub use rows::RowsSpec;
pub use spec::{BatchKind, BatchSpec, batch_kinds, generate_batch};
pub use suites::{BatchEntry, BatchSuite, batch_suite_entry, batch_suites};
