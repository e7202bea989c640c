//! Where every stored nonzero is, which thread reads it and what memory traffic that causes: the
//! model behind the layout explorer. Addresses come from the index arithmetic of the descriptors
//! ([`crate::kernel`]) and of the formats ([`sparsescope_matrix::matrix::SlotLayout`]), never from a copy.
//!
//! [`Slots`] says what is stored where, [`Schedule`] what a warp does step by step, [`Traffic`] the
//! memory traffic of a whole SpMV, [`CpuTraffic`] the same for CPU threads, [`columns_steps`] and [`columns_traffic`] for
//! SpMM.

mod array;
mod asking;
mod block_rows;
mod columns;
mod cpu;
mod diagonals;
mod fours;
mod lanes;
mod launch;
mod loops;
mod pass;
mod request;
mod rows;
mod schedule;
mod slots;
mod spans;
mod step;
mod tiles;
mod traffic;

#[cfg(test)]
mod columns_tests;
#[cfg(test)]
mod cpu_tests;
#[cfg(test)]
mod paper_tests;
#[cfg(test)]
mod tests;

pub use array::{ALIGNMENT, Array, ArrayInfo, arrays};
pub use columns::{COLUMNS_KERNEL, columns_steps, columns_traffic, steps_traffic};
pub use cpu::{CACHE_LINE, CpuStep, CpuTraffic, ShareTraffic};
pub use launch::{LaunchInfo, LaunchKind, LayoutError};
pub use loops::Loops;
pub use request::{Counts, Direction, LINE, Request};
pub use schedule::Schedule;
pub use slots::{Held, Place, Slot, SlotMap, Slots};
pub use step::{LaneWork, Step, StepKind};
pub use traffic::{ArrayTraffic, LaunchTraffic, Traffic};
