//! Every run on screen, as a sortable table or in two lines each.

mod narrow;
mod view;

pub(super) use view::SCREEN;
