//! A set of points on the screen.

mod board;
mod moved;
mod settings;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::SCREEN;
