//! The recipe of a point set, and its generator.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use super::kinds::{PointsKind, points_kinds};
use crate::generate::assemble::GenerateError;
use crate::generate::keys::Values;
use crate::generate::random::RowRandom;
use crate::generate::recipe::{self, SpecError};
use crate::matrix::{Points, PointsExtent};
use crate::memory::{MemoryLimit, zeroed};
use crate::parallel::*;

/// A generator of points and the values of all its keys.
#[derive(Clone, Debug)]
pub struct PointsSpec {
    kind: &'static PointsKind,
    values: Values,
}

impl PointsSpec {
    /// Parses `points-KIND?n=…&d=…`, with an optional `gen:` prefix. Numbers may be written
    /// `1000000`, `1_000_000`, `1e6` or `1M`.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (kind, values) = recipe::parse(text, points_kinds())?;
        Ok(Self { kind, values })
    }

    /// Numbers of dimensions and points.
    pub fn extent(&self) -> PointsExtent {
        let [dimensions, points] = ["d", "n"].map(|key| self.values.value(key));
        PointsExtent { dimensions, points, estimated: false }
    }
}

/// Writes `gen:KIND?key=value&…` with the keys in the kind's order, omitting defaults.
impl fmt::Display for PointsSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        recipe::write(f, self.kind, &self.values)
    }
}

/// Points generated between checks of the cancel flag.
const CHUNK: usize = 1024;

/// Generates the points. Fails before allocating when they need more than `limit`; ends early when
/// `cancel` is set.
///
/// ```
/// use sparsescope_matrix::generate::{PointsSpec, generate_points};
/// use sparsescope_matrix::memory::MemoryLimit;
/// let spec = PointsSpec::parse("points-sphere?n=100&d=3")?;
/// let points = generate_points(&spec, MemoryLimit::of_machine(), &false.into())?;
/// assert_eq!((points.len(), points.dimensions()), (100, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn generate_points(
    spec: &PointsSpec,
    limit: MemoryLimit,
    cancel: &AtomicBool,
) -> Result<Points, GenerateError> {
    let [n, d] = ["n", "d"].map(|key| spec.values.wide(key));
    limit.check(spec.to_string(), n * d * 8)?;
    let (d, seed) = (spec.values.size("d"), spec.values.value("seed"));
    let mut coordinates = zeroed(0f64, spec.values.size("n") * d);
    coordinates.par_chunks_mut(CHUNK * d).enumerate().for_each(|(chunk, points)| {
        if cancel.load(Ordering::Relaxed) {
            return;
        }
        for (i, point) in (chunk * CHUNK..).zip(points.chunks_mut(d)) {
            let mut random = RowRandom::new(seed, i);
            while !(spec.kind.draw)(&mut random, point) {}
        }
    });
    if cancel.load(Ordering::Relaxed) {
        return Err(GenerateError::Cancelled);
    }
    Points::new(d, coordinates)
        .map_err(|reason| GenerateError::Format { spec: spec.to_string(), reason })
}
