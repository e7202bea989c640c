//! Memory layouts: where each format stores every nonzero of a small matrix, slot by slot, and what
//! a kernel reads of it in each step.

pub mod arrays;
mod board;
pub mod cells;
mod grid;
mod moment;
pub mod numbers;
mod packed;
mod pen;
pub mod scene;
pub mod sizes;
pub mod subject;
mod teach;
mod threads;
mod totals;
mod view;
pub mod walk;

pub use numbers::Texts;
pub(crate) use numbers::check;
pub use teach::texts_of;
pub use view::VIEW;
pub use view::is_framed;
