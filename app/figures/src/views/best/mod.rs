//! The winner on each matrix and its lead: as a list, and as a table of all kernels.

pub mod board;
pub mod heat;
pub mod list;
pub mod solves;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::VIEW;
