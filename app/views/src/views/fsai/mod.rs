//! The setup of a preconditioner on screen.

mod board;
mod settings;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::SCREEN;
