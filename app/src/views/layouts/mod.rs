//! Memory layouts: where each format keeps every entry of a small matrix, slot by slot, and what a
//! kernel reads of it in each step.

mod arrays;
mod board;
mod cells;
mod moment;
mod numbers;
mod packed;
mod panel;
mod pen;
#[cfg(test)]
mod projector_tests;
mod scene;
mod settings;
mod sizes;
mod stepper;
mod subject;
mod teach;
#[cfg(test)]
mod tests;
mod threads;
mod totals;
mod view;
mod walk;

pub use numbers::Texts;
pub(crate) use numbers::check;
pub(crate) use settings::is_framed;
pub(crate) use teach::beside;
pub use teach::texts_of;
pub(super) use view::VIEW;
