//! A set of points in two of its dimensions: which are kept, who dominates the others, and how that is
//! found, step by step.

mod board;
mod drawing;
mod legend;
mod look;
mod marks;
mod moved;
mod numbers;
mod pairs;
mod plot;
mod raster;
mod saved;
mod settings;
mod sheet;
mod staircase;
mod subject;
#[cfg(test)]
mod tests;
mod told;
mod view;
mod walk;
#[cfg(test)]
mod walk_tests;

pub(super) use numbers::{is_known, number};
pub(super) use view::VIEW;
