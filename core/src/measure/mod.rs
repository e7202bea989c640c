//! Measuring: the machine and its memory bandwidth, samples, figures and error measures.
//!
//! What starts threads or looks at the system is native only; kernels use the ambient pool.

mod build_facts;
mod noise;
#[cfg(not(target_family = "wasm"))]
mod threads;

pub use build_facts::{build, revision};
pub use noise::NoiseWatch;
#[cfg(not(target_family = "wasm"))]
pub use threads::{ThreadsError, default_thread_counts, pool};
