//! Summaries of samples, and ratios of them with confidence intervals.

mod ratio;
mod summary;

pub use ratio::{CONFIDENCE, Change, Ratio, RatioEstimate, geometric_mean};
pub use summary::Summary;
