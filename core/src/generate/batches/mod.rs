//! Batches of small dense systems from generators: each matrix from a random stream of its own, so that
//! the same come out for any number of threads; the named suites of them; and what says which systems of a
//! matrix make one.

mod rows;
mod spec;
mod suites;
#[cfg(test)]
mod tests;

pub use rows::RowsSpec;
pub use spec::{BatchKind, BatchSpec, batch_kinds, generate_batch};
pub use suites::{BatchEntry, BatchSuite, batch_suite, batch_suite_entry, batch_suites};
