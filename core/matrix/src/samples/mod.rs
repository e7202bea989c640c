//! Summaries of samples, ratios and medians with confidence intervals, and measurements over time.

mod levels;
mod location;
mod median;
mod random;
mod ratio;
mod shift;
mod student;
mod summary;

pub use levels::Levels;
pub use location::{Certainty, Location};
pub use median::{median_interval, median_uncertainty};
pub use ratio::{CONFIDENCE, Change, Ratio, RatioEstimate, geometric_mean};
pub use shift::{Basis, Shift, holm};
pub use summary::Summary;
