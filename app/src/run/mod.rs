//! Measuring from the window: what to run ([`Request`]), a child process that runs it ([`Measurement`]), and
//! the panel and progress bar ([`RunPanel`]). The child is this program's `bench`: drawing does not disturb
//! its timing, and its crash does not take the window down.

mod form;
mod measurement;
mod panel;
mod request;
#[cfg(test)]
mod tests;

pub use crate::cli::Told;
pub use form::Ask;
pub use measurement::{Ending, Measurement, News};
pub(crate) use panel::BETWEEN_FRAMES;
pub use panel::RunPanel;
pub use request::{Precisions, Request};
