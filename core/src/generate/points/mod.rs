//! Sets of points from generators: each point from a random stream of its own, so that the same
//! points come out for any number of threads; and the named suites of them.

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
