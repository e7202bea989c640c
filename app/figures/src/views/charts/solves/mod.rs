//! Charts of solves alone: where their time goes, what the parameters of a preconditioner bring, and what is
//! known of spectra.

mod break_even;
mod few;
mod formats;
mod list;
mod names;
mod parameters;
mod phases;
mod spectrum;
#[cfg(test)]
mod tests;

pub(super) use few::few;
pub(super) use list::CHARTS;
pub(super) use names::Names;
