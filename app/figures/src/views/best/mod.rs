//! The winner on each matrix and its lead: as a heat map of all kernels, as a list, as bars, as rates
//! over size, and of each bundle side by side; and the winners for a matrix with its transpose.

mod bars;
pub mod baseline;
pub mod board;
mod compare;
#[cfg(test)]
mod compare_tests;
pub mod drawn;
pub mod headline;
pub mod heat;
#[cfg(test)]
mod heat_tests;
pub mod list;
#[cfg(test)]
mod pair_tests;
mod pairs;
mod places;
#[cfg(test)]
mod ranking_tests;
pub mod reasons;
pub mod rows;
mod sides;
mod sizes;
#[cfg(test)]
mod solve_tests;
mod solves;
#[cfg(test)]
mod tests;
mod together;
pub mod view;

pub use bars::unit;
pub use together::BestOfPair;
pub(super) use view::VIEW;
