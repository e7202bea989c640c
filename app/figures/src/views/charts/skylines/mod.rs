//! The charts of skylines: times against the size of a set (`times.rs`), versions of the processor's
//! kernels and how they scale (`versions.rs`), and what a GPU gains and costs (`gpu.rs`,
//! `crossover.rs`); what the sets are that they sort by (`sets.rs`).

mod crossover;
mod gpu;
mod list;
mod sets;
#[cfg(test)]
mod tests;
mod times;
mod versions;

pub(super) use list::CHARTS;
