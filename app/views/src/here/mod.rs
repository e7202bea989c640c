//! Measuring in the page, on the visitor's own machine: what to run ([`HerePanel`]), and running it beside
//! drawing, step by step. The page has one thread and no child processes; a [`Host`] provides what only the
//! page can do.

mod form;
mod gpu;
mod host;
mod live;
mod matrix;
mod measure;
mod panel;
mod wanted;
mod work;

pub use host::{Host, Later};
pub use panel::{Ask, HerePanel};
