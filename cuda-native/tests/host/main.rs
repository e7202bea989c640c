//! Tests of the CUDA backend that need no GPU: finding the driver and building the kernels.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod build;
#[cfg(target_os = "linux")]
mod probe;
