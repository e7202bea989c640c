//! Every run: as a table with selectable columns (`columns.rs`), and on narrow screens in two lines
//! per run (`narrow.rs`).

pub mod columns;
pub mod view;

pub(super) use view::VIEW;
