//! A point set in two of its dimensions: its skyline (Pareto front), which points dominate the
//! others, and how an algorithm computes it, step by step.

pub mod drawing;
mod legend;
pub mod look;
pub mod marks;
mod numbers;
pub mod pairs;
pub mod plot;
mod raster;
pub mod saved;
pub mod sheet;
mod staircase;
pub mod subject;
#[cfg(test)]
mod tests;
mod told;
mod view;
pub mod walk;
#[cfg(test)]
mod walk_tests;

pub use crate::cloud::Cloud;
pub use numbers::{is_known, number};
pub use view::VIEW;
