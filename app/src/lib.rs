//! The program: its command line ([`cli`]) and, with the feature `gui`, the native window around the views
//! and measuring from it (`run`). On the web page it is only its name, [`producer`]. The Python module calls
//! the command line, too.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

#[cfg(not(target_family = "wasm"))]
mod allocator;
#[cfg(not(target_family = "wasm"))]
pub mod cli;
#[cfg(all(feature = "gui", not(target_family = "wasm")))]
mod dialog;
#[cfg(not(target_family = "wasm"))]
mod display;
#[cfg(not(target_family = "wasm"))]
mod patterns;
mod producer;
#[cfg(all(feature = "gui", not(target_family = "wasm")))]
mod reading;
#[cfg(all(feature = "gui", not(target_family = "wasm")))]
pub mod run;
#[cfg(not(target_family = "wasm"))]
mod utc;
#[cfg(all(feature = "gui", not(target_family = "wasm")))]
mod window;

#[cfg(not(target_family = "wasm"))]
pub use allocator::Telling;
pub use producer::producer;
