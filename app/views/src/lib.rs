//! Sparsescope's views on screen, the same in the native window and in the page: `sparsescope_figures`
//! defines what each shows; this crate draws it, and the shell ([`shell`]) arranges it in tabs and splits.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

#[cfg(feature = "wgpu")]
pub mod here;
mod meshed;
mod paint;
pub mod shell;
mod style;
mod thumbs;
mod turns;
pub mod views;
