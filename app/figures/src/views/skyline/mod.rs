//! A set of points in two of its dimensions: which are kept, who dominates the others, and how that is
//! found, step by step.

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

pub use numbers::{is_known, number};
pub use view::VIEW;
