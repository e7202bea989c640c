//! The charts: each is a function that computes numbers ([`plot`]), which are drawn as rows or as a
//! plane and written as a table, and an element of `CHARTS` (`list.rs`).

mod axes;
mod batches;
mod best;
mod bold;
pub mod chart;
mod choices;
pub mod compare;
mod convergence;
mod costs;
pub mod draw;
#[cfg(test)]
mod draw_tests;
mod entries;
mod errors;
pub mod isolated;
mod legend;
pub mod list;
pub mod looks;
mod matrices;
mod near;
mod plane;
mod planes;
pub mod plot;
mod ranks;
mod recipes;
mod rounding;
mod rows;
mod settings;
pub mod sheet;
mod sizes;
mod skylines;
pub mod small;
mod solves;
mod spread;
mod sweeps;
#[cfg(test)]
mod sweeps_tests;
mod taken;
#[cfg(test)]
mod tests;
mod told;
mod vectors;
pub mod view;

pub use list::{ids, ids_for};
pub use looks::Looks;
pub(super) use view::VIEW;
pub use view::drawn;
