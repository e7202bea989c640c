//! The levels of a sweep: which rows wait for which, how many can be computed at once, and how the
//! sweep goes through them.

mod board;
mod colors;
mod front;
mod grid;
mod histogram;
mod numbers;
mod path;
mod settings;
mod sheet;
mod smooth;
mod subject;
#[cfg(test)]
mod tests;
mod view;

pub(super) use numbers::{is_known, number};
pub(super) use view::VIEW;
