//! Every run as a table with selectable columns (`columns.rs`), grouped by matrix or not (`view.rs`);
//! everything about one run (`facts.rs`) and about several side by side (`beside.rs`).

pub mod beside;
pub mod columns;
pub mod facts;
pub mod view;

pub(super) use view::VIEW;
