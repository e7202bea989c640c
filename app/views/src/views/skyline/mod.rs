//! A point set on screen.

mod board;
mod moved;
mod settings;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::SCREEN;
