//! The factorised sparse approximate inverse of a symmetric positive definite matrix A: G, lower triangular,
//! with G·A·Gᵀ near the unit matrix, so that GᵀG preconditions conjugate gradients (Kolotilina and Yeremin,
//! 1993). Each row of G solves one small dense system, or shares it with rows of similar patterns; the setup
//! runs on the ambient rayon pool, and G has the same bits for any number of threads.

mod adaptive;
mod backward;
mod batches;
mod error;
mod filter;
mod groups;
mod parameters;
mod pattern;
mod powers;
mod report;
mod rules;
mod set_up;
mod system;
mod transpose;
mod values;
mod workers;

pub use backward::{Held, check_backward_errors};
pub use batches::{packed_systems, row_systems};
pub use error::FsaiError;
pub use parameters::{FsaiParameters, MERGE_BLOCK, MERGE_CAP, MERGE_WINDOW, Merging, PatternRule};
pub use pattern::Pattern;
pub use report::{Phase, SetUp};
pub use rules::{pattern_of, prefiltered};
pub use set_up::{Fsai, factor_rows};
pub use system::dense_system;

/// Cancellation check that the setup calls at least every 0.1 s, from any thread: whether to stop.
pub type Cancelled<'c> = dyn Fn() -> bool + Sync + 'c;

#[cfg(test)]
mod checks;
#[cfg(test)]
mod merge_tests;
#[cfg(test)]
#[cfg(not(target_family = "wasm"))]
mod real_tests;
#[cfg(test)]
mod tests;
