//! Generated point sets and their named suites. Each point has its own random stream, so that the
//! points do not depend on the number of threads.

mod distribution;
mod kinds;
mod spec;
mod suites;
#[cfg(test)]
mod tests;

pub use kinds::{PointsKind, points_kinds};
pub use spec::{PointsSpec, generate_points};
pub use suites::{
    PointsEntry, PointsRecipe, PointsSuite, points_suite, points_suite_entry, points_suites,
};
