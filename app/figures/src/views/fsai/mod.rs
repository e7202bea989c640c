//! What the set-up of a preconditioner does to a matrix: the patterns from A to G, and how a row's
//! dense system is gathered.

pub mod bars;
mod colors;
pub mod gather;
mod legend;
pub mod numbers;
mod saved;
pub mod sheet;
pub mod subject;
#[cfg(test)]
mod tests;
pub mod view;

pub(super) use numbers::{is_known, number};
pub use view::VIEW;
