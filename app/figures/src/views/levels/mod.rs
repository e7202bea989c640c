//! The levels of a sweep: which rows wait for which, how many can be computed at once, and how the
//! sweep goes through them.

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
