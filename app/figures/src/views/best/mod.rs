//! The winner on each matrix and its lead: as a heat map of all kernels, as a list, as bars, and as
//! rates over size.

mod bars;
pub mod baseline;
pub mod board;
pub mod headline;
pub mod heat;
pub mod list;
mod places;
mod sizes;
pub mod solves;
#[cfg(test)]
mod tests;
pub mod view;

pub(super) use view::VIEW;
