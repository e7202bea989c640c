//! Conjugate gradients on several ranks: each has its rows of A, of the preconditioner and of all vectors.
//! Three iterations of the same recurrence, which differ in how often and when they reduce over all ranks.

mod applied;
mod asked;
mod classic;
mod factor;
mod gathered;
mod on_device;
mod pipelined;
mod single;
mod solver;
mod spd;
mod system;
mod trace;
mod vectors;

pub(super) use asked::checked;
pub(super) use on_device::SolverOnDevice;
pub(super) use solver::{Solver, Wanted};
pub(super) use spd::check_spd;
