//! Memory layouts: where each format keeps every entry of a small matrix, slot by slot, and what a
//! kernel reads of it in each step.

mod arrays;
mod board;
mod cells;
mod moment;
mod numbers;
mod panel;
mod scene;
mod settings;
mod stepper;
mod subject;
mod teach;
#[cfg(test)]
mod tests;
mod threads;
mod view;
mod walk;

pub(crate) use numbers::check;
pub(crate) use teach::beside;
pub(super) use view::VIEW;
