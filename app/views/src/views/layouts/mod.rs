//! Memory layouts on screen, with and without a lesson.

mod kept;
mod panel;
#[cfg(test)]
mod projector_tests;
mod settings;
mod stepper;
mod teach;
#[cfg(test)]
mod tests;
mod view;

pub(crate) use teach::beside;
pub(super) use view::SCREEN;
