//! Charts of solves only: where their time goes, the effect of preconditioner parameters, and
//! spectra.

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
