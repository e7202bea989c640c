//! Every run: as a table whose columns are chosen (`columns.rs`), and on narrow screens in two lines
//! each (`narrow.rs`).

pub mod columns;
pub mod view;

pub(super) use view::VIEW;
