//! The levels of a run's times.

use sparsescope_core::bundle::Timeline;
use sparsescope_core::samples::{Levels, Location};

/// Consecutive measurements without a change: the number of the first, and their level.
pub(super) struct Level {
    /// Place of the first measurement in its timeline.
    pub(super) first: usize,
    /// Place after the last one.
    pub(super) end: usize,
    /// Where they lie.
    pub(super) location: Location,
}

/// A timeline with its levels.
pub(super) struct Row<'t, 'a> {
    /// The measurements.
    pub(super) timeline: &'t Timeline<'a>,
    /// Their levels, at least one.
    pub(super) levels: Vec<Level>,
}

impl<'t, 'a> Row<'t, 'a> {
    /// Finds the levels of a timeline.
    pub(super) fn of(timeline: &'t Timeline<'a>, finder: &mut Levels) -> Self {
        let changes = timeline.changes(finder);
        let locations: Vec<Location> = timeline.points.iter().map(|of| of.location).collect();
        let firsts = [0].into_iter().chain(changes.iter().copied());
        let ends = changes.iter().copied().chain([locations.len()]);
        let level = |(first, end): (usize, usize)| {
            let location = Location::level(locations.get(first..end)?)?;
            Some(Level { first, end, location })
        };
        Self { timeline, levels: firsts.zip(ends).filter_map(level).collect() }
    }

    /// The number of the bundle with its last change.
    pub(super) fn last_change(&self) -> Option<usize> {
        let [.., _, last] = &self.levels[..] else { return None };
        Some(self.timeline.points.get(last.first)?.bundle)
    }
}
