//! The table of all kinds of generated points.

use super::distribution::{self, Draw};
use crate::generate::keys::{Key, MOST, SEED, key};
use crate::generate::recipe::Named;

/// A kind of generated points.
pub struct PointsKind {
    /// Its name.
    pub name: &'static str,
    /// Distribution of the points, in one line.
    pub what: &'static str,
    /// Its parameters.
    pub keys: &'static [Key],
    pub(super) draw: Draw,
}

impl std::fmt::Debug for PointsKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

impl PointsKind {
    /// `points-sphere?n=…&d=…`: the required keys.
    pub fn usage(&self) -> String {
        Named::usage(self)
    }
}

impl Named for PointsKind {
    fn name(&self) -> &'static str {
        self.name
    }

    fn keys(&self) -> &'static [Key] {
        self.keys
    }
}

/// Every kind, in display order.
pub fn points_kinds() -> &'static [PointsKind] {
    KINDS
}

const POINTS: Key = key("n", 0, MOST, "points");
const DIMENSIONS: Key = key("d", 1, 1000, "coordinates per point");
/// With more coordinates, hardly any point drawn stays inside.
const FEW_DIMENSIONS: Key = Key { max: 32, ..DIMENSIONS };

static KINDS: &[PointsKind] = &[
    PointsKind {
        name: "points-independent",
        what: "points uniform in the unit cube",
        keys: &[POINTS, DIMENSIONS, SEED],
        draw: distribution::independent,
    },
    PointsKind {
        name: "points-correlated",
        what: "points near the diagonal of the unit cube: small skylines",
        keys: &[POINTS, DIMENSIONS, SEED],
        draw: distribution::correlated,
    },
    PointsKind {
        name: "points-anticorrelated",
        what: "points of the unit cube, each good in some coordinates and bad in others: large skylines",
        keys: &[POINTS, FEW_DIMENSIONS, SEED],
        draw: distribution::anticorrelated,
    },
    PointsKind {
        name: "points-sphere",
        what: "points uniform on the unit sphere: the skyline has all points without negative coordinates, and some others",
        keys: &[POINTS, DIMENSIONS, SEED],
        draw: distribution::sphere,
    },
];
