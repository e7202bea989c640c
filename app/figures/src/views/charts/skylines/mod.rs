//! The charts of skylines: times against the size of a set (`times.rs`), versions of the CPU
//! kernels and their scaling (`versions.rs`), speed-up and cost of a GPU (`gpu.rs`,
//! `crossover.rs`), and the properties of sets that they sort by (`sets.rs`).

mod crossover;
mod gpu;
mod list;
mod sets;
#[cfg(test)]
mod tests;
mod times;
mod versions;

pub(super) use list::CHARTS;
