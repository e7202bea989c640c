//! Measuring: machine, bandwidth, samples, error measures.

mod summary;

pub use summary::Summary;
