//! Properties of any matrix and any file.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod formats;
mod mutations;
