//! Measuring where the views are shown, on the visitor's own machine: what to run ([`HerePanel`]), and running
//! it beside drawing, step by step. The page has one thread and no child processes; what it must do itself is
//! a [`Host`].

mod form;
mod gpu;
mod host;
mod matrix;
mod measure;
mod panel;
mod wanted;
mod work;

pub use host::{Host, Later};
pub use panel::{Ask, HerePanel};
