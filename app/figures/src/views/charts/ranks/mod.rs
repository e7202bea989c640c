//! Charts of runs over several ranks, processes or GPUs: where their time goes, how much they
//! communicate, and how they scale.

mod chosen;
mod list;
mod scaling;
mod times;
mod traffic;

#[cfg(test)]
mod tests;

pub(super) use list::CHARTS;
