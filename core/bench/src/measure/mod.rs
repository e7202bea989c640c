//! Measurements of the machine, its memory bandwidth and caches, and of disturbances.
//!
//! Code that starts threads or inspects the system is native only; kernels use the ambient pool.

#[cfg(not(target_family = "wasm"))]
mod bandwidth;
mod build_facts;
mod cache;
mod clock;
#[cfg(not(target_family = "wasm"))]
mod devices;
mod environment;
#[cfg(not(target_family = "wasm"))]
mod flusher;
mod noise;
#[cfg(not(target_family = "wasm"))]
mod threads;

#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use bandwidth::measure_bandwidth_briefly;
#[cfg(not(target_family = "wasm"))]
pub use bandwidth::{BandwidthError, BandwidthMeter, measure_bandwidth};
pub use build_facts::build;
pub use cache::CacheSizes;
pub use clock::clock_step_s;
#[cfg(not(target_family = "wasm"))]
pub use devices::Devices;
pub use environment::{cpu, environment};
#[cfg(not(target_family = "wasm"))]
pub use flusher::CacheFlusher;
pub use noise::NoiseWatch;
pub use sparsescope_matrix::vector::{
    DEFAULT_SEED, IntegerVector, UniformVector, integer_range, integer_vector, uniform_vector,
};
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
pub use threads::binds_threads;
#[cfg(not(target_family = "wasm"))]
pub use threads::{
    ThreadsError, bind_to_processor, default_thread_counts, pool, pool_after, processor_numbers,
    start_ambient_pool,
};
