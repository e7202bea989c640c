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
#[cfg(test)]
mod tests;
mod threads;
mod view;
mod walk;

pub(crate) use numbers::check;
pub(super) use view::VIEW;
