//! Sparsescope's views on a screen, the same in the native window and in the page: what each shows is
//! in `sparsescope_figures`; here it is drawn, and the shell ([`shell`]) has it in tabs and splits.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

#[cfg(feature = "wgpu")]
pub mod here;
mod paint;
pub mod shell;
mod style;
pub mod views;
