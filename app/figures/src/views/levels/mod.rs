//! The levels of a sweep: the dependencies between rows, how many rows can be computed in parallel,
//! and the progress of the sweep.

mod colors;
pub mod front;
pub mod grid;
pub mod histogram;
pub mod numbers;
mod path;
pub mod saved;
pub mod sheet;
mod smooth;
pub mod subject;
pub mod view;

pub(super) use numbers::{is_known, number};
pub use view::VIEW;
