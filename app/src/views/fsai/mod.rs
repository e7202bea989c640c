//! What the set-up of a preconditioner does to a matrix: the patterns from A to G, and how a row's
//! dense system is gathered.

mod bars;
mod board;
mod colors;
mod gather;
mod legend;
mod numbers;
mod settings;
mod sheet;
mod subject;
#[cfg(test)]
mod tests;
mod view;

pub(super) use numbers::{is_known, number};
pub(super) use view::VIEW;
