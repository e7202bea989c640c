//! Levels and colours of the rows on the screen.

mod board;
mod settings;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::SCREEN;
