//! What solvers of every backend share: what a configuration asks of them, a factor that the processor
//! sets up, and what came of a solve as a run records it.

mod asked;
mod told;

pub use asked::{Applied, Asked, inverse_of};
pub use told::{ToldSetUp, share_done};
