//! What holds of any matrix and of any file.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod formats;
mod mutations;
