//! Launchers of y = A·x: for each kernel, the device steps of one SpMV.

mod auto;
mod bands;
mod blocks;
mod hacks;
mod launchers;
mod operands;
mod ours;
mod product;
mod tiles;
mod user;
mod vendor;
mod windows;

pub(crate) use auto::Choosing;
pub(crate) use launchers::{AUTO, Bind, launcher};
pub(crate) use operands::{Matrix, Operands};
pub(crate) use product::{Held, Made, Sides, Spmv, arranged, narrower, product};
pub(crate) use tiles::Plan;
