//! Every run on screen, as a sortable table (`view.rs`, `line.rs`, `keys.rs`) or in two lines each
//! (`narrow.rs`).

mod chosen;
mod keys;
mod line;
mod narrow;
mod view;

pub(super) use view::SCREEN;
