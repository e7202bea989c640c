//! Symmetric Gauss–Seidel on CPUs, in f64 and f32: a sweep over the rows in ascending order, then one in
//! descending order. The module has the dependencies ([`LevelSets`], [`Coloring`]), the rows stored in that
//! order ([`Schedule`]), and the loops over them, which run on the ambient rayon pool.

mod coloring;
mod diagonal;
mod groups;
mod inputs;
mod levels;
mod mode;
mod nodes;
mod pass;
mod residual;
mod rows;
mod run;
mod schedule;
pub mod serial;
mod steps;
mod vector;
mod wavefronts;

pub use coloring::Coloring;
pub use diagonal::{Diagonal, OperandError};
pub use groups::RowGroups;
pub use inputs::{right_hand_side, starting_vector};
pub use levels::{Direction, LevelSets, Levels};
pub use mode::{Mode, ZeroStart};
pub use nodes::{NODE_ROWS, Nodes};
pub use residual::relative_residual;
pub use schedule::{Schedule, Workspace};
pub use wavefronts::{Wavefront, Wavefronts, WavefrontsError};

#[cfg(test)]
#[cfg(not(target_family = "wasm"))]
mod real_tests;
#[cfg(test)]
mod tests;
