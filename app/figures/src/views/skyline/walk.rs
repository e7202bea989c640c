//! The steps of an algorithm that computes the skyline of a few points, comparison by comparison.

use std::cmp::Ordering;

use sparsescope_core::skyline::PointsPicture;

use crate::state::Algorithm;

/// Maximum number of points that are stepped through.
pub const MOST: usize = 1000;

/// Stands for no step and for no point.
const NEVER: u32 = u32::MAX;

/// One step: the processing of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Index of the point among those shown.
    pub(super) point: usize,
    /// Number of comparisons.
    pub(super) comparisons: u32,
    /// A point that dominates it, if this step finds one.
    pub(super) by: Option<usize>,
    /// Number of points that it marks as dominated.
    pub(super) marked: u32,
}

/// All steps of an algorithm over the first points shown.
#[derive(Clone, Debug)]
pub struct Walk {
    pub(super) algorithm: Algorithm,
    pub(super) steps: Vec<Step>,
    /// The step after which a point is known to be dominated.
    dropped_at: Vec<u32>,
    /// The step after which it is known to be on the skyline.
    kept_at: Vec<u32>,
    /// The point that was found to dominate it.
    by: Vec<u32>,
    /// Comparisons before each step, and in total.
    before: Vec<u64>,
}

/// What is known of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    Nothing,
    Kept,
    Dropped,
}

/// Returns whether point `p` dominates point `q` in all dimensions shown.
fn dominates(picture: &PointsPicture, p: usize, q: usize) -> bool {
    let mut larger = false;
    for axis in &picture.axes {
        let [Some(p), Some(q)] = [axis.values.get(p), axis.values.get(q)] else { return false };
        if p < q {
            return false;
        }
        larger |= p > q;
    }
    larger
}

/// The indices in order of descending sums of coordinates. Equal sums, also due to rounding, are
/// ordered by the first dimension in which the points differ, larger first, so that no point
/// dominates an earlier one.
fn by_sum(picture: &PointsPicture, count: usize) -> Vec<usize> {
    let of = |place: usize| -> Vec<f32> {
        picture.axes.iter().filter_map(|axis| axis.values.get(place).copied()).collect()
    };
    let mut keyed: Vec<(f64, Vec<f32>, usize)> = (0..count)
        .map(|place| (place, of(place)))
        .map(|(place, point)| (point.iter().map(|value| f64::from(*value)).sum(), point, place))
        .collect();
    sparsescope_core::order::sort_by(&mut keyed, |(a, p, i), (b, q, j)| {
        let equal = Ordering::Equal;
        let coordinates = q.partial_cmp(p).unwrap_or(equal);
        b.partial_cmp(a).unwrap_or(equal).then(coordinates).then(i.cmp(j))
    });
    keyed.into_iter().map(|(.., place)| place).collect()
}

impl Walk {
    pub(super) fn new(picture: &PointsPicture, algorithm: Algorithm) -> Self {
        let count = picture.indices.len().min(MOST);
        let mut walk = Self {
            algorithm,
            steps: Vec::with_capacity(count),
            dropped_at: vec![NEVER; count],
            kept_at: vec![NEVER; count],
            by: vec![NEVER; count],
            before: vec![0],
        };
        match algorithm {
            Algorithm::OwnPoints => walk.own_points(picture),
            Algorithm::SharedMarks => walk.shared_marks(picture),
            Algorithm::Sorted => walk.sorted(picture),
        }
        walk
    }

    fn own_points(&mut self, picture: &PointsPicture) {
        for point in 0..self.count() {
            let others = (0..self.count()).filter(|other| *other != point);
            self.decide(picture, point, others);
        }
    }

    fn sorted(&mut self, picture: &PointsPicture) {
        let mut skyline = Vec::new();
        for point in by_sum(picture, self.count()) {
            self.decide(picture, point, skyline.iter().copied());
            if self.steps.last().is_some_and(|step| step.by.is_none()) {
                skyline.push(point);
            }
        }
    }

    /// Compares a point with others until one dominates it.
    fn decide(
        &mut self,
        picture: &PointsPicture,
        point: usize,
        others: impl Iterator<Item = usize>,
    ) {
        let (mut comparisons, mut by) = (0, None);
        for other in others {
            comparisons += 1;
            if dominates(picture, other, point) {
                by = Some(other);
                break;
            }
        }
        let at = self.steps.len() as u32;
        match by {
            Some(by) => self.drop(point, by, at),
            None => set(&mut self.kept_at, point, at),
        }
        self.end(Step { point, comparisons, by, marked: 0 });
    }

    fn shared_marks(&mut self, picture: &PointsPicture) {
        for point in 0..self.count() {
            let at = self.steps.len() as u32;
            let (mut comparisons, mut marked) = (0, 0);
            if self.drop_of(point) == NEVER {
                for other in (0..self.count()).filter(|other| *other != point) {
                    if self.drop_of(other) != NEVER {
                        continue;
                    }
                    comparisons += 1;
                    if dominates(picture, point, other) {
                        self.drop(other, point, at);
                        marked += 1;
                    }
                }
            }
            self.end(Step { point, comparisons, by: None, marked });
        }
        // Points that are unmarked at the end are on the skyline.
        let last = self.count().saturating_sub(1) as u32;
        for (kept, dropped) in self.kept_at.iter_mut().zip(&self.dropped_at) {
            *kept = if *dropped == NEVER { last } else { NEVER };
        }
    }

    fn drop(&mut self, point: usize, by: usize, at: u32) {
        set(&mut self.dropped_at, point, at);
        set(&mut self.by, point, by as u32);
    }

    fn end(&mut self, step: Step) {
        let before = self.before.last().copied().unwrap_or(0);
        self.before.push(before + u64::from(step.comparisons));
        self.steps.push(step);
    }

    fn drop_of(&self, point: usize) -> u32 {
        self.dropped_at.get(point).copied().unwrap_or(NEVER)
    }

    /// Number of points that are stepped through.
    pub(super) fn count(&self) -> usize {
        self.dropped_at.len()
    }

    /// The current step when `done` steps are done; `None` at the end.
    pub(super) fn step(&self, done: usize) -> Option<&Step> {
        self.steps.get(done)
    }

    /// What is known about a point after this step.
    pub(super) fn known(&self, point: usize, step: usize) -> Known {
        let step = step as u32;
        let passed = |at: Option<&u32>| at.is_some_and(|at| *at <= step && *at != NEVER);
        match (passed(self.dropped_at.get(point)), passed(self.kept_at.get(point))) {
            (true, _) => Known::Dropped,
            (_, true) => Known::Kept,
            _ => Known::Nothing,
        }
    }

    /// The point that was found to dominate a point.
    pub(super) fn by(&self, point: usize) -> Option<usize> {
        self.by.get(point).filter(|by| **by != NEVER).map(|by| *by as usize)
    }

    /// Comparisons up to and including this step.
    pub(super) fn comparisons(&self, step: usize) -> u64 {
        self.before.get(step + 1).or(self.before.last()).copied().unwrap_or(0)
    }

    /// Total number of comparisons.
    pub(super) fn all_comparisons(&self) -> u64 {
        self.before.last().copied().unwrap_or(0)
    }

    /// Number of points decided after this step.
    pub(super) fn decided(&self, step: usize) -> usize {
        (0..self.count()).filter(|point| self.known(*point, step) != Known::Nothing).count()
    }

    /// The points with which the current one is compared in this step.
    pub(super) fn compared(&self, number: usize) -> Vec<usize> {
        let Some(step) = self.steps.get(number) else { return Vec::new() };
        let wanted = step.comparisons as usize;
        let (own, at) = (step.point, number as u32);
        match self.algorithm {
            Algorithm::Sorted => {
                let earlier = self.steps.iter().take(number).map(|step| step.point);
                let kept = earlier.filter(|point| self.known(*point, number) == Known::Kept);
                kept.take(wanted).collect()
            }
            Algorithm::OwnPoints => {
                (0..self.count()).filter(|other| *other != own).take(wanted).collect()
            }
            Algorithm::SharedMarks if wanted == 0 => Vec::new(),
            Algorithm::SharedMarks => (0..self.count())
                .filter(|other| *other != own && self.drop_of(*other) >= at)
                .collect(),
        }
    }
}

fn set(values: &mut [u32], place: usize, to: u32) {
    if let Some(value) = values.get_mut(place) {
        *value = to;
    }
}
