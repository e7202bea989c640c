//! Charts of runs that several ranks shared, processes or GPUs: where their time goes, what they send one
//! another, and what more of them bring.

mod chosen;
mod list;
mod scaling;
mod times;
mod traffic;

#[cfg(test)]
mod tests;

pub(super) use list::CHARTS;
