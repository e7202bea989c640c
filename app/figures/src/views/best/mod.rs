//! Who wins on each matrix, and by how much: as a list, and as a table of all kernels.

pub mod board;
pub mod heat;
pub mod list;
pub mod solves;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::VIEW;
