//! Every run on the screen, as a table that sorts or in two lines each.

mod narrow;
mod view;

pub(super) use view::SCREEN;
