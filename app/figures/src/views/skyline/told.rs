//! Descriptions of a point, and of the step of an algorithm.

use sparsescope_core::skyline::PointsPicture;

use super::look::Look;
use super::sheet::Told;
use super::walk::{Known, Step};
use crate::model::value;
use crate::state::Algorithm;
use crate::views::spy::{digits, index};

/// Maximum number of coordinates of a point that are written out.
const WRITTEN: usize = 8;

/// The coordinates of a point shown.
fn coordinates(picture: &PointsPicture, place: usize) -> String {
    let values = picture.axes.iter().filter_map(|axis| axis.values.get(place));
    let written: Vec<String> = values.take(WRITTEN).map(|v| value(f64::from(*v))).collect();
    let more = if picture.dimensions as usize > WRITTEN { ", …" } else { "" };
    format!("({}{more})", written.join(", "))
}

fn number(picture: &PointsPicture, place: usize) -> String {
    picture.indices.get(place).map_or_else(String::new, |of| index(*of as usize))
}

/// A count with its noun.
fn counted(count: u64, what: &str) -> String {
    format!("{} {what}{}", digits(count), if count == 1 { "" } else { "s" })
}

fn step_of([step, count]: [usize; 2], what: &str, so_far: &str, decided: usize) -> String {
    let (step, count) = (index(step), index(count));
    let decided = counted(decided as u64, "point");
    format!("Step {step} of {count}: {what} So far {so_far}, {decided} decided.")
}

impl Told<'_> {
    /// The point that dominates this one, if it is known and not hidden.
    pub(super) fn dominator(&self, place: usize) -> Option<usize> {
        let picture = &self.subject.cloud.picture;
        match (self.followed(), self.looks.at(place)) {
            (Some((walk, step)), _) => {
                walk.by(place).filter(|_| walk.known(place, step) == Known::Dropped)
            }
            (None, Look::Waiting) => None,
            (None, _) => picture.dominator(place),
        }
    }

    /// Describes a point.
    pub fn point_words(&self, place: usize) -> String {
        let picture = &self.subject.cloud.picture;
        let who = |place| format!("{} {}", number(picture, place), coordinates(picture, place));
        let what = match (self.dominator(place), self.looks.at(place)) {
            (Some(by), _) => format!(": dominated by point {}", who(by)),
            (None, Look::Kept) => ": on the skyline".to_owned(),
            (None, Look::Waiting) if self.followed().is_some() => ": undecided".to_owned(),
            (None, Look::Now) => ": in progress".to_owned(),
            (None, _) => String::new(),
        };
        format!("Point {}{what}.", who(place))
    }

    /// Describes the selected point, if there is one.
    pub fn selected_words(&self) -> Option<String> {
        let wanted = self.state.skyline.point?;
        let picture = &self.subject.cloud.picture;
        Some(match self.subject.selected(self.state) {
            Some(place) => self.point_words(place),
            None if wanted >= picture.points => format!(
                "There is no point {}: the {} points are numbered from 0.",
                index(wanted as usize),
                index(picture.points as usize)
            ),
            None => format!("Point {} is not drawn.", index(wanted as usize)),
        })
    }

    /// Describes the progress of the algorithm.
    pub fn step_words(&self) -> Option<String> {
        let (walk, done) = self.followed()?;
        let count = walk.count();
        let so_far = counted(walk.comparisons(done), "comparison");
        let Some(step) = walk.step(done) else {
            let kept = (0..count).filter(|place| walk.known(*place, done) == Known::Kept).count();
            return Some(format!(
                "All {} steps: {so_far}, {} on the skyline.",
                index(count),
                counted(kept as u64, "point")
            ));
        };
        Some(step_of([done + 1, count], &self.what(step), &so_far, walk.decided(done)))
    }

    /// A text that is about as long as the longest of all steps.
    pub fn longest_step_words(&self) -> Option<String> {
        let (walk, _) = self.followed()?;
        let count = walk.count();
        let longest = walk.steps.iter().map(|step| self.what(step)).max_by_key(String::len);
        let so_far = counted(walk.comparisons(count), "comparison");
        Some(step_of([count; 2], &longest.unwrap_or_default(), &so_far, count))
    }

    fn what(&self, step: &Step) -> String {
        let picture = &self.subject.cloud.picture;
        let point = number(picture, step.point);
        let comparisons = counted(step.comparisons.into(), "comparison");
        let end = match step.by {
            Some(by) => format!("point {} dominates it.", number(picture, by)),
            None => "it is on the skyline.".to_owned(),
        };
        match self.state.skyline.algorithm {
            Algorithm::OwnPoints => {
                format!("point {point} against the others, {comparisons}: {end}")
            }
            Algorithm::Sorted => {
                format!(
                    "point {point}, next by sum, against the skyline so far, {comparisons}: {end}"
                )
            }
            Algorithm::SharedMarks if step.comparisons == 0 => {
                format!("point {point} has no points to compare with.")
            }
            Algorithm::SharedMarks => format!(
                "point {point} against the unmarked, {comparisons}: it marks {}.",
                index(step.marked as usize)
            ),
        }
    }

    /// Says that the algorithm processes only a part of the points, if it does.
    pub fn part_words(&self) -> Option<String> {
        let (walk, _) = self.followed()?;
        let picture = &self.subject.cloud.picture;
        let (axes, all) = (picture.axes.len(), picture.dimensions as usize);
        let first = walk.count() < picture.indices.len() || !picture.is_whole();
        let few = axes < all;
        if !first && !few {
            return None;
        }
        let points = match first {
            true => {
                let (few, all) = (index(walk.count()), index(picture.points as usize));
                format!("the first {few} drawn points of {all}")
            }
            false => "all points".into(),
        };
        let dimensions = match few {
            true => format!(", in the first {axes} of {} dimensions", index(all)),
            false => String::new(),
        };
        Some(format!("The steps cover {points}{dimensions}."))
    }
}
