//! A point set as a viewer draws it: where its points lie, which are skyline points, and who dominates the
//! others. For a large set, the skyline points, a sample of the dominated ones, and the density of all
//! points.

use std::ops::Range;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use sparsescope_matrix::matrix::PointsView;
use sparsescope_matrix::parallel::*;

/// Cells along each edge of a density grid.
pub(super) const CELLS: usize = 256;

/// Seed of the sample, fixed so that a set gives the same picture everywhere.
const SEED: u64 = 4;

/// How much of a set a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    /// Sets of up to this many points are shown whole.
    pub(super) whole: usize,
    /// For larger sets, the maximum number of skyline points shown; no fewer than `dropped`.
    pub(super) kept: usize,
    /// For larger sets, the maximum number of dominated points shown.
    pub(super) dropped: usize,
    /// Dimensions that are always shown.
    pub(super) dimensions: usize,
    /// All dimensions are shown if that takes at most this many coordinates.
    pub(super) coordinates: usize,
}

/// The limits for pictures in bundles.
pub(super) const BOUNDS: Bounds =
    Bounds { whole: 100_000, kept: 100_000, dropped: 20_000, dimensions: 8, coordinates: 800_000 };

/// A point set ready to be drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct PointsPicture {
    /// Number of points in the set.
    pub points: u32,
    /// Dimensions of the set; [`axes`](Self::axes) has the first of them.
    pub dimensions: u32,
    /// Number of skyline points in the set.
    pub kept: u32,
    /// Number of shown coordinates that are infinite or larger in magnitude than any `f32`: they are drawn at
    /// ±`f32::MAX`.
    pub clamped: u64,
    /// Indices of the points shown, ascending.
    pub indices: Vec<u32>,
    /// For each point shown, the place in [`indices`](Self::indices) of a skyline point that dominates it; a
    /// skyline point names itself.
    pub dominators: Vec<u32>,
    /// The dimensions shown, in order.
    pub axes: Vec<Axis>,
    /// Densities of each pair of axes, (0, 1), (0, 2), …, (1, 2), …; none if all points are shown.
    pub densities: Vec<Density>,
}

/// A dimension of a point set.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Smallest coordinate of all points in the set.
    pub least: f32,
    /// Largest coordinate of all points in the set.
    pub greatest: f32,
    /// Coordinates of the points shown.
    pub values: Vec<f32>,
}

/// How many points lie in each cell of a grid over two dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Density {
    /// Cells along each edge, between the smallest and the largest coordinate of each axis.
    pub cells: usize,
    /// Points per cell, along the first axis fastest, starting with the lowest cell of the second.
    pub counts: Vec<u32>,
}

impl PointsPicture {
    /// Builds the picture of points, larger coordinates being better, from a skyline point that dominates
    /// each of them (itself for a skyline point), as in a certificate. Takes at most some 30 MB. Panics if
    /// the lengths differ or there are more than 2³² − 1 points.
    ///
    /// Up to 100 000 points are all shown; for more, the skyline points (up to 100 000, drawn at random
    /// beyond), 20 000 of the others, drawn at random, and the densities. The dominators of shown points are
    /// shown, too. The dimensions are the first eight, or all if there are at most 800 000 coordinates.
    pub fn of(points: PointsView<'_>, dominators: &[u32]) -> Self {
        Self::within(points, dominators, &BOUNDS)
    }

    pub(super) fn within(points: PointsView<'_>, dominators: &[u32], bounds: &Bounds) -> Self {
        let (n, d) = (points.len(), points.dimensions());
        assert_eq!(n, dominators.len(), "each point has one that dominates it");
        let count = u32::try_from(n).expect("points within 32 bits"); // documented above
        let kept = members(dominators, true).count();
        let indices = chosen(dominators, kept, bounds);
        let shown = if n.max(1) * d <= bounds.coordinates { d } else { d.min(bounds.dimensions) };
        let axes: Vec<(Axis, u64)> =
            (0..shown).into_par_iter().map(|k| Axis::of(points, k, &indices)).collect();
        let (axes, clamped): (Vec<Axis>, Vec<u64>) = axes.into_iter().unzip();
        let pairs: Vec<_> = if indices.len() < n { pairs(shown).collect() } else { Vec::new() };
        let density = |[a, b]: [usize; 2]| Density::of(points, [(a, &axes[a]), (b, &axes[b])]);
        let densities = pairs.into_par_iter().map(density).collect();
        let place = |&i: &u32| {
            let place = indices.binary_search(&dominators[i as usize]);
            place.expect("who dominates is shown") as u32 // ensured by `chosen`
        };
        Self {
            points: count,
            dimensions: d as u32,
            kept: kept as u32,
            clamped: clamped.iter().sum(),
            dominators: indices.iter().map(place).collect(),
            indices,
            axes,
            densities,
        }
    }

    /// Whether all points are shown.
    pub fn is_whole(&self) -> bool {
        self.indices.len() == self.points as usize
    }

    /// The place of a point that dominates the one shown at `place`; none if that is a skyline point or does
    /// not exist.
    pub fn dominator(&self, place: usize) -> Option<usize> {
        let by = *self.dominators.get(place)? as usize;
        (by != place).then_some(by)
    }

    /// Whether the point shown at `place` is a skyline point.
    pub fn is_kept(&self, place: usize) -> bool {
        self.dominators.get(place).is_some_and(|&by| by as usize == place)
    }

    /// Number of skyline points shown.
    pub fn kept_shown(&self) -> usize {
        (0..self.dominators.len()).filter(|&place| self.is_kept(place)).count()
    }

    /// The density in two dimensions, a < b; none if all points are shown.
    pub fn density(&self, a: usize, b: usize) -> Option<&Density> {
        let pair = pairs(self.axes.len()).position(|pair| pair == [a, b])?;
        self.densities.get(pair)
    }
}

impl Axis {
    /// The axis of dimension `k`, and how many of its coordinates were clamped.
    fn of(points: PointsView<'_>, k: usize, indices: &[u32]) -> (Self, u64) {
        let (mut least, mut greatest, mut clamped) = (f32::MAX, -f32::MAX, 0);
        for &value in points.coordinates().iter().skip(k).step_by(points.dimensions()) {
            let drawn = drawn(value);
            (least, greatest) = (least.min(drawn), greatest.max(drawn));
            clamped += u64::from((value as f32).is_infinite());
        }
        if points.is_empty() {
            (least, greatest) = (0.0, 0.0);
        }
        let values = indices.iter().map(|&i| drawn(points.point(i as usize)[k])).collect();
        (Self { least, greatest, values }, clamped)
    }

    /// The cell, of `cells`, that contains a coordinate.
    pub fn cell(&self, value: f32, cells: usize) -> usize {
        let [least, greatest, value] = [self.least, self.greatest, value].map(f64::from);
        let cell = (value - least) / (greatest - least) * cells as f64;
        // If all coordinates are equal, it is NaN, which becomes cell 0.
        (cell as usize).min(cells.saturating_sub(1))
    }

    /// Smallest and largest coordinate of one of `cells`.
    pub fn span(&self, cell: usize, cells: usize) -> Range<f32> {
        let [least, greatest] = [self.least, self.greatest].map(f64::from);
        let edge =
            |cell: usize| (least + (greatest - least) * cell as f64 / cells.max(1) as f64) as f32;
        edge(cell)..edge(cell + 1)
    }
}

impl Density {
    fn of(points: PointsView<'_>, [(a, along), (b, up)]: [(usize, &Axis); 2]) -> Self {
        let mut counts = vec![0; CELLS * CELLS];
        for point in points.coordinates().chunks_exact(points.dimensions()) {
            let column = along.cell(drawn(point[a]), CELLS);
            counts[up.cell(drawn(point[b]), CELLS) * CELLS + column] += 1;
        }
        Self { cells: CELLS, counts }
    }

    /// The density with half as many cells along each edge; none for a single cell.
    pub fn coarser(&self) -> Option<Self> {
        let cells = self.cells / 2;
        if cells == 0 {
            return None;
        }
        let mut counts = vec![0; cells * cells];
        for (row, line) in self.counts.chunks_exact(self.cells).enumerate() {
            for (column, &count) in line.iter().enumerate() {
                if let Some(sum) = counts.get_mut(row / 2 * cells + column / 2) {
                    *sum += count;
                }
            }
        }
        Some(Self { cells, counts })
    }
}

/// All pairs of axes, the first before the second.
pub(super) fn pairs(axes: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..axes).flat_map(move |a| (a + 1..axes).map(move |b| [a, b]))
}

/// The coordinate as drawn, without the sign of a zero.
fn drawn(value: f64) -> f32 {
    (value as f32).clamp(-f32::MAX, f32::MAX) + 0.0
}

/// The skyline points, or the dominated ones.
fn members(dominators: &[u32], kept: bool) -> impl Iterator<Item = u32> {
    let all = (0..=u32::MAX).zip(dominators);
    all.filter(move |(i, by)| (i == *by) == kept).map(|(i, _)| i)
}

/// The points to show, ascending.
fn chosen(dominators: &[u32], kept: usize, bounds: &Bounds) -> Vec<u32> {
    let n = dominators.len();
    if n <= bounds.whole {
        return (0..n as u32).collect();
    }
    let mut chosen = sample(members(dominators, false), n - kept, bounds.dropped, 0);
    let mut named: Vec<u32> = chosen.iter().map(|&i| dominators[i as usize]).collect();
    named.sort_unstable();
    named.dedup();
    let others = members(dominators, true).filter(|i| named.binary_search(i).is_err());
    let wanted = bounds.kept.saturating_sub(named.len());
    chosen.extend(sample(others, kept - named.len(), wanted, 1));
    chosen.extend(named);
    chosen.sort_unstable();
    chosen
}

/// Chooses `wanted` of `count` members, in order, every subset with equal probability; all if there are no
/// more.
fn sample(
    members: impl Iterator<Item = u32>,
    count: usize,
    wanted: usize,
    stream: u64,
) -> Vec<u32> {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    random.set_stream(stream);
    let (mut left, mut wanted) = (count as u64, wanted as u64);
    let is_taken = |_: &u32| {
        // A uniform number below `left`.
        let drawn = ((u128::from(random.next_u64()) * u128::from(left)) >> 64) as u64;
        let is_taken = drawn < wanted;
        (left, wanted) = (left.saturating_sub(1), wanted.saturating_sub(is_taken.into()));
        is_taken
    };
    members.filter(is_taken).collect()
}
