//! Levels and colours of the rows on screen.

mod board;
mod settings;
#[cfg(test)]
mod tests;
mod view;

pub(super) use view::SCREEN;
