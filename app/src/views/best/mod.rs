//! Who wins on each matrix, and by how much: as a list, and as a table of all kernels.

mod board;
mod heat;
mod list;
mod solves;
#[cfg(test)]
mod tests;
mod view;

#[cfg(not(target_family = "wasm"))]
pub(crate) use board::Board;
pub(super) use view::VIEW;
