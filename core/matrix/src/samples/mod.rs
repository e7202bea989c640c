//! Summaries of samples, and ratios and medians with confidence intervals.

mod median;
mod ratio;
mod summary;

pub use median::{median_interval, median_uncertainty};
pub use ratio::{CONFIDENCE, Change, Ratio, RatioEstimate, geometric_mean};
pub use summary::Summary;
