//! Sparsescope: see a sparse matrix, run its kernels, share the result as one file.
//!
//! Views ([`views`]) are pure functions of the opened bundles ([`model`]) and the view state
//! ([`state`]); the shell around them ([`shell`]) is the same in the native window and in the page.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

#[cfg(not(target_family = "wasm"))]
mod allocator;
pub mod arrangement;
#[cfg(not(target_family = "wasm"))]
pub mod cli;
mod cloud;
#[cfg(all(feature = "gui", not(target_family = "wasm")))]
mod dialog;
#[cfg(not(target_family = "wasm"))]
mod display;
pub mod figure;
#[cfg(feature = "wgpu")]
pub mod here;
pub mod lesson;
mod meshes;
pub mod model;
mod order;
#[cfg(not(target_family = "wasm"))]
mod patterns;
mod percent;
pub mod picture;
#[cfg(any(feature = "wgpu", not(target_family = "wasm")))]
mod producer;
#[cfg(all(feature = "gui", not(target_family = "wasm")))]
mod reading;
#[cfg(not(target_family = "wasm"))]
pub mod run;
mod set_up;
pub mod shell;
pub mod state;
mod theme;
mod trial;
pub mod views;
mod waves;
mod why;
#[cfg(all(feature = "gui", not(target_family = "wasm")))]
mod window;
