//! The charts: each is a function that gives numbers ([`plot`]), which are drawn as rows or as a
//! plane and written as a table, and a line in [`CHARTS`](list::CHARTS).

mod batches;
mod best;
mod chart;
mod choices;
mod compare;
mod convergence;
mod costs;
mod draw;
#[cfg(test)]
mod draw_tests;
mod entries;
mod errors;
mod list;
mod looks;
mod matrices;
mod near;
mod plane;
mod planes;
mod plot;
mod ranks;
mod recipes;
mod rows;
mod settings;
mod sheet;
mod sizes;
mod skylines;
mod solves;
mod spread;
mod sweeps;
#[cfg(test)]
mod sweeps_tests;
#[cfg(test)]
mod tests;
mod told;
mod view;

#[cfg(not(target_family = "wasm"))]
pub(crate) use list::{ids, ids_for};
pub(crate) use looks::Looks;
pub(super) use view::VIEW;
#[cfg(not(target_family = "wasm"))]
pub(crate) use view::drawn;
