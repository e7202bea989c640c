//! Who wins on each matrix, and by how much, on the screen.

mod list;
mod view;

pub(super) use view::SCREEN;
