//! Every run: as a table whose columns are chosen (`columns.rs`), and on narrow screens in two lines
//! each (`narrow.rs`).

mod columns;
mod narrow;
mod view;

pub(super) use view::VIEW;
