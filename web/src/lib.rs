//! The page's WebAssembly: the interface of `sparsescope` on a canvas.
//!
//! Thin on purpose. `page/page.js` handles downloads, dropped files, the address and the mirror of the
//! widgets; it calls `Viewer` and is called through `page`.

#![cfg(target_family = "wasm")]

mod fonts;
mod here;
mod page;
mod viewer;
mod widgets;

pub use viewer::{ReadFile, Viewer};
