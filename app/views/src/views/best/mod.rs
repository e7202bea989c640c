//! The fastest kernel on each matrix and its lead, on screen.

mod drawn;
mod list;
mod ranking;
mod view;

pub(super) use view::SCREEN;
