//! The named suites of point sets.

use super::spec::PointsSpec;
use crate::generate::recipe::SpecError;
use crate::matrix::PointsExtent;

/// Point sets that are run together.
#[derive(Debug)]
pub struct PointsSuite {
    /// Its name.
    pub name: &'static str,
    /// Its purpose.
    pub what: &'static str,
    /// The sets.
    pub entries: &'static [PointsEntry],
}

/// One set of a suite.
#[derive(Debug)]
pub struct PointsEntry {
    /// Its name.
    pub name: &'static str,
    /// How it is generated.
    pub recipe: PointsRecipe,
    /// Its description.
    pub what: &'static str,
}

/// How a point set is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointsRecipe {
    /// By a generator.
    Generated(&'static str),
    /// By the program `rbox` of Qhull, which is deterministic.
    #[expect(
        missing_docs,
        reason = "what rbox is told, and how many points of how many dimensions that are"
    )]
    Rbox { arguments: &'static str, points: u64, dimensions: u64 },
}

impl PointsEntry {
    /// Numbers of dimensions and points.
    pub fn extent(&self) -> Result<PointsExtent, SpecError> {
        match self.recipe {
            PointsRecipe::Generated(spec) => Ok(PointsSpec::parse(spec)?.extent()),
            PointsRecipe::Rbox { points, dimensions, .. } => {
                Ok(PointsExtent { dimensions, points, estimated: false })
            }
        }
    }
}

/// Every suite.
pub fn points_suites() -> &'static [PointsSuite] {
    SUITES
}

/// The suite of this name.
pub fn points_suite(name: &str) -> Option<&'static PointsSuite> {
    SUITES.iter().find(|suite| suite.name == name)
}

/// The set of this name in any suite.
pub fn points_suite_entry(name: &str) -> Option<&'static PointsEntry> {
    SUITES.iter().flat_map(|suite| suite.entries).find(|entry| entry.name == name)
}

const fn made(name: &'static str, spec: &'static str, what: &'static str) -> PointsEntry {
    PointsEntry { name, recipe: PointsRecipe::Generated(spec), what }
}

const fn rbox(
    name: &'static str,
    (arguments, points, dimensions): (&'static str, u64, u64),
    what: &'static str,
) -> PointsEntry {
    PointsEntry { name, recipe: PointsRecipe::Rbox { arguments, points, dimensions }, what }
}

#[rustfmt::skip]
static SUITES: &[PointsSuite] = &[
PointsSuite {
    name: "points",
    what: "ten thousand points each, from a skyline of one point to one of most",
    entries: &[
        made("independent-2d", "points-independent?n=10000&d=2", "uniform in a square: a staircase of a few steps"),
        made("independent-4d", "points-independent?n=10000&d=4", "uniform in a cube of four dimensions"),
        made("independent-8d", "points-independent?n=10000&d=8", "uniform in a cube of eight dimensions"),
        made("correlated-2d", "points-correlated?n=10000&d=2", "near the diagonal of a square"),
        made("correlated-8d", "points-correlated?n=10000&d=8", "near the diagonal of a cube of eight dimensions"),
        made("anticorrelated-2d", "points-anticorrelated?n=10000&d=2", "near the other diagonal of a square"),
        made("anticorrelated-4d", "points-anticorrelated?n=10000&d=4", "what is good in one of four dimensions is bad in another"),
        made("anticorrelated-8d", "points-anticorrelated?n=10000&d=8", "the same in eight dimensions, where most points are kept"),
        made("sphere-3d", "points-sphere?n=10000&d=3", "on a ball: those of one octant are kept, and few others"),
    ],
},
PointsSuite {
    name: "rbox",
    what: "the nine sets of the paper's tests, made by the program rbox of Qhull, which has to be installed",
    entries: &[
        rbox("test1", ("100000 W0", 100_000, 3), "on the surface of a cube of three dimensions"),
        rbox("test2", ("100000 s D4", 100_000, 4), "on a sphere in four dimensions"),
        rbox("test3", ("100000 d D10", 100_020, 10), "in a cube of ten dimensions, with the corners of a diamond"),
        rbox("test4", ("100000 y D8", 100_009, 8), "in a simplex of eight dimensions, with its corners"),
        rbox("test5", ("100000 s D20", 100_000, 20), "on a sphere in twenty dimensions"),
        rbox("test6", ("100000 d D50", 100_100, 50), "in a cube of fifty dimensions, with the corners of a diamond"),
        rbox("test7", ("100000 d D200", 100_400, 200), "in a cube of two hundred dimensions, with the corners of a diamond"),
        rbox("test8", ("200000 d D200", 200_400, 200), "the same with twice as many points"),
        rbox("test9", ("500000 d D200", 500_400, 200), "the same with five times as many points"),
    ],
}];
