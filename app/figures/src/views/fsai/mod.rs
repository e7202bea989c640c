//! The setup of a preconditioner: the patterns from A to G, and the dense system gathered for a
//! row.

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
